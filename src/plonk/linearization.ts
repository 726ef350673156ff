/**
 * The linearization, by which the prover opens one polynomial for all gates and the verifier sums
 * their commitments: Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953),
 * section 8.3, round 5 of the prover and steps 5 to 9 of the verifier.
 */
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';

/** Values of a, b, c, s1 and s2 at ξ, and of z at ξ·ω. */
export type Evaluations = readonly [a: bigint, b: bigint, c: bigint, s1: bigint, s2: bigint, zw: bigint];

export type Challenges = Readonly<Record<'beta' | 'gamma' | 'alpha' | 'xi' | 'v', bigint>>;

/** Facts of the circuit that the linearization depends on. */
export interface LinearizedCircuit {
  /** The order of the group. */
  readonly p: bigint;
  /** Size of the domain. */
  readonly n: number;
  readonly k1: bigint;
  readonly k2: bigint;
}

/** The factor of each polynomial, and of its commitment. */
export interface Linearization {
  /** For qm, ql, qr, qo and qc. */
  readonly selectors: readonly bigint[];
  readonly z: bigint;
  readonly s3: bigint;
  /** For the three parts of the quotient. */
  readonly parts: readonly bigint[];
  /** For the wires, s1 and s2: powers of v. */
  readonly opened: readonly bigint[];
  /** The constant that the verifier knows, without the public values. */
  readonly constant: bigint;
  /** ξⁿ − 1. */
  readonly vanishing: bigint;
}

export const linearize = (
  { p, n, k1, k2 }: LinearizedCircuit,
  { beta, gamma, alpha, xi, v }: Challenges,
  [a, b, c, s1, s2, zw]: Evaluations,
): Linearization => {
  const xiToN = power(xi, BigInt(n), p);
  const vanishing = mod(xiToN - 1n, p);
  const start = alpha * alpha * mod(vanishing * invert(mod(BigInt(n) * (xi - 1n), p), p), p);
  const above = [a + beta * xi, b + beta * k1 * xi, c + beta * k2 * xi].reduce(
    (all, each) => mod(all * (each + gamma), p),
    alpha,
  );
  const below = mod(alpha * zw * mod(a + beta * s1 + gamma, p) * (b + beta * s2 + gamma), p);
  return {
    selectors: [mod(a * b, p), a, b, c, 1n],
    z: mod(above + start, p),
    s3: mod(-beta * below, p),
    parts: [0n, 1n, 2n].map((i) => mod(-vanishing * power(xiToN, i, p), p)),
    opened: [1n, 2n, 3n, 4n, 5n].map((i) => power(v, i, p)),
    constant: mod(-start - below * (c + gamma), p),
    vanishing,
  };
};
