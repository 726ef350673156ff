/** npm run bench:remote: see ./remote/options.mjs, or --help. */
import { writeFileSync } from 'node:fs';
import { openBench } from './builds.mjs';
import { asksForHelp, helpText } from './command-line.mjs';
import { withQuery } from './page-query.mjs';
import { endingOf } from './remote/ending.mjs';
import { describeEnvironment } from './remote/environment.mjs';
import { openRemotePage } from './remote/open-page.mjs';
import { command, EXIT, parseOptions } from './remote/options.mjs';
import { summary } from './remote/report.mjs';
import { runRemotely } from './remote/run.mjs';

/** What does not close by then, the end of the process does. */
const CLOSING_MS = 5000;

/** What is open, and how it is closed. @type {(() => Promise<void>)[]} */
const open = [];
let interrupted = false;

async function closeAll() {
  for (const close of open.splice(0).reverse()) {
    await Promise.race([close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, CLOSING_MS).unref())]);
  }
}

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

/** @param {import('./remote/options.mjs').Options} options */
async function bench(options) {
  let site = options.url;
  const { reportOfAny } = await openBench();
  if (site === undefined) {
    const { startDevServer } = await import('./dev-server.mjs');
    const { server, url } = await startDevServer();
    open.push(() => server.close());
    site = url;
  }
  const url = withQuery(site, options.query);
  const opened = await openRemotePage(options, url);
  const { browser, page } = opened;
  open.push(() => browser.close());
  const environment = describeEnvironment(options, opened, url);
  console.log(`${options.browser} ${browser.version()} at ${environment.endpoint}: ${environment.userAgent}`);

  /** @type {import('./remote/run.mjs').Told} */
  const told = { adapter: null, rows: [] };
  /** @type {unknown} */
  let failure = null;
  try {
    await runRemotely(page, url, options, told);
  } catch (error) {
    failure = error;
  }
  if (interrupted) return;
  if (options.screenshot !== undefined) await takePicture(page, options.screenshot);
  if (options.json !== undefined) {
    const { code: exitCode, message } = failure === null ? { code: EXIT.done, message: null } : endingOf(failure);
    const { adapter, rows } = told;
    const text = JSON.stringify({ environment: { ...environment, adapter }, exitCode, error: message, rows }, null, 2);
    writeFileSync(options.json, `${text}\n`);
  }
  if (told.rows.length > 0) console.log(`\n${summary(told.rows, reportOfAny(told.rows))}`);
  if (failure !== null) throw failure;
}

/**
 * @param {import('playwright').Page} page
 * @param {string} path
 */
async function takePicture(page, path) {
  try {
    await page.screenshot({ path, type: 'png', fullPage: true, timeout: 10_000 });
  } catch (error) {
    // A page that hangs or is gone has no picture; what became of the run counts.
    console.error(`no screenshot: ${/** @type {Error} */ (error).message.split('\n')[0]}`);
  }
}

try {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) console.log(helpText(command));
  else await bench(parseOptions(args));
} catch (error) {
  if (!interrupted) {
    const { code, message, advice } = endingOf(error);
    console.error(`bench:remote: ${message}${advice && `\n${advice}.`}`);
    process.exitCode = code;
  }
} finally {
  await closeAll();
}
