/** Verification keys in the JSON of snarkjs, from proving keys. */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { scalarFieldOf } from '../curves/scalar-field.js';
import { notLoaded } from '../errors.js';
import { mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { FileSource, PointSection } from '../formats/source.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
// From the entry, so that the build leaves in formats.js what both share.
import { openZkey } from '../formats.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { openHeader } from '../proofs/plonkish/circuit.js';
import { decodeCommitment } from '../proofs/plonkish/transcript.js';
import { projective, snarkjsNames } from '../proofs/snarkjs-json.js';
import { openGroups, publicPoint, readPoints } from './groups.js';
import { type RunOptions, runRows } from './run.js';

/** A verification key: the JSON of snarkjs's `verification_key.json`. Numbers are decimal strings. */
export interface VerificationKey {
  /** The proof system. */
  readonly protocol: 'groth16' | 'plonk' | 'fflonk';
  /** The curve, by snarkjs's name. */
  readonly curve: 'bn128' | 'bls12381';
  /** Number of public signals. */
  readonly nPublic: number;
  /** Points and numbers of the proof system, by snarkjs's names. */
  readonly [member: string]: unknown;
}

const optionTable = {
  of: 'exportVerificationKey',
  rows: { signal: runRows.signal, onWarning: runRows.onWarning },
} as const satisfies OptionTable<Pick<RunOptions, 'signal' | 'onWarning'>>;

/**
 * Returns the verification key of a proving key of any proof system, as snarkjs's
 * `zKey.exportVerificationKey` does.
 *
 * @throws MsmError `bad-argument` naming the section; `aborted`
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { exportVerificationKey } from 'webgpu-msm/setup';
 *
 * const key = await exportVerificationKey(await openFile('circuit.zkey'));
 * console.log(key.protocol, key.curve); // groth16 bn128
 * ```
 */
export const exportVerificationKey = async (
  zkey: FileSource,
  given: Pick<RunOptions, 'signal' | 'onWarning'> = {},
): Promise<VerificationKey> => {
  const { signal, onWarning } = readOptions(optionTable, given);
  const opened = await openZkey(zkey, { signal, onWarning });
  const members = opened.protocol === 'groth16' ? await ofGroth16(opened, signal) : await ofPlonkish(opened);
  return {
    protocol: opened.protocol,
    curve: snarkjsNames[opened.curve],
    nPublic: opened.publicSignals,
    ...members,
  };
};

const point1 = (point: AffinePoint): string[] => projective(point, 0n, 1n, String);

const pair = ({ c0, c1 }: Fp2): string[] => [String(c0), String(c1)];

const point2 = (point: AffinePoint<Fp2>): string[][] => projective(point, { c0: 0n, c1: 0n }, { c0: 1n, c1: 0n }, pair);

const ofGroth16 = async (
  { curve, sections }: Groth16Zkey,
  signal: AbortSignal | undefined,
): Promise<Readonly<Record<string, unknown>>> => {
  const groups = await openGroups(curve);
  const read = async (section: PointSection) =>
    readPoints(groups[section.group], groups.scale, await section.points(), `zkey: ${section.name}`);
  const of1 = async (section: PointSection): Promise<AffinePoint[]> =>
    (await read(section)).map((point) => publicPoint<bigint>(groups.g1, point));
  const of2 = async (section: PointSection): Promise<AffinePoint<Fp2>> =>
    publicPoint<Fp2>(groups.g2, (await read(section))[0] ?? null);
  const [alpha1] = (await of1(sections.alpha1)) as [AffinePoint];
  const beta2 = await of2(sections.beta2);
  const pairing = await import('../pairing/pairing.js').catch(notLoaded('pairing'));
  const value = await pairing.pairingProduct(curve, [[alpha1, beta2]], signal);
  const { p } = groups.g1;
  const coefficient = (i: number): string[] => pair(reducedPair(value[i] as Fp2, p));
  return {
    vk_alpha_1: point1(alpha1),
    vk_beta_2: point2(beta2),
    vk_gamma_2: point2(await of2(sections.gamma2)),
    vk_delta_2: point2(await of2(sections.delta2)),
    // of 1, w², w⁴, and of w, w³, w⁵
    vk_alphabeta_12: [[0, 2, 4].map(coefficient), [1, 3, 5].map(coefficient)],
    IC: (await of1(sections.ic)).map(point1),
  };
};

const reducedPair = ({ c0, c1 }: Fp2, p: bigint): Fp2 => ({ c0: mod(c0, p), c1: mod(c1, p) });

/** Names of the commitments of PLONK, in the order of the header. */
const commitments = ['Qm', 'Ql', 'Qr', 'Qo', 'Qc', 'S1', 'S2', 'S3'] as const;

const ofPlonkish = async (zkey: PlonkZkey): Promise<Readonly<Record<string, unknown>>> => {
  const header = await openHeader(zkey);
  const { order, k1, k2 } = header;
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order });
  const w = power(rootOfUnity as bigint, 2n ** BigInt(twoAdicity) / BigInt(zkey.domainSize), order);
  const commitment = (): string[] => point1(decodeCommitment(header.commitment()));
  const shared = { power: Math.log2(zkey.domainSize), k1: String(k1), k2: String(k2) };
  if (zkey.protocol === 'plonk') {
    const points = Object.fromEntries(commitments.map((name) => [name, commitment()]));
    return { ...shared, ...points, X_2: point2(header.point2()), w: String(w) };
  }
  const roots = Object.fromEntries(['w3', 'w4', 'w8', 'wr'].map((name) => [name, String(header.scalar())]));
  return { ...shared, w: String(w), ...roots, X_2: point2(header.point2()), C0: commitment() };
};
