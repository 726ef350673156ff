/** The command line of `npm run correctness`. */
import { adapterOption, anyText, flag, integer, listOf, parseCommand, repeatable, valued } from '../command-line.mjs';

const DEFAULT_LOGNS = [8, 10, 12];

/** Knobs of the page that are passed on unchanged. */
const knobs = {
  curve: valued('bn254', 'the curve; the help of the page lists the curves', anyText),
  group: valued('g1', 'its group: g1, or g2 for curves that have one', anyText),
  encoding: valued('le', 'the encoding of the points that are loaded', anyText),
  seed: valued('1', 'seed of the points and scalars', anyText),
  walkerpriv: valued(
    '0|1',
    "only one placement of the scratch: workgroup (0) or private (1); 'turns': each case with one of the two",
    anyText,
  ),
  ...Object.fromEntries(
    ['walkertpb', 'walkers', 'c', 'fieldproduct', 'backend', 'workers', 'cpubelow', 'checks'].map((name) => [
      name,
      valued('…', 'a knob of the engine, as on the page', anyText),
    ]),
  ),
};

export const command = {
  usage: `usage: npm run correctness -- [options]

Opens the dev page in a headless Chromium and computes every case with both placements of the prefix scratch, three
times each. It compares the results with the oracles (noble) and with each other.`,
  options: {
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
    adapter: adapterOption,
    stall: valued('120', 'the run fails after this many seconds without progress', integer(1, 86_400), 120),
    list: flag('list the sets and distributions'),
  },
  notes: `Environment: PW_EXECUTABLE names the Chromium. Without it, Playwright's own, the system's or the one from npm is used.

Exit code: 0 all agree · 1 a disagreement, or a case did not run · 2 bad usage · 3 no browser or no adapter · 4 stalled`,
};

/**
 * Reads the arguments as the page's query and the options of the driver.
 *
 * @param {string[]} args
 * @throws UsageError
 */
export function parseOptions(args) {
  const {
    all,
    cases,
    runs = all ? 1 : 3,
    logns,
    ns = [],
    list,
    adapter = 'auto',
    stall,
    ...rest
  } = parseCommand(command, args);
  const given = all ? ['all', 'encodings', ...cases] : cases.length > 0 ? cases : ['core'];
  const sizes = [...(logns ?? (ns.length > 0 ? [] : DEFAULT_LOGNS)).map((log) => 2 ** log), ...ns];
  const query = new URLSearchParams({ autorun: 'msm-cross-check', reps: String(runs), n: sizes.join(',') });
  for (const filter of given.flatMap((text) => text.split(';'))) query.append('case', filter.trim());
  for (const [knob, value] of Object.entries({ ...rest, walkerpriv: rest.walkerpriv ?? (all ? 'turns' : undefined) })) {
    if (value !== undefined) query.set(knob, value);
  }
  return { query, runs, adapter, list, stallSeconds: stall };
}
