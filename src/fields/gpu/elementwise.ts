/** Emits operations on the elements of the same index. */
import type { FieldOrder } from '../../api/fields.js';
import { montgomeryWords } from '../stages/element.js';
import type { Emitter, Part } from './emitter.js';
import { powerTables } from './powers.js';

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
    emit.combine(out, { a: a.at }, { length, ...reads(a), products: 1 }, montgomeryWords(field, factor));
    return out;
  }
  const { words, low } = powerTables(field, base, factor, length, emit.isOther);
  const reversed = order === 'reversed' ? Math.log2(length) : 0;
  const values = { length, ...reads(a), products: 2, low, reversed_bits: reversed };
  emit.combine(out, { a: a.at, b: emit.upload(words) }, values);
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
      emit.combine(out, { a: sum.at, c: operand.at }, values);
    } else {
      const values = { length, ...reads(operand, undefined, sum), products: 1 };
      emit.combine(out, { a: operand.at, c: sum?.at }, values, montgomeryWords(field, factor));
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
  emit.combine(out, { a: a?.at, b: b?.at, c: c?.at }, values);
  return out;
};

/** Emits the elements of a vector as they are. */
export const emitCopy = (emit: Emitter, out: Part, a: Operand, length: number): void => {
  emit.combine(out, { a: a.at }, { length, ...reads(a) });
};
