/** Parts of the JSON of snarkjs that all proof systems share. */
import type { AffinePoint, Coordinate } from '../api/values.js';
import { numbersIn, SCALAR_BYTES } from './scalars.js';

/** Names that snarkjs has for curves. */
export const snarkjsNames = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;

/** Returns projective coordinates: (x, y, 1), or (0, 1, 0) for infinity. */
export const projective = <Of extends Coordinate>({ x, y, infinity }: AffinePoint<Of>, zero: Of, one: Of): Of[] =>
  infinity ? [zero, one, zero] : [x, y, one];

/** Returns the public values of a witness in decimal. */
export const publicSignalsOf = (witness: Uint8Array, count: number): string[] =>
  numbersIn(witness.subarray(SCALAR_BYTES, (count + 1) * SCALAR_BYTES)).map(String);
