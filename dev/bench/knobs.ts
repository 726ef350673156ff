/** The knobs of the bench: what a URL or a command line may say, and what that means. Everything else is refused by name. */
import {
  type CaseAddress,
  maxPoints,
  parseInteger,
  parsePointDistribution,
  parseScalarDistribution,
  parseSeed,
} from '../cases/address.js';
import { placementInTurn } from '../cases/list.js';
import { selectCases } from '../cases/select.js';
import { peerNames } from '../peers/index.js';
import { listItems, parseIntegers } from './lists.js';
import { type Mode, modeNames, modes, msmModes } from './modes.js';
import type { Placement } from './rows.js';
import { engineKnobs, makeSetting, type Setting } from './settings.js';

/** What a knob is, for the form and for help; the engine's are in settings.ts. */
export interface RunKnob {
  readonly label: string;
  readonly help: string;
  /** The modes that it means something to. */
  readonly modes: readonly Mode[];
}

const timed: readonly Mode[] = ['msm-bench', 'msm-trace', 'accum-ab', 'sweep'];

/** What to run, in the order of the form. */
export const runKnobs = {
  autorun: {
    label: 'What to run',
    help: 'Each answers a question; in a URL without it nothing starts.',
    modes: modeNames,
  },
  logn: {
    label: 'Sizes, log₂ n',
    help: 'Sizes as powers of two: 10 or 10,12,14 or 10..18. Default 12; 8,10 for the cross-check.',
    modes: msmModes,
  },
  n: { label: 'Other sizes', help: 'Sizes that are no powers of two: 1000 or 1000,4097.', modes: msmModes },
  points: { label: 'Points', help: 'How the points are distributed.', modes: msmModes },
  scalars: { label: 'Scalars', help: 'How the scalars are distributed.', modes: msmModes },
  case: {
    label: 'Cases',
    help: 'A case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
    modes: ['msm-cross-check'],
  },
  reps: {
    label: 'Repetitions',
    help: 'Timed repetitions (default 5; 7 in a sweep; 12 pairs of A and B), or runs of each case (default 3).',
    modes: [...msmModes, 'field-bench'],
  },
  seed: { label: 'Seed', help: 'What all points and scalars are drawn from. Default 1.', modes: msmModes },
  peers: {
    label: 'Beside it',
    help: `What is timed in the same run, in turns: ${peerNames.join(', ')}, or none. Default: each up to the size that it is quick at.`,
    modes: ['msm-bench'],
  },
  chains: { label: 'Chains', help: 'Independent chains a thread, 1 or 1,2,4,8. Default 1,4.', modes: ['field-bench'] },
  variants: {
    label: 'Products',
    help: 'The library’s own arithmetic (library, the default), or other products as well (all).',
    modes: ['field-bench'],
  },
} as const satisfies Readonly<Record<string, RunKnob>>;
export type RunKnobName = keyof typeof runKnobs;

/** In these the engine's knobs count. */
export const tunedModes = msmModes;

/** A case, and where the walker keeps its prefix products in it; undefined leaves that to the engine. */
export interface PlacedCase {
  readonly address: CaseAddress;
  readonly placement: Placement | undefined;
}

export interface Knobs {
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
}

const bothPlacements: readonly Placement[] = ['workgroup', 'private'];
const maxLogn = Math.log2(maxPoints);
const MOST_SETTINGS = 64;

/** A knob that only one side of a comparison has: `a.walkerpriv`. */
const sideKnob = /^([ab])\.(.+)$/;

function parseMode(text: string): Mode {
  if (!Object.hasOwn(modes, text)) {
    throw new RangeError(`autorun: "${text}" is not a mode; there are ${modeNames.join(', ')}`);
  }
  return text as Mode;
}

function oneOf<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new RangeError(`${name}: "${text}" is not ${words.join(' or ')}`);
  return word;
}

const isEngineKnob = (name: string): boolean => Object.hasOwn(engineKnobs, name);
const isRunKnob = (name: string): name is RunKnobName => Object.hasOwn(runKnobs, name);

/** Refuses what no knob is called, what is given twice, and what the mode does not know. */
function checkNames(query: URLSearchParams, mode: Mode | null): void {
  for (const name of query.keys()) {
    const [, , ofSide] = sideKnob.exec(name) ?? [];
    if (!isRunKnob(name) && !isEngineKnob(ofSide ?? name)) {
      const known = [...Object.keys(runKnobs), ...Object.keys(engineKnobs)].join(', ');
      throw new RangeError(
        ofSide !== undefined && isRunKnob(ofSide)
          ? `${name}: the same for A and B; write it as ${ofSide}`
          : `unknown knob "${name}"; there are ${known}`,
      );
    }
    if (name !== 'case' && query.getAll(name).length > 1) throw new RangeError(`${name}: given more than once`);
    if (mode === null) continue;
    const known: readonly Mode[] = isRunKnob(name)
      ? runKnobs[name].modes
      : ofSide !== undefined
        ? ['accum-ab']
        : tunedModes;
    if (!known.includes(mode)) {
      throw new RangeError(`${name}: means nothing to autorun=${mode}; it is for ${known.join(', ')}`);
    }
  }
}

/** The settings that the engine's knobs ask for. */
function parseSettings(query: URLSearchParams, mode: Mode | null): Setting[] {
  const given = (prefix: string): [string, string][] =>
    Object.keys(engineKnobs).flatMap((name): [string, string][] => {
      const text = query.get(prefix + name);
      // turns are no setting of one engine
      return text === null || (name === 'walkerpriv' && text === 'turns') ? [] : [[name, text]];
    });
  const common = given('');
  if (mode === 'accum-ab') {
    const [a, b] = ['a.', 'b.'].map((side) => makeSetting(new Map([...common, ...given(side)]))) as [Setting, Setting];
    if (a.name === b.name) {
      throw new RangeError(
        'autorun: A and B are the same; give one of them another knob, such as a.walkerpriv and b.walkerpriv',
      );
    }
    return [a, b];
  }
  if (mode !== 'sweep' && mode !== null) return [makeSetting(new Map(common))];
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
function parsePlacements(
  query: URLSearchParams,
  mode: Mode | null,
): (address: CaseAddress) => readonly (Placement | undefined)[] {
  const text = query.get('walkerpriv');
  if (text === 'turns') {
    if (mode !== 'msm-cross-check') throw new RangeError('walkerpriv: turns are for autorun=msm-cross-check');
    return (address) => [placementInTurn(address)];
  }
  if (mode !== 'msm-cross-check') return () => [undefined];
  if (text === null) return () => bothPlacements;
  const [setting] = parseSettings(query, mode) as [Setting];
  return () => [setting.tuning.walkerPrefixMemory];
}

function parsePeers(text: string): string[] {
  if (text === 'none') return [];
  return [...new Set(text.split(',').map((name) => oneOf('peers', name.trim(), peerNames)))];
}

/**
 * @throws RangeError that names the knob
 */
export function parseKnobs(query: URLSearchParams): Knobs {
  const read = <T>(name: RunKnobName, parse: (text: string) => T): T | undefined => {
    const text = query.get(name);
    return text === null ? undefined : parse(text);
  };
  const mode = read('autorun', parseMode) ?? null;
  checkNames(query, mode);
  const logn = read('logn', (text) => parseIntegers('logn', text, 0, maxLogn));
  const n = read('n', (text) => parseIntegers('n', text, 0, maxPoints));
  const defaultLogn = n !== undefined ? [] : mode === 'msm-cross-check' ? [8, 10] : [12];
  const sizes = [...new Set([...(logn ?? defaultLogn).map((log) => 2 ** log), ...(n ?? [])])];
  if (mode !== null && timed.includes(mode) && sizes.includes(0))
    throw new RangeError('n: "0" takes no time; 1 or more');
  const seed = read('seed', parseSeed) ?? 1;
  const points = read('points', parsePointDistribution);
  const scalars = read('scalars', parseScalarDistribution);
  const filters = query.getAll('case');
  if (filters.length > 0) {
    if (points !== undefined) throw new RangeError('points: part of the case; give one of the two knobs');
    if (scalars !== undefined) throw new RangeError('scalars: part of the case; give one of the two knobs');
  } else {
    filters.push(`points=${points ?? 'distinct'},scalars=${scalars ?? 'random'}`);
  }
  const placementsOf = parsePlacements(query, mode);
  const defaultReps = mode === 'msm-cross-check' ? 3 : mode === 'accum-ab' ? 12 : mode === 'sweep' ? 7 : 5;
  return {
    mode,
    cases: selectCases(filters, sizes, seed).flatMap((address) =>
      placementsOf(address).map((placement) => ({ address, placement })),
    ),
    reps: read('reps', (text) => parseInteger('reps', text, 1, 1000)) ?? defaultReps,
    seed,
    settings: parseSettings(query, mode),
    peers: read('peers', parsePeers) ?? null,
    chains: read('chains', (text) => parseIntegers('chains', text, 1, 16)) ?? [1, 4],
    variants: read('variants', (text) => oneOf('variants', text, ['library', 'all'])) ?? 'library',
  };
}
