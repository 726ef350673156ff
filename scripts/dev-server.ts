/** The dev server: the command line of `npm run dev`, and a server for drivers of the page. */
import { join } from 'node:path';
import type { ViteDevServer } from 'vite';
import { project } from './builds.mjs';
import { anyText, flag, integer, pair, readArguments, repeatable, UsageError, valued } from './command-line.js';

const pageOptions = {
  autorun: valued('MODE', 'the mode that the page runs, such as msm-bench', anyText),
  query: repeatable('k=v k=v …', "the page's knobs; may be repeated"),
};

/**
 * Joins the mode and all pairs to a query.
 *
 * @param words words that belong to no option: further pairs of --query
 * @throws UsageError
 */
function readQuery({ autorun, query: pairs }: { autorun: string | undefined; query: string[] }, words: string[]) {
  if (words.length > 0 && pairs.length === 0) {
    throw new UsageError(`'${words[0]}' belongs to no option; knobs of the page go after --query`);
  }
  const query = new URLSearchParams(autorun === undefined ? {} : { autorun });
  for (const text of [...pairs, ...words]) query.append(...pair(text, 'query'));
  return query;
}

/** Adds a query to an address, whose own values of the same names it replaces. */
export function withQuery(url: string, query: URLSearchParams) {
  const address = new URL(url);
  for (const name of query.keys()) address.searchParams.delete(name);
  for (const [name, value] of query) address.searchParams.append(name, value);
  return address.href;
}

export const command = {
  usage: `usage: npm run dev -- [options]

Serves the bench page and stores the rows of its runs in dev/results (or in the folder WEBGPU_MSM_RESULTS).`,
  options: {
    host: valued(
      '[address]',
      `serve it in the local network too, over https, and print a QR code for a phone; with an address, only on
      that address of this machine`,
      anyText,
    ),
    http: flag('with --host: plain http; browsers on other machines then have no WebGPU'),
    port: valued('5173', 'the port; if it is taken, the next free one', integer(0, 65_535)),
    open: flag('open a browser'),
    ...pageOptions,
  },
};

/**
 * Reads the arguments as the settings of the server and the page's query.
 *
 * @throws UsageError
 */
export function parseOptions(args: string[]) {
  const { values, words } = readArguments(command.options, args);
  const { host: text, http, port, open } = values;
  const host = text === '' ? true : text;
  // browsers count http as secure on their own machine only
  return { host, port, open, query: readQuery(values, words), https: host !== undefined && !isLoopback(host) && !http };
}

const isLoopback = (host: string | true) =>
  host !== true && /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

/**
 * Starts the dev server on a free port of this machine, for a driver. It does not watch files: a
 * reload during a run would lose the run.
 */
export async function startDevServer(): Promise<{ server: ViteDevServer; url: string }> {
  const { createServer } = await import('vite');
  const server = await createServer({
    configFile: join(project, 'vite.config.ts'),
    // a cache of its own: `npm run dev` has other settings, and each would delete the other's cache
    cacheDir: join(project, 'node_modules/.vite-driver'),
    logLevel: 'warn',
    clearScreen: false,
    server: { host: '127.0.0.1', port: 0, strictPort: false, open: false, hmr: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the dev server has no port');
  return { server, url: `http://127.0.0.1:${address.port}/` };
}
