/** Emits operations on the elements of the same index. */
import type { FieldOrder } from '../../api/field-operations.js';
import { montgomeryWords } from '../stages/element.js';
import type { Emitter, Part } from './emitter.js';
import { powerTables } from './powers.js';

/** A vector, and the number of its elements. */
export interface Operand {
  readonly at: Part;
  readonly length: number;
}

/** Emits factor·base^i·a[i] into new scratch. */
export const scaleByPowers = (
  emit: Emitter,
  a: Part,
  of: { readonly base: bigint; readonly factor: bigint; readonly length: number; readonly order: FieldOrder },
): Part => {
  const { base, factor, length, order } = of;
  const { field } = emit.setup;
  const out = emit.take(length);
  if (base === 1n) {
    emit.combine(out, { a }, { length, a_length: length, products: 1 }, montgomeryWords(field, factor));
    return out;
  }
  const { words, low } = powerTables(field, base, factor, length, emit.isOther);
  const reversed = order === 'reversed' ? Math.log2(length) : 0;
  const values = { length, a_length: length, products: 2, low, reversed_bits: reversed };
  emit.combine(out, { a, b: emit.upload(words) }, values);
  return out;
};

/** Emits Σ factor·vector into new scratch. */
export const emitCombination = (
  emit: Emitter,
  operands: readonly Operand[],
  factors: readonly bigint[],
  length: number,
): Part => {
  const { field } = emit.setup;
  let sum: Part | null = null;
  for (const [k, { at, length: own }] of operands.entries()) {
    const factor = factors[k] as bigint;
    const before: Part | null = sum;
    const out = emit.take(length);
    const isSign = factor === 1n || factor === field.p - 1n;
    if (before !== null && isSign) {
      const subtracts = Number(factor !== 1n);
      emit.combine(out, { a: before, c: at }, { length, a_length: length, c_length: own, subtracts });
    } else {
      const values = { length, a_length: own, products: 1, c_length: before === null ? 0 : length };
      emit.combine(out, { a: at, c: before ?? undefined }, values, montgomeryWords(field, factor));
    }
    if (before !== null) emit.release(before);
    sum = out;
  }
  return sum as Part;
};

/** Emits operations that `combine` computes in one dispatch. */
export const emitElementwise = (
  emit: Emitter,
  kind: 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract',
  operands: readonly Part[],
  length: number,
): Part => {
  const out = emit.take(length);
  // the second evaluation takes commuting operands in the other order
  const swaps = emit.isOther && kind !== 'subtract';
  const [a, second, third] = swaps ? [operands[1], operands[0], operands[2]] : operands;
  const subtracts = Number(kind === 'subtract' || kind === 'multiplySubtract');
  const hasProduct = kind !== 'add' && kind !== 'subtract';
  const [b, c] = hasProduct ? [second, third] : [undefined, second];
  const lengthOf = (part: Part | undefined): number => (part === undefined ? 0 : length);
  const lengths = { length, a_length: length, b_length: lengthOf(b), c_length: lengthOf(c) };
  emit.combine(out, { a, b, c }, { ...lengths, products: Number(hasProduct), subtracts });
  return out;
};

/** Emits elements from another index on. @param shift index in `a` of element 0 */
export const emitMoved = (emit: Emitter, { at: a, length: own }: Operand, shift: number, length: number): Part => {
  const out = emit.take(length);
  emit.combine(out, { a }, { length, a_length: own, a_shift: shift >>> 0 });
  return out;
};
