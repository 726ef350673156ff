/**
 * Programs of the fuzzer: an engine, and a sequence of calls on it. A program is plain data, so
 * that it can be printed, shrunk and run again.
 */
import type { Tuning } from '../../src/api/tuning.js';
import type { PointEncoding, ScalarEncoding } from '../../src/api/values.js';
import type { Group } from '../../src/curves/names.js';
import { fieldProducts } from '../../src/field/modulus.js';
import {
  type PointDistribution,
  type PointDistributionName,
  pointDistributions,
} from '../cases/point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from '../cases/scalar-distributions.js';
import {
  type CurveGroup,
  type CurveName,
  edwardsNames,
  groupsOf,
  oracles,
  weierstrassNames,
} from '../oracle/curves.js';
import { encodingsOf, hasInfinity } from '../oracle/encodings.js';
import { Random } from '../oracle/known-bases.js';

/** Points or scalars of one distribution. A mixture concatenates several segments. */
export interface Segment<Name extends string> {
  readonly from: Name;
  readonly n: number;
  readonly seed: number;
}

/** Scalars for the bases from `offset` on. */
export interface FuzzVector {
  readonly scalars: readonly Segment<ScalarDistributionName>[];
  readonly offset: number;
}

/** An `msm` call over bases loaded for it; with `more` vectors an `msmBatch` call. */
export interface FuzzCall extends FuzzVector {
  readonly points: readonly Segment<PointDistributionName>[];
  readonly precompute?: number;
  readonly encoding?: PointEncoding;
  /** Checks that all points are in the group, which they are. */
  readonly checkSubgroup?: true;
  readonly scalarEncoding?: ScalarEncoding;
  /** Encoding of the sums. */
  readonly result?: PointEncoding;
  /** Loads the scalars of all vectors as one vector first. */
  readonly loaded?: true;
  readonly more?: readonly FuzzVector[];
}

export const vectorsOf = (call: FuzzCall): readonly FuzzVector[] => [call, ...(call.more ?? [])];

/** Backends besides the default: the GPU, with the CPU up to `tuning.cpuBelow`. */
export const fuzzBackends = ['cpu', 'both', 'auto'] as const;

export interface FuzzProgram {
  readonly backend?: (typeof fuzzBackends)[number];
  /** Default: BN254. */
  readonly curve?: CurveName;
  /** Default: the first group. */
  readonly group?: Group;
  readonly tuning: Partial<Tuning>;
  /** The GPU checks the stages of every call. */
  readonly checks?: true;
  readonly memoryBudget: number | null;
  readonly calls: readonly FuzzCall[];
}

export const length = (segments: readonly Segment<string>[]): number => segments.reduce((sum, { n }) => sum + n, 0);

const pointNames = Object.keys(pointDistributions) as PointDistributionName[];
const scalarNames = Object.keys(scalarDistributions) as ScalarDistributionName[];

/**
 * Shapes of the walker. There are few, because each is a pipeline of its own, and compiling one
 * takes longer than most programs run. Sizes that divide nothing reveal mistakes.
 */
const walkerShapes: readonly Partial<Tuning>[] = [
  { walkerPrefixMemory: 'private' },
  { walkerPrefixMemory: 'workgroup' },
  { walkerPrefixMemory: 'private', walkerSlots: 1, walkerThreadsPerWorkgroup: 1 },
  { walkerPrefixMemory: 'workgroup', walkerSlots: 3, walkerThreadsPerWorkgroup: 37 },
  { walkerPrefixMemory: 'private', walkerSlots: 7, walkerThreadsPerWorkgroup: 64 },
  { walkerPrefixMemory: 'workgroup', walkerSlots: 32, walkerThreadsPerWorkgroup: 256 },
];
const sortShapes: readonly Partial<Tuning>[] = [
  {},
  { sortThreadsPerWorkgroup: 64, sortEntriesPerThread: 256 },
  { sortThreadsPerWorkgroup: 3, sortEntriesPerThread: 5 },
];

/** Draws boundary sizes, and any others. */
const drawSize = (random: Random, most: number): number => {
  const kind = random.below(4);
  if (kind === 0) return random.below(Math.min(most, 16) + 1);
  if (kind === 1) {
    const power = 2 ** random.below(Math.floor(Math.log2(most)) + 1);
    return Math.min(most, Math.max(0, power - 1 + random.below(3)));
  }
  // log-uniform
  return Math.floor(2 ** ((random.u32() / 2 ** 32) * Math.log2(most + 1)));
};

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random.below(items.length)] as Item;

const drawMixture = <Name extends string>(random: Random, names: readonly Name[], n: number): Segment<Name>[] => {
  const parts = 1 + random.below(3);
  const segments: Segment<Name>[] = [];
  let rest = n;
  for (let i = 0; i < parts; i++) {
    const share = i === parts - 1 ? rest : random.below(rest + 1);
    if (share > 0) segments.push({ from: pick(random, names), n: share, seed: random.below(1000) });
    rest -= share;
  }
  return segments;
};

const drawVector = (random: Random, bases: number): FuzzVector => {
  const offset = random.below(2) === 0 ? 0 : random.below(bases + 1);
  const n = random.below(2) === 0 ? bases - offset : random.below(bases - offset + 1);
  return { scalars: drawMixture(random, scalarNames, n), offset };
};

const encodings = ['be', 'le-montgomery'] as const;

const drawCall = (random: Random, mostPoints: number): FuzzCall => {
  const bases = drawSize(random, mostPoints);
  return {
    points: drawMixture(random, pointNames, bases),
    ...drawVector(random, bases),
    ...(random.below(6) === 0 && { encoding: pick(random, encodings) }),
    ...(random.below(6) === 0 && { scalarEncoding: pick(random, encodings) }),
    ...(random.below(4) === 0 && { precompute: 2 + random.below(random.below(4) === 0 ? 63 : 8) }),
    ...(random.below(4) === 0 && {
      more: Array.from({ length: 1 + random.below(4) }, () => drawVector(random, bases)),
    }),
  };
};

/** Returns the call with points and sums in encodings of a group. */
const encoded = (random: Random, call: FuzzCall, of: CurveGroup): FuzzCall => {
  const all = encodingsOf(of);
  const encoding = random.below(3) === 0 ? pick(random, all) : call.encoding;
  const writable = (from: PointDistributionName): PointDistributionName =>
    encoding !== undefined && !hasInfinity(encoding) && (pointDistributions[from] as PointDistribution).hasInfinity
      ? 'pairs'
      : from;
  return {
    ...call,
    points: call.points.map(({ from, ...rest }) => ({ from: writable(from), ...rest })),
    ...(encoding && { encoding }),
    ...(random.below(6) === 0 && { checkSubgroup: true }),
    ...(random.below(4) === 0 && { result: pick(random, all.filter(hasInfinity)) }),
  };
};

/** Moves a program to the second group, whose points are twice as long. */
const movedToG2 = ({ memoryBudget, ...rest }: FuzzProgram): FuzzProgram => ({
  ...rest,
  group: 'g2',
  memoryBudget: memoryBudget === null ? null : 2 * memoryBudget,
});

/** Moves a program to an Edwards curve, with its encodings. */
const movedToEdwards = (random: Random, { tuning, ...program }: Omit<FuzzProgram, 'curve' | 'group'>): FuzzProgram => {
  const curve = pick(random, edwardsNames);
  // SwiftShader's compiler crashes on checked dot products on ed25519, where a is large and p has
  // 255 bits
  const isTooMuch = program.checks === true && tuning.fieldProduct === 'dot4';
  return {
    ...program,
    tuning: isTooMuch ? { ...tuning, fieldProduct: 'unsigned' } : tuning,
    curve,
    calls: program.calls.map((call) => encoded(random, call, { curve, group: 'g1' })),
  };
};

/** Moves a program to another backend, without `cpuBelow`. */
export const movedTo = (backend: FuzzProgram['backend'], { tuning, ...rest }: FuzzProgram): FuzzProgram => {
  const { cpuBelow: _, ...others } = tuning;
  return backend === undefined ? { ...rest, tuning } : { ...rest, backend, tuning: others };
};

/** Draws a program before its backend is chosen. */
const drawOnGpu = (seed: number, index: number, mostPoints: number): FuzzProgram => {
  const random = new Random(seed * 1_000_003 + index);
  const maybe = <Value>(value: () => Value): Value | undefined => (random.below(2) === 0 ? value() : undefined);
  const knobs = {
    windowBits: maybe(() => 2 + random.below(random.below(8) === 0 ? 15 : 11)),
    walkerTasks: maybe(() => 1 + random.below(2 ** random.below(13))),
    walkerEntriesPerTask: maybe(() => 1 + random.below(2 ** random.below(8))),
    walkerLeastThreads: maybe(() => 1 + random.below(2 ** random.below(9))),
    // checks on the GPU are rare: they are slow, and need a second pipeline for each shape of the
    // walker
    checks: random.below(8) === 0 ? true : undefined,
    fieldProduct: random.below(3) === 0 ? pick(random, fieldProducts) : undefined,
    // some programs also use the CPU
    cpuBelow: random.below(4) === 0 ? random.below(400) : 0,
  };
  const { checks, ...drawn } = knobs;
  const checked = checks && { checks };
  const tuning = Object.fromEntries(
    Object.entries({ ...pick(random, walkerShapes), ...pick(random, sortShapes), ...drawn }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Partial<Tuning>;
  // other curves are rare, because each has pipelines of its own
  const curve = random.below(8) === 0 ? pick(random, weierstrassNames) : undefined;
  // a budget needs room for the buckets of the widest window, and for points of 96 bytes
  const memoryBudget = random.below(4) === 0 ? ((tuning.windowBits ?? 0) > 10 ? 96 : 9) * 2 ** 20 : null;
  const calls = Array.from({ length: 1 + random.below(4) }, () => drawCall(random, mostPoints));
  // drawn last, so that programs of a seed stayed the same when the second group was added
  const inG2 = groupsOf(curve ?? 'bn254').includes('g2') && random.below(6) === 0;
  // SwiftShader expands dot products, and its compiler crashes on them for fields of 381 bits, for
  // pairs, and if checked with a ≠ 0; engines refuse them there
  const isWide =
    inG2 || (curve !== undefined && oracles[curve].coordinateBytes > 32) || (curve === 'p256' && checks === true);
  const program: FuzzProgram = {
    ...(curve && { curve }),
    ...checked,
    tuning: isWide && tuning.fieldProduct === 'dot4' ? { ...tuning, fieldProduct: 'unsigned' } : tuning,
    memoryBudget,
    calls: calls.map((call) => encoded(random, call, { curve: curve ?? 'bn254', group: inG2 ? 'g2' : 'g1' })),
  };
  // drawn after all else, so that 15 of 16 programs of a seed stayed the same when Edwards curves
  // were added
  if (random.below(16) === 0) return movedToEdwards(random, { ...checked, tuning, memoryBudget, calls });
  return inG2 ? movedToG2(program) : program;
};

/** Draws program number `index` of a seed, the same on every machine. */
export const drawProgram = (seed: number, index: number, mostPoints = 4096): FuzzProgram => {
  // drawn from a source of its own, so that programs of a seed stayed the same when backends were
  // added
  const random = new Random(seed * 999_983 + index + 7);
  const backend = random.below(4) === 0 ? pick(random, fuzzBackends) : undefined;
  const { calls, ...program } = movedTo(backend, drawOnGpu(seed, index, mostPoints));
  return { ...program, calls: calls.map((call) => (random.below(4) === 0 ? { ...call, loaded: true } : call)) };
};
