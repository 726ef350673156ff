import { badArgument } from '../errors.js';
import { type PointSection, pointSection } from './section.js';
import { type FileSource, type OpenFile, openFile } from './source.js';

/** The common reference string of barretenberg, Aztec's prover: points of BN254. */
export interface AztecCrs<G2 extends PointSection<'be'> | null = PointSection<'be'> | null> {
  /** The curve; barretenberg uses no other one here. */
  readonly curve: 'bn254';
  /** Its points. */
  readonly sections: {
    /** τ^i·G1, in 64 bytes each, or 32 if compressed. */
    readonly g1: PointSection<'be' | 'aztec-compressed'>;
    /** τ·G2; null without a file of it. */
    readonly g2: G2;
  };
}

const COORDINATE_BYTES = 32;
const G2_BYTES = 128;

/** Returns whether big-endian bytes are a number. */
const isNumber = (bytes: Uint8Array, value: number): boolean =>
  bytes.every((byte, i) => byte === (i === bytes.length - 1 ? value : 0));

/**
 * Opens the points of G1. The file has no header: its first point is the generator (1, 2). The file
 * is compressed unless the number after the 1 is 2, which is not the x of the second point.
 */
const openG1 = async (file: OpenFile): Promise<AztecCrs['sections']['g1']> => {
  const { what, byteLength } = file;
  const head = await file.read(0, Math.min(byteLength, 2 * COORDINATE_BYTES));
  const x = head.subarray(0, COORDINATE_BYTES);
  // the generator's y is even, so the flag of its compressed form is 0
  if (x.length < COORDINATE_BYTES || !isNumber(x, 1)) {
    throw badArgument(`${what}: the file must begin with the generator, whose x is 1 in 32 big-endian bytes`);
  }
  const y = head.subarray(COORDINATE_BYTES);
  const compressed = y.length < COORDINATE_BYTES || !isNumber(y, 2);
  const pointBytes = compressed ? COORDINATE_BYTES : 2 * COORDINATE_BYTES;
  if (byteLength % pointBytes !== 0) {
    throw badArgument(`${what}: ${byteLength} bytes are not a whole number of points of ${pointBytes}: is it cut off?`);
  }
  return pointSection(file, {
    name: 'g1',
    curve: 'bn254',
    group: 'g1',
    encoding: compressed ? 'aztec-compressed' : 'be',
    count: byteLength / pointBytes,
    pointBytes,
    at: 0,
  });
};

/** Opens the one point of G2: big-endian, c0 before c1. */
const openG2 = (file: OpenFile): PointSection<'be'> => {
  if (file.byteLength !== G2_BYTES) {
    throw badArgument(
      `${file.what}: the file must have ${G2_BYTES} bytes, which is one point; it has ${file.byteLength}`,
    );
  }
  return pointSection(file, {
    name: 'g2',
    curve: 'bn254',
    group: 'g2',
    encoding: 'be',
    count: 1,
    pointBytes: G2_BYTES,
    at: 0,
  });
};

/**
 * Opens the common reference string of Aztec's barretenberg. Reads its first two numbers, and no
 * points.
 *
 * @param g1 `bn254_g1.dat` or `g1.dat`, or `bn254_g1_compressed.dat` or `g1_compressed.dat`: the
 * whole file, or its beginning up to the end of a point
 * @param g2 `bn254_g2.dat` or `g2.dat`
 * @throws MsmError `bad-argument` if a file does not begin with the generator, or is not a whole
 * number of points
 * @example
 * ```ts
 * import { openAztecCrs } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const g1 = await openFile('bn254_g1.dat');
 * const { sections } = await openAztecCrs(g1, await openFile('bn254_g2.dat'));
 * console.log(sections.g1.encoding, sections.g2.count); // be 1
 * ```
 */
export async function openAztecCrs(g1: FileSource, g2: FileSource): Promise<AztecCrs<PointSection<'be'>>>;
/**
 * Opens the same without τ·G2.
 *
 * @example
 * ```ts
 * import { openAztecCrs } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { sections } = await openAztecCrs(await openFile('bn254_g1.dat'));
 * console.log(sections.g2); // null
 * ```
 */
export async function openAztecCrs(g1: FileSource, g2?: undefined): Promise<AztecCrs<null>>;
export async function openAztecCrs(g1: FileSource, g2?: FileSource): Promise<AztecCrs> {
  return {
    curve: 'bn254',
    sections: {
      g1: await openG1(openFile('g1.dat', g1)),
      g2: g2 === undefined ? null : openG2(openFile('g2.dat', g2)),
    },
  };
}
