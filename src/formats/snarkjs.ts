/**
 * Common parts of snarkjs's files: points in the encoding `le-montgomery`, and a header with the
 * prime of the coordinates, which identifies the curve.
 */
import type { CurvesOf, Group } from '../curves/more-curves.js';
import { badArgument } from '../errors.js';
import { type Extent, type Fields, type Sections, sectionOf } from './binfile.js';
import { type PointSection, pointSection } from './section.js';
import type { OpenFile } from './source.js';

/** A curve of snarkjs. */
export interface SnarkjsCurve {
  readonly name: keyof CurvesOf<'snarkjs'>;
  /** Prime of the base field. */
  readonly prime: bigint;
  /** Bytes of a coordinate in G1. */
  readonly primeBytes: number;
  /** Group order, in 32 bytes. */
  readonly order: bigint;
}

export const ORDER_BYTES = 32;

/**
 * Constants of src/curves/, copied because an import would load the module of all curves. The tests
 * compare them.
 */
const bn254: SnarkjsCurve = {
  name: 'bn254',
  prime: 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  primeBytes: 32,
  order: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
};

const bls12381: SnarkjsCurve = {
  name: 'bls12-381',
  prime: 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  primeBytes: 48,
  order: 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n,
};

/**
 * Reads the prime of a header: u32 length, and that many bytes.
 *
 * @throws MsmError `bad-argument` if it is the prime of another curve
 */
export const readCurve = ({ what }: OpenFile, header: Fields): SnarkjsCurve => {
  const bytes = header.u32();
  const curve = bytes === 32 ? bn254 : bls12381;
  if (bytes !== curve.primeBytes || header.number(bytes) !== curve.prime) {
    throw badArgument(`${what}: the header has a prime of ${bytes} bytes that is not that of bn254 or bls12-381`);
  }
  return curve;
};

const pointBytesOf = ({ primeBytes }: SnarkjsCurve, group: Group): number => (group === 'g1' ? 2 : 4) * primeBytes;

/** The points of a section. */
export interface PointsOf {
  readonly name: string;
  readonly group: Group;
  readonly count: number;
}

const montgomerySection = (
  file: OpenFile,
  curve: SnarkjsCurve,
  points: PointsOf,
  at: number,
): PointSection<'le-montgomery'> =>
  pointSection(file, {
    ...points,
    curve: curve.name,
    encoding: 'le-montgomery',
    pointBytes: pointBytesOf(curve, points.group),
    at,
  });

/**
 * Opens a section of points.
 *
 * @throws MsmError `bad-argument` if its size does not fit the number of points
 */
export const pointsIn = (
  file: OpenFile,
  curve: SnarkjsCurve,
  sections: Sections,
  id: number,
  points: PointsOf,
): PointSection<'le-montgomery'> => {
  const { at, byteLength }: Extent = sectionOf(file, sections, id, points.name);
  const pointBytes = pointBytesOf(curve, points.group);
  if (byteLength !== points.count * pointBytes) {
    throw badArgument(
      `${file.what}: section ${id} (${points.name}) has ${byteLength} bytes, but the header says ${points.count} points of ${pointBytes}`,
    );
  }
  return montgomerySection(file, curve, points, at);
};

/**
 * Opens the next field of a header, which is a point.
 *
 * @throws MsmError `bad-argument` at the end of the header
 */
export const pointInHeader = (
  file: OpenFile,
  curve: SnarkjsCurve,
  header: Fields,
  name: string,
  group: Group,
): PointSection<'le-montgomery'> =>
  montgomerySection(file, curve, { name, group, count: 1 }, header.skip(pointBytesOf(curve, group)));
