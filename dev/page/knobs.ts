/** The knobs of the page: what its URL may say, and what that means. Everything else is refused by name. */
import type { Tuning } from '../../src/tuning.js';
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
import type { Placement } from './rows.js';

export const modes = {
  'msm-bench': 'Benchmark',
  'msm-cross-check': 'Cross-check',
  'field-bench': 'Field arithmetic',
} as const;
export type Mode = keyof typeof modes;

/** Every knob with its one line of help, in the order in which the page shows them. */
export const knobHelp = {
  autorun:
    'msm-bench checks the answer and times repetitions; msm-cross-check compares case after case with the oracles; field-bench measures products, squares and inversions beside the device’s peaks. Without it nothing starts.',
  logn: 'Sizes as powers of two: 10 or 10,12,14. Default 12 for the benchmark, 8,10 for the cross-check.',
  n: 'Sizes that are no powers of two: 1000 or 1000,4097.',
  reps: 'Timed repetitions (default 5), or runs of each case (default 3).',
  seed: 'What all points and scalars are drawn from. Default 1.',
  points: 'How the points are distributed.',
  scalars: 'How the scalars are distributed.',
  case: 'Cross-check only: a case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
  walkerpriv:
    'Where the walker keeps its prefix products: private (1) or workgroup memory (0). The cross-check runs both by default; with “turns” each case runs with one of them.',
  walkertpb: 'Threads in a workgroup of the walker.',
  walkers: 'Tasks that one walker thread advances together; they share each inversion.',
  fieldcarry: 'How carries are computed: by shifts, or through floats, for devices that are slow at shifts.',
  c: 'Bits of a scalar window.',
  chains: 'field-bench only: independent chains a thread, 1 or 1,2,4,8. Default 1,4.',
  variants: 'field-bench only: the library’s own arithmetic (library, the default), or other products as well (all).',
  cpubelow:
    'MSMs of at most so many scalars go to the CPU. Default 0 on this page, which is about the GPU; the library has a default of its own.',
  checks: 'Look on the GPU after every stage whether it did what it should (1). Slow; a failing check names the stage.',
} as const;
export type KnobName = keyof typeof knobHelp;

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
  readonly chains: readonly number[];
  readonly variants: 'library' | 'all';
  readonly tuning: Partial<Tuning>;
}

const bothPlacements: readonly Placement[] = ['workgroup', 'private'];
const maxLogn = Math.log2(maxPoints);

type Placements = (address: CaseAddress) => readonly (Placement | undefined)[];

function parsePlacements(text: string): Placements {
  if (text === 'turns') return (address) => [placementInTurn(address)];
  const placement = parseInteger('walkerpriv', text, 0, 1) === 1 ? 'private' : 'workgroup';
  return () => [placement];
}

function parseMode(text: string): Mode {
  if (!Object.hasOwn(modes, text)) {
    throw new RangeError(`autorun: "${text}" is not a mode; there are ${Object.keys(modes).join(', ')}`);
  }
  return text as Mode;
}

const parseList = (name: string, text: string, most: number, least = 0): number[] =>
  text.split(',').map((item) => parseInteger(name, item.trim(), least, most));

function oneOf<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new RangeError(`${name}: "${text}" is not ${words.join(' or ')}`);
  return word;
}

/**
 * @throws RangeError that names the knob
 */
export function parseKnobs(query: URLSearchParams): Knobs {
  for (const name of query.keys()) {
    if (!Object.hasOwn(knobHelp, name)) {
      throw new RangeError(`unknown knob "${name}"; there are ${Object.keys(knobHelp).join(', ')}`);
    }
    if (name !== 'case' && query.getAll(name).length > 1) throw new RangeError(`${name}: given more than once`);
  }
  const read = <T>(name: KnobName, parse: (text: string) => T): T | undefined => {
    const text = query.get(name);
    return text === null ? undefined : parse(text);
  };
  const integer = (name: KnobName, least: number, most: number) =>
    read(name, (text) => parseInteger(name, text, least, most));

  const mode = read('autorun', parseMode) ?? null;
  const logn = read('logn', (text) => parseList('logn', text, maxLogn));
  const n = read('n', (text) => parseList('n', text, maxPoints));
  const defaultLogn = n !== undefined ? [] : mode === 'msm-cross-check' ? [8, 10] : [12];
  const sizes = [...new Set([...(logn ?? defaultLogn).map((log) => 2 ** log), ...(n ?? [])])];
  const seed = read('seed', parseSeed) ?? 1;
  const points = read('points', parsePointDistribution);
  const scalars = read('scalars', parseScalarDistribution);
  const filters = query.getAll('case');
  if (filters.length > 0) {
    if (mode === 'msm-bench') throw new RangeError('case: only for autorun=msm-cross-check; use points and scalars');
    if (points !== undefined) throw new RangeError('points: part of the case; give one of the two knobs');
    if (scalars !== undefined) throw new RangeError('scalars: part of the case; give one of the two knobs');
  } else {
    filters.push(`points=${points ?? 'distinct'},scalars=${scalars ?? 'random'}`);
  }

  if (mode === 'msm-bench' && query.get('walkerpriv') === 'turns') {
    throw new RangeError('walkerpriv: turns are for autorun=msm-cross-check');
  }
  const placementsOf: Placements =
    read('walkerpriv', parsePlacements) ?? (() => (mode === 'msm-cross-check' ? bothPlacements : [undefined]));
  const threads = integer('walkertpb', 1, 256);
  const slots = integer('walkers', 1, 64);
  const windowBits = integer('c', 2, 16);
  const fieldCarry = read('fieldcarry', (text) => oneOf('fieldcarry', text, ['shift', 'float']));
  const checks = integer('checks', 0, 1);
  const cpuBelow = integer('cpubelow', 0, 2 ** 16) ?? 0;
  return {
    mode,
    cases: selectCases(filters, sizes, seed).flatMap((address) =>
      placementsOf(address).map((placement) => ({ address, placement })),
    ),
    reps: integer('reps', 1, 1000) ?? (mode === 'msm-cross-check' ? 3 : 5),
    chains: read('chains', (text) => parseList('chains', text, 16, 1)) ?? [1, 4],
    variants: read('variants', (text) => oneOf('variants', text, ['library', 'all'])) ?? 'library',
    tuning: {
      cpuBelow,
      ...(threads === undefined ? {} : { walkerThreadsPerWorkgroup: threads }),
      ...(slots === undefined ? {} : { walkerSlots: slots }),
      ...(fieldCarry === undefined ? {} : { fieldCarry }),
      ...(windowBits === undefined ? {} : { windowBits }),
      ...(checks === undefined ? {} : { checks: checks === 1 }),
    },
  };
}
