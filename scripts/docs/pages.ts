/** The pages with their generated text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allBlocks } from './blocks.js';
import { type Renewal, renew } from './markers.js';
import { pagePaths } from './page-paths.js';

/** A page of the repository, by its path. */
export interface Page extends Renewal {
  readonly path: string;
  readonly found: string;
}

/** All pages with their generated text renewed. */
export interface RenewedPages {
  readonly pages: readonly Page[];
  /** Names of blocks that no page has. */
  readonly unused: readonly string[];
  readonly problems: readonly string[];
}

/** Renews all pages, without writing them. */
export const renewPages = async (project: string): Promise<RenewedPages> => {
  const { texts, problems } = await allBlocks();
  const pages = pagePaths(project).map((path) => {
    const found = readFileSync(join(project, path), 'utf8');
    return { path, found, ...renew(found, texts) };
  });
  const used = new Set(pages.flatMap(({ names }) => names));
  return { pages, unused: [...texts.keys()].filter((name) => !used.has(name)), problems };
};

/** Returns a line for each problem and each difference of some pages. */
export const reportLines = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ path, problems, differences }) => [
    ...problems.map(({ line, message }) => `${path}:${line}: ${message}`),
    ...differences.map(({ line, name, found, wanted }) =>
      [`${path}:${line}: ${name} differs`, `  page:  ${found ?? '(ends)'}`, `  block: ${wanted ?? '(ends)'}`].join(
        '\n',
      ),
    ),
  ]);
