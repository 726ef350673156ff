/** npm run correctness: see ./correctness/options.mjs, or --help. */
import { launchChromium, NoBrowserError } from './browser/launch.mjs';
import { hadNoWebGpu, StalledError, watchPage } from './browser/watch-page.mjs';
import { help, parseOptions, UsageError } from './correctness/options.mjs';
import { makeTable, passed } from './correctness/report.mjs';
import { startDevServer } from './dev-server.mjs';
import { makeStatusLine } from './status-line.mjs';

const EXIT = { ok: 0, wrong: 1, usage: 2, noAdapter: 3, stalled: 4 };

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function main(args) {
  const options = parseOptions(args);
  if (options === 'help') {
    console.log(help);
    return EXIT.ok;
  }
  const { server, url } = await startDevServer();
  try {
    if (options === 'list') {
      const { describeCases } = /** @type {typeof import('../dev/cases/select.js')} */ (
        await server.ssrLoadModule('/cases/select.ts')
      );
      console.log(describeCases());
      return EXIT.ok;
    }
    // The page's own modules say here too what there is to run, so that a case which the page leaves out is noticed.
    const { parseKnobs } = /** @type {typeof import('../dev/bench/knobs.js')} */ (
      await server.ssrLoadModule('/bench/knobs.ts')
    );
    const { formatCaseAddress } = /** @type {typeof import('../dev/cases/address.js')} */ (
      await server.ssrLoadModule('/cases/address.ts')
    );
    const { cases } = refusalsAsUsage(() => parseKnobs(options.query));
    const expected = cases.map(({ address, placement }) => `${formatCaseAddress(address)}, ${placement}`);
    return await runCases(`${url}?${options.query}`, options, expected);
  } finally {
    await server.close();
  }
}

/**
 * @template T
 * @param {() => T} parse
 * @returns {T}
 */
function refusalsAsUsage(parse) {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * @param {string} url
 * @param {import('./correctness/options.mjs').Options} options
 * @param {readonly string[]} cases each with its placement
 */
async function runCases(url, options, cases) {
  const { browser, source, kind } = await launchChromium(options.adapter);
  console.log(`Chromium: ${source}; adapter: ${kind}; ${cases.length} checks\n`);
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(`page: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(`page: ${message.text()}`);
    });

    const missing = new Set(cases);
    const total = missing.size;
    const status = makeStatusLine();
    const started = Date.now();
    let failures = 0;
    /** @type {ReturnType<typeof makeTable> | null} */
    let table = null;
    const end = await watchPage(page, url, {
      firstProgressSeconds: options.stallSeconds,
      stallSeconds: options.stallSeconds,
      onProgress: ({ doing, done, total: runs }) => status.show(`${done}/${runs} ${doing}`),
      onRow(row) {
        if (row.event === 'init') {
          const { adapter } = row;
          const name = [adapter.vendor, adapter.architecture, adapter.device].filter(Boolean).join(' ') || 'unnamed';
          table = makeTable(cases, `${name}${adapter.software ? ', software' : ''}`);
          status.print(table.head);
        } else if (row.event === 'case') {
          missing.delete(`${row.case}, ${row.placement}`);
          if (!passed(row) || row.runs !== options.runs) failures++;
          if (table !== null) status.print(table.row(row));
        }
      },
    }).finally(() => status.clear());

    const seconds = ((Date.now() - started) / 1000).toFixed(0);
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
    console.log(`\nAll ${total} agree with the oracles, ${seconds} s.`);
    return EXIT.ok;
  } finally {
    await browser.close();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`correctness: ${error instanceof Error ? error.message : error}`);
  process.exitCode =
    error instanceof UsageError
      ? EXIT.usage
      : error instanceof NoBrowserError
        ? EXIT.noAdapter
        : error instanceof StalledError
          ? EXIT.stalled
          : EXIT.wrong;
}
