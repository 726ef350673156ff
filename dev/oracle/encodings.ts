/**
 * Points and scalars in the encodings of other software, written independently of the library.
 * tests/encodings/vectors.test.ts compares them with the output of that software.
 */
import { concatBytes, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import type { PointEncoding, ScalarEncoding } from '../../src/api/values.js';
import { type CurveGroup, type CurveName, weierstrassNames } from './curves.js';
import {
  type AffinePoint,
  type Coordinate,
  groupOrder,
  infinityOf,
  numbersOf,
  type OracleCurve,
  type ScalarsOf,
} from './known-bases.js';

/** A point to encode, with facts of its curve. */
interface Written extends AffinePoint<Coordinate> {
  readonly curve: string;
  readonly p: bigint;
  /** Bits of p. */
  readonly bits: number;
  /** Bytes of one number of a coordinate in the library's format. */
  readonly bytes: number;
}
/** Encodes a point; null if the encoding cannot express it. */
type Write = (point: Written) => Uint8Array | null;

const bytesOf = (bits: number): number => Math.ceil(bits / 8);

/** Returns whether y is larger than −y. Pairs compare by c1, and by c0 if that is 0. */
const isLarger = ({ y, p }: Written): boolean => {
  const deciding = numbersOf(y).findLast((number) => number !== 0n);
  return deciding !== undefined && 2n * deciding > p;
};
/** Returns whether y is odd; for pairs, whether c0 is. */
export const isOdd = (y: Coordinate): boolean => numbersOf(y)[0]! % 2n === 1n;

type WriteNumber = (value: bigint, length: number, modulus: bigint) => Uint8Array;

const montgomery: WriteNumber = (value, length, modulus) =>
  numberToBytesLE((value * 2n ** BigInt(8 * length)) % modulus, length);

/** Concatenates arrays of equal size; a call with that many arguments would overflow the stack. */
const inRow = (all: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const each = all[0]?.length ?? 0;
  const bytes = new Uint8Array(all.length * each);
  for (const [i, one] of all.entries()) bytes.set(one, i * each);
  return bytes;
};

/** Writes coordinates without flags, c0 first. */
const plain =
  (write: WriteNumber): Write =>
  ({ x, y, bytes, p }) =>
    concatBytes(...[x, y].flatMap(numbersOf).map((value) => write(value, bytes, p)));

/**
 * Writes coordinates little-endian in the fewest bytes, c0 first. Flags are the top bits of the
 * last byte, which is an extra one where p leaves no room.
 */
const littleEndian = (
  coordinates: readonly Coordinate[],
  bits: number,
  flagBits: number,
  flags: number,
): Uint8Array => {
  const numbers = coordinates.flatMap(numbersOf);
  const bytes = concatBytes(
    ...numbers.map((value, i) => numberToBytesLE(value, bytesOf(bits + (i === numbers.length - 1 ? flagBits : 0)))),
  );
  bytes[bytes.length - 1]! |= flags;
  return bytes;
};

/** Writes coordinates big-endian, c1 first. Flags are the top bits of the first byte. */
const bigEndian = (coordinates: readonly Coordinate[], bits: number, flags: number): Uint8Array => {
  const numbers = coordinates.flatMap((coordinate) => numbersOf(coordinate).reverse());
  const bytes = concatBytes(...numbers.map((value) => numberToBytesBE(value, bytesOf(bits))));
  bytes[0]! |= flags;
  return bytes;
};

/** Zcash protocol specification, 5.4.9.2. Flags: compressed, infinity, larger root. */
const zcash: Write = ({ x, y, infinity, bits }) => bigEndian([x, y], bits, infinity ? 0x40 : 0);
const zcashCompressed: Write = (point) =>
  bigEndian([point.x], point.bits, 0x80 | (point.infinity ? 0x40 : 0) | (isLarger(point) ? 0x20 : 0));

/** ark-ec, SWFlags. Flags: larger root, infinity, in both forms. */
const arkFlags = (point: Written): number => (point.infinity ? 0x40 : 0) | (isLarger(point) ? 0x80 : 0);
const ark: Write = (point) => littleEndian([point.x, point.y], point.bits, 2, arkFlags(point));
const arkCompressed: Write = (point) => littleEndian([point.x], point.bits, 2, arkFlags(point));

/**
 * gnark-crypto, marshal.go. Fields with three spare bits use the flags of Zcash, those with two use
 * 10, 11 and 01, and those with none have no compressed form.
 */
const gnark: Write = ({ x, y, bits }) => bigEndian([x, y], bits, 0);
const gnarkCompressed: Write = (point) =>
  bigEndian([point.x], point.bits, point.infinity ? 0x40 : isLarger(point) ? 0xc0 : 0x80);
const threeSpare = ({ bits }: Written): boolean => bytesOf(bits) * 8 - bits >= 3;

/**
 * barretenberg, affine_element.hpp. c0 is first and infinity all ones; compressed points have a
 * flag for odd y, and no infinity.
 */
const aztec: Write = ({ x, y, infinity, bits }) => {
  const bytes = concatBytes(...[x, y].flatMap(numbersOf).map((value) => numberToBytesBE(value, bytesOf(bits))));
  return infinity ? bytes.fill(0xff) : bytes;
};
const aztecCompressed: Write = ({ x, y, infinity, bits }) =>
  infinity ? null : bigEndian([x], bits, isOdd(y) ? 0x80 : 0);

const isBls12381 = ({ curve }: Written): boolean => curve === 'bls12-381';

const writers: Readonly<Record<PointEncoding, Write>> = {
  le: plain(numberToBytesLE),
  be: plain(numberToBytesBE),
  'le-montgomery': plain(montgomery),
  // EIP-197: "Elements `a * i + b` of `F_p^2` are encoded as two elements of `F_p`, `(a, b)`"
  eip196: ({ x, y, bits }) => bigEndian([x, y], bits, 0),
  eip2537: (point) => plain(numberToBytesBE)({ ...point, bytes: 64 }),
  zcash,
  'zcash-compressed': zcashCompressed,
  // ark-bls12-381 uses the encoding of Zcash
  ark: (point) => (isBls12381(point) ? zcash : ark)(point),
  'ark-compressed': (point) => (isBls12381(point) ? zcashCompressed : arkCompressed)(point),
  gnark: (point) => (threeSpare(point) ? zcash : gnark)(point),
  'gnark-compressed': (point) => (threeSpare(point) ? zcashCompressed : gnarkCompressed)(point),
  aztec,
  'aztec-compressed': aztecCompressed,
};

/**
 * Encodings in the library's order, with the curves that have them; all curves if none is listed.
 */
const known: readonly (readonly [encoding: PointEncoding, ...curves: readonly CurveName[]])[] = [
  ['le'],
  ['be'],
  ['le-montgomery'],
  ['eip196', 'bn254'],
  ['eip2537', 'bls12-381'],
  ['zcash', 'bls12-381'],
  ['zcash-compressed', 'bls12-381'],
  ['ark', ...weierstrassNames],
  ['ark-compressed', ...weierstrassNames],
  ['gnark', 'bn254', 'bls12-381', 'bls12-377', 'grumpkin'],
  ['gnark-compressed', 'bn254', 'bls12-381', 'bls12-377', 'grumpkin'],
  ['aztec', 'bn254', 'grumpkin', 'secp256k1'],
  ['aztec-compressed', 'bn254'],
];

export const encodingsOf = ({ curve, group }: CurveGroup): PointEncoding[] =>
  known.flatMap(([encoding, ...curves]) => {
    const isOfG1 = encoding === 'aztec-compressed';
    return (curves.length === 0 || curves.includes(curve)) && !(isOfG1 && group === 'g2') ? [encoding] : [];
  });

/**
 * Returns whether the encoding has infinity. Without it sums cannot be encoded either, because a
 * sum may be infinity.
 */
export const hasInfinity = (encoding: PointEncoding): boolean => encoding !== 'aztec-compressed';

/**
 * Returns a function that encodes a point; it returns null if the encoding cannot express the
 * point.
 */
export const pointWriter = <Of extends Coordinate>(
  { name: curve, Point, coordinateBytes, group }: OracleCurve<Of>,
  encoding: PointEncoding,
): ((point: AffinePoint<Of>) => Uint8Array | null) => {
  const bytes = group === 'g1' ? coordinateBytes : coordinateBytes / 2;
  const [minusOne] = numbersOf(Point.Fp.neg(Point.Fp.ONE)) as [bigint];
  const p = minusOne + 1n;
  const where = { curve, p, bits: p.toString(2).length, bytes };
  const atInfinity = infinityOf(Point);
  return (point) => writers[encoding]({ ...where, ...(point.infinity ? atInfinity : point) });
};

/** @throws RangeError that names the encoding if a point is infinity and the encoding has none */
export const pointsIn = <Of extends Coordinate>(
  curve: OracleCurve<Of>,
  points: readonly AffinePoint<Of>[],
  encoding: PointEncoding,
): Uint8Array<ArrayBuffer> => {
  const write = pointWriter(curve, encoding);
  const written = points.map((point) => {
    const bytes = write(point);
    if (bytes === null) throw new RangeError(`encoding: ${encoding} cannot express infinity`);
    return bytes;
  });
  return inRow(written);
};

const scalar: Record<ScalarEncoding, WriteNumber> = {
  le: numberToBytesLE,
  be: numberToBytesBE,
  'le-montgomery': montgomery,
};

/** Encodes scalars. Montgomery form reduces them modulo the order. */
export const scalarsIn = (curve: ScalarsOf, scalars: readonly bigint[], encoding: ScalarEncoding): Uint8Array =>
  inRow(scalars.map((value) => scalar[encoding](value, curve.scalarBytes, groupOrder(curve))));
