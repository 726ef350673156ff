/** The values of all variables: those of the witness, and sums of two of them. */
import { writeNumber } from '../field/write-number.js';
import { SCALAR_BYTES } from '../proofs/scalars.js';
import type { Additions } from './circuit.js';

/** Additions that are computed between two turns. */
const ADDITIONS_PER_TURN = 2 ** 13;

const read = (words: BigUint64Array, variable: number): bigint => {
  const word = (i: number): bigint => words[4 * variable + i] as bigint;
  return word(0) | (word(1) << 64n) | (word(2) << 128n) | (word(3) << 192n);
};

/**
 * Appends the additions to a witness. Variable 0 is set to 0: no constraint reads it.
 *
 * @param witness 32 little-endian bytes for each variable
 * @param spare bytes that the caller fills behind the variables
 * @returns an array of its own, which has secrets
 */
export const extendWitness = async (
  witness: Uint8Array,
  { variables, factors }: Additions,
  order: bigint,
  spare: number,
  turn: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>> => {
  const given = witness.length / SCALAR_BYTES;
  const all = new Uint8Array(witness.length + (variables.length / 2) * SCALAR_BYTES + spare);
  all.set(witness);
  all.fill(0, 0, SCALAR_BYTES);
  const words = new BigUint64Array(all.buffer);
  for (let i = 0; 2 * i < variables.length; i++) {
    const [first, second] = [variables[2 * i] as number, variables[2 * i + 1] as number];
    const sum =
      ((factors[2 * i] as bigint) * read(words, first) + (factors[2 * i + 1] as bigint) * read(words, second)) % order;
    writeNumber(words, 4 * (given + i), 4, sum);
    if (i % ADDITIONS_PER_TURN === ADDITIONS_PER_TURN - 1) await turn();
  }
  return all;
};
