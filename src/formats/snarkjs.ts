/**
 * What snarkjs's files have in common: points x‖y in little-endian Montgomery form, infinity as zeros, and in G2 c0 before c1, which is
 * `le-montgomery`; and the prime of the coordinates, which tells the curve.
 */
import type { CurvesOf, Group } from '../curves/names.js';
import { badArgument } from '../errors.js';
import { type Extent, type Fields, type Sections, sectionOf } from './binfile.js';
import { type PointSection, pointSection } from './section.js';
import type { OpenFile } from './source.js';

/** A curve of snarkjs's. */
export interface SnarkjsCurve {
  readonly name: keyof CurvesOf<'snarkjs'>;
  /** Of a coordinate in G1, and so many bytes. */
  readonly prime: bigint;
  readonly primeBytes: number;
  /** Of the group, in 32 bytes. */
  readonly order: bigint;
}

export const ORDER_BYTES = 32;

/** The constants of `src/curves/`, once more: from there they would bring the module of all other curves along. The tests compare. */
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

/** The next field of a header: u32 length, and a prime of so many bytes. @throws MsmError `bad-argument` */
export const readCurve = ({ what }: OpenFile, header: Fields): SnarkjsCurve => {
  const bytes = header.u32();
  const curve = bytes === 32 ? bn254 : bls12381;
  if (bytes !== curve.primeBytes || header.number(bytes) !== curve.prime) {
    throw badArgument(`${what}: the prime in the header, of ${bytes} bytes, is not that of bn254 or bls12-381`);
  }
  return curve;
};

const pointBytesOf = ({ primeBytes }: SnarkjsCurve, group: Group): number => (group === 'g1' ? 2 : 4) * primeBytes;

/** What a file has of points: where, and how many. */
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

/** A section of nothing but points. @throws MsmError `bad-argument` where it has not as many as it must */
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
      `${file.what}: section ${id} (${points.name}) has ${byteLength} bytes, and the header says ${points.count} points of ${pointBytes}`,
    );
  }
  return montgomerySection(file, curve, points, at);
};

/** One point of a header, which is next there. @throws MsmError `bad-argument` */
export const pointInHeader = (
  file: OpenFile,
  curve: SnarkjsCurve,
  header: Fields,
  name: string,
  group: Group,
): PointSection<'le-montgomery'> =>
  montgomerySection(file, curve, { name, group, count: 1 }, header.skip(pointBytesOf(curve, group)));
