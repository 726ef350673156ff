/**
 * Verifies proofs: Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953),
 * section 8.3, "Verifier algorithm", with the challenges in the order of snarkjs. The two openings
 * are checked at once, with the challenge u: e(Wξ + u·Wξω, τ·G2) = e(ξ·Wξ + u·ξ·ω·Wξω + F − E, G2).
 */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { resolveCurve } from '../curves/named.js';
import { invert, mod } from '../field/modulus.js';
import { combine } from '../proofs/combine.js';
import { bytesOf } from '../proofs/scalars.js';
import { assertProtocol, readDecimal, readProjective, readPublicSignals } from '../proofs/snarkjs-json.js';
import { areInGroup, assertKeyPoints, type FewPoints, isProductOne, openFewPoints } from '../proofs/verification.js';
import { nextTurn, TimeSlice } from '../scheduling/time-slice.js';
import type { PlonkProof } from './api.js';
import { decodeCommitment, encodeCommitment } from './commitment.js';
import { type Challenges, type Evaluations, linearize } from './linearization.js';
import type { LoadedKey } from './loaded-key.js';
import { challengeOf } from './transcript.js';

/** Points of a proof, in the order of its transcript. */
const pointNames = ['A', 'B', 'C', 'Z', 'T1', 'T2', 'T3', 'Wxi', 'Wxiw'] as const;
type Points = Readonly<Record<(typeof pointNames)[number], AffinePoint>>;

const evaluationNames = ['eval_a', 'eval_b', 'eval_c', 'eval_s1', 'eval_s2', 'eval_zw'] as const;

/** A proof that is verified. */
interface Statement {
  readonly points: Points;
  readonly evaluations: Evaluations;
  readonly signals: readonly bigint[];
}

/** Reads a proof. @throws MsmError `bad-argument` naming the number */
const readStatement = (proof: PlonkProof, publicSignals: readonly string[]): Statement => {
  assertProtocol(proof, 'plonk');
  const points = pointNames.map((name) => [name, readProjective(`proof.${name}`, proof[name], readDecimal)]);
  const evaluations = evaluationNames.map((name) => readDecimal(`proof.${name}`, proof[name]));
  return {
    points: Object.fromEntries(points),
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
  const hash = (...parts: readonly (bigint | AffinePoint)[]): bigint =>
    challengeOf(p, ...parts.map((part) => (typeof part === 'bigint' ? part : encodeCommitment(part, length / 2))));
  const { A, B, C, Z, T1, T2, T3, Wxi, Wxiw } = points;
  const beta = hash(...key.commitments.map(decodeCommitment), ...signals, A, B, C);
  const gamma = hash(beta);
  const alpha = hash(beta, gamma, Z);
  const xi = hash(alpha, T1, T2, T3);
  return { beta, gamma, alpha, xi, v: hash(xi, ...evaluations), u: hash(Wxi, Wxiw) };
};

/** Returns the value at ξ of the polynomial of the negated public values. */
const publicValueAt = async (
  { fr, domain }: LoadedKey,
  signals: readonly bigint[],
  { xi, vanishing }: { readonly xi: bigint; readonly vanishing: bigint },
): Promise<bigint> => {
  const { p } = fr;
  const slice = new TimeSlice(() => undefined);
  let [sum, root] = [0n, 1n];
  for (const each of signals) {
    // the Lagrange polynomial of the root
    const lagrange = root * mod(vanishing * invert(mod(BigInt(domain.n) * (xi - root), p), p), p);
    sum = mod(sum - each * mod(lagrange, p), p);
    root = (root * domain.root) % p;
    if (slice.isOver) await slice.yield();
  }
  return sum;
};

/** Computes both points of the last equation, those of τ·G2 and of G2. */
const computeSides = async (
  key: LoadedKey,
  { few1 }: FewPoints,
  statement: Statement,
): Promise<readonly [AffinePoint, AffinePoint]> => {
  const { fr, domain, k1, k2, curve } = key;
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
  const opened = factors.opened.reduce((sum, factor, i) => sum + factor * (evaluations[i] as bigint), u * zw);
  const { generator } = (await resolveCurve(curve, 'g1')) as { readonly generator: Pick<AffinePoint, 'x' | 'y'> };
  const sum = (terms: readonly (readonly [AffinePoint | undefined, bigint | undefined])[]): Promise<AffinePoint> =>
    combine(
      few1,
      terms.map(([point, factor]) => [point as AffinePoint, bytesOf(mod(factor as bigint, p))]),
    );
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
    [{ ...generator, infinity: false }, factors.constant + inputs - opened],
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
  proof: PlonkProof,
  publicSignals: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const { curve, fr, tau2, commitments } = key;
  const statement = readStatement(proof, publicSignals);
  const { points, evaluations, signals } = statement;
  if (signals.length !== key.publicSignals) return false;
  if ([...signals, ...evaluations].some((each) => each >= fr.p)) return false;
  const few = await openFewPoints(curve);
  try {
    await assertKeyPoints(key, async () => {
      (await few.few1.loadBases(commitments.map(decodeCommitment))).destroy();
      (await few.few2.loadBases([tau2], { checkSubgroup: true })).destroy();
    });
    if (!(await areInGroup(few.few1, Object.values(points)))) return false;
    await nextTurn();
    const [left, right] = await computeSides(key, few, statement);
    const { generator } = (await resolveCurve(curve, 'g2')) as {
      readonly generator: Pick<AffinePoint<Fp2>, 'x' | 'y'>;
    };
    const ofG2 = { ...generator, infinity: false };
    return await isProductOne(
      curve,
      [
        [{ ...left, y: -left.y }, tau2],
        [right, ofG2],
      ],
      signal,
    );
  } finally {
    few.few1.destroy();
    few.few2.destroy();
  }
};
