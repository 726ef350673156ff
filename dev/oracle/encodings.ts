/** Points and scalars in the encodings of others, said anew and not by the library. */
import { concatBytes, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import type { PointEncoding, ScalarEncoding } from '../../src/api.js';
import { type AffinePoint, groupOrder, type OracleCurve, type ScalarsOf } from './known-bases.js';

type Write = (value: bigint, length: number, modulus: bigint) => Uint8Array;

const montgomery: Write = (value, length, modulus) =>
  numberToBytesLE((value * 2n ** BigInt(8 * length)) % modulus, length);

/** Those that have no flags: a coordinate of so many bytes, modulo p. */
const coordinate = {
  le: numberToBytesLE,
  be: numberToBytesBE,
  'le-montgomery': montgomery,
  eip196: numberToBytesBE,
  eip2537: (value) => numberToBytesBE(value, 64),
} as const satisfies Partial<Record<PointEncoding, Write>>;

export type PlainEncoding = keyof typeof coordinate;

export const pointsIn = (
  { Point, coordinateBytes }: OracleCurve,
  points: readonly AffinePoint[],
  encoding: PlainEncoding,
): Uint8Array =>
  concatBytes(
    ...points.flatMap(({ x, y, infinity }) =>
      (infinity ? [0n, 0n] : [x, y]).map((value) => coordinate[encoding](value, coordinateBytes, Point.Fp.ORDER)),
    ),
  );

const scalar: Record<ScalarEncoding, Write> = {
  le: numberToBytesLE,
  be: numberToBytesBE,
  'le-montgomery': montgomery,
};

/** In Montgomery form they are reduced modulo the order. */
export const scalarsIn = (curve: ScalarsOf, scalars: readonly bigint[], encoding: ScalarEncoding): Uint8Array =>
  concatBytes(...scalars.map((value) => scalar[encoding](value, curve.scalarBytes, groupOrder(curve))));
