/** npm run correctness: see ./correctness/options.mjs, or --help. */
import { adapterLine } from './adapter/adapter-line.mjs';
import { openBench } from './builds.mjs';
import { progress, refusalsAsUsage, runCommand, say } from './command-line.mjs';
import { command, parseOptions } from './correctness/options.mjs';

const EXIT = { ok: 0, wrong: 1, noAdapter: 3, stalled: 4 };

/** Of the whole list, on SwiftShader and two busy cores (README). */
const CASES_A_SECOND = 3.8;

/**
 * The modules that a browser takes come late, so that a mistake is told at once.
 *
 * @param {ReturnType<typeof parseOptions>} options
 * @returns {Promise<number>} the exit code
 */
async function check({ query, runs, adapter: request, list, stallSeconds }) {
  const { describeCases, parseKnobs, formatCaseAddress, passed } = await openBench();
  if (list) {
    console.log(describeCases());
    return EXIT.ok;
  }
  // what there is to run is said here too, so that a case which the page leaves out is noticed
  const { cases } = refusalsAsUsage(() => parseKnobs(query));
  /** @param {string} name @param {string | null | undefined} placement none: whichever the engine takes, on the CPU none at all */
  const keyOf = (name, placement) => (placement ? `${name}, ${placement}` : name);
  const missing = new Set(cases.map(({ address, placement }) => keyOf(formatCaseAddress(address), placement)));
  const total = missing.size;
  const seconds = (total * runs) / CASES_A_SECOND;
  if (seconds > 60) console.log(`About ${Math.round(seconds / 60)} min on two cores that play GPU.`);

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
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(`page: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(`page: ${message.text()}`);
    });

    const started = Date.now();
    let failures = 0;
    const end = await watchPage(page, `${url}?${query}`, {
      firstProgressSeconds: stallSeconds,
      stallSeconds,
      onProgress: ({ doing, done, total: all }) => progress(`${done}/${all} ${doing}`),
      onRow(row) {
        if (row.event === 'init') {
          say(`${adapterLine(row.adapter)}\n`);
        } else if (row.event === 'case') {
          const { case: name, placement, agrees, onCurve, identical, medianMs, error } = row;
          if (!missing.delete(keyOf(name, placement))) missing.delete(name);
          const right = passed(row) && row.runs === runs;
          if (!right) failures++;
          const wrong = `WRONG: agrees ${agrees}, on the curve ${onCurve}, identical ${identical}; ${error ?? ''}`;
          say(`${(medianMs?.toFixed(0) ?? '–').padStart(6)} ms  ${keyOf(name, placement)}: ${right ? 'right' : wrong}`);
        }
      },
    }).finally(() => progress(''));

    if (end.adapter === null) {
      console.error(`No engine: ${end.error}`);
      return hadNoWebGpu(end) ? EXIT.noAdapter : EXIT.wrong;
    }
    for (const name of missing) console.error(`did not run: ${name}`);
    if (failures > 0 || missing.size > 0 || end.status !== 'done') {
      const unrun = missing.size > 0 ? `, ${missing.size} did not run` : '';
      console.error(`\nWRONG: ${failures} of ${total} failed${unrun}. ${end.error ?? ''}`);
      return EXIT.wrong;
    }
    console.log(`\nAll ${total} agree with the oracles, ${((Date.now() - started) / 1000).toFixed(0)} s.`);
    return EXIT.ok;
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
