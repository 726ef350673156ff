/** Parts of the JSON of snarkjs that all proof systems share. */
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { badArgument, kindOf, show } from '../errors.js';
import { numbersIn, SCALAR_BYTES } from './scalars.js';

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
export type JsonObject = Readonly<Record<string, unknown>>;

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
export const readArray = (name: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw badArgument(`${name} must be an array, got ${kindOf(value)}`);
};

/** Reads public values. @throws MsmError `bad-argument` naming the number */
export const readPublicSignals = (signals: unknown): bigint[] =>
  Array.from(readArray('publicSignals', signals), (each, i) => readNumber(`publicSignals[${i}]`, each));

/** A field whose elements are coordinates in JSON. */
export interface CoordinateReader<Of extends Coordinate> {
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
