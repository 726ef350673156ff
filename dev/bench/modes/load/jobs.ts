/** The jobs of a mix: which sums are asked for, over which points. Decided by the seed alone. */
import { Random } from '../../../oracle/known-bases.js';

export const mixes = ['prover', 'small'] as const;
export type Mix = (typeof mixes)[number];

/** Sets of points that are resident, each in its place among 4n points whose logarithms are known. */
export const setNames = ['a', 'b', 'c', 'all'] as const;
export type SetName = (typeof setNames)[number];

export const placeOfSet = (set: SetName, n: number): { readonly first: number; readonly length: number } =>
  ({
    a: { first: 0, length: n },
    b: { first: n, length: n },
    c: { first: 2 * n, length: 2 * n },
    all: { first: 0, length: 4 * n },
  })[set];

/** One sum that is asked for. */
export interface JobShape {
  readonly set: SetName;
  /** Scalars. */
  readonly n: number;
}

/** In G1 a Groth16 proof of n constraints takes two sums of n over either half of its key, about, and one over a key of twice the length. */
const proofOf = (n: number): JobShape[] => [
  { set: 'a', n },
  { set: 'a', n },
  { set: 'b', n },
  { set: 'b', n },
  { set: 'c', n: 2 * n },
];

/** The largest of the small ones ÷ the smallest. */
const SMALL_RANGE = 32;

/** In an order in which each is as likely as any other. */
const shuffled = <Item>(items: readonly Item[], random: Random): Item[] => {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as Item);
};

/**
 * @param n scalars of most jobs of a prover
 * @returns of a prover proof after proof, in any order each; of `small` sizes from n/8 to 4n whose logarithms are uniform, over the same points
 */
export function drawJobs(mix: Mix, n: number, count: number, seed: number): JobShape[] {
  const random = new Random(seed);
  if (mix === 'prover') {
    const proofs = Array.from({ length: Math.ceil(count / proofOf(n).length) }, () => shuffled(proofOf(n), random));
    return proofs.flat().slice(0, count);
  }
  const { length } = placeOfSet('all', n);
  return Array.from({ length: count }, () => ({
    set: 'all',
    n: Math.max(1, Math.round(length / SMALL_RANGE ** (random.u32() / 2 ** 32))),
  }));
}
