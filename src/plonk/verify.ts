/**
 * Verifies proofs: Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953),
 * section 8.3, "Verifier algorithm", with the challenges in the order of snarkjs. The two openings
 * are checked at once, with the challenge u: e(Wξ + u·Wξω, τ·G2) = e(ξ·Wξ + u·ξ·ω·Wξω + F − E, G2).
 */
import type { AffinePoint } from '../api/values.js';
import { mod } from '../field/modulus.js';
import { decodeCommitment } from '../proofs/plonkish/commitment.js';
import { challengeOfPoints } from '../proofs/plonkish/transcript.js';
import { publicValueAt, type StatementOf, type Sum, verifyOpening } from '../proofs/plonkish/verification.js';
import { inNumbers, readJsonPoint, readNumber, readProofObject, readPublicSignals } from '../proofs/snarkjs-json.js';
import { type Challenges, type Evaluations, linearize } from './linearization.js';
import type { LoadedKey } from './loaded-key.js';

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
  key: LoadedKey,
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
  key: LoadedKey,
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
  key: LoadedKey,
  proof: unknown,
  publicSignals: unknown,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const statement = readStatement(proof, publicSignals);
  return verifyOpening(key, key.commitments, statement, (sum) => computeSides(key, statement, sum), signal);
};
