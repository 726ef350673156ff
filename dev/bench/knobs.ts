/** The knobs of the bench: what a URL or a command line may say, and what that means. Everything else is refused by name. */

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
import { placementInTurn } from '../cases/list.js';
import { selectCases } from '../cases/select.js';
import { curveNames, pairNames } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { peerNames } from '../peers/index.js';
import { parseTrace, type Trace } from '../routing/trace.js';
import { isList, listItems, parseIntegers } from './lists.js';
import { type Mix, mixes } from './modes/load/jobs.js';
import { rowNames } from './modes/targets/row.js';
import { cpuModes, isWithoutGpu, type Mode, modeNames, modes, msmModes, notOnPage } from './modes.js';
import { nearestNames } from './nearest-names.js';
import type { Placement } from './rows.js';
import {
  engineKnobs,
  isFlag,
  knobOfTuning,
  makeSetting,
  parseEngineKnob,
  type Setting,
  settingKnobs,
  sideKnobs,
} from './settings.js';

/** What a knob is, for the form and for help; the engine's are in settings.ts. */
export interface RunKnob {
  readonly label: string;
  readonly help: string;
  /** The modes that it means something to. */
  readonly modes: readonly Mode[];
}

/** Those of the threads of the CPU. */
const ofThreads: readonly Mode[] = ['cpu-distribution', 'cpu-pool'];

const timed: readonly Mode[] = ['msm-bench', 'msm-trace', 'accum-ab', 'sweep', 'loading', 'load', ...ofThreads];

/** Edwards curves have but the first. */
const defaultEncodings: readonly PointEncoding[] = ['le', 'ark-compressed'];

/** What to run, in the order of the form. */
export const runKnobs = {
  autorun: {
    label: 'What to run',
    help: 'Each answers a question; in a URL without it nothing starts.',
    modes: modeNames,
  },
  curve: {
    label: 'Curve',
    help: `Which curve’s points: ${curveNames.join(', ')}. Default ${defaultCurve}.`,
    modes: [...msmModes, 'crossover', 'replay', 'proofs', 'loading', 'load', 'calibrate', ...ofThreads],
  },
  group: {
    label: 'Group',
    help: `Which of the curve’s groups: g1 (default), or g2, which ${pairNames.join(', ')} have. Of one side of a comparison: that side’s.`,
    modes: [...msmModes, 'crossover', 'loading', 'load', 'calibrate', ...ofThreads],
  },
  encoding: {
    label: 'Encoding',
    help: `As what the points are loaded: le (default), or another that the library has for them. In the cross-check the sum is asked for in it, too.`,
    modes: msmModes,
  },
  encodings: {
    label: 'Encodings',
    help: `As what the points are loaded, in turns: be,gnark-compressed. The others are compared with the first. Default ${defaultEncodings.join(',')}, as far as the curve has them.`,
    modes: ['loading'],
  },
  logn: {
    label: 'Sizes, log₂ n',
    help: 'Sizes as powers of two: 10 or 10,12,14 or 10..18. Default 12; 8,10 for the cross-check, 10 for load, 14 for loading, proofs and on the threads of the CPU. The largest of the targets (16 on a software adapter, 20 on a GPU).',
    modes: [...msmModes, 'proofs', 'loading', 'load', ...ofThreads, 'targets'],
  },
  n: {
    label: 'Other sizes',
    help: 'Sizes that are no powers of two: 1000 or 1000,4097.',
    modes: [...msmModes, 'loading', ...ofThreads],
  },
  points: { label: 'Points', help: 'How the points are distributed.', modes: msmModes },
  scalars: { label: 'Scalars', help: 'How the scalars are distributed.', modes: msmModes },
  case: {
    label: 'Cases',
    help: 'A case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
    modes: ['msm-cross-check'],
  },
  reps: {
    label: 'Repetitions',
    help: 'Timed repetitions (default 5; 7 in a sweep, in field-bench, crossover and on the threads of the CPU; 12 pairs of A and B), or runs of each case (default 3); of each call of replay (default 1), or passes of load (default 3).',
    modes: [...msmModes, 'field-bench', 'crossover', 'replay', 'proofs', 'loading', 'load', ...ofThreads, 'targets'],
  },
  seed: {
    label: 'Seed',
    help: 'What all points and scalars are drawn from. Default 1.',
    modes: [...msmModes, 'crossover', 'replay', 'loading', 'load', ...ofThreads],
  },
  peers: {
    label: 'Beside it',
    help: `What is timed in the same run, in turns: ${peerNames.join(', ')}, or none. Default: each up to the size that it is quick at.`,
    modes: ['msm-bench'],
  },
  chains: { label: 'Chains', help: 'Independent chains a thread, 1 or 1,2,4,8. Default 1,4.', modes: ['field-bench'] },
  variants: {
    label: 'Products',
    help: 'The library’s own arithmetic (library, the default), or other products and batches of inversions as well (all).',
    modes: ['field-bench'],
  },
  threads: {
    label: 'Threads',
    help: 'Threads of a dispatch. Default 256 on a software adapter, 65536 on a GPU.',
    modes: ['field-bench'],
  },
  ms: { label: 'Dispatch, ms', help: 'How long a dispatch takes at least. Default 50.', modes: ['field-bench'] },
  trace: {
    label: 'Trace',
    help: 'Calls to replay, as JSON: [{ "n": 16384, "nonZero": 700, "bits": 253, "group": "g1" }, …]; all but n may be left out. Default: calls that are made up.',
    modes: ['replay'],
  },
  calls: { label: 'Calls', help: 'Calls that are made up. Default 40.', modes: ['replay'] },
  concurrency: {
    label: 'Callers',
    help: 'How many call at once, each as soon as it has its last result: 1,2,5,10,15,20 (the default). Without one way of sharing: the most of them.',
    modes: ['load'],
  },
  jobs: { label: 'Jobs', help: 'Sums of a pass, whoever calls. Default 60.', modes: ['load'] },
  mix: {
    label: 'Mix',
    help: 'Which sums: prover (the default), proof after proof of n constraints over three sets of points; or small ones, of n÷8 to 4n scalars over the same points.',
    modes: ['load'],
  },
  largest: { label: 'Largest n', help: 'Powers of two up to this. Default 4096.', modes: ['crossover'] },
  rows: { label: 'Rows', help: `Some of ${rowNames.join(', ')}. Default all.`, modes: ['targets'] },
  strict: {
    label: 'Strict',
    help: 'A target that is missed is a failure, too, as a wrong result is.',
    modes: ['targets', 'cpu-pool', 'proofs', 'load'],
  },
} as const satisfies Readonly<Record<string, RunKnob>>;
export type RunKnobName = keyof typeof runKnobs;

/** A case, and where the walker keeps its prefix products in it; undefined leaves that to the engine. */
export interface PlacedCase {
  readonly address: CaseAddress;
  readonly placement: Placement | undefined;
}

/** Its curve, group and encoding are those of all cases that name none, and of everything that is timed. */
export interface Knobs extends EncodedGroup {
  /** Null: nothing is to start. All else is then as {@link suggestedMode} would have it. */
  readonly mode: Mode | null;
  /** What to run; a case with two placements stands there twice, one after the other. */
  readonly cases: readonly PlacedCase[];
  readonly reps: number;
  readonly seed: number;
  /** A and B of a comparison, all of a sweep; one of everything else. */
  readonly settings: readonly Setting[];
  /** Null: those that are quick. */
  readonly peers: readonly string[] | null;
  readonly chains: readonly number[];
  readonly variants: 'library' | 'all';
  /** Of a dispatch; undefined: those that fill the device. */
  readonly threads: number | undefined;
  /** Of a dispatch, in milliseconds. */
  readonly leastMs: number;
  /** Of `loading`, each once. */
  readonly encodings: readonly PointEncoding[];
  /** Of `replay`; null: as many calls as `calls` says, made up. */
  readonly trace: Trace | null;
  readonly calls: number;
  /** Of `load`: callers at once, each number once; sums of a pass; and which. */
  readonly concurrency: readonly number[];
  readonly jobs: number;
  readonly mix: Mix;
  /** The most points of `crossover`. */
  readonly largest: number;
  /** The most points of `targets`, as a power of two; null: what suits the adapter. */
  readonly logn: number | null;
  /** Rows of the targets; null: all. */
  readonly rows: readonly string[] | null;
  /** Whether a target that is missed is a failure. */
  readonly strict: boolean;
}

/** Where it is not 5: enough for an interval of 95 %, where there is one to be told. */
const defaultReps: Partial<Record<Mode, number>> = {
  'msm-cross-check': 3,
  'accum-ab': 12,
  sweep: 7,
  'field-bench': 7,
  crossover: 7,
  replay: 1,
  load: 3,
  'cpu-distribution': 7,
  'cpu-pool': 7,
  targets: 6,
};

/** Where it is not 12: on the CPU enough to be worth several workers, and of what is done a thousand times so little that it takes minutes. */
const defaultLogns: Partial<Record<Mode, readonly number[]>> = {
  'msm-cross-check': [8, 10],
  load: [10],
  loading: [14],
  proofs: [14],
  'cpu-distribution': [14],
  'cpu-pool': [14],
};

const MOST_SETTINGS = 64;
const MOST_CALLERS = 1000;

/** Of which cold starts are measured. */
const LEAST_LOGN_OF_TARGETS = 10;

/** A knob that only one side of a comparison has: `a.walkerpriv`. */
const sideKnob = /^([ab])\.(.+)$/;

/** Something that a query says and cannot be; it begins with the name of the knob. */
export interface Problem {
  readonly text: string;
  /** The knob whose field is to be marked: of a mistyped name, the nearest. */
  readonly knob: string;
  /** The sweep that takes it. */
  readonly instead: URLSearchParams | null;
}

/** What a query comes to: knobs, or all that is wrong with it. */
export interface KnobReading {
  readonly knobs: Knobs | null;
  readonly problems: readonly Problem[];
  /** What was left out of account, and is no mistake. */
  readonly notes: readonly string[];
}

/** The knob that a message begins with: `logn` of `logn: "x"`, and `case` of `case "x"`. */
const nameAtStart = (text: string): string => /^[\w.]*/.exec(text)?.[0] ?? '';

/** Collects what is wrong instead of ending at the first. */
class Problems {
  readonly all: Problem[] = [];

  add(text: string, { instead = null, knob = nameAtStart(text) }: Partial<Problem> = {}): void {
    if (!this.all.some((problem) => problem.text === text)) this.all.push({ text, instead, knob });
  }

  /** What `read` gives, or `otherwise` where it refuses. */
  attempt<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.add(error.message);
      return otherwise;
    }
  }
}

function oneOf<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new RangeError(`${name}: "${text}" is not ${words.join(' or ')}`);
  return word;
}

const isEngineKnob = (name: string): boolean => settingKnobs.includes(name);
/** Of the engine, or of a side of a comparison. */
export const isSettingKnob = (name: string): boolean =>
  sideKnob.test(name) ? sideKnobs.includes(withoutSide(name)) : isEngineKnob(name);
const isRunKnob = (name: string): name is RunKnobName => Object.hasOwn(runKnobs, name);
/** `walkerpriv` of `a.walkerpriv`. */
export const withoutSide = (name: string): string => sideKnob.exec(name)?.[2] ?? name;
export const isKnob = (name: string): boolean => isRunKnob(name) || isSettingKnob(name);

const engineNames = ['', 'a.', 'b.'].flatMap((side) => Object.keys(engineKnobs).map((name) => side + name));
const knobNames = [...Object.keys(runKnobs), ...engineNames];

/** The query with each pair changed, or left out where `change` gives null. */
const replaced = (
  query: URLSearchParams,
  change: (name: string, value: string) => [string, string] | null,
): URLSearchParams =>
  new URLSearchParams([...query].map(([name, value]) => change(name, value)).filter((pair) => pair !== null));

function parseMode(text: string): Mode {
  if (Object.hasOwn(modes, text)) return text as Mode;
  const near = nearestNames(text, modeNames);
  const help = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${modeNames.join(', ')}`;
  throw new RangeError(`autorun: "${text}" is not a mode; ${help}`);
}

/** Refuses what is nearly the name of a knob; what is nobody's name is left out of account. */
function checkNames(query: URLSearchParams, problems: Problems): string[] {
  const notes: string[] = [];
  for (const name of new Set(query.keys())) {
    if (isKnob(name)) {
      if (name !== 'case' && query.getAll(name).length > 1) problems.add(`${name}: given more than once`);
    } else if (isRunKnob(withoutSide(name))) {
      problems.add(`${name}: the same for A and B; write it as ${withoutSide(name)}`);
    } else {
      const ofTuning = knobOfTuning(name);
      const near = ofTuning === null ? nearestNames(name, knobNames) : [ofTuning];
      const [knob] = near;
      if (knob !== undefined) problems.add(`${name}: no such knob; did you mean ${near.join(' or ')}?`, { knob });
      else notes.push(`${name} is no knob of the bench, and was ignored.`);
    }
  }
  return notes;
}

/** The modes that a knob means something to. */
const modesOf = (name: string): readonly Mode[] => {
  if (isRunKnob(name)) return runKnobs[name].modes;
  if (withoutSide(name) !== name) return ['accum-ab'];
  if (name === 'workers') return [...msmModes, ...ofThreads, 'proofs', 'load'];
  if (name === 'backend') return [...msmModes, 'proofs', 'load'];
  if (name === 'budget') return [...msmModes, 'load'];
  return name === 'build' ? [...msmModes, 'targets'] : msmModes;
};

/** Those that mean something to a mode, or to any. */
export const knobsOf = (mode: Mode | null): string[] =>
  [
    ...Object.keys(runKnobs),
    ...settingKnobs,
    ...['a.', 'b.'].flatMap((side) => sideKnobs.map((name) => side + name)),
  ].filter((name) => mode === null || modesOf(name).includes(mode));

/** Refuses what only programs can do. */
function checkPlace(query: URLSearchParams, mode: Mode, problems: Problems): void {
  const why = notOnPage(mode);
  if (why !== null) problems.add(`autorun: ${mode} is for a terminal, npm run bench -- ${mode}: ${why}`);
  for (const name of query.keys()) {
    if (withoutSide(name) === 'build') problems.add(`${name}: a page has no folders; npm run bench takes builds`);
  }
}

/** Refuses knobs that mean nothing to the mode. */
function checkMeaning(query: URLSearchParams, mode: Mode, problems: Problems): void {
  for (const name of query.keys()) {
    const known = isKnob(name) ? modesOf(name) : [mode];
    if (!known.includes(mode)) problems.add(`${name}: means nothing to autorun=${mode}; it is for ${known.join(', ')}`);
  }
}

/**
 * The query with what a knob of the engine means that is given without a value: a flag (`?walkerpriv`) is 1, and of any other
 * (`?walkertpb`) it is the default, which goes without saying. Of one side it overrules what both have, and stays.
 */
export const spelledOut = (query: URLSearchParams): URLSearchParams =>
  replaced(query, (name, value) => {
    const knob = withoutSide(name);
    if (value !== '' || !isEngineKnob(knob)) return [name, value];
    if (isFlag(knob)) return [name, '1'];
    return name !== knob && query.has(knob) ? [name, ''] : null;
  });

/** Knobs that a query names without a value, which leaves them to the engine: `walkertpb` of `?walkertpb`. */
export const leftToEngine = (query: URLSearchParams): string[] => [
  ...new Set(
    [...query].flatMap(([name, value]) =>
      value === '' && isSettingKnob(name) && !isFlag(withoutSide(name)) ? [name] : [],
    ),
  ),
];

/** Whether a run opens a GPU: one whose settings all compute on the CPU does not. */
export const needsGpu = ({ mode, settings }: Pick<Knobs, 'mode' | 'settings'>): boolean => {
  const asked = mode ?? 'msm-bench';
  return !isWithoutGpu(asked) && !(cpuModes.includes(asked) && settings.every(({ backend }) => backend === 'cpu'));
};

/** Refuses values that a knob of the engine cannot have. */
function checkValues(query: URLSearchParams, mode: Mode, problems: Problems): void {
  for (const [name, text] of query) {
    const knob = withoutSide(name);
    if (!isSettingKnob(name) || text === '') continue;
    if (knob === 'walkerpriv' && text === 'turns') {
      if (mode !== 'msm-cross-check') problems.add(`${name}: turns are for autorun=msm-cross-check`);
    } else if (mode === 'sweep') {
      for (const item of problems.attempt(() => listItems(name, text), []))
        problems.attempt(() => parseEngineKnob(knob, item, name), null);
    } else if (isList(text)) {
      const sweep = replaced(query, (each, value) =>
        each === name ? [knob, text] : isKnob(each) && modesOf(each).includes('sweep') ? [each, value] : null,
      );
      sweep.set('autorun', 'sweep');
      const instead = readKnobs(sweep).problems.length === 0 ? sweep : null;
      problems.add(`${name}: "${text}" is a list, and autorun=${mode} takes one value; autorun=sweep takes lists`, {
        instead,
      });
    } else {
      problems.attempt(() => parseEngineKnob(knob, text, name), null);
    }
  }
}

/** The settings that the engine's knobs, each right for itself, ask for. */
function parseSettings(query: URLSearchParams, mode: Mode): Setting[] {
  const given = (prefix: '' | 'a.' | 'b.'): [string, string][] =>
    (prefix === '' ? settingKnobs : sideKnobs).flatMap((name): [string, string][] => {
      const text = query.get(prefix + name);
      // turns are no setting of one engine
      return text === null || (name === 'walkerpriv' && text === 'turns') ? [] : [[name, text]];
    });
  const common = given('');
  if (mode === 'accum-ab') {
    const [a, b] = (['a.', 'b.'] as const).map((side) => makeSetting(new Map([...common, ...given(side)]))) as [
      Setting,
      Setting,
    ];
    if (a.name === b.name) {
      throw new RangeError(
        'autorun: A and B are the same; give one of them another knob, such as a.walkerpriv and b.walkerpriv',
      );
    }
    return [a, b];
  }
  if (mode !== 'sweep') return [makeSetting(new Map(common))];
  let all: [string, string][][] = [[]];
  for (const [name, text] of common) {
    all = listItems(name, text).flatMap((item) => all.map((some): [string, string][] => [...some, [name, item]]));
    if (all.length > MOST_SETTINGS) {
      throw new RangeError(`${name}: makes more than ${MOST_SETTINGS} settings; sweep fewer knobs at a time`);
    }
  }
  return all.map((some) => makeSetting(new Map(some)));
}

/** Where the prefix products go, case by case. Only the cross-check runs both. */
function placementsOf(
  query: URLSearchParams,
  mode: Mode,
  [setting]: readonly Setting[],
): (address: CaseAddress) => readonly (Placement | undefined)[] {
  // the CPU has no walker whose scratch could be in two places
  if (mode !== 'msm-cross-check' || setting?.backend === 'cpu') return () => [undefined];
  const text = query.get('walkerpriv');
  if (text === 'turns') return (address) => [placementInTurn(address)];
  return () => (text === null ? ['workgroup', 'private'] : [setting?.tuning.walkerPrefixMemory]);
}

function parsePeers(text: string): string[] {
  if (text === 'none') return [];
  return [...new Set(text.split(',').map((name) => oneOf('peers', name.trim(), peerNames)))];
}

/** What these knobs would be for, where they do not say it: the benchmark, unless more of them mean something to another mode. */
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

/** Reads a query to its end, whatever is wrong with it. */
export function readKnobs(asked: URLSearchParams, place: 'page' | 'terminal' = 'page'): KnobReading {
  const problems = new Problems();
  const query = spelledOut(asked);
  const notes = checkNames(query, problems);
  const read = <T>(name: RunKnobName, parse: (text: string) => T): T | undefined => {
    const text = query.get(name);
    return text === null ? undefined : problems.attempt(() => parse(text), undefined);
  };
  const autorun = read('autorun', parseMode);
  const mode = autorun ?? suggestedMode(query);
  checkMeaning(query, mode, problems);
  if (place === 'page') checkPlace(query, mode, problems);
  checkValues(query, mode, problems);
  const logn = read('logn', (text) =>
    parseIntegers('logn', text, mode === 'targets' ? LEAST_LOGN_OF_TARGETS : 0, Math.log2(maxPoints)),
  );
  const n = read('n', (text) => parseIntegers('n', text, 0, maxPoints));
  const defaultLogn = query.has('n') ? [] : (defaultLogns[mode] ?? [12]);
  const sizes = [...new Set([...(logn ?? defaultLogn).map((log) => 2 ** log), ...(n ?? [])])];
  if (timed.includes(mode) && sizes.includes(0)) problems.add('n: "0" takes no time; 1 or more');
  if (mode === 'msm-trace' && query.get('backend') === 'cpu')
    problems.add('backend: "cpu" has no passes to trace; autorun=msm-bench times the CPU');
  if (ofThreads.includes(mode) && query.get('workers') === '0')
    problems.add('workers: "0" leaves nothing to compare; 1 or more');
  const seed = read('seed', parseSeed) ?? 1;
  const curve = read('curve', parseCurve) ?? defaultCurve;
  const group = problems.attempt(() => curveGroup(curve, read('group', (text) => parseGroup(text)) ?? defaultGroup), {
    curve,
    group: defaultGroup,
  });
  const of = { ...group, encoding: read('encoding', (text) => parseEncoding(text, group)) ?? defaultEncoding };
  const points = read('points', parsePointDistribution);
  const scalars = read('scalars', parseScalarDistribution);
  const filters = query.getAll('case');
  if (filters.length > 0) {
    for (const name of ['points', 'scalars'])
      if (query.has(name)) problems.add(`${name}: part of the case; give one of the two knobs`);
    for (const filter of filters) problems.attempt(() => selectCases([filter], sizes, seed, of), []);
  } else {
    filters.push(`points=${points ?? 'distinct'},scalars=${scalars ?? 'random'}`);
    problems.attempt(() => selectCases(filters, sizes, seed, of), []);
  }
  const rest = {
    mode: autorun ?? null,
    ...of,
    reps: read('reps', (text) => parseInteger('reps', text, 1, 1000)) ?? defaultReps[mode] ?? 5,
    seed,
    peers: mode === 'msm-bench' ? (read('peers', parsePeers) ?? null) : [],
    chains: read('chains', (text) => parseIntegers('chains', text, 1, 16)) ?? [1, 4],
    variants: read('variants', (text) => oneOf('variants', text, ['library', 'all'])) ?? 'library',
    threads: read('threads', (text) => parseInteger('threads', text, 1, 2 ** 20)),
    leastMs: read('ms', (text) => parseInteger('ms', text, 1, 10_000)) ?? 50,
    encodings:
      read('encodings', (text) => [
        ...new Set(text.split(',').map((name) => parseEncoding(name.trim(), group, 'encodings'))),
      ]) ?? defaultEncodings.filter((encoding) => encodingsOf(group).includes(encoding)),
    trace: read('trace', parseTrace) ?? null,
    calls: read('calls', (text) => parseInteger('calls', text, 1, 10_000)) ?? 40,
    concurrency: read('concurrency', (text) => parseIntegers('concurrency', text, 1, MOST_CALLERS)) ?? [
      1, 2, 5, 10, 15, 20,
    ],
    jobs: read('jobs', (text) => parseInteger('jobs', text, 1, 10_000)) ?? 60,
    mix: read('mix', (text) => oneOf('mix', text, mixes)) ?? 'prover',
    largest: read('largest', (text) => parseInteger('largest', text, 1, 2 ** 16)) ?? 4096,
    logn: mode === 'targets' ? (logn?.at(-1) ?? null) : null,
    rows: read('rows', (text) => text.split(',').map((name) => oneOf('rows', name.trim(), rowNames))) ?? null,
    strict: query.has('strict'),
  };
  for (const call of rest.trace ?? []) problems.attempt(() => curveGroup(curve, call.group), null);
  const settings = problems.all.length > 0 ? [] : problems.attempt(() => parseSettings(query, mode), []);
  for (const { group } of settings)
    if (group !== null) problems.attempt(() => parseEncoding(of.encoding, curveGroup(curve, group)), null);
  if (problems.all.length > 0) return { knobs: null, problems: problems.all, notes };
  const placements = placementsOf(query, mode, settings);
  const cases = selectCases(filters, sizes, seed, of).flatMap((address) =>
    placements(address).map((placement) => ({ address, placement })),
  );
  return { knobs: { ...rest, settings, cases }, problems: [], notes };
}

/**
 * @throws RangeError with a line for everything that is wrong, each of which begins with the name of its knob
 */
export function parseKnobs(query: URLSearchParams, place?: 'page' | 'terminal'): Knobs {
  const { knobs, problems } = readKnobs(query, place);
  if (knobs === null) throw new RangeError(problems.map(problemText).join('\n'));
  return knobs;
}

/** A query as people write it: with the commas of lists. */
export const queryText = (query: URLSearchParams): string =>
  query.toString().replaceAll('%2C', ',').replaceAll('%3D', '=');

export const problemText = ({ text, instead }: Problem): string =>
  instead === null ? text : `${text}: ?${queryText(instead)}`;
