/**
 * Makes powers of tau from a tau that is drawn here, as snarkjs reads them for PLONK and FFLONK.
 * There is no ceremony: whoever draws tau can prove false statements, so they are for trials only.
 */
import { Bytes, fileOf } from './bytes.js';
import type { KeyCurve, KeyGroup } from './keys.js';

/** The part of a group of ffjavascript that powers of tau need. */
interface TauGroup extends KeyGroup {
  /** Multiplies point i by first · factor^i. */
  batchApplyKey(points: Uint8Array, first: unknown, factor: unknown): Promise<Uint8Array>;
  /** Returns the points L_i(tau)·G of a domain from as many powers of tau. */
  lagrangeEvaluations(points: Uint8Array): Promise<Uint8Array>;
}

/** A curve of ffjavascript, as powers of tau need it. */
export interface TauCurve extends KeyCurve {
  readonly G1: TauGroup & KeyCurve['G1'];
  readonly G2: TauGroup & KeyCurve['G2'];
  readonly Fr: KeyCurve['Fr'] & { readonly one: Uint8Array };
}

const SECTION = { header: 1, tauG1: 2, tauG2: 3, lagrangeG1: 12 } as const;

/**
 * Returns a `.ptau` file for domains of 2^logn: powers of tau, and Lagrange points of that domain
 * alone.
 *
 * @param count number of powers, 2^logn + 6 for PLONK and 9·2^logn + 18 for FFLONK
 */
export async function makePowersOfTau(
  { q, G1, G2, Fr }: TauCurve,
  logn: number,
  count = 9 * 2 ** logn + 18,
): Promise<Uint8Array> {
  const size = 2 ** logn;
  const tau = Fr.random();
  const powers = async (group: TauGroup, count: number): Promise<Uint8Array> => {
    const one = await group.batchToAffine(group.g);
    const points = new Uint8Array(count * one.length);
    for (let i = 0; i < count; i++) points.set(one, i * one.length);
    return group.batchApplyKey(points, Fr.one, tau);
  };
  const tauG1 = await powers(G1, count);
  const pointBytes = 2 * G1.F.n8;
  const lagrange = new Uint8Array((2 * size - 1) * pointBytes);
  // the points of smaller domains come first; nothing reads them
  lagrange.set(await G1.lagrangeEvaluations(tauG1.slice(0, size * pointBytes)), (size - 1) * pointBytes);
  const header = new Bytes().u32(G1.F.n8).number(q, G1.F.n8).u32(logn).u32(logn);
  return fileOf('ptau', 1, [
    [SECTION.header, header.done()],
    [SECTION.tauG1, tauG1],
    [SECTION.tauG2, await powers(G2, 2)],
    [SECTION.lagrangeG1, lagrange],
  ]);
}
