/** Points and scalars in the encodings of others, said anew and not by the library. */
import type { PointEncoding, ScalarEncoding } from '../../src/api.js';
import { type AffinePoint, groupOrder, type OracleCurve } from './known-bases.js';

/** So many bytes of a number, the least significant first. */
const littleEndian = (value: bigint, length: number): number[] =>
  Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

/** So many bytes of a number, the most significant first. */
export const bigEndian = (value: bigint, length: number): number[] => littleEndian(value, length).reverse();

const montgomery = (value: bigint, length: number, modulus: bigint): number[] =>
  littleEndian((value * 2n ** BigInt(8 * length)) % modulus, length);

/** Those that have no flags: a coordinate of so many bytes, modulo p. */
const coordinate = {
  le: littleEndian,
  be: bigEndian,
  'le-montgomery': montgomery,
  eip196: bigEndian,
  eip2537: (value) => bigEndian(value, 64),
} as const satisfies Partial<Record<PointEncoding, (value: bigint, length: number, p: bigint) => number[]>>;

export type PlainEncoding = keyof typeof coordinate;

export const pointsIn = (
  { Point, coordinateBytes }: OracleCurve,
  points: readonly AffinePoint[],
  encoding: PlainEncoding,
): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    points.flatMap(({ x, y, infinity }) =>
      (infinity ? [0n, 0n] : [x, y]).flatMap((value) => coordinate[encoding](value, coordinateBytes, Point.Fp.ORDER)),
    ),
  );

const scalar: Record<ScalarEncoding, (value: bigint, length: number, order: bigint) => number[]> = {
  le: littleEndian,
  be: bigEndian,
  'le-montgomery': montgomery,
};

/** In Montgomery form they are reduced modulo the order. */
export const scalarsIn = (
  curve: OracleCurve,
  scalars: readonly bigint[],
  encoding: ScalarEncoding,
): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(scalars.flatMap((value) => scalar[encoding](value, curve.scalarBytes, groupOrder(curve))));
