/**
 * Generated text in pages of Markdown: tables between two lines.
 *
 *     <!-- generated NAME -->
 *
 *     text
 *
 *     <!-- /generated -->
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagePaths } from './site-pages.js';

/** Text of a block, or a function that makes it. */
type Block = string | (() => string | Promise<string>);

/** Blocks by name: `encodings`, `table:NAME`. */
export type Blocks = Readonly<Record<string, Block>>;

const modules = import.meta.glob<Blocks>('./blocks/*.ts', { import: 'blocks' });

/** Computes every block. An error of a block is a problem, and leaves the others. */
async function allBlocks() {
  const texts = new Map<string, string>();
  const problems: string[] = [];
  for (const [path, load] of Object.entries(modules)) {
    for (const [name, block] of Object.entries(await load())) {
      try {
        texts.set(name, await (typeof block === 'function' ? block() : block));
      } catch (error) {
        problems.push(`${path}: ${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
  return { texts, problems };
}

/** A page with its generated text renewed. */
interface Renewal {
  readonly text: string;
  readonly names: readonly string[];
  /** Faults and differences, each with its line. */
  readonly problems: readonly string[];
  readonly differences: readonly string[];
}

/** Renews the generated text of a page. @param blocks text by name, without newlines at its ends */
export function renew(page: string, blocks: ReadonlyMap<string, string>): Renewal {
  const [names, problems, differences]: [string[], string[], string[]] = [[], [], []];
  let open: { readonly name: string; readonly line: number } | null = null;
  let found: string[] = [];
  const lines = page.split('\n').flatMap((line, i) => {
    const [marker, name] = /^<!-- (?:generated (\S+)|\/generated) -->$/.exec(line) ?? [];
    if (marker === undefined && open !== null) {
      found.push(line);
      return [];
    }
    if (marker === undefined) {
      if (/<!-- (generated|\/generated)/.test(line)) problems.push(`${i + 1}: a marker needs a line of its own`);
      return [line];
    }
    if (name !== undefined) {
      if (open !== null) problems.push(`${open.line}: ${open.name} has no <!-- /generated -->`);
      if (!blocks.has(name)) problems.push(`${i + 1}: no block is named ${name}`);
      names.push(name);
      [open, found] = [{ name, line: i + 1 }, []];
      return [line];
    }
    if (open === null) {
      problems.push(`${i + 1}: the marker closes nothing`);
      return [line];
    }
    const wanted = ['', ...(blocks.get(open.name)?.split('\n') ?? found), ''];
    const at = wanted.findIndex((each, j) => each !== found[j]);
    if (at !== -1 || wanted.length !== found.length) {
      const j = at === -1 ? wanted.length : at;
      const [page, block] = [found[j], wanted[j]].map((each) => each ?? '(ends)');
      differences.push(`${open.line}: ${open.name} differs\n  page:  ${page}\n  block: ${block}`);
    }
    open = null;
    return [...wanted, line];
  });
  const left = open as { readonly name: string; readonly line: number } | null;
  if (left !== null) problems.push(`${left.line}: ${left.name} has no <!-- /generated -->`);
  return { text: problems.length > 0 ? page : lines.join('\n'), names, problems, differences };
}

/** Renews README.md and all pages of docs/, without writing them. */
export async function renewPages(project: string) {
  const { texts, problems } = await allBlocks();
  const pages = pagePaths(project).map((path) => {
    const found = readFileSync(join(project, path), 'utf8');
    return { path, found, ...renew(found, texts) };
  });
  return { pages, problems };
}
