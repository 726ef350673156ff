/** Points and scalars in the encodings of others, said anew and not by the library. */
import { concatBytes, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import type { PointEncoding, ScalarEncoding } from '../../src/api.js';
import {
  type AffinePoint,
  type Coordinate,
  groupOrder,
  numbersOf,
  type OracleCurve,
  type ScalarsOf,
} from './known-bases.js';

type Write = (value: bigint, length: number, modulus: bigint) => Uint8Array;

const montgomery: Write = (value, length, modulus) =>
  numberToBytesLE((value * 2n ** BigInt(8 * length)) % modulus, length);

/** Those that have no flags: a number of so many bytes, modulo p. */
const number = {
  le: numberToBytesLE,
  be: numberToBytesBE,
  'le-montgomery': montgomery,
  eip196: numberToBytesBE,
  eip2537: (value) => numberToBytesBE(value, 64),
} as const satisfies Partial<Record<PointEncoding, Write>>;

export type PlainEncoding = keyof typeof number;

/** Of a pair c0 comes first, except in EIP-197: "Elements `a * i + b` of `F_p^2` are encoded as two elements of `F_p`, `(a, b)`". */
const numbersIn = (coordinate: Coordinate, encoding: PlainEncoding): bigint[] =>
  encoding === 'eip196' ? numbersOf(coordinate).reverse() : numbersOf(coordinate);

export const pointsIn = <Of extends Coordinate>(
  { Point: { Fp }, coordinateBytes, group }: OracleCurve<Of>,
  points: readonly AffinePoint<Of>[],
  encoding: PlainEncoding,
): Uint8Array => {
  const bytes = group === 'g1' ? coordinateBytes : coordinateBytes / 2;
  const [minusOne] = numbersOf(Fp.neg(Fp.ONE)) as [bigint];
  return concatBytes(
    ...points
      .flatMap(({ x, y, infinity }) => (infinity ? [Fp.ZERO, Fp.ZERO] : [x, y]))
      .flatMap((coordinate) => numbersIn(coordinate, encoding))
      .map((value) => number[encoding](value, bytes, minusOne + 1n)),
  );
};

const scalar: Record<ScalarEncoding, Write> = {
  le: numberToBytesLE,
  be: numberToBytesBE,
  'le-montgomery': montgomery,
};

/** In Montgomery form they are reduced modulo the order. */
export const scalarsIn = (curve: ScalarsOf, scalars: readonly bigint[], encoding: ScalarEncoding): Uint8Array =>
  concatBytes(...scalars.map((value) => scalar[encoding](value, curve.scalarBytes, groupOrder(curve))));
