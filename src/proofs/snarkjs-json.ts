/** Parts of the JSON of snarkjs that all proof systems share. */
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { badArgument, kindOf } from '../errors.js';
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

/** Checks a proof's protocol. @throws MsmError `bad-argument` */
export const assertProtocol = (proof: unknown, protocol: string): void => {
  const { protocol: given } = (proof ?? {}) as { readonly protocol?: unknown };
  if (given !== protocol) throw badArgument(`proof must be a proof of ${protocol}, got ${kindOf(proof)}`);
};

/**
 * Reads a decimal number.
 *
 * @param name the place of the number in errors
 * @throws MsmError `bad-argument` if it is no decimal number
 */
export const readDecimal = (name: string, number: unknown): bigint => {
  if (typeof number === 'string' && /^\d+$/.test(number)) return BigInt(number);
  throw badArgument(`${name} must be a decimal number in a string, got ${kindOf(number)}`);
};

/** Checks that a value is an array. @throws MsmError `bad-argument` */
export const readArray = (name: string, given: unknown): readonly unknown[] => {
  if (Array.isArray(given)) return given;
  throw badArgument(`${name} must be an array, got ${kindOf(given)}`);
};

/** Reads public values. @throws MsmError `bad-argument` naming the number */
export const readPublicSignals = (given: unknown): bigint[] =>
  Array.from(readArray('publicSignals', given), (each, i) => readDecimal(`publicSignals[${i}]`, each));

/** Reads a coordinate: a number, or a pair of them. */
export type ReadCoordinate<Of extends Coordinate> = (name: string, given: unknown) => Of;

/** Reads a pair of numbers. @throws MsmError `bad-argument` naming the number */
export const readPair: ReadCoordinate<Fp2> = (name, given) => {
  const [c0, c1] = readArray(name, given);
  return { c0: readDecimal(`${name}[0]`, c0), c1: readDecimal(`${name}[1]`, c1) };
};

/** Reads a point of `projective`. @throws MsmError `bad-argument` naming the number */
export const readProjective = <Of extends Coordinate>(
  name: string,
  given: unknown,
  read: ReadCoordinate<Of>,
): AffinePoint<Of> => {
  const [x, y, z] = readArray(name, given);
  const last = [z].flat().join();
  if (!['1', '0', '1,0', '0,0'].includes(last)) {
    throw badArgument(`${name}[2] must be 1, or 0 for infinity, got ${kindOf(z)}`);
  }
  return { x: read(`${name}[0]`, x), y: read(`${name}[1]`, y), infinity: last.startsWith('0') };
};
