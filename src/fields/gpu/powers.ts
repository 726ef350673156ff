/** Tables of powers, two of them for all powers of a number. */
import { type Modulus, mod, toMontgomery, writeWords } from '../../field/modulus.js';

/** Powers of a base: those below `low`, times a factor, and then the powers of base^low. */
export interface PowerTables {
  readonly words: Uint32Array<ArrayBuffer>;
  /** Entries of the first table, a power of 2. */
  readonly low: number;
}

/** Tables that are kept at most for a field; the longest take a megabyte. */
const MOST_TABLES = 16;

/** Tables by their parameters, the least recently used first. */
const known = new WeakMap<Modulus, Map<string, PowerTables>>();

/**
 * Returns the tables for the exponents 0, …, length − 1. Provers use the same few in every proof.
 *
 * @param isOther true to divide exponents between the tables in another way
 */
export const powerTables = (
  field: Modulus,
  base: bigint,
  factor: bigint,
  length: number,
  isOther = false,
): PowerTables => {
  const tables = known.get(field) ?? new Map<string, PowerTables>();
  known.set(field, tables);
  const key = `${base} ${factor} ${length} ${isOther}`;
  const found = tables.get(key) ?? makeTables(field, base, factor, length, isOther);
  tables.delete(key);
  tables.set(key, found);
  const [oldest] = tables.keys();
  if (tables.size > MOST_TABLES) tables.delete(oldest as string);
  return found;
};

const makeTables = (field: Modulus, base: bigint, factor: bigint, length: number, isOther: boolean): PowerTables => {
  const { p, words: perElement } = field;
  const low = 2 ** (Math.ceil(Math.log2(length) / 2) + Number(isOther));
  const high = Math.ceil(length / low);
  const words = new Uint32Array((low + high) * perElement);
  const write = (first: number, count: number, start: bigint, by: bigint): bigint => {
    let power = toMontgomery(field, start);
    for (let i = 0; i < count; i++) {
      writeWords(words, (first + i) * perElement, perElement, power);
      power = (power * by) % p;
    }
    return power;
  };
  write(0, low, factor, base);
  let step = mod(base, p);
  for (let count = 1; count < low; count *= 2) step = (step * step) % p;
  write(low, high, 1n, step);
  return { words, low };
};
