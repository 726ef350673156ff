/**
 * Runs the bench page in a browser behind an endpoint of Playwright's protocol: that of a device
 * farm, or `npx playwright run-server` on another machine (both ends need the same minor version).
 */
import { writeFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';
import { reportLines, toJson } from '../dev/bench/report.js';
import type { StampedRow } from '../dev/bench/rows.js';
import { type Adapter, adapterLine, isCpu } from './adapter/adapter-line.mjs';
import { hadNoWebGpu, inTime, watchPage } from './browser/watch-page.js';
import {
  CommandError,
  integer,
  json,
  type Option,
  oneOf,
  outputFile,
  type Parse,
  pair,
  progress,
  say,
  UsageError,
  type Values,
  valued,
} from './command-line.js';
import { startDevServer, withQuery } from './dev-server.js';

type Options = Values<typeof remoteOptions>;

interface RunLog {
  adapter: Adapter | null;
  readonly rows: StampedRow[];
}

const address =
  (...protocols: string[]): Parse<string> =>
  (text, name) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url !== null && protocols.includes(url.protocol)) return url.href;
    throw new UsageError(`--${name}: '${text}' is not an address that begins with ${protocols.join('// or ')}//`);
  };

const launchOptions: Parse<object> = (text, name) => {
  const options = json(text, name) as object | null;
  if (options?.constructor !== Object) throw new UsageError(`--${name}: not a JSON object`);
  return options;
};

export const remoteOptions = {
  connect: valued(
    'ws://…',
    'runs the page in a remote browser: an endpoint of Playwright, of a device farm or of npx playwright run-server',
    address('ws:', 'wss:'),
  ),
  header: {
    shows: 'name=value',
    about: "a header of the connection, such as a farm's token; may be repeated",
    read: (texts, name) => Object.fromEntries(texts.map((text) => pair(text, name))),
  } as Option<Record<string, string>>,
  browser: valued('chromium', 'chromium, firefox or webkit', oneOf('chromium', 'firefox', 'webkit'), 'chromium'),
  launch: valued(
    'JSON',
    `Playwright's launch options for the endpoint's browser: '{"channel":"chrome","headless":false}'.
    A run-server without --unsafe ignores args, executablePath, firefoxUserPrefs and others`,
    launchOptions,
  ),
  url: valued(
    'https://…',
    `a site with the built bench; without it this machine serves the page through the connection, and the rows
    go to dev/results here (or to the folder WEBGPU_MSM_RESULTS)`,
    address('http:', 'https:'),
  ),
  adapter: valued(
    'any',
    'hardware or software: the run fails at once on an adapter of another kind',
    oneOf('any', 'hardware', 'software'),
    'any',
  ),
  stall: valued('120', 'time limit in seconds between two steps of progress', integer(1, 86_400), 120),
  json: valued('FILE', 'write every row, also of a failed run', outputFile),
};

export const remoteNotes = `Exit code with --connect: 0 done · 1 the run failed: a wrong result, or an error of the page · 2 bad usage · 3 no WebGPU, or
another adapter · 4 stalled · 7 no page, connection refused or lost, or the page crashed`;

/** Time limit to get a page, in milliseconds: farms queue. */
const QUEUE_MS = 600_000;

/** Removes the query of an endpoint: farms take tokens there. */
function withoutSecrets(endpoint: string) {
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname}`;
}

/** Returns the one port of this machine that the remote browser may reach, if the page is there. */
function exposed(url: string) {
  const { hostname, port, protocol } = new URL(url);
  if (!/^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return {};
  return { exposeNetwork: `<loopback>:${port || (protocol === 'https:' ? 443 : 80)}` };
}

/**
 * Connects to the endpoint and opens a page.
 *
 * @param url the page's address; one of this machine is reached through the connection
 * @param timeout in milliseconds
 * @throws CommandError
 */
export async function openRemotePage(
  { connect = '', header, browser: name, launch }: Pick<Options, 'connect' | 'header' | 'browser' | 'launch'>,
  url: string,
  timeout = QUEUE_MS,
) {
  try {
    // imported late: loading Playwright takes a second
    const { [name]: type } = await import('playwright');
    const browser = await type.connect(connect, {
      headers: { ...header, ...(launch && { 'x-playwright-launch-options': JSON.stringify(launch) }) },
      timeout,
      ...exposed(url),
    });
    const page = await browser.newPage();
    return { browser, page, userAgent: await page.evaluate(() => navigator.userAgent) };
  } catch (error) {
    const [said = ''] = String(error).split('\nCall log:');
    throw new CommandError(
      7,
      `${withoutSecrets(connect)}: ${said.replace(/[╔═╗║╚╝\s]+/g, ' ')}`,
      'Check that the endpoint runs, has that browser, accepts the token (--header), and has this Playwright’s version.',
    );
  }
}

const isWrong = (row: StampedRow) => 'agrees' in row && !row.agrees;

/**
 * Follows a run to its end.
 *
 * @param log filled during the run, so that a failed run leaves its rows, too
 * @throws CommandError
 */
export async function runRemotely(
  page: Page,
  url: string,
  { adapter: asked, stall }: Pick<Options, 'adapter' | 'stall'>,
  log: RunLog,
  onRow: (row: StampedRow) => void = () => {},
) {
  const advice =
    'Use --browser and --launch to choose the browser and its flags. A page that is neither https nor on this machine has no WebGPU.';
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  const end = await watchPage(page, url, {
    stallSeconds: stall,
    onRow(row) {
      log.rows.push(row);
      onRow(row);
    },
    onProgress({ adapter, doing, done, total }) {
      if (adapter !== null && log.adapter === null) {
        log.adapter = adapter;
        const line = adapterLine(adapter);
        say(`adapter: ${line}`);
        if (asked !== 'any' && (isCpu(adapter) || adapter.software !== (asked === 'software')))
          throw new CommandError(3, `the run asked for a ${asked} adapter, but the browser runs on ${line}`, advice);
      }
      progress(`${done}/${total} ${doing}`);
    },
  }).finally(() => progress(''));
  if (hadNoWebGpu(end)) throw new CommandError(3, `the browser has no WebGPU: ${end.error}`, advice);
  if (end.status === 'failed') throw new CommandError(1, `the run failed: ${end.error}`);
  const wrong = log.rows.filter(isWrong).length;
  if (wrong > 0) throw new CommandError(1, `WRONG: ${wrong} ${wrong === 1 ? 'check' : 'checks'} failed`);
}

/**
 * Follows a run to its end, and prints its report, also of a failed one.
 *
 * @param options `json`: file that gets every row
 * @throws CommandError
 */
export async function followAndReport(
  page: Page,
  url: string,
  options: Pick<Options, 'adapter' | 'stall'> & { readonly json?: string | undefined },
  onRow: (row: StampedRow) => void = () => {},
): Promise<readonly StampedRow[]> {
  const log: RunLog = { adapter: null, rows: [] };
  try {
    await runRemotely(page, url, options, log, onRow);
  } finally {
    if (options.json !== undefined) writeFileSync(options.json, toJson(log.rows));
    console.log(reportLines(log.rows).join('\n'));
  }
  return log.rows;
}

/** Runs the page in the remote browser, and reports. @param query of the page */
export async function benchRemotely(options: Options, query: URLSearchParams): Promise<void> {
  const here = options.url === undefined ? await startDevServer() : null;
  const url = withQuery(options.url ?? here?.url ?? '', query);
  let browser: Browser | undefined;
  try {
    const remote = await openRemotePage(options, url);
    browser = remote.browser;
    const endpoint = withoutSecrets(options.connect ?? '');
    console.log(`${options.browser} ${browser.version()} at ${endpoint}: ${remote.userAgent}`);
    await followAndReport(remote.page, url, options);
  } finally {
    // the end of the process closes what does not close in time
    const closing = Promise.all([browser?.close(), here?.server.close()]);
    await inTime(closing, 5000, () => new Error('not closed')).catch(() => {});
  }
}
