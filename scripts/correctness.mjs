/** npm run correctness: see ./correctness/options.mjs, or --help. */
import { adapterLine } from './adapter/adapter-line.mjs';
import { openBench } from './builds.mjs';
import { progress, refusalsAsUsage, runCommand, say } from './command-line.mjs';
import { command, parseOptions } from './correctness/options.mjs';

const EXIT = { ok: 0, wrong: 1, noAdapter: 3, stalled: 4 };

/** Cases a second of the whole list, on SwiftShader with two busy cores (README). */
const CASES_A_SECOND = 3.8;

/** @typedef {typeof import('../dev/bench/index.js')} Library */

/**
 * Returns the key of a case with a placement of the scratch. Without a placement the engine chooses
 * one; on the CPU there is none.
 *
 * @param {string} name
 * @param {string | null | undefined} placement
 */
const keyOf = (name, placement) => (placement ? `${name}, ${placement}` : name);

/** Follows the checks of a run: which are missing, and how many failed. */
class Checks {
  /** Keys of the checks that the page has not reported yet. @type {Set<string>} */
  missing;
  failures = 0;
  /** @type {Library['passed']} */
  #passed;
  #runs;

  /** @param {Library} library @param {ReturnType<Library['parseKnobs']>['cases']} cases @param {number} runs */
  constructor({ formatCaseAddress, passed }, cases, runs) {
    this.missing = new Set(cases.map(({ address, placement }) => keyOf(formatCaseAddress(address), placement)));
    this.#passed = passed;
    this.#runs = runs;
  }

  /** Prints a row of the page, and counts it. @param {import('../dev/bench/run.js').MsmBench['rows'][number]} row */
  take(row) {
    if (row.event === 'init') {
      say(`${adapterLine(row.adapter)}\n`);
    } else if (row.event === 'case') {
      const { case: name, placement, agrees, onCurve, identical, medianMs, error } = row;
      if (!this.missing.delete(keyOf(name, placement))) this.missing.delete(name);
      const right = this.#passed(row) && row.runs === this.#runs;
      if (!right) this.failures++;
      const wrong = `WRONG: agrees ${agrees}, on the curve ${onCurve}, identical ${identical}; ${error ?? ''}`;
      say(`${(medianMs?.toFixed(0) ?? '–').padStart(6)} ms  ${keyOf(name, placement)}: ${right ? 'right' : wrong}`);
    }
  }
}

/** Opens a page that prints its errors. @param {import('playwright').Browser} browser */
async function openPage(browser) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`page: ${message.text()}`);
  });
  return page;
}

/**
 * Prints the verdict of a run that has ended.
 *
 * @param {import('./browser/watch-page.mjs').BenchState} end
 * @param {Checks} checks
 * @param {number} total
 * @param {number} seconds
 * @returns {boolean} whether all checks passed
 */
function reportEnd(end, { missing, failures }, total, seconds) {
  for (const name of missing) console.error(`did not run: ${name}`);
  if (failures > 0 || missing.size > 0 || end.status !== 'done') {
    const unrun = missing.size > 0 ? `, ${missing.size} did not run` : '';
    console.error(`\nWRONG: ${failures} of ${total} failed${unrun}. ${end.error ?? ''}`);
    return false;
  }
  console.log(`\nAll ${total} agree with the oracles, ${seconds.toFixed(0)} s.`);
  return true;
}

/**
 * Runs the cases in a browser. The modules that start a browser are imported late, so that a usage
 * error is reported at once.
 *
 * @param {ReturnType<typeof parseOptions>} options
 * @returns {Promise<number>} the exit code
 */
async function check({ query, runs, adapter: request, list, stallSeconds }) {
  const library = await openBench();
  if (list) {
    console.log(library.describeCases());
    return EXIT.ok;
  }
  // the cases are listed here as well, so that a case that the page leaves out is noticed
  const { cases } = refusalsAsUsage(() => library.parseKnobs(query));
  const checks = new Checks(library, cases, runs);
  const total = checks.missing.size;
  const seconds = (total * runs) / CASES_A_SECOND;
  if (seconds > 60) console.log(`About ${Math.round(seconds / 60)} min on two cores with a software adapter.`);

  const { launchChromium, NoBrowserError } = await import('./browser/launch.mjs');
  const { hadNoWebGpu, StalledError, watchPage } = await import('./browser/watch-page.mjs');
  const { startDevServer } = await import('./dev-server.mjs');
  const { server, url } = await startDevServer();
  /** @type {import('playwright').Browser | undefined} */
  let browser;
  try {
    const launched = await launchChromium(request);
    browser = launched.browser;
    console.log(`Chromium: ${launched.source}; adapter: ${launched.kind}; ${total} checks\n`);
    const page = await openPage(browser);
    const started = Date.now();
    const end = await watchPage(page, `${url}?${query}`, {
      firstProgressSeconds: stallSeconds,
      stallSeconds,
      onProgress: ({ doing, done, total: all }) => progress(`${done}/${all} ${doing}`),
      onRow: (row) => checks.take(row),
    }).finally(() => progress(''));

    if (end.adapter === null) {
      console.error(`No engine: ${end.error}`);
      return hadNoWebGpu(end) ? EXIT.noAdapter : EXIT.wrong;
    }
    return reportEnd(end, checks, total, (Date.now() - started) / 1000) ? EXIT.ok : EXIT.wrong;
  } catch (error) {
    if (!(error instanceof NoBrowserError || error instanceof StalledError)) throw error;
    console.error(`correctness: ${error.message}`);
    return error instanceof StalledError ? EXIT.stalled : EXIT.noAdapter;
  } finally {
    await browser?.close();
    await server.close();
  }
}

await runCommand(command, async () => {
  process.exitCode = await check(parseOptions(process.argv.slice(2)));
});
