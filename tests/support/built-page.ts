/**
 * The bench page as `vite build` makes it, with the headers of the dev server. A browser loads its
 * few files ten times as fast as the dev server's hundreds of modules. The dev server itself has
 * dev-script.test.ts, and the drivers.
 */
import type { Page } from 'playwright';
import { build, preview } from 'vite';
import { madeOnce } from './made-once.js';
import { inProject } from './run-script.js';

/** A page that is being served. */
export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

const SOURCES = ['src', 'wgsl', 'dev', 'scripts', 'vite.config.ts'];

/** Builds the page, with names and texts that tests can change, and serves it. */
export const servePage = async (): Promise<ServedPage> => {
  const config = { configFile: inProject('vite.config.ts'), logLevel: 'error' } as const;
  const folder = await madeOnce('page', SOURCES, {}, (outDir) =>
    build({ ...config, build: { outDir, minify: false } }),
  );
  const server = await preview({ ...config, build: { outDir: folder }, preview: { host: '127.0.0.1', port: 0 } });
  const [url] = server.resolvedUrls?.local ?? [];
  if (url === undefined) throw new Error('the page has no address');
  return { url, close: () => server.close() };
};

/**
 * Changes the main module of a page before it is loaded.
 *
 * @throws Error in the page's request if the module lacks the text
 */
export const changeModule = (page: Page, from: string, to: string): Promise<unknown> =>
  page.route('**/assets/index-*.js', async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    if (!text.includes(from)) throw new Error(`the page has no ${from}`);
    await route.fulfill({ response, body: text.replace(from, to) });
  });
