/**
 * Runs the bench page in a browser behind an endpoint of Playwright's protocol: that of a device
 * farm, or `npx playwright run-server` on another machine (both ends need the same minor version).
 */
import { writeFileSync } from 'node:fs';
import { adapterLine, isCpu } from './adapter/adapter-line.mjs';
import { hadNoWebGpu, watchPage } from './browser/watch-page.mjs';
import { commit } from './builds.mjs';
import {
  CommandError,
  integer,
  json,
  oneOf,
  outputFile,
  pair,
  progress,
  say,
  UsageError,
  valued,
} from './command-line.mjs';
import { inTime } from './in-time.mjs';
import { withQuery } from './page-query.mjs';

/** @typedef {import('./command-line.mjs').Values<typeof remoteOptions>} Options */
/** @typedef {Readonly<Record<string, unknown>>} AnyRow */
/** @typedef {{ adapter: import('./adapter/adapter-line.mjs').Adapter | null, rows: AnyRow[] }} RunLog */

const seconds = integer(1, 86_400);

/** @type {(...protocols: string[]) => import('./command-line.mjs').Parse<string>} */
const address =
  (...protocols) =>
  (text, name) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url !== null && protocols.includes(url.protocol)) return url.href;
    throw new UsageError(`--${name}: '${text}' is not an address that begins with ${protocols.join('// or ')}//`);
  };

/** Parses the launch options. @type {import('./command-line.mjs').Parse<Record<string, unknown>>} */
function launchOptions(text, name) {
  const options = json(text, name);
  if (options?.constructor !== Object) throw new UsageError(`--${name}: not a JSON object`);
  return options;
}

export const remoteOptions = {
  connect: valued(
    'ws://…',
    'runs the page in a remote browser: an endpoint of Playwright, of a device farm or of npx playwright run-server',
    address('ws:', 'wss:'),
  ),
  header: {
    shows: 'name=value',
    about: "a header of the connection, such as a farm's token; may be repeated",
    /** @type {(texts: string[], name: string) => Record<string, string>} */
    read: (texts, name) => Object.fromEntries(texts.map((text) => pair(text, name))),
  },
  browser: valued(
    'chromium',
    'chromium, firefox or webkit',
    oneOf('chromium', 'firefox', 'webkit'),
    /** @type {const} */ ('chromium'),
  ),
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
    /** @type {const} */ ('any'),
  ),
  'queue-timeout': valued('600', 'time limit in seconds to get a page: farms queue', seconds, 600),
  'first-progress': valued('60', 'time limit in seconds until the first progress', seconds, 60),
  stall: valued('120', 'time limit in seconds between two steps of progress', seconds, 120),
  json: valued('FILE', 'write the environment and every row, also of a failed run', outputFile),
  screenshot: valued('FILE', 'write a picture of the page at the end, as PNG', outputFile),
};

export const remoteNotes = `Exit code with --connect: 0 done · 1 the run failed: a wrong result, or an error of the page · 2 bad usage · 3 no WebGPU, or
another adapter · 4 stalled · 5 no first progress · 6 no page in time · 7 connection refused or lost, or the page crashed`;

/** Removes the query of an endpoint: farms take tokens there. @param {string} endpoint */
function withoutSecrets(endpoint) {
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname}`;
}

/** Returns the one port of this machine that the remote browser may reach, if the page is there. @param {string} url */
function exposed(url) {
  const { hostname, port, protocol } = new URL(url);
  if (!/^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return {};
  return { exposeNetwork: `<loopback>:${port || (protocol === 'https:' ? 443 : 80)}` };
}

/**
 * Connects to the endpoint and opens a page.
 *
 * @param {Pick<Options, 'connect' | 'header' | 'browser' | 'launch' | 'queue-timeout'>} options
 * @param {string} url the page's address; one of this machine is reached through the connection
 * @throws CommandError
 */
export async function openRemotePage({ connect = '', header, browser: name, launch, 'queue-timeout': limit }, url) {
  const late = new CommandError(
    6,
    `no page within ${limit} s from ${withoutSecrets(connect)}`,
    'On a busy farm, raise --queue-timeout. Otherwise check that the endpoint speaks Playwright’s protocol.',
  );
  let isLate = false;
  const opening = async () => {
    // imported late: loading Playwright takes a second
    const { [name]: type } = await import('playwright');
    const browser = await type.connect(connect, {
      headers: { ...header, ...(launch && { 'x-playwright-launch-options': JSON.stringify(launch) }) },
      // half a second more than the limit of this function, which therefore always ends first
      timeout: limit * 1000 + 500,
      ...exposed(url),
    });
    try {
      if (isLate) throw late;
      const page = await browser.newPage();
      return { browser, page, userAgent: await page.evaluate(() => navigator.userAgent) };
    } catch (error) {
      await browser.close();
      throw error;
    }
  };
  try {
    return await inTime(opening(), limit * 1000, () => {
      isLate = true;
      return late;
    });
  } catch (error) {
    if (error === late) throw error;
    const [said = ''] = String(error).split('\nCall log:');
    throw new CommandError(
      7,
      `${withoutSecrets(connect)}: ${said.replace(/[╔═╗║╚╝\s]+/g, ' ')}`,
      'Check that the endpoint runs, has that browser, accepts the token (--header), and has this Playwright’s version.',
    );
  }
}

/** Returns whether a row reports a failed check. @param {AnyRow} row */
const isWrong = (row) => row.agrees === false || (row.event === 'repetition' && row.wallMs === null);

/**
 * Follows a run to its end.
 *
 * @param {import('playwright').Page} page
 * @param {string} url
 * @param {Pick<Options, 'adapter' | 'first-progress' | 'stall'>} options
 * @param {RunLog} log filled during the run, so that a failed run leaves its rows, too
 * @throws CommandError
 */
export async function runRemotely(page, url, { adapter: asked, 'first-progress': first, stall }, log) {
  const advice =
    'Use --browser and --launch to choose the browser and its flags. A page that is neither https nor on this machine has no WebGPU.';
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  const end = await watchPage(page, url, {
    firstProgressSeconds: first,
    stallSeconds: stall,
    onRow: (row) => log.rows.push({ ...row }),
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
 * Formats the report of a run: the page's own lines, the number of rows of each kind, and the end.
 *
 * @param {readonly AnyRow[]} rows
 * @param {readonly string[]} report
 */
export function summary(rows, report) {
  const events = rows.map(({ event }) => event);
  const counts = [...new Set(events)].map((event) => `${events.filter((each) => each === event).length} ${event}`);
  const end = rows.find(({ event }) => event === 'end');
  const ending = end && [`${end.status} after ${Number(end.seconds).toFixed(1)} s`, end.error ?? []].flat().join(', ');
  const lines = [...report, '', `rows: ${counts.join(', ') || 'none'}`, `end: ${ending ?? 'not reached'}`];
  return lines.join('\n').trimStart();
}

/**
 * Runs the page in the remote browser, reports, and closes everything, also when the process is
 * told to end.
 *
 * @param {Pick<typeof import('../dev/bench/index.js'), 'reportLines'>} library
 * @param {Options} options
 * @param {URLSearchParams} query of the page
 */
export async function benchRemotely({ reportLines }, options, query) {
  /** @type {(() => Promise<void>)[]} */
  const open = [];
  const interrupted = new Promise((resolve) => {
    process.once('SIGINT', () => resolve(130));
    process.once('SIGTERM', () => resolve(143));
  });
  const work = async () => {
    let site = options.url;
    if (site === undefined) {
      const { startDevServer } = await import('./dev-server.mjs');
      const { server, url } = await startDevServer();
      open.push(() => server.close());
      site = url;
    }
    const url = withQuery(site, query);
    const { browser, page, userAgent } = await openRemotePage(options, url);
    open.push(() => browser.close());
    const [endpoint, version] = [withoutSecrets(options.connect ?? ''), browser.version()];
    console.log(`${options.browser} ${version} at ${endpoint}: ${userAgent}`);
    /** @type {RunLog} */
    const log = { adapter: null, rows: [] };
    /** @type {unknown} */
    const failure = await runRemotely(page, url, options, log).then(
      () => null,
      (error) => error,
    );
    const { screenshot: path, json: file } = options;
    // a page that hangs or is closed has no picture; the exit code is that of the run
    if (path !== undefined)
      await page
        .screenshot({ path, fullPage: true, timeout: 10_000 })
        .catch(({ message }) => console.error(`no screenshot: ${message.split('\n')[0]}`));
    if (file !== undefined) {
      const environment = {
        ...{ at: new Date().toISOString(), commit: commit(), endpoint, userAgent, adapter: log.adapter },
        browser: { name: options.browser, version },
        // a proxy's options hold its password
        launch: options.launch && { ...options.launch, proxy: undefined },
        // the dev server of this machine has another port each time
        site: options.url ?? 'this machine’s dev server',
        query: new URL(url).search,
      };
      const { code = 1, message = null } = /** @type {Partial<CommandError>} */ (failure ?? { code: 0 });
      const told = { environment, exitCode: code, error: message, rows: log.rows };
      writeFileSync(file, `${JSON.stringify(told, null, 2)}\n`);
    }
    if (log.rows.length > 0) console.log(`\n${summary(log.rows, reportLines(log.rows))}`);
    if (failure !== null) throw failure;
  };
  let code = 0;
  try {
    code = await Promise.race([work().then(() => 0), interrupted]);
  } finally {
    // the end of the process closes what does not close in time
    for (const close of open.reverse()) await inTime(close(), 5000, () => new Error('not closed')).catch(() => {});
  }
  if (code !== 0) process.exit(code);
}
