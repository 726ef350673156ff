/**
 * Draws the jobs of a mix, sums over resident points, and makes their points, scalars and known
 * answers. The seed alone decides them.
 */
import { type CurveGroup, oracleOf } from '../../../oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  encodePoints,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
  Random,
} from '../../../oracle/known-bases.js';

export const mixes = ['prover', 'small'] as const;
export type Mix = (typeof mixes)[number];

/** Resident sets of points, each a range of 4n points with known logarithms. */
export const setNames = ['a', 'b', 'c', 'all'] as const;
export type SetName = (typeof setNames)[number];

export const rangeOfSet = (set: SetName, n: number): { readonly first: number; readonly length: number } =>
  ({
    a: { first: 0, length: n },
    b: { first: n, length: n },
    c: { first: 2 * n, length: 2 * n },
    all: { first: 0, length: 4 * n },
  })[set];

export interface JobShape {
  readonly set: SetName;
  /** Number of scalars. */
  readonly n: number;
}

/**
 * Returns the G1 sums of a Groth16 proof of n constraints: about two of n scalars over each half of
 * its key, and one over a key of twice the length.
 */
const proofOf = (n: number): JobShape[] => [
  { set: 'a', n },
  { set: 'a', n },
  { set: 'b', n },
  { set: 'b', n },
  { set: 'c', n: 2 * n },
];

/** Ratio of the largest to the smallest of the small sums. */
const SMALL_RANGE = 32;

/** Returns the items in a uniformly random order. */
const shuffled = <Item>(items: readonly Item[], random: Random): Item[] => {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as Item);
};

/**
 * @param n number of scalars of most jobs of a prover
 * @returns for `prover` proof after proof, each in random order; for `small` sums over the same
 *   points whose sizes are log-uniform from n/8 to 4n
 */
export function drawJobs(mix: Mix, n: number, count: number, seed: number): JobShape[] {
  const random = new Random(seed);
  if (mix === 'prover') {
    const proofs = Array.from({ length: Math.ceil(count / proofOf(n).length) }, () => shuffled(proofOf(n), random));
    return proofs.flat().slice(0, count);
  }
  const { length } = rangeOfSet('all', n);
  return Array.from({ length: count }, () => ({
    set: 'all',
    n: Math.max(1, Math.round(length / SMALL_RANGE ** (random.u32() / 2 ** 32))),
  }));
}

export interface Job extends JobShape {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly expected: AffinePoint<Coordinate>;
}

/** Makes the points that all sets are ranges of. */
export function makeProblem(where: CurveGroup, n: number, seed: number) {
  const curve = oracleOf(where);
  const { logs, points } = makeKnownBases(curve, rangeOfSet('all', n).length, seed);
  /** Number of jobs made; each gets scalars of its own. */
  let made = 0;
  return {
    pointsOf(set: SetName): Uint8Array<ArrayBuffer> {
      const { first, length } = rangeOfSet(set, n);
      return encodePoints(curve, points.slice(first, first + length));
    },
    jobOf(shape: JobShape): Job {
      const scalars = makeRandomScalars(curve, shape.n, seed + ++made);
      const { first } = rangeOfSet(shape.set, n);
      return {
        ...shape,
        scalars: encodeScalars(curve, scalars),
        expected: expectedMsm(curve, logs.slice(first, first + shape.n), scalars),
      };
    },
  };
}
export type Problem = ReturnType<typeof makeProblem>;
