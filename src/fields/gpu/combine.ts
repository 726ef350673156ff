/** Combine: elements of a vector from those at the same place of others. */
import template from '../../../wgsl/fields/combine.wgsl?template';
import type { FieldOrder } from '../../api/fields.js';
import { invert, type Modulus, mod, toMontgomery, writeWords } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';

const documented = {
  length: 'elements of the result',
  a_length: 'elements of a; 0: x is 1',
  a_shift: 'index in a of element 0, modulo 2^32',
  products: 'number of factors of x: 0, 1, or 2 with `low`',
  b_length: 'elements of b; 0: y is not from b',
  b_shift: 'index in b of element 0, modulo 2^32',
  low: 'entries of the first table of powers in b, a power of 2; 0: b has no powers',
  reversed_bits: 'bits of an index that are reversed for its power; 0: none',
  c_length: 'elements of c; 0: z is 0',
  c_shift: 'index in c of element 0, modulo 2^32',
  subtracts: '1: z is subtracted',
  canonical: '1: results are below the prime',
};

const CombineConfig = /* @__PURE__ */ factorConfig('CombineConfig', documented);

/** Parameters of a dispatch. All but `length` are 0 unless given. */
export type CombineValues = Partial<Record<keyof typeof documented, number>> & { readonly length: number };

const none = /* @__PURE__ */ Object.fromEntries(Object.keys(documented).map((name) => [name, 0])) as Record<
  keyof typeof documented,
  number
>;

/** @param factor words of an element in Montgomery form */
export const packCombineConfig = (
  field: Modulus,
  values: CombineValues,
  factor: Uint32Array = new Uint32Array(field.words),
): Uint32Array<ArrayBuffer> => CombineConfig.pack({ ...none, ...values }, factor);

/** Vectors that `combine` reads; those that are absent are not read. */
interface Combined {
  readonly a?: Part | undefined;
  readonly b?: Part | undefined;
  readonly c?: Part | undefined;
}

/** Emits a dispatch. @param factor words of an element in Montgomery form */
export const combine = (
  emit: Emitter,
  out: Part,
  { a, b, c }: Combined,
  values: CombineValues,
  factor?: Uint32Array,
): void => {
  const config = packCombineConfig(emit.setup.field, values, factor);
  const products = values.length * (values.products ?? 0);
  const groups = groupsFor(values.length, THREADS);
  emit.dispatch(emit.setup.kernels.combine(), config, { a, b, c, out }, groups, products);
};

export const combineKernel = (field: Modulus): Kernel =>
  stageKernel(
    'combine',
    template,
    CombineConfig.structOf(field),
    [vectorBinding('a', 'read'), vectorBinding('b', 'read'), vectorBinding('c', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );

/* Emits operations on the elements of the same index. */

/** A vector: its element i is element i + shift of `at`, or 0 unless that is below `end`. */
export interface Operand {
  readonly at: Part;
  readonly shift: number;
  readonly end: number;
}

/** Returns a vector whose elements are the first of a part. */
export const whole = (at: Part, length: number): Operand => ({ at, shift: 0, end: length });

/** Returns the values by which `combine` reads vectors. */
const reads = (a: Operand | undefined, b?: Operand, c?: Operand) => ({
  ...(a && { a_length: a.end, a_shift: a.shift >>> 0 }),
  ...(b && { b_length: b.end, b_shift: b.shift >>> 0 }),
  ...(c && { c_length: c.end, c_shift: c.shift >>> 0 }),
});

/** Emits factor·base^i·a[i] into new scratch. */
export const scaleByPowers = (
  emit: Emitter,
  a: Operand,
  of: { readonly base: bigint; readonly factor: bigint; readonly length: number; readonly order: FieldOrder },
): Part => {
  const { base, factor, length, order } = of;
  const { field } = emit.setup;
  const out = emit.take(length);
  if (base === 1n) {
    combine(emit, out, { a: a.at }, { length, ...reads(a), products: 1 }, montgomeryWords(field, factor));
    return out;
  }
  const { words, low } = powerTables(field, base, factor, length, emit.isOther);
  const reversed = order === 'reversed' ? Math.log2(length) : 0;
  const values = { length, ...reads(a), products: 2, low, reversed_bits: reversed };
  combine(emit, out, { a: a.at, b: emit.upload(words) }, values);
  return out;
};

/** Emits Σ factor·vector into new scratch. One vector with the factor 1 takes no dispatch. */
export const emitCombination = (
  emit: Emitter,
  operands: readonly Operand[],
  factors: readonly bigint[],
  length: number,
): Part => {
  const { field } = emit.setup;
  const first = operands.length === 1 || emit.isOther ? -1 : factors.indexOf(1n);
  let sum: Operand | undefined = operands[first];
  let made: Part | null = null;
  for (const [k, operand] of operands.entries()) {
    if (k === first) continue;
    const factor = factors[k] as bigint;
    const out = emit.take(length);
    if (sum !== undefined && (factor === 1n || factor === field.p - 1n)) {
      const values = { length, ...reads(sum, undefined, operand), subtracts: Number(factor !== 1n) };
      combine(emit, out, { a: sum.at, c: operand.at }, values);
    } else {
      const values = { length, ...reads(operand, undefined, sum), products: 1 };
      combine(emit, out, { a: operand.at, c: sum?.at }, values, montgomeryWords(field, factor));
    }
    if (made !== null) emit.release(made);
    made = out;
    sum = whole(out, length);
  }
  return made as Part;
};

/** Emits operations that `combine` computes in one dispatch. */
export const emitElementwise = (
  emit: Emitter,
  kind: 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract',
  operands: readonly Operand[],
  length: number,
): Part => {
  const out = emit.take(length);
  // the second evaluation takes commuting operands in the other order
  const swaps = emit.isOther && kind !== 'subtract';
  const [a, second, third] = swaps ? [operands[1], operands[0], operands[2]] : operands;
  const subtracts = Number(kind === 'subtract' || kind === 'multiplySubtract');
  const hasProduct = kind !== 'add' && kind !== 'subtract';
  const [b, c] = hasProduct ? [second, third] : [undefined, second];
  const values = { length, ...reads(a, b, c), products: Number(hasProduct), subtracts };
  combine(emit, out, { a: a?.at, b: b?.at, c: c?.at }, values);
  return out;
};

/** Emits the elements of a vector as they are. */
export const emitCopy = (emit: Emitter, out: Part, a: Operand, length: number): void => {
  combine(emit, out, { a: a.at }, { length, ...reads(a) });
};

/* Emits conversions between numbers of a caller and elements. */

/** Emits numbers of a caller as elements. @param words little-endian, one stored element each */
export const emitEnter = (emit: Emitter, words: Uint32Array, scale: bigint, out: Part): void => {
  const length = (4 * words.length) / emit.bytes;
  const { field } = emit.setup;
  // a Montgomery product divides by R once, and the element is the number times R
  const factor = montgomeryWords(field, field.r * invert(scale, field.p));
  combine(emit, out, { a: emit.upload(words) }, { length, a_length: length, products: 1 }, factor);
};

/** Emits elements as numbers times `scale`, below the prime, for the host. */
export const emitLeave = (emit: Emitter, a: Part, length: number, scale: bigint): Part => {
  const { field } = emit.setup;
  const factor = montgomeryWords(field, scale * field.rInverse);
  const values = { length, a_length: length, products: 1, canonical: 1 };
  return emit.leave(length, (out) => combine(emit, out, { a }, values, factor));
};

/* Tables of powers, two of them for all powers of a number. */

/** Powers of a base: those below `low`, times a factor, and then the powers of base^low. */
interface PowerTables {
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
