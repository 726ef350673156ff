/**
 * Parses the knobs of the bench from a URL or a command line. Unknown names and invalid values are
 * rejected.
 */

import type { PointEncoding } from '../../src/api/values.js';
import {
  type CaseAddress,
  curveGroup,
  defaultCurve,
  defaultEncoding,
  defaultGroup,
  type EncodedGroup,
  maxPoints,
  parseCurve,
  parseEncoding,
  parseGroup,
  parseInteger,
  parsePointDistribution,
  parseScalarDistribution,
  parseSeed,
} from '../cases/address.js';
import { selectCases } from '../cases/select.js';
import type { CurveGroup } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { peerNames } from '../peers/index.js';
import { checkHost, checkMeaning, checkNames, checkValues, spelledOut } from './check-knobs.js';
import { type Problem, Problems, problemText } from './knob-problems.js';
import { parseIntegers } from './lists.js';
import { type Mix, mixes } from './modes/load/jobs.js';
import { type System, systems } from './modes/proofs/system.js';
import { rowNames } from './modes/targets/row.js';
import { cpuModes, isWithoutGpu, type Mode, modeNames, modes } from './modes.js';
import { nearestNames } from './nearest-names.js';
import { parseSettings, placementsOf } from './parse-settings.js';
import type { Placement } from './rows.js';
import { defaultEncodings, ofThreads, type RunKnobName, timed } from './run-knobs.js';
import type { Setting } from './settings.js';

/** Host of a query: a page, which has no folders, or a terminal. */
export type KnobHost = 'page' | 'terminal';

/** A case, and where the walker keeps its prefix products; undefined leaves that to the engine. */
export interface PlacedCase {
  readonly address: CaseAddress;
  readonly placement: Placement | undefined;
}

/**
 * All knobs of a run. Curve, group and encoding hold for timed MSMs, and for cases that name none.
 */
export interface Knobs extends EncodedGroup {
  /** Null starts nothing; all else is then read for the {@link suggestedMode}. */
  readonly mode: Mode | null;
  /** Cases to run. A case with two placements is listed twice in a row. */
  readonly cases: readonly PlacedCase[];
  readonly reps: number;
  readonly seed: number;
  /** A and B of a comparison, all settings of a sweep, one setting otherwise. */
  readonly settings: readonly Setting[];
  /** Names of peers; null for those that are quick at the size. */
  readonly peers: readonly string[] | null;
  readonly chains: readonly number[];
  readonly variants: 'library' | 'all';
  /** Threads of a dispatch; undefined for as many as fill the device. */
  readonly threads: number | undefined;
  /** Shortest duration of a dispatch in milliseconds. */
  readonly leastMs: number;
  /** Distinct encodings of `loading`. */
  readonly encodings: readonly PointEncoding[];
  /** Callers of `load`, each number once. */
  readonly concurrency: readonly number[];
  /** Sums of a pass of `load`. */
  readonly jobs: number;
  readonly mix: Mix;
  /** Proof system of `proofs`. */
  readonly system: System;
  /** Largest number of points of `targets`, as a power of two; null for what suits the adapter. */
  readonly logn: number | null;
  /** Rows of the targets; null for all. */
  readonly rows: readonly string[] | null;
  /** True if a missed target is a failure. */
  readonly strict: boolean;
}

/**
 * Default repetitions by mode; 5 elsewhere. They suffice for a 95 % interval where one is reported.
 */
const defaultReps: Partial<Record<Mode, number>> = {
  'msm-cross-check': 3,
  'accum-ab': 12,
  sweep: 7,
  'field-bench': 7,
  load: 3,
  'cpu-distribution': 7,
  'cpu-pool': 7,
  targets: 6,
};

/**
 * Default sizes by mode; 12 elsewhere. CPU modes need enough work for several workers, and load
 * stays within minutes.
 */
const defaultLogns: Partial<Record<Mode, readonly number[]>> = {
  'msm-cross-check': [8, 10],
  load: [10],
  loading: [14],
  proofs: [14],
  'cpu-distribution': [14],
  'cpu-pool': [14],
};

const MOST_CALLERS = 1000;

/** Smallest largest size of `targets`: cold starts are measured at this size. */
const LEAST_LOGN_OF_TARGETS = 10;

/** Result of reading a query: knobs, or all problems. */
export interface KnobReading {
  readonly knobs: Knobs | null;
  readonly problems: readonly Problem[];
  /** Parameters that were ignored without being a mistake. */
  readonly notes: readonly string[];
}

function oneOf<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new RangeError(`${name}: "${text}" is not ${words.join(' or ')}`);
  return word;
}

function parseMode(text: string): Mode {
  if (Object.hasOwn(modes, text)) return text as Mode;
  const near = nearestNames(text, modeNames);
  const help = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${modeNames.join(', ')}`;
  throw new RangeError(`autorun: "${text}" is not a mode; ${help}`);
}

/** Returns whether a run opens a GPU. It does not if all settings compute on the CPU. */
export const needsGpu = ({ mode, settings }: Pick<Knobs, 'mode' | 'settings'>): boolean => {
  const asked = mode ?? 'msm-bench';
  return !isWithoutGpu(asked) && !(cpuModes.includes(asked) && settings.every(({ backend }) => backend === 'cpu'));
};

function parsePeers(text: string): string[] {
  if (text === 'none') return [];
  return [...new Set(text.split(',').map((name) => oneOf('peers', name.trim(), peerNames)))];
}

/**
 * Returns the mode for a query that names none: the benchmark, unless another mode uses more of the
 * knobs.
 */
export function suggestedMode(query: URLSearchParams): Mode {
  const modesToTry: readonly Mode[] = ['msm-bench', 'sweep', 'accum-ab', 'msm-cross-check', 'field-bench'];
  const problemsOf = (mode: Mode): number => {
    const asked = new URLSearchParams(query);
    asked.set('autorun', mode);
    return readKnobs(asked).problems.length;
  };
  const counts = modesToTry.map(problemsOf);
  return modesToTry[counts.indexOf(Math.min(...counts))] as Mode;
}

type Read = <T>(name: RunKnobName, parse: (text: string) => T) => T | undefined;

/**
 * Returns a function that reads one knob: undefined if it is absent, or invalid, which adds a
 * problem.
 */
const readerOf =
  (query: URLSearchParams, problems: Problems): Read =>
  (name, parse) => {
    const text = query.get(name);
    return text === null ? undefined : problems.attempt(() => parse(text), undefined);
  };

/** Reads `logn` and `n`, and the sizes that both give. */
function readSizes(read: Read, query: URLSearchParams, mode: Mode, problems: Problems) {
  const logn = read('logn', (text) =>
    parseIntegers('logn', text, mode === 'targets' ? LEAST_LOGN_OF_TARGETS : 0, Math.log2(maxPoints)),
  );
  const n = read('n', (text) => parseIntegers('n', text, 0, maxPoints));
  const defaultLogn = query.has('n') ? [] : (defaultLogns[mode] ?? [12]);
  const sizes = [...new Set([...(logn ?? defaultLogn).map((log) => 2 ** log), ...(n ?? [])])];
  if (timed.includes(mode) && sizes.includes(0)) problems.add('n: "0" cannot be timed; use 1 or more');
  return { logn, sizes };
}

/** Rejects settings that leave the mode nothing to measure. */
function checkBackend(query: URLSearchParams, mode: Mode, problems: Problems): void {
  if (mode === 'msm-trace' && query.get('backend') === 'cpu')
    problems.add('backend: "cpu" has no passes to trace; use autorun=msm-bench to time the CPU');
  if (ofThreads.includes(mode) && query.get('workers') === '0')
    problems.add('workers: "0" leaves nothing to compare; use 1 or more');
}

/** Reads the curve, its group, and the encoding of its points. */
function readGroup(read: Read, problems: Problems): EncodedGroup {
  const curve = read('curve', parseCurve) ?? defaultCurve;
  const group = problems.attempt(() => curveGroup(curve, read('group', (text) => parseGroup(text)) ?? defaultGroup), {
    curve,
    group: defaultGroup,
  });
  return { ...group, encoding: read('encoding', (text) => parseEncoding(text, group)) ?? defaultEncoding };
}

/** Reads the filters of cases, or makes one of the knobs `points` and `scalars`. */
function readFilters(
  read: Read,
  query: URLSearchParams,
  select: (filters: readonly string[]) => void,
  problems: Problems,
): string[] {
  const points = read('points', parsePointDistribution);
  const scalars = read('scalars', parseScalarDistribution);
  const filters = query.getAll('case');
  if (filters.length === 0) {
    const own = [`points=${points ?? 'distinct'},scalars=${scalars ?? 'random'}`];
    problems.attempt(() => select(own), undefined);
    return own;
  }
  for (const name of ['points', 'scalars'])
    if (query.has(name)) problems.add(`${name}: the case names it already; give one of the two knobs`);
  for (const filter of filters) problems.attempt(() => select([filter]), undefined);
  return filters;
}

/** Reads the knobs that depend on no other knob but the mode and the group. */
const readOthers = (read: Read, mode: Mode, group: CurveGroup) => ({
  reps: read('reps', (text) => parseInteger('reps', text, 1, 1000)) ?? defaultReps[mode] ?? 5,
  peers: mode === 'msm-bench' ? (read('peers', parsePeers) ?? null) : [],
  chains: read('chains', (text) => parseIntegers('chains', text, 1, 16)) ?? [1, 4],
  variants: read('variants', (text) => oneOf('variants', text, ['library', 'all'])) ?? 'library',
  threads: read('threads', (text) => parseInteger('threads', text, 1, 2 ** 20)),
  leastMs: read('ms', (text) => parseInteger('ms', text, 1, 10_000)) ?? 50,
  encodings:
    read('encodings', (text) => [
      ...new Set(text.split(',').map((name) => parseEncoding(name.trim(), group, 'encodings'))),
    ]) ?? defaultEncodings.filter((encoding) => encodingsOf(group).includes(encoding)),
  concurrency: read('concurrency', (text) => parseIntegers('concurrency', text, 1, MOST_CALLERS)) ?? [
    1, 2, 5, 10, 15, 20,
  ],
  jobs: read('jobs', (text) => parseInteger('jobs', text, 1, 10_000)) ?? 60,
  mix: read('mix', (text) => oneOf('mix', text, mixes)) ?? 'prover',
  system: read('system', (text) => oneOf('system', text, systems)) ?? 'groth16',
  rows: read('rows', (text) => text.split(',').map((name) => oneOf('rows', name.trim(), rowNames))) ?? null,
});

/** Reads a whole query, and collects all problems in it. */
export function readKnobs(asked: URLSearchParams, host: KnobHost = 'page'): KnobReading {
  const problems = new Problems();
  const query = spelledOut(asked);
  const notes = checkNames(query, problems);
  const read = readerOf(query, problems);
  const autorun = read('autorun', parseMode);
  const mode = autorun ?? suggestedMode(query);
  checkMeaning(query, mode, problems);
  if (host === 'page') checkHost(query, mode, problems);
  checkValues(query, mode, problems, (sweep) => readKnobs(sweep).problems.length === 0);
  const { logn, sizes } = readSizes(read, query, mode, problems);
  checkBackend(query, mode, problems);
  const seed = read('seed', parseSeed) ?? 1;
  const of = readGroup(read, problems);
  const { curve, group } = of;
  const select = (filters: readonly string[]): CaseAddress[] => selectCases(filters, sizes, seed, of);
  const filters = readFilters(read, query, select, problems);
  const rest = {
    ...{ mode: autorun ?? null, ...of, seed, strict: query.has('strict') },
    ...readOthers(read, mode, { curve, group }),
    logn: mode === 'targets' ? (logn?.at(-1) ?? null) : null,
  };
  const settings = problems.all.length > 0 ? [] : problems.attempt(() => parseSettings(query, mode), []);
  for (const { group: own } of settings)
    if (own !== null) problems.attempt(() => parseEncoding(of.encoding, curveGroup(curve, own)), null);
  if (problems.all.length > 0) return { knobs: null, problems: problems.all, notes };
  const placements = placementsOf(query, mode, settings);
  const cases = select(filters).flatMap((address) => placements(address).map((placement) => ({ address, placement })));
  return { knobs: { ...rest, settings, cases }, problems: [], notes };
}

/** @throws RangeError with a line for each problem, which begins with the name of its knob */
export function parseKnobs(query: URLSearchParams, host?: KnobHost): Knobs {
  const { knobs, problems } = readKnobs(query, host);
  if (knobs === null) throw new RangeError(problems.map(problemText).join('\n'));
  return knobs;
}
