import { badArgument } from '../errors.js';
import { type PointSection, pointSection } from './section.js';
import { type FileSource, numbersOf, openFile, whyShort } from './source.js';

/** KZG parameters of halo2 over BN254, for n = 2^k. */
export interface Halo2Params {
  /** The curve; this format is read for no other one. */
  readonly curve: 'bn254';
  /** Logarithm of the number of rows of a circuit. */
  readonly k: number;
  /** Its points. */
  readonly sections: {
    /** s^i·G1, n of them. */
    readonly g: PointSection<'le-montgomery'>;
    /** The same in the Lagrange basis of the domain of n elements, n of them. */
    readonly gLagrange: PointSection<'le-montgomery'>;
    /** G2, one. */
    readonly g2: PointSection<'le-montgomery'>;
    /** s·G2, one. */
    readonly sG2: PointSection<'le-montgomery'>;
  };
}

/** The two-adicity of BN254's scalar field, which bounds the domain. */
const MOST_K = 28;
const K_BYTES = 4;
const G1_BYTES = 64;
const G2_BYTES = 128;

/**
 * Opens parameters over BN254 that `ParamsKZG::write` of PSE's halo2 or a fork of it wrote in
 * `SerdeFormat::RawBytes` (or `RawBytesUnchecked`): k in four little-endian bytes, then g,
 * g_lagrange, g2 and s_g2 in Montgomery form. Reads k, and no points.
 *
 * Rejects `SerdeFormat::Processed`, which has compressed points: the bit with the sign of y depends
 * on the version of halo2curves that wrote them.
 *
 * @throws MsmError `bad-argument` if k is out of range, or the length of the file does not fit k
 * @example
 * ```ts
 * import { openHalo2Params } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { k, sections } = await openHalo2Params(await openFile('kzg.params'));
 * console.log(sections.g.count === 2 ** k); // true
 * ```
 */
export const openHalo2Params = async (source: FileSource): Promise<Halo2Params> => {
  const file = openFile('halo2 params', source);
  const { what, byteLength } = file;
  if (byteLength < K_BYTES)
    throw badArgument(`${what}: the file must have ${K_BYTES} bytes of k; it has ${byteLength}`);
  const k = numbersOf(await file.read(0, K_BYTES)).getUint32(0, true);
  if (k > MOST_K) throw badArgument(`${what}: k must be at most ${MOST_K}, and the file begins with ${k}`);
  const n = 2 ** k;
  const points = 2 * n * G1_BYTES + 2 * G2_BYTES;
  if (byteLength === K_BYTES + points / 2) {
    throw badArgument(
      `${what}: the points are compressed (SerdeFormat::Processed); write them in SerdeFormat::RawBytes`,
    );
  }
  const expected = K_BYTES + points;
  if (byteLength !== expected) {
    const why = byteLength < expected ? `: ${whyShort(file, BigInt(expected), true)}` : '';
    throw badArgument(`${what}: with k = ${k} the file must have ${expected} bytes; it has ${byteLength}${why}`);
  }
  const section = (name: string, group: 'g1' | 'g2', count: number, at: number) =>
    pointSection(file, {
      name,
      curve: 'bn254',
      group,
      encoding: 'le-montgomery',
      count,
      pointBytes: group === 'g1' ? G1_BYTES : G2_BYTES,
      at,
    });
  return {
    curve: 'bn254',
    k,
    sections: {
      g: section('g', 'g1', n, K_BYTES),
      gLagrange: section('g_lagrange', 'g1', n, K_BYTES + n * G1_BYTES),
      g2: section('g2', 'g2', 1, byteLength - 2 * G2_BYTES),
      sG2: section('s_g2', 'g2', 1, byteLength - G2_BYTES),
    },
  };
};
