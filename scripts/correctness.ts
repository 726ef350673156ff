/** npm run correctness: see --help. */
import { parseKnobs } from '../dev/bench/knobs.js';
import { passed } from '../dev/bench/modes/msm-cross-check.js';
import { rowsOf } from '../dev/bench/rows.js';
import { formatCaseAddress } from '../dev/cases/address.js';
import { describeCases } from '../dev/cases/select.js';
import { knobOptions } from './bench.js';
import {
  adapterOption,
  CommandError,
  command,
  flag,
  integer,
  listOf,
  refusalsAsUsage,
  repeatable,
  runCommand,
  say,
  type Values,
  valued,
} from './command-line.js';
import { startDevServer } from './dev-server.js';
import { followAndReport } from './remote.js';

const DEFAULT_LOGNS = [8, 10, 12];

/** Knobs of the cross-check that go to the page as they are. */
const knobs = Object.fromEntries(
  Object.entries(knobOptions('msm-cross-check')).filter(
    ([name]) => !['autorun', 'build', 'case', 'logn', 'n', 'points', 'reps', 'scalars'].includes(name),
  ),
);

const options = {
  logns: valued('8,10,12', 'sizes as powers of two; none by default if --ns is given', listOf(integer(0, 22))),
  ns: valued('1000,4097', 'sizes as numbers', listOf(integer(0, 2 ** 22))),
  all: flag(`run the whole list once: every distribution of points with every one of scalars, at sizes from 0 to
    2^17 - 1, and a case in every encoding of every group of every curve, with the two placements of the scratch
    in turns; short for --cases 'all;encodings' --runs 1 --walkerpriv turns`),
  cases: repeatable(
    'core',
    `the cases at each size: a set, or an address with points= and scalars=; * or a missing part means all.
    Separate several with ';' or repeat the option. Default core.`,
  ),
  runs: valued('3', 'runs of each case with each placement', integer(1, 1000)),
  ...knobs,
  walkerpriv: repeatable(
    '0|1',
    "only one placement of the scratch: workgroup (0) or private (1); 'turns': each case with one of the two",
  ),
  adapter: adapterOption,
  stall: valued('120', 'the run fails after this many seconds without progress', integer(1, 86_400), 120),
  list: flag('list the sets and distributions'),
};

function askedFor({ all, cases, runs = all ? 1 : 3, logns, ns = [], ...others }: Values<typeof options>) {
  const { list, adapter = 'auto', stall, ...rest } = others;
  const given = all ? ['all', 'encodings', ...cases] : cases.length > 0 ? cases : ['core'];
  const sizes = [...(logns ?? (ns.length > 0 ? [] : DEFAULT_LOGNS)).map((log) => 2 ** log), ...ns];
  const query = new URLSearchParams({ autorun: 'msm-cross-check', reps: String(runs), n: sizes.join(',') });
  for (const filter of given.flatMap((text) => text.split(';'))) query.append('case', filter.trim());
  for (const [knob, values] of Object.entries(rest as object as Record<string, string[]>)) {
    for (const value of values) query.append(knob, value);
  }
  if (all && !query.has('walkerpriv')) query.set('walkerpriv', 'turns');
  return { query, runs, adapter, list, stall };
}

/** Cases a second of the whole list, on SwiftShader with two busy cores (README). */
const CASES_A_SECOND = 3.8;

/**
 * Runs the cases in a browser. The module that starts it is imported late, because Playwright takes
 * a second.
 *
 * @throws CommandError
 */
async function check({ query, runs, adapter, list, stall }: ReturnType<typeof askedFor>): Promise<void> {
  if (list) return console.log(describeCases());
  /** Names a case with its placement; the engine chooses one where there is none. */
  const keyOf = (name: string, placement: string | null | undefined) => (placement ? `${name}, ${placement}` : name);
  // the cases are listed here as well, so that a case that the page leaves out is noticed
  const { cases } = refusalsAsUsage(() => parseKnobs(query));
  const missing = new Set(cases.map(({ address, placement }) => keyOf(formatCaseAddress(address), placement)));
  const total = missing.size;
  const minutes = Math.round((total * runs) / CASES_A_SECOND / 60);
  if (minutes > 0) console.log(`About ${minutes} min on two cores with a software adapter.`);

  const { launchChromium } = await import('./browser/launch.js');
  const { browser, source, kind } = await launchChromium(adapter);
  const { server, url } = await startDevServer();
  try {
    console.log(`Chromium: ${source}; adapter: ${kind}; ${total} checks`);
    const rows = await followAndReport(await browser.newPage(), `${url}?${query}`, { adapter: 'any', stall }, (row) => {
      if (row.event !== 'case') return;
      const key = keyOf(row.case, row.placement);
      if (row.runs === runs && !missing.delete(key)) missing.delete(row.case);
      say(`${(row.medianMs?.toFixed(0) ?? '–').padStart(6)} ms  ${key}: ${passed(row) ? 'right' : 'WRONG'}`);
    });
    for (const name of missing) console.error(`did not run: ${name}`);
    if (missing.size > 0) throw new CommandError(1, `\nWRONG: ${missing.size} of ${total} did not run.`);
    const { seconds } = rowsOf(rows, 'end')[0] ?? { seconds: Number.NaN };
    console.log(`\nAll ${total} agree with the oracles, ${seconds.toFixed(0)} s.`);
  } finally {
    await browser.close();
    await server.close();
  }
}

const own = command({
  usage: `usage: npm run correctness -- [options]

Opens the dev page in a headless Chromium and computes every case with both placements of the prefix scratch, three
times each. It compares the results with the oracles (noble) and with each other.`,
  options,
  notes: `Environment: PW_EXECUTABLE names the Chromium. Without it, Playwright's own, the system's or the one from npm is used.

Exit code: 0 all agree · 1 a disagreement, or a case did not run · 2 bad usage · 3 no browser or no adapter · 4 stalled
7 the page crashed`,
  run: (given) => check(askedFor(given)),
});

export const correctness = (): Promise<void> => runCommand(own);
