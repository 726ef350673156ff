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

const opening = /<!-- generated (\S+) -->/y;
const closing = '<!-- /generated -->';

/** Returns the ranges of fenced code blocks, which may show markers. */
const fences = (page: string): (readonly [number, number])[] =>
  [...page.matchAll(/^ *(`{3,}|~{3,}).*\n[\s\S]*?(?:^ *\1[`~]* *$|(?![\s\S]))/gm)].map(({ 0: all, index }) => [
    index,
    index + all.length,
  ]);

const lineOf = (page: string, at: number): number => page.slice(0, at).split('\n').length;

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
  const code = fences(page);
  let text = '';
  /** Index up to which the page is in `text`, and index from which markers are looked for. */
  let [done, next] = [0, 0];
  for (let at = page.indexOf('<!-- '); at !== -1; at = page.indexOf('<!-- ', next)) {
    next = at + 1;
    if (page[at - 1] === '`' || code.some(([from, to]) => from <= at && at < to)) continue;
    const line = lineOf(page, at);
    if (page.startsWith(closing, at)) {
      problems.push({ line, message: `${closing} closes nothing` });
      continue;
    }
    opening.lastIndex = at;
    const [marker, name] = opening.exec(page) ?? [];
    if (marker === undefined || name === undefined) continue;
    const from = at + marker.length;
    const to = page.indexOf(closing, from);
    const other = page.indexOf('<!-- generated ', from);
    if (to === -1 || (other !== -1 && other < to)) {
      problems.push({ line, message: `${marker} has no ${closing}` });
      continue;
    }
    names.push(name);
    next = to + closing.length;
    const block = blocks.get(name);
    if (block === undefined) {
      problems.push({ line, message: `no block is named ${name}` });
      continue;
    }
    const isBlock = block.includes('\n');
    const why = misplaced(page, at, isBlock);
    if (why !== null) problems.push({ line, message: `${name}: ${why}` });
    const wanted = isBlock ? `\n\n${block}\n\n` : block;
    const found = page.slice(from, to);
    const difference = firstDifference(found, wanted);
    if (difference !== null) differences.push({ name, line, text: found, ...difference });
    text += page.slice(done, from) + wanted + closing;
    done = next;
  }
  return { text: text + page.slice(done), names, differences, problems };
};
