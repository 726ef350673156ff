/** Additions: sums of two variables that the constraints use as variables of their own. */
import { invert, writeNumber } from '../../field/modulus.js';
import { numbersOf } from '../../formats/source.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { SCALAR_BYTES } from '../scalars.js';

export interface Additions {
  /** Two variables for each. */
  readonly variables: Uint32Array;
  /** Two factors for each, canonical. */
  readonly factors: readonly bigint[];
}

/** Bytes of an addition: two variables and two factors. */
export const ADDITION_BYTES = 8 + 2 * SCALAR_BYTES;

/** Additions that are read between two looks at the clock. */
const ADDITIONS_AT_ONCE = 2 ** 8;

/** Reads additions, whose factors are in Montgomery form. */
export const readAdditions = async (bytes: Uint8Array, order: bigint, slice: TimeSlice): Promise<Additions> => {
  const numbers = numbersOf(bytes);
  const count = bytes.length / ADDITION_BYTES;
  const fromMontgomery = invert(1n << BigInt(8 * SCALAR_BYTES), order);
  const factor = (at: number): bigint => {
    const [w0, w1, w2, w3] = [0, 8, 16, 24].map((word) => numbers.getBigUint64(at + word, true)) as [
      ...[bigint, bigint, bigint, bigint],
    ];
    return ((w0 | (w1 << 64n) | (w2 << 128n) | (w3 << 192n)) * fromMontgomery) % order;
  };
  const variables = new Uint32Array(2 * count);
  const factors: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const at = i * ADDITION_BYTES;
    variables.set([numbers.getUint32(at, true), numbers.getUint32(at + 4, true)], 2 * i);
    factors.push(factor(at + 8), factor(at + 8 + SCALAR_BYTES));
    if (i % ADDITIONS_AT_ONCE === 0 && slice.isOver) await slice.yield();
  }
  return { variables, factors };
};

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
