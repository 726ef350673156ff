/** Runs the bench page in a remote browser: `npm run bench -- run --connect ws://…`. */
import { writeFileSync } from 'node:fs';
import { commit } from '../builds.mjs';
import { inTime } from '../in-time.mjs';
import { withQuery } from '../page-query.mjs';
import { endingOf } from './ending.mjs';
import { openRemotePage, withoutSecrets } from './open-page.mjs';
import { EXIT } from './options.mjs';
import { summary } from './report.mjs';
import { runRemotely } from './run.mjs';

/** Time to close the page, the browser and the server. The end of the process closes the rest. */
const CLOSING_MS = 5000;

/** Functions that close what is open, the latest last. @type {(() => Promise<void>)[]} */
const open = [];
let interrupted = false;

/** Closes everything, in the reverse order of opening. */
async function closeAll() {
  for (const close of open.splice(0).reverse()) {
    await inTime(close(), CLOSING_MS, () => new Error('not closed')).catch(() => {});
  }
}

/** Closes everything when the process is told to end. */
function closeOnSignals() {
  for (const [signal, number] of /** @type {const} */ ([
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ])) {
    process.once(signal, async () => {
      interrupted = true;
      await closeAll();
      process.exit(128 + number);
    });
  }
}

/**
 * Runs the page in the remote browser, reports, and closes everything.
 *
 * @param {typeof import('../../dev/bench/index.js')} library
 * @param {import('./options.mjs').Options} options
 */
export async function benchRemotely(library, options) {
  closeOnSignals();
  try {
    await bench(library, options);
  } catch (error) {
    // closing everything makes the run fail, and that failure is not reported
    if (!interrupted) throw error;
  } finally {
    await closeAll();
  }
}

/** @type {typeof benchRemotely} */
async function bench({ reportLines }, options) {
  let site = options.url;
  if (site === undefined) {
    const { startDevServer } = await import('../dev-server.mjs');
    const { server, url } = await startDevServer();
    open.push(() => server.close());
    site = url;
  }
  const url = withQuery(site, options.query);
  const { browser, page, userAgent } = await openRemotePage(options, url);
  open.push(() => browser.close());
  // farms take their tokens in headers and in the endpoint's query, so the query is not printed
  const endpoint = withoutSecrets(options.connect);
  console.log(`${options.browser} ${browser.version()} at ${endpoint}: ${userAgent}`);

  /** @type {import('./run.mjs').RunLog} */
  const log = { adapter: null, rows: [] };
  /** @type {unknown} */
  let failure = null;
  try {
    await runRemotely(page, url, options, log);
  } catch (error) {
    failure = error;
  }
  if (interrupted) return;
  if (options.screenshot !== undefined) await takePicture(page, options.screenshot);
  if (options.json !== undefined) {
    const { adapter, rows } = log;
    const environment = {
      ...{ at: new Date().toISOString(), commit: commit(), endpoint, userAgent, adapter },
      browser: { name: options.browser, version: browser.version() },
      // a proxy's options hold its password
      launch: options.launch && { ...options.launch, proxy: undefined },
      // the dev server of this machine has another port each time
      site: options.url ?? 'this machine’s dev server',
      query: new URL(url).search,
    };
    writeResult(options.json, environment, failure, rows);
  }
  if (log.rows.length > 0) console.log(`\n${summary(log.rows, reportLines(log.rows))}`);
  if (failure !== null) throw failure;
}

/**
 * Writes a run as JSON, also one that failed.
 *
 * @param {string} path
 * @param {object} environment
 * @param {unknown} failure null if there is none
 * @param {readonly import('./report.mjs').AnyRow[]} rows
 */
function writeResult(path, environment, failure, rows) {
  const { code: exitCode, message } = failure === null ? { code: EXIT.done, message: null } : endingOf(failure);
  writeFileSync(path, `${JSON.stringify({ environment, exitCode, error: message, rows }, null, 2)}\n`);
}

/**
 * Saves a picture of the page. A failure is reported and does not end the command.
 *
 * @param {import('playwright').Page} page
 * @param {string} path
 */
async function takePicture(page, path) {
  try {
    await page.screenshot({ path, type: 'png', fullPage: true, timeout: 10_000 });
  } catch (error) {
    // a page that hangs or is closed has no picture; the exit code is that of the run
    console.error(`no screenshot: ${/** @type {Error} */ (error).message.split('\n')[0]}`);
  }
}
