/**
 * Programs of the fuzzer: an engine, and a sequence of calls on it. fast-check draws and shrinks
 * them. A program is plain data, so that it can be printed and run again.
 */
import fc from 'fast-check';
import type { Tuning } from '../../src/api/device.js';
import type { PointEncoding, ScalarEncoding } from '../../src/api/values.js';
import type { Group } from '../../src/curves/more-curves.js';
import { fieldProducts } from '../../src/field/modulus.js';
import {
  type PointDistribution,
  type PointDistributionName,
  pointDistributions,
} from '../cases/point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from '../cases/scalar-distributions.js';
import { type CurveName, edwardsNames, groupsOf, oracles, weierstrassNames } from '../oracle/curves.js';
import { encodingsOf, hasInfinity } from '../oracle/encodings.js';

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
  { walkerCoordinates: 'xyzz' },
  { walkerCoordinates: 'xyzz', walkerThreadsPerWorkgroup: 37 },
];
const sortShapes: readonly Partial<Tuning>[] = [
  {},
  { sortThreadsPerWorkgroup: 64, sortEntriesPerThread: 256 },
  { sortThreadsPerWorkgroup: 128, sortEntriesPerThread: 16 },
  { sortThreadsPerWorkgroup: 3, sortEntriesPerThread: 5 },
];

/** Draws a value in one of `every` cases, else undefined, which is also what it shrinks to. */
const seldom = <Value>(every: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { arbitrary: fc.constant(undefined), weight: every - 1 },
    { arbitrary, weight: 1 },
  );

const yes = fc.constant(true as const);

/** Draws log-uniformly from 1 to `most`. */
const logUniform = (most: number): fc.Arbitrary<number> =>
  fc.nat(2 ** 20 - 1).map((share) => Math.floor(2 ** ((share / 2 ** 20) * Math.log2(most + 1))));

const sizes = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.nat(Math.min(most, 16)),
    fc
      .tuple(fc.nat(Math.floor(Math.log2(most))), fc.integer({ min: -1, max: 1 }))
      .map(([log, by]) => Math.min(most, 2 ** log + by)),
    logUniform(most),
  );

/** Draws up to three segments; every second one takes all that the ones before leave. */
const mixtures = <Name extends string>(names: readonly Name[], most: number) =>
  fc.array(
    fc.record({ from: fc.constantFrom(...names), n: fc.oneof(sizes(most), fc.constant(most)), seed: fc.nat(999) }),
    { maxLength: 3 },
  );

/** Cuts segments to at most `most` items in all. */
const fitted = <Name extends string>(segments: readonly Segment<Name>[], most: number): Segment<Name>[] => {
  let left = most;
  return segments.flatMap((segment) => {
    const n = Math.min(segment.n, left);
    left -= n;
    return n === 0 ? [] : [{ ...segment, n }];
  });
};

/** Returns the properties that are not undefined. */
const defined = <Properties extends object>(properties: Properties) =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Properties]: Exclude<Properties[Name], undefined>;
  };

const vectors = (most: number) =>
  fc.record({ scalars: mixtures(scalarNames, most), offset: fc.oneof(fc.constant(0), sizes(most)) });

/** Draws calls whose sizes and encodings do not fit each other yet; encodings are numbers. */
const rawCalls = (most: number) =>
  fc.record({
    size: sizes(most),
    points: mixtures(pointNames, most),
    vector: vectors(most),
    more: seldom(4, fc.array(vectors(most), { minLength: 1, maxLength: 4 })),
    encoding: seldom(3, fc.nat(999)),
    result: seldom(4, fc.nat(999)),
    rest: fc.record({
      scalarEncoding: seldom(6, fc.constantFrom('be', 'le-montgomery')),
      precompute: seldom(4, fc.oneof(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 2, max: 64 }))),
      checkSubgroup: seldom(6, yes),
      loaded: seldom(4, yes),
    }),
  });

type RawCall = ReturnType<typeof rawCalls> extends fc.Arbitrary<infer Raw> ? Raw : never;

/** Makes a drawn call one over a group with the encodings `known`. */
const callOf = (
  { size, points: segments, vector, more, encoding: at, result, rest }: RawCall,
  known: readonly PointEncoding[],
): FuzzCall => {
  const pick = (from: readonly PointEncoding[], index: number | undefined) =>
    index === undefined ? undefined : from[index % from.length];
  const encoding = pick(known, at);
  const points = fitted(segments, size).map(({ from, ...others }) => {
    const { hasInfinity: isInfinite } = pointDistributions[from] as PointDistribution;
    return { from: encoding !== undefined && !hasInfinity(encoding) && isInfinite ? 'pairs' : from, ...others };
  });
  const bases = length(points);
  const within = ({ scalars, offset: drawn }: FuzzVector): FuzzVector => {
    const offset = Math.min(drawn, bases);
    return { scalars: fitted(scalars, bases - offset), offset };
  };
  const encodings = { encoding, result: pick(known.filter(hasInfinity), result) };
  return { points, ...within(vector), ...defined({ ...encodings, ...rest, more: more?.map(within) }) };
};

/** Moves a program to another backend, without `cpuBelow`. */
export const movedTo = (backend: FuzzProgram['backend'], { tuning, ...rest }: FuzzProgram): FuzzProgram => {
  const { cpuBelow: _, ...others } = tuning;
  return backend === undefined ? { ...rest, tuning } : { ...rest, backend, tuning: others };
};

/** Draws programs. Checks, other curves and groups are rare: each has pipelines of its own. */
export const programs = (mostPoints = 4096): fc.Arbitrary<FuzzProgram> =>
  fc
    .record({
      backend: seldom(4, fc.constantFrom(...fuzzBackends)),
      curve: seldom(5, fc.constantFrom<CurveName[]>(...weierstrassNames, ...edwardsNames)),
      inG2: seldom(6, yes),
      checks: seldom(8, yes),
      hasBudget: seldom(4, yes),
      walker: fc.constantFrom(...walkerShapes),
      sort: fc.constantFrom(...sortShapes),
      knobs: fc.record({
        windowBits: seldom(
          2,
          fc.oneof({ arbitrary: fc.integer({ min: 2, max: 12 }), weight: 7 }, fc.integer({ min: 2, max: 16 })),
        ),
        walkerTasks: seldom(2, logUniform(4096)),
        walkerEntriesPerTask: seldom(2, logUniform(128)),
        walkerLeastThreads: seldom(2, logUniform(256)),
        fieldProduct: seldom(3, fc.constantFrom(...fieldProducts)),
        cpuBelow: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.nat(400)),
      }),
      calls: fc.array(rawCalls(mostPoints), { minLength: 1, maxLength: 4 }),
    })
    .map(({ backend, curve, inG2, checks, hasBudget, walker, sort, knobs, calls }) => {
      const of = curve ?? 'bn254';
      const group: Group = inG2 && groupsOf(of).includes('g2') ? 'g2' : 'g1';
      // SwiftShader expands dot products, and its compiler crashes on them for fields of 381 bits,
      // for pairs, and in checked walks with a ≠ 0 (engines refuse them there) or extended sums
      const hasA = of === 'p256' || edwardsNames.some((name) => name === of);
      const isChecked = checks && (hasA || walker.walkerCoordinates === 'xyzz');
      const isTooMuch = group === 'g2' || oracles[of].coordinateBytes > 32 || isChecked;
      const fieldProduct = knobs.fieldProduct === 'dot4' && isTooMuch ? 'unsigned' : knobs.fieldProduct;
      // its compiler also crashes on extended sums of pairs of 381 bits
      const isLargePair = group === 'g2' && oracles[of].coordinateBytes > 32;
      const { walkerCoordinates } = walker;
      const own =
        isLargePair && walkerCoordinates === 'xyzz' ? { ...walker, walkerCoordinates: 'affine' as const } : walker;
      // a budget needs room for the buckets of the widest window, and for points of 96 bytes
      const budget = ((knobs.windowBits ?? 0) > 10 ? 96 : 9) * 2 ** 20 * (group === 'g2' ? 2 : 1);
      return movedTo(backend, {
        ...defined({ curve, checks, group: group === 'g2' ? group : undefined }),
        tuning: { ...own, ...sort, ...defined({ ...knobs, fieldProduct }) },
        memoryBudget: hasBudget ? budget : null,
        calls: calls.map((call) => callOf(call, encodingsOf({ curve: of, group }))),
      });
    });
