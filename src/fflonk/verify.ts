/**
 * Verifies proofs: Gabizon and Williamson, "fflonk" (https://eprint.iacr.org/2021/1167), section 7.
 * The remainders of C0, C1 and C2 at y follow from the values in the proof. With their factors f,
 * C = Σ fᵢ·Cᵢ and r = Σ fᵢ·rᵢ(y): e(W2, τ·G2) = e(C − r·G1 − (y^8 − ξ)·W1 + y·W2, G2).
 */
import type { AffinePoint } from '../api/values.js';
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { Domain } from '../proofs/plonkish/relations.js';
import { challengeOfPoints, decodeCommitment } from '../proofs/plonkish/transcript.js';
import {
  type VerifyingKey as OpeningKey,
  publicValueAt,
  type StatementOf,
  type Sum,
  verifyOpening,
} from '../proofs/plonkish/verification.js';
import {
  inNumbers,
  readJsonPoint,
  readMember,
  readNumber,
  readProofObject,
  readPublicSignals,
} from '../proofs/snarkjs-json.js';
import { evaluationNames, polynomialNames } from './api.js';
import { circuitPolynomials, type FflonkCircuit } from './circuit.js';

/** Parts of a loaded key that a verifier uses. */
export interface VerifyingKey extends OpeningKey, Pick<FflonkCircuit, 'k1' | 'k2' | 'commitment'> {}

type Evaluations = Readonly<Record<(typeof evaluationNames)[number], bigint>>;

/** A proof that is verified. */
interface Statement extends StatementOf {
  readonly points: Readonly<Record<(typeof polynomialNames)[number], AffinePoint>>;
  readonly evaluations: Evaluations;
  readonly inverse: bigint;
}

/** Reads a proof. @throws MsmError `bad-argument` naming the number */
const readStatement = (proof: unknown, publicSignals: unknown): Statement => {
  const members = readProofObject(proof, 'fflonk');
  const [polynomials, evaluations] = [readMember(members, 'polynomials'), readMember(members, 'evaluations')];
  const points = polynomialNames.map((name) => [
    name,
    readJsonPoint(`proof.polynomials.${name}`, polynomials[name], inNumbers),
  ]);
  const read = (name: (typeof evaluationNames)[number] | 'inv'): bigint =>
    readNumber(`proof.evaluations.${name}`, evaluations[name]);
  const values = evaluationNames.map((name) => [name, read(name)] as const);
  const inverse = read('inv');
  return {
    points: Object.fromEntries(points),
    evaluations: Object.fromEntries(values) as Evaluations,
    scalars: [...values.map(([, value]) => value), inverse],
    signals: readPublicSignals(publicSignals),
    inverse,
  };
};

/** Returns the value at y of the polynomial with these coefficients. */
const at = (p: bigint, coefficients: readonly bigint[], y: bigint): bigint =>
  coefficients.reduceRight((sum, each) => mod(sum * y + each, p), 0n);

/** Challenges of a proof. */
interface Challenges {
  readonly beta: bigint;
  readonly gamma: bigint;
  readonly seed: bigint;
  readonly alpha: bigint;
  readonly y: bigint;
}

const challengesOf = (key: VerifyingKey, { points, evaluations, signals }: Statement): Challenges => {
  const { fr, commitment } = key;
  const hash = (...parts: readonly (bigint | AffinePoint | Uint8Array)[]): bigint =>
    challengeOfPoints(fr.p, commitment.length / 2, parts);
  const beta = hash(commitment, ...signals, points.C1);
  const gamma = hash(beta);
  const seed = hash(gamma, points.C2);
  const alpha = hash(seed, ...evaluationNames.map((name) => evaluations[name]));
  return { beta, gamma, seed, alpha, y: hash(alpha, points.W1) };
};

/** Values at ξ of the three quotients. @param vanishing ξⁿ − 1 */
const quotientsAt = (
  { fr: { p }, domain: { n }, k1, k2 }: VerifyingKey,
  { ql, qr, qm, qo, qc, s1, s2, s3, a, b, c, z, zw }: Evaluations,
  { beta, gamma }: Challenges,
  { xi, vanishing, inputs }: { readonly xi: bigint; readonly vanishing: bigint; readonly inputs: bigint },
): readonly [t0: bigint, t1: bigint, t2: bigint] => {
  const product = (shifts: readonly bigint[], last: bigint): bigint =>
    [a, b, c].reduce((all, wire, i) => mod(all * (wire + beta * (shifts[i] as bigint) + gamma), p), last);
  const gates = mod(qm * a, p) * b + ql * a + qr * b + qo * c + qc + inputs;
  const permuted = product([xi, k1 * xi, k2 * xi], z) - product([s1, s2, s3], zw);
  const inverse = invert(vanishing, p);
  return [
    mod(mod(gates, p) * inverse, p),
    mod((z - 1n) * invert(mod(BigInt(n) * (xi - 1n), p), p), p),
    mod(permuted * inverse, p),
  ];
};

/** Returns the sums for τ·G2 and G2; null if the inverse in the proof is wrong. */
const computeSides = async (
  key: VerifyingKey,
  statement: Statement,
  sum: Sum,
): Promise<readonly [AffinePoint, AffinePoint] | null> => {
  const { fr, domain, publicSignals } = key;
  const { p } = fr;
  const { points, evaluations, signals, inverse } = statement;
  const challenges = challengesOf(key, statement);
  const { seed, alpha, y } = challenges;
  const opened = openedAt({ p, domain }, seed);
  const { xi, xiw } = opened;
  const factorsAtY = vanishingAt(p, opened, y);
  if (inverse !== inverseOfDenominators({ p, domain }, opened, factorsAtY, publicSignals)) return null;
  const vanishing = mod(power(xi, BigInt(domain.n), p) - 1n, p);
  const inputs = await publicValueAt(key, signals, { xi, vanishing });
  const [t0, t1, t2] = quotientsAt(key, evaluations, challenges, { xi, vanishing, inputs });
  const { a, b, c, z, zw, t1w, t2w } = evaluations;
  // the remainder of each part of C2 is the line through its values at ξ and ξω, at y³
  const cube = power(y, 3n, p);
  const along = mod((cube - xi) * invert(mod(xiw - xi, p), p), p);
  const line = (here: bigint, there: bigint): bigint => mod(here + along * (there - here), p);
  const remainders = [
    circuitPolynomials.map((name) => evaluations[name]),
    [a, b, c, t0],
    [line(z, zw), line(t1, t1w), line(t2, t2w)],
  ].map((coefficients) => at(p, coefficients, y));
  const factors = factorsOf(p, alpha, factorsAtY);
  const constant = factors.reduce((all, factor, i) => all + factor * (remainders[i] as bigint), 0n);
  const { C1, C2, W1, W2 } = points;
  const right = await sum([
    ...[decodeCommitment(key.commitment), C1, C2].map((point, i) => [point, factors[i]] as const),
    [null, -constant],
    [W1, -factorsAtY[0]],
    [W2, y],
  ]);
  return [W2, right];
};

/**
 * Returns whether a proof verifies. One with a number that is not below its prime does not.
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
  return verifyOpening(key, [key.commitment], statement, (sum) => computeSides(key, statement, sum), signal);
};

/*
 * The points at which polynomials are opened, and the factors of the opening. Gabizon and
 * Williamson, "fflonk" (https://eprint.iacr.org/2021/1167), sections 3 and 7; the batched opening:
 * Boneh, Drake, Fisch and Gabizon (https://eprint.iacr.org/2020/081), section 4.1.
 *
 * C0, C1 and C2 have 8, 4 and 3 interleaved polynomials. C0 is opened at the roots of X^8 − ξ, C1
 * at those of X^4 − ξ, C2 at those of (X³ − ξ)·(X³ − ξω). No root itself is needed: an interleaved
 * polynomial has the values of its parts at ξ as the coefficients of its remainder.
 */

/** The field and the domain of a circuit. */
interface OpenedCircuit {
  readonly p: bigint;
  readonly domain: Pick<Domain, 'n' | 'root'>;
}

/** ξ and ξ·ω. */
export interface OpenedAt {
  readonly xi: bigint;
  readonly xiw: bigint;
}

/** Exponent for which ξ has roots of the orders 8, 4 and 3: their least common multiple. */
const SEED_EXPONENT = 24n;

/** Returns the points for a challenge. */
export const openedAt = ({ p, domain }: OpenedCircuit, seed: bigint): OpenedAt => {
  const xi = power(seed, SEED_EXPONENT, p);
  return { xi, xiw: mod(xi * domain.root, p) };
};

/** Values at y of the polynomials that vanish where C0, C1 and C2 are opened. */
export const vanishingAt = (p: bigint, { xi, xiw }: OpenedAt, y: bigint): readonly [bigint, bigint, bigint] => {
  const cube = power(y, 3n, p);
  return [mod(power(y, 8n, p) - xi, p), mod(power(y, 4n, p) - xi, p), mod((cube - xi) * (cube - xiw), p)];
};

/** Returns the factors of C0, C1 and C2 in the opening at y. */
export const factorsOf = (
  p: bigint,
  alpha: bigint,
  [v0, v1, v2]: readonly [bigint, bigint, bigint],
): readonly [bigint, bigint, bigint] => [
  1n,
  mod(alpha * mod(v0 * invert(v1, p), p), p),
  mod(alpha * alpha * mod(v0 * invert(v2, p), p), p),
];

/**
 * Returns the inverse of the product of all denominators of the verifier contract that snarkjs
 * writes: of ξⁿ − 1, of the first Lagrange polynomials of the domain at ξ, of the factors of the
 * opening, and of the Lagrange polynomials of each set of roots at y. The products over the roots
 * of X^k − c follow from k and c.
 */
export const inverseOfDenominators = (
  { p, domain: { n, root } }: OpenedCircuit,
  { xi, xiw }: OpenedAt,
  [v0, v1, v2]: readonly [bigint, bigint, bigint],
  publicSignals: number,
): bigint => {
  const times = (...factors: readonly bigint[]): bigint => factors.reduce((all, each) => mod(all * each, p), 1n);
  const raised = (base: bigint | number, exponent: number): bigint => power(mod(BigInt(base), p), BigInt(exponent), p);
  const of8 = times(-1n, raised(8, 8), raised(xi, 7), v0);
  const of4 = times(-1n, raised(4, 4), raised(xi, 3), v1);
  const of3 = times(-1n, raised(27, 2), raised(xi, 2), raised(xiw, 2), raised(xi - xiw, 6), v2);
  let all = times(raised(xi, n) - 1n, v1, v2, of8, of4, of3);
  let each = 1n;
  // the contract divides by the first even without public signals
  for (let i = 0; i < Math.max(publicSignals, 1); i++) {
    all = times(all, BigInt(n), xi - each);
    each = times(each, root);
  }
  return invert(all, p);
};
