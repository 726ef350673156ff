/**
 * Generated text in pages of Markdown:
 *
 *     <!-- generated NAME -->text<!-- /generated -->
 *
 * Text of one line stands in its sentence or cell; text of several lines stands between blank
 * lines.
 */

/** A generated place of a page. */
export interface Place {
  readonly name: string;
  /** Line of the opening marker, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A page that is not as it should be. `line` counts from 1. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

/** A place whose text differs from what its block says. */
export interface Difference extends Place {
  /** First line that differs; null where one text ends before the other. */
  readonly found: string | null;
  readonly wanted: string | null;
}

/** A page with its places renewed. */
export interface Renewal {
  readonly text: string;
  readonly names: readonly string[];
  readonly differences: readonly Difference[];
  readonly problems: readonly Problem[];
}

const closing = '<!-- /generated -->';

/** Returns the markers of a page that no code shows. */
const markersOf = (page: string) => {
  const fences = [...page.matchAll(/^ *(`{3,}|~{3,}).*\n[\s\S]*?(?:^ *\1[`~]* *$|(?![\s\S]))/gm)].map(
    ({ 0: all, index }) => [index, index + all.length] as const,
  );
  return [...page.matchAll(/<!-- (?:generated (\S+)|\/generated) -->/g)]
    .filter(({ index }) => page[index - 1] !== '`' && !fences.some(([from, to]) => from <= index && index < to))
    .map(({ 0: marker, 1: name, index: at }) => ({ marker, name, at, line: page.slice(0, at).split('\n').length }));
};

/** Returns the first lines in which two texts differ. */
export const firstDifference = (found: string, wanted: string): Pick<Difference, 'found' | 'wanted'> | null => {
  if (found === wanted) return null;
  const [a, b] = [found.split('\n'), wanted.split('\n')];
  const at = a.findIndex((line, i) => line !== b[i]);
  const line = at === -1 ? a.length : at;
  return { found: a[line] ?? null, wanted: b[line] ?? null };
};

/** Returns why a marker may not stand where it stands, or null. */
const misplaced = (page: string, at: number, isBlock: boolean): string | null => {
  const before = page.slice(page.lastIndexOf('\n', at - 1) + 1, at);
  if (isBlock) return before === '' ? null : 'text of several lines needs its marker at the start of a line';
  // a line that begins with a comment is HTML for Markdown, to its end
  return /^\s*([-*+>]\s+|\d+\.\s+)*$/.test(before)
    ? 'a marker of one line must not begin its line, as Markdown would take the whole line as HTML'
    : null;
};

/**
 * Renews the generated places of a page.
 *
 * @param blocks text by name; without newlines at its ends
 */
export const renew = (page: string, blocks: ReadonlyMap<string, string>): Renewal => {
  const [names, differences, problems]: [string[], Difference[], Problem[]] = [[], [], []];
  const markers = markersOf(page);
  let text = '';
  /** Index up to which the page is in `text`. */
  let done = 0;
  for (const [i, { marker, name, at, line }] of markers.entries()) {
    const complain = (message: string): void => void problems.push({ line, message });
    const before = markers[i - 1];
    if (name === undefined) {
      if (before?.name === undefined) complain(`${closing} closes nothing`);
      continue;
    }
    const end = markers[i + 1];
    if (end === undefined || end.name !== undefined) {
      complain(`${marker} has no ${closing}`);
      continue;
    }
    names.push(name);
    const block = blocks.get(name);
    if (block === undefined) {
      complain(`no block is named ${name}`);
      continue;
    }
    const isBlock = block.includes('\n');
    const why = misplaced(page, at, isBlock);
    if (why !== null) complain(`${name}: ${why}`);
    const from = at + marker.length;
    const wanted = isBlock ? `\n\n${block}\n\n` : block;
    const found = page.slice(from, end.at);
    const difference = firstDifference(found, wanted);
    if (difference !== null) differences.push({ name, line, text: found, ...difference });
    text += page.slice(done, from) + wanted;
    done = end.at;
  }
  return { text: text + page.slice(done), names, differences, problems };
};
