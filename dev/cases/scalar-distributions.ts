/** Distributions of scalars: any 256-bit integers, as a function of n and a seed. */
import { bn254G1, encodeScalars, groupOrder, Random, type ScalarsOf } from '../oracle/known-bases.js';

export interface ScalarSet {
  /** In [0, 2^256), not reduced. */
  readonly values: readonly bigint[];
  /** The scalars as `engine.msm` takes them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ScalarDistribution {
  /** One line for the help of the page and of scripts. */
  readonly about: string;
  /** @param curve default BN254 */
  make(n: number, seed: number, curve?: ScalarsOf): ScalarSet;
}

const top = 2n ** 256n;

/** Makes n scalars by index, with a random source other than that of the points. */
const fill =
  (draw: (random: Random, r: bigint, n: number) => (i: number) => bigint) =>
  (n: number, seed: number, curve: ScalarsOf = bn254G1): ScalarSet => {
    const at = draw(new Random(seed ^ 0x5ca1a7), groupOrder(curve), n);
    const values = Array.from({ length: n }, (_, i) => at(i));
    return { values, bytes: encodeScalars(curve, values) };
  };

const cycle = (valuesFor: (r: bigint) => readonly bigint[]) =>
  fill((_, r) => {
    const values = valuesFor(r);
    return (i) => values[i % values.length] ?? 0n;
  });

/** Values at which a recoding into signed digits carries, or must not. */
const carryPatterns = Array.from({ length: 32 }, (_, k) => 2n ** BigInt(8 * k + 7)).flatMap((power) => [
  power - 1n,
  power,
  power + 1n,
]);
const repeatedNibble = (nibble: string): bigint => BigInt(`0x${nibble.repeat(63)}`);

export const scalarDistributions = {
  random: { about: 'uniform below the group order r', make: fill((random, r) => () => random.belowBig(r)) },
  'all-zero': { about: 'all 0', make: cycle(() => [0n]) },
  'all-one': { about: 'all 1', make: cycle(() => [1n]) },
  'zero-one': { about: '0 or 1, at random', make: fill((random) => () => random.bits(1)) },
  'all-equal': {
    about: 'one random scalar, n times',
    make: fill((random, r) => {
      const scalar = random.belowBig(r - 2n) + 2n;
      return () => scalar;
    }),
  },
  'r-minus-one': { about: 'all r − 1, which is −1', make: cycle((r) => [r - 1n]) },
  'r-and-above': { about: 'r, r + 1, 2²⁵⁶ − 1, repeated', make: cycle((r) => [r, r + 1n, top - 1n]) },
  unreduced: { about: 'uniform below 2²⁵⁶', make: fill((random) => () => random.bits(256)) },
  'short-32': { about: 'uniform below 2³²', make: fill((random) => () => random.bits(32)) },
  'one-nonzero': {
    about: 'one random scalar at a random index, 0 elsewhere',
    make: fill((random, r, n) => {
      const index = n === 0 ? 0 : random.below(n);
      const scalar = random.belowBig(r - 1n) + 1n;
      return (i) => (i === index ? scalar : 0n);
    }),
  },
  'mostly-zero': {
    about: '90 % are 0, the others random',
    make: fill((random, r) => () => (random.below(10) === 0 ? random.belowBig(r) : 0n)),
  },
  'one-bucket-and-noise': {
    about: 'three in four are equal, the others random',
    make: fill((random, r) => {
      const scalar = random.belowBig(r);
      return () => (random.below(4) === 0 ? random.belowBig(r) : scalar);
    }),
  },
  ascending: { about: '0, 1, 2, …', make: fill(() => (i) => BigInt(i)) },
  'carry-patterns': {
    about: '2ᵏ and its neighbours, and repeated digits: where signed digits carry',
    make: cycle(() => [...carryPatterns, ...['7', '8', 'f', '1'].map(repeatedNibble)]),
  },
} as const satisfies Record<string, ScalarDistribution>;

export type ScalarDistributionName = keyof typeof scalarDistributions;
