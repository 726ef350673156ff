import { badArgument } from '../errors.js';
import { type PointSection, pointSection } from './section.js';
import { type FileSource, numbersOf, openFile } from './source.js';

/** KZG parameters of halo2 over BN254. n is 2^k. */
export interface Halo2Params {
  /** There is no other. */
  readonly curve: 'bn254';
  /** Circuits have 2^k rows. */
  readonly k: number;
  /** Their points. */
  readonly sections: {
    /** s^i·G1, n of them. */
    readonly g: PointSection<'le-montgomery'>;
    /** The same in Lagrange's base over the domain of n elements. */
    readonly gLagrange: PointSection<'le-montgomery'>;
    /** G2, one. */
    readonly g2: PointSection<'le-montgomery'>;
    /** s·G2, one. */
    readonly sG2: PointSection<'le-montgomery'>;
  };
}

/** The scalar field of BN254 has no roots of unity of a larger order. */
const MOST_K = 28;
const K_BYTES = 4;
const G1_BYTES = 64;
const G2_BYTES = 128;

/**
 * Opens what `ParamsKZG::write` of PSE's halo2 and its forks writes, of BN254, in `SerdeFormat::RawBytes` (or `RawBytesUnchecked`): k in four
 * little-endian bytes, g, g_lagrange, g2, s_g2, in Montgomery form as they are in memory. Reads k, and no points.
 *
 * `SerdeFormat::Processed`, with compressed points, is refused: which bit is y's sign depends on the version of halo2curves that wrote it.
 *
 * @throws MsmError `bad-argument`, where k is out of range, or the file has another length than it says
 */
export const openHalo2Params = async (source: FileSource): Promise<Halo2Params> => {
  const file = openFile('halo2 params', source);
  const { what, byteLength } = file;
  if (byteLength < K_BYTES) throw badArgument(`${what}: the file has ${byteLength} bytes, and k takes ${K_BYTES}`);
  const k = numbersOf(await file.read(0, K_BYTES)).getUint32(0, true);
  if (k > MOST_K) throw badArgument(`${what}: k must be at most ${MOST_K}, and the file begins with ${k}`);
  const n = 2 ** k;
  const points = 2 * n * G1_BYTES + 2 * G2_BYTES;
  if (byteLength === K_BYTES + points / 2) {
    throw badArgument(`${what}: these are in SerdeFormat::Processed, compressed; write them in SerdeFormat::RawBytes`);
  }
  if (byteLength !== K_BYTES + points) {
    throw badArgument(`${what}: with k = ${k} they take ${K_BYTES + points} bytes, and the file has ${byteLength}`);
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
