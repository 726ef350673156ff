/**
 * Verifies proofs: Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953),
 * section 8.3, "Verifier algorithm", with the challenges in the order of snarkjs. The two openings
 * are checked at once, with the challenge u: e(Wξ + u·Wξω, τ·G2) = e(ξ·Wξ + u·ξ·ω·Wξω + F − E, G2).
 */
import type { AffinePoint } from '../api/values.js';
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import { challengeOfPoints, decodeCommitment } from '../proofs/plonkish/transcript.js';
import {
  type VerifyingKey as OpeningKey,
  publicValueAt,
  type StatementOf,
  type Sum,
  verifyOpening,
} from '../proofs/plonkish/verification.js';
import { inNumbers, readJsonPoint, readNumber, readProofObject, readPublicSignals } from '../proofs/snarkjs-json.js';
import type { PlonkCircuit } from './circuit.js';

/** Parts of a loaded key that a verifier uses. */
export interface VerifyingKey extends OpeningKey, Pick<PlonkCircuit, 'k1' | 'k2' | 'commitments'> {}

/** Points of a proof, in the order of its transcript. */
const pointNames = ['A', 'B', 'C', 'Z', 'T1', 'T2', 'T3', 'Wxi', 'Wxiw'] as const;
type Points = Readonly<Record<(typeof pointNames)[number], AffinePoint>>;

const evaluationNames = ['eval_a', 'eval_b', 'eval_c', 'eval_s1', 'eval_s2', 'eval_zw'] as const;

/** A proof that is verified. */
interface Statement extends StatementOf {
  readonly points: Points;
  readonly evaluations: Evaluations;
}

/** Reads a proof. @throws MsmError `bad-argument` naming the number */
const readStatement = (proof: unknown, publicSignals: unknown): Statement => {
  const members = readProofObject(proof, 'plonk');
  const points = pointNames.map((name) => [name, readJsonPoint(`proof.${name}`, members[name], inNumbers)]);
  const evaluations = evaluationNames.map((name) => readNumber(`proof.${name}`, members[name]));
  return {
    points: Object.fromEntries(points),
    scalars: evaluations,
    evaluations: evaluations as unknown as Evaluations,
    signals: readPublicSignals(publicSignals),
  };
};

/** Steps 4 and 12: the challenges, and u. */
const challengesOf = (
  key: VerifyingKey,
  { points, evaluations, signals }: Statement,
): Challenges & { readonly u: bigint } => {
  const { p } = key.fr;
  const [{ length }] = key.commitments as [Uint8Array];
  const hash = (...parts: readonly (bigint | AffinePoint | Uint8Array)[]): bigint =>
    challengeOfPoints(p, length / 2, parts);
  const { A, B, C, Z, T1, T2, T3, Wxi, Wxiw } = points;
  const beta = hash(...key.commitments, ...signals, A, B, C);
  const gamma = hash(beta);
  const alpha = hash(beta, gamma, Z);
  const xi = hash(alpha, T1, T2, T3);
  return { beta, gamma, alpha, xi, v: hash(xi, ...evaluations), u: hash(Wxi, Wxiw) };
};

/** Computes both points of the last equation, those of τ·G2 and of G2. */
const computeSides = async (
  key: VerifyingKey,
  statement: Statement,
  sum: Sum,
): Promise<readonly [AffinePoint, AffinePoint]> => {
  const { fr, domain, k1, k2 } = key;
  const { p } = fr;
  const { points, evaluations, signals } = statement;
  const { u, ...challenges } = challengesOf(key, statement);
  const { xi } = challenges;
  const factors = linearize({ p, n: domain.n, k1, k2 }, challenges, evaluations);
  const inputs = await publicValueAt(key, signals, { xi, vanishing: factors.vanishing });
  const [qm, ql, qr, qo, qc, s1, s2, s3] = key.commitments.map(decodeCommitment) as [...AffinePoint[]];
  const { A, B, C, Z, T1, T2, T3, Wxi, Wxiw } = points;
  const [, , , , , zw] = evaluations;
  // [E] is this multiple of the generator
  const opened = factors.opened.reduce((all, factor, i) => all + factor * (evaluations[i] as bigint), u * zw);
  const left = await sum([
    [Wxi, 1n],
    [Wxiw, u],
  ]);
  const right = await sum([
    ...[qm, ql, qr, qo, qc].map((point, i) => [point, factors.selectors[i]] as const),
    ...[T1, T2, T3].map((point, i) => [point, factors.parts[i]] as const),
    ...[A, B, C, s1, s2].map((point, i) => [point, factors.opened[i]] as const),
    [Z, factors.z + u],
    [s3, factors.s3],
    [null, factors.constant + inputs - opened],
    [Wxi, xi],
    [Wxiw, u * mod(xi * domain.root, p)],
  ]);
  return [left, right];
};

/**
 * Returns whether a proof verifies. One of another curve, or with a number that is not below its
 * prime, does not.
 *
 * @throws MsmError `bad-argument` if it is no proof; `aborted`; `not-on-curve` and
 *   `not-in-subgroup` for points of a damaged key
 */
export const verify = async (
  key: VerifyingKey,
  proof: unknown,
  publicSignals: unknown,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const statement = readStatement(proof, publicSignals);
  return verifyOpening(key, key.commitments, statement, (sum) => computeSides(key, statement, sum), signal);
};

/*
 * The linearization, by which the prover opens one polynomial for all gates and the verifier sums
 * their commitments: Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953),
 * section 8.3, round 5 of the prover and steps 5 to 9 of the verifier.
 */

/** Values of a, b, c, s1 and s2 at ξ, and of z at ξ·ω. */
export type Evaluations = readonly [a: bigint, b: bigint, c: bigint, s1: bigint, s2: bigint, zw: bigint];

export type Challenges = Readonly<Record<'beta' | 'gamma' | 'alpha' | 'xi' | 'v', bigint>>;

/** Facts of the circuit that the linearization depends on. */
interface LinearizedCircuit {
  /** The order of the group. */
  readonly p: bigint;
  /** Size of the domain. */
  readonly n: number;
  readonly k1: bigint;
  readonly k2: bigint;
}

/** The factor of each polynomial, and of its commitment. */
interface Linearization {
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
