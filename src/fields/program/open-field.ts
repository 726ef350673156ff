/** Resolves the field of a caller. */
import { resolveCurve } from '../../curves/named.js';
import { scalarFieldOf } from '../../curves/scalar-field.js';
import { badArgument, show } from '../../errors.js';
import { isPrime } from '../../field/prime.js';
import { power } from '../../field/square-root.js';
import { type OptionTable, readOptions } from '../../option-table.js';
import type { CustomField, FieldName } from './options.js';

/** A prime field, and its roots of unity. */
export interface OpenField {
  readonly name: string;
  readonly p: bigint;
  /** The largest k for which 2^k divides p − 1. */
  readonly twoAdicity: number;
  /** An element of multiplicative order 2^twoAdicity. */
  readonly rootOfUnity: bigint;
}

/** Returns the bytes of a number: those of p, in whole words of 32 bits. */
export const numberBytesOf = ({ p }: OpenField): number => 4 * Math.ceil(p.toString(2).length / 32);

const SUFFIX = '-fr';

/** Lengths of primes that every form of arithmetic has, in bits. */
const [LEAST_BITS, MOST_BITS] = [46, 414];

/** A field by its constants. */
const customFieldOptions = {
  of: 'field',
  rows: { p: { kind: 'bigint', isRequired: true }, generator: { kind: 'any' } },
} as const satisfies OptionTable<CustomField>;

/** @throws MsmError `bad-argument` naming the constant that is wrong */
const customField = (given: CustomField): OpenField => {
  const { p, generator } = readOptions(customFieldOptions, given, { argument: 'field', path: 'field.' });
  const bits = p < 0n ? 0 : p.toString(2).length;
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw badArgument(`field.p must have ${LEAST_BITS} to ${MOST_BITS} bits, got ${bits}`);
  }
  if (p % 2n === 0n || !isPrime(p)) throw badArgument(`field.p must be a prime, but ${p} is not`);
  const { twoAdicity, rootOfUnity } = scalarFieldOf({ order: p });
  const name = `a field of ${bits} bits`;
  if (generator === undefined) return { name, p, twoAdicity, rootOfUnity: rootOfUnity as bigint };
  if (typeof generator !== 'bigint' || generator <= 0n || generator >= p) {
    throw badArgument(`field.generator must be a bigint from 1 to p − 1, got ${show(generator)}`);
  }
  if (power(generator, (p - 1n) / 2n, p) === 1n) {
    throw badArgument(`field.generator: ${generator} is a square modulo p; give a number that is none`);
  }
  return { name, p, twoAdicity, rootOfUnity: power(generator, (p - 1n) >> BigInt(twoAdicity), p) };
};

/** Fields by the constants of their curves. */
const known = new WeakMap<object, OpenField>();

/** @throws MsmError `bad-argument` if there is no such field, or its constants are wrong */
export const openField = async (given: FieldName | CustomField): Promise<OpenField> => {
  if (typeof given === 'object' && given !== null) return customField(given);
  if (typeof given !== 'string' || !given.endsWith(SUFFIX)) {
    throw badArgument(`field must be the name of a curve with '-fr', such as 'bn254-fr', or { p }, got ${show(given)}`);
  }
  const curve = await resolveCurve(given.slice(0, -SUFFIX.length), 'g1');
  const found = known.get(curve);
  if (found !== undefined) return found;
  const { order, twoAdicity, rootOfUnity } = scalarFieldOf(curve);
  const field = { name: given, p: order, twoAdicity, rootOfUnity: rootOfUnity as bigint };
  known.set(curve, field);
  return field;
};
