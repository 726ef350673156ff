/** Combine: elements of a vector from those at the same place of others. */
import template from '../../../wgsl/fields/combine.wgsl?template';
import type { FieldOrder } from '../../api/fields.js';
import { invert, type Modulus, toMontgomery, writeWords } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Elementwise } from '../program/operations.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';
import { type Emitter, nothing, type Part } from './emitter.js';

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

/** A vector: its element i is element i + shift of `at`, or 0 unless that is below `end`. */
export interface Operand {
  readonly at: Part;
  readonly shift: number;
  readonly end: number;
}

/** Returns a vector whose elements are the first of a part. */
export const whole = (at: Part, length: number): Operand => ({ at, shift: 0, end: length });

/** Elements a·b ± c, where what is absent is 1, or 0 for c. */
interface Combination {
  readonly a?: Operand | undefined;
  readonly b?: Operand | undefined;
  /** Tables of powers in place of b; of indices whose bits are reversed, unless there are 0. */
  readonly powers?: { readonly at: Part; readonly low: number; readonly reversedBits: number };
  /** A number in place of b. */
  readonly factor?: bigint;
  readonly c?: Operand | undefined;
  readonly subtracts?: boolean;
  /** True for results below the prime. */
  readonly isCanonical?: boolean;
}

/** Emits the elements of a combination. @param length elements of the result */
export const combine = (emit: Emitter, out: Part, length: number, of: Combination): void => {
  const { a, b, powers, factor, c, subtracts = false, isCanonical = false } = of;
  const { field, kernels } = emit.setup;
  const products = powers === undefined ? Number(b !== undefined || factor !== undefined) : 2;
  const values = {
    length,
    a_length: a?.end ?? 0,
    a_shift: (a?.shift ?? 0) >>> 0,
    products,
    b_length: b?.end ?? 0,
    b_shift: (b?.shift ?? 0) >>> 0,
    low: powers?.low ?? 0,
    reversed_bits: powers?.reversedBits ?? 0,
    c_length: c?.end ?? 0,
    c_shift: (c?.shift ?? 0) >>> 0,
    subtracts: Number(subtracts),
    canonical: Number(isCanonical),
  };
  const config = CombineConfig.pack(values, montgomeryWords(field, factor ?? 0n));
  const bindings = { a: a?.at ?? nothing, b: powers?.at ?? b?.at ?? nothing, c: c?.at ?? nothing, out };
  const groups = groupsFor(length, THREADS);
  emit.dispatch({ kernel: kernels.combine(), config, bindings, groups }, length * products);
};

/** Emits factor·base^i·a[i] into new scratch. */
export const scaleByPowers = (emit: Emitter, a: Operand, of: Powers & { readonly order: FieldOrder }): Part => {
  const { base, factor, length, order } = of;
  const out = emit.take(length);
  if (base === 1n) {
    combine(emit, out, length, { a, factor });
    return out;
  }
  const { words, low } = powerTables(emit.setup.field, of, emit.isOther);
  const reversedBits = order === 'reversed' ? Math.log2(length) : 0;
  combine(emit, out, length, { a, powers: { at: emit.upload(words), low, reversedBits } });
  return out;
};

/** Emits Σ factor·vector into new scratch. One vector with the factor 1 takes no dispatch. */
export const emitCombination = (
  emit: Emitter,
  operands: readonly Operand[],
  factors: readonly bigint[],
  length: number,
): Part => {
  const { p } = emit.setup.field;
  const first = operands.length === 1 || emit.isOther ? -1 : factors.indexOf(1n);
  let sum: Operand | undefined = operands[first];
  let made: Part | null = null;
  for (const [k, operand] of operands.entries()) {
    if (k === first) continue;
    const factor = factors[k] as bigint;
    const out = emit.take(length);
    const isSign = sum !== undefined && (factor === 1n || factor === p - 1n);
    combine(
      emit,
      out,
      length,
      isSign ? { a: sum, c: operand, subtracts: factor !== 1n } : { a: operand, c: sum, factor },
    );
    if (made !== null) emit.release(made);
    made = out;
    sum = whole(out, length);
  }
  return made as Part;
};

/** Emits operations that `combine` computes in one dispatch. */
export const emitElementwise = (
  emit: Emitter,
  kind: Elementwise,
  operands: readonly Operand[],
  length: number,
): Part => {
  const out = emit.take(length);
  // the second evaluation takes commuting operands in the other order
  const swaps = emit.isOther && kind !== 'subtract';
  const [a, second, third] = swaps ? [operands[1], operands[0], operands[2]] : operands;
  const subtracts = kind === 'subtract' || kind === 'multiplySubtract';
  const isSum = kind === 'add' || kind === 'subtract';
  combine(emit, out, length, isSum ? { a, c: second, subtracts } : { a, b: second, c: third, subtracts });
  return out;
};

/** Emits numbers of a caller as elements. @param words little-endian, one stored element each */
export const emitEnter = (emit: Emitter, words: Uint32Array, scale: bigint, out: Part): void => {
  const length = (4 * words.length) / emit.bytes;
  const { p, r } = emit.setup.field;
  // a Montgomery product divides by R once, and the element is the number times R
  combine(emit, out, length, { a: whole(emit.upload(words), length), factor: r * invert(scale, p) });
};

/** Emits elements as numbers times `scale`, below the prime, for the host. */
export const emitLeave = (emit: Emitter, a: Part, length: number, scale: bigint): Part => {
  const factor = scale * emit.setup.field.rInverse;
  return emit.leave(length, (out) => combine(emit, out, length, { a: whole(a, length), factor, isCanonical: true }));
};

export const combineKernel = (field: Modulus): Kernel =>
  stageKernel({
    name: 'combine',
    template,
    config: CombineConfig.structOf(field),
    bindings: [
      vectorBinding('a', 'read'),
      vectorBinding('b', 'read'),
      vectorBinding('c', 'read'),
      vectorBinding('out', 'write'),
    ],
    view: elementView(field, THREADS),
    partials: elementPartials,
  });

/* Tables of powers, two of them for all powers of a number. */

/** Powers of a base: those below `low`, times a factor, and then the powers of base^low. */
interface PowerTables {
  readonly words: Uint32Array<ArrayBuffer>;
  /** Entries of the first table, a power of 2. */
  readonly low: number;
}

/** Powers factor·base^i, for the exponents 0, …, length − 1. */
interface Powers {
  readonly base: bigint;
  readonly factor: bigint;
  readonly length: number;
}

/** Tables that are kept at most for a field; the longest take a megabyte. */
const MOST_TABLES = 16;

/** Tables by their parameters, the least recently used first. */
const known = new WeakMap<Modulus, Map<string, PowerTables>>();

/**
 * Returns the tables of some powers. Provers use the same few in every proof.
 *
 * @param isOther true to divide exponents between the tables in another way
 */
export const powerTables = (field: Modulus, of: Powers, isOther = false): PowerTables => {
  const tables = known.get(field) ?? new Map<string, PowerTables>();
  known.set(field, tables);
  const key = `${of.base} ${of.factor} ${of.length} ${isOther}`;
  const found = tables.get(key) ?? makeTables(field, of, isOther);
  tables.delete(key);
  tables.set(key, found);
  const [oldest] = tables.keys();
  if (tables.size > MOST_TABLES) tables.delete(oldest as string);
  return found;
};

const makeTables = (field: Modulus, { base, factor, length }: Powers, isOther: boolean): PowerTables => {
  const { p, words: perElement } = field;
  const low = 2 ** (Math.ceil(Math.log2(length) / 2) + Number(isOther));
  const high = Math.ceil(length / low);
  const words = new Uint32Array((low + high) * perElement);
  const write = (first: number, count: number, start: bigint, by: bigint): bigint => {
    let value = toMontgomery(field, start);
    for (let i = 0; i < count; i++) {
      writeWords(words, (first + i) * perElement, perElement, value);
      value = (value * by) % p;
    }
    return value;
  };
  write(0, low, factor, base);
  write(low, high, 1n, power(base, BigInt(low), p));
  return { words, low };
};
