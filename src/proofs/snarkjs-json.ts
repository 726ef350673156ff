/** Proofs as text: the JSON of snarkjs, and the calldata of its verifier contracts. */
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { badArgument, kindOf, show } from '../errors.js';
import { numbersIn, SCALAR_BYTES } from './witness.js';

/* Parts of the JSON of snarkjs that all proof systems share. */

/** Names that snarkjs has for curves. */
export const snarkjsNames = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;

/** Returns projective coordinates as they are written: (x, y, 1), or (0, 1, 0) for infinity. */
export const projective = <Of extends Coordinate, Written>(
  { x, y, infinity }: AffinePoint<Of>,
  zero: Of,
  one: Of,
  write: (coordinate: Of) => Written,
): [x: Written, y: Written, z: Written] =>
  infinity ? [write(zero), write(one), write(zero)] : [write(x), write(y), write(one)];

/** Returns the public values of a witness in decimal. */
export const publicSignalsOf = (witness: Uint8Array, count: number): string[] =>
  numbersIn(witness.subarray(SCALAR_BYTES, (count + 1) * SCALAR_BYTES)).map(String);

/** An object of JSON, whose members have not been checked. */
type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns a proof of a proof system as an object. snarkjs does not read `protocol`, so a proof may
 * lack it.
 *
 * @throws MsmError `bad-argument` if it is no object, or names another protocol
 */
export const readProofObject = (proof: unknown, protocol: string): JsonObject => {
  if (typeof proof !== 'object' || proof === null) {
    const remedy = typeof proof === 'string' ? '; read the text with JSON.parse' : '';
    throw badArgument(`proof must be a proof of ${protocol}, an object, got ${kindOf(proof)}${remedy}`);
  }
  const { protocol: named } = proof as JsonObject;
  if (named === undefined || named === protocol) return proof as JsonObject;
  throw badArgument(`proof must be a proof of ${protocol}, but its protocol is ${excerpt(named)}`);
};

/** Characters of a value that an error shows. */
const SHOWN = 24;

const excerpt = (value: unknown): string => {
  const text = show(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
};

/**
 * Reads a number as snarkjs does: a bigint, an integer that a double holds exactly, or digits in a
 * string, decimal or hexadecimal with 0x.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` for anything else, also for a negative number
 */
export const readNumber = (name: string, number: unknown): bigint => {
  if (typeof number === 'bigint' && number >= 0n) return number;
  if (typeof number === 'string' && /^(\d+|0x[\da-fA-F]+)$/.test(number)) return BigInt(number);
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return BigInt(number);
  if (typeof number === 'number' && Number.isInteger(number) && number > 0) {
    throw badArgument(`${name} is ${number}, more than a double holds exactly; pass a bigint or a string`);
  }
  throw badArgument(
    `${name} must be a non-negative integer (a bigint, a number, or a string of decimal digits or 0x and hexadecimal ones), got ${excerpt(number)}`,
  );
};

/** Returns a member of a proof that is an object. @throws MsmError `bad-argument` */
export const readMember = (proof: JsonObject, name: string): JsonObject => {
  const { [name]: member } = proof;
  if (typeof member === 'object' && member !== null) return member as JsonObject;
  throw badArgument(`proof.${name} must be an object, got ${kindOf(member)}`);
};

/** Checks that a value is an array. @throws MsmError `bad-argument` */
const readArray = (name: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw badArgument(`${name} must be an array, got ${kindOf(value)}`);
};

/** Reads public values. @throws MsmError `bad-argument` naming the number */
export const readPublicSignals = (signals: unknown): bigint[] =>
  Array.from(readArray('publicSignals', signals), (each, i) => readNumber(`publicSignals[${i}]`, each));

/** A field whose elements are coordinates in JSON. */
interface CoordinateReader<Of extends Coordinate> {
  /** @throws MsmError `bad-argument` naming the number */
  read(name: string, value: unknown): Of;
  isNumber(coordinate: Of, number: bigint): boolean;
}

/** Coordinates of G1. */
export const inNumbers: CoordinateReader<bigint> = {
  read: readNumber,
  isNumber: (coordinate, number) => coordinate === number,
};

/** Coordinates of G2: pairs of numbers. */
export const inPairs: CoordinateReader<Fp2> = {
  read: (name, value) => {
    const [c0, c1] = readArray(name, value);
    return { c0: readNumber(`${name}[0]`, c0), c1: readNumber(`${name}[1]`, c1) };
  },
  isNumber: ({ c0, c1 }, number) => c0 === number && c1 === 0n,
};

/**
 * Reads a point: x, y, and 1, which may be missing; infinity has 0 there, or the coordinates (0, 0),
 * as EIP-196 writes it.
 *
 * @throws MsmError `bad-argument` naming the number
 */
export const readJsonPoint = <Of extends Coordinate>(
  name: string,
  value: unknown,
  { read, isNumber }: CoordinateReader<Of>,
): AffinePoint<Of> => {
  const coordinates = readArray(name, value);
  if (coordinates.length < 2) {
    throw badArgument(`${name} must have the coordinates x, y and 1, got ${coordinates.length}`);
  }
  const [x, y] = [read(`${name}[0]`, coordinates[0]), read(`${name}[1]`, coordinates[1])];
  const isOrigin = isNumber(x, 0n) && isNumber(y, 0n);
  if (coordinates.length === 2) return { x, y, infinity: isOrigin };
  const z = read(`${name}[2]`, coordinates[2]);
  if (isNumber(z, 0n)) return { x, y, infinity: true };
  if (isNumber(z, 1n)) return { x, y, infinity: isOrigin };
  throw badArgument(`${name}[2] must be 1, or 0 for infinity: the point has to be affine`);
};

/*
 * Calldata of the verifier contracts that snarkjs writes: numbers as words of 32 bytes in
 * hexadecimal. Infinity is (0, 0), as EIP-196 and EIP-197 write it; snarkjs passes its own (0, 1)
 * on, which the precompiled contracts refuse.
 */

/** Digits of a word. */
const DIGITS = 64;

/** @throws MsmError `bad-argument` for a number of more than 32 bytes */
const wordOf = (name: string, number: bigint): string => {
  const digits = number.toString(16);
  if (digits.length <= DIGITS) return `"0x${digits.padStart(DIGITS, '0')}"`;
  throw badArgument(
    `${name} must be below 2^256, a word of a contract; the contracts of snarkjs verify on bn254 alone`,
  );
};

/**
 * Returns a number as a quoted word.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` if it is no number below 2^256
 */
export const numberWord = (name: string, number: unknown): string => wordOf(name, readNumber(name, number));

/** Returns the words of a point in G1. @throws MsmError `bad-argument` as `numberWord` */
export const pointWords = (name: string, point: unknown): readonly [x: string, y: string] => {
  const { x, y, infinity }: AffinePoint = readJsonPoint(name, point, inNumbers);
  const word = (i: number, coordinate: bigint): string => wordOf(`${name}[${i}]`, infinity ? 0n : coordinate);
  return [word(0, x), word(1, y)];
};

/**
 * Returns the words of a point in G2: two for each coordinate, c1 before c0.
 *
 * @throws MsmError `bad-argument` as `numberWord`
 */
export const pairWords = (name: string, point: unknown): readonly (readonly [c1: string, c0: string])[] => {
  const { x, y, infinity } = readJsonPoint(name, point, inPairs);
  return [x, y].map(({ c0, c1 }, i) => {
    const word = (k: number, number: bigint): string => wordOf(`${name}[${i}][${k}]`, infinity ? 0n : number);
    return [word(1, c1), word(0, c0)];
  });
};

/** Returns the words of public values. @throws MsmError `bad-argument` as `numberWord` */
export const publicWords = (publicSignals: unknown): string =>
  readPublicSignals(publicSignals)
    .map((signal, i) => wordOf(`publicSignals[${i}]`, signal))
    .join();
