/** Emits operations along a vector: prefix products, values of polynomials, and quotients. */
import { power } from '../../field/square-root.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { packScanConfig, SCAN_PART } from '../stages/scan.js';
import type { Emitter, Part } from './emitter.js';

/** Returns the point of the next level, whose elements are parts. */
const nextPoint = (emit: Emitter, x: bigint | null): bigint | null =>
  x === null ? null : power(x, BigInt(SCAN_PART), emit.setup.field.p);

const partsOf = (length: number): number => Math.ceil(length / SCAN_PART);

const dispatchScan = (
  emit: Emitter,
  { a, carries, out }: { readonly a: Part; readonly carries?: Part; readonly out: Part },
  length: number,
  x: bigint | null,
  reduces: boolean,
): void => {
  const config = packScanConfig(
    emit.setup.field,
    { length, carries: carries === undefined ? 0 : partsOf(length), reduces },
    x,
  );
  const groups = groupsFor(partsOf(length), THREADS);
  emit.dispatch(emit.setup.kernels.scan(), config, { a, carries, out }, groups, length);
};

/** Emits the value of each part into new scratch. @param x as of `packScanConfig` */
const reduceParts = (emit: Emitter, a: Part, length: number, x: bigint | null): Part => {
  const out = emit.take(partsOf(length));
  dispatchScan(emit, { a, out }, length, x, true);
  return out;
};

/**
 * Emits the values of a recurrence at all elements into new scratch.
 *
 * @param x as of `packScanConfig`
 */
export const emitScan = (emit: Emitter, a: Part, length: number, x: bigint | null): Part => {
  if (length <= SCAN_PART) {
    const out = emit.take(length);
    dispatchScan(emit, { a, out }, length, x, false);
    return out;
  }
  const parts = reduceParts(emit, a, length, x);
  const carries = emitScan(emit, parts, partsOf(length), nextPoint(emit, x));
  emit.release(parts);
  const out = emit.take(length);
  dispatchScan(emit, { a, carries, out }, length, x, false);
  emit.release(carries);
  return out;
};

/** Emits Σ a[i]·x^i into new scratch. */
export const emitValue = (emit: Emitter, a: Part, length: number, x: bigint): Part => {
  let [from, count, point]: [Part, number, bigint] = [a, length, x];
  do {
    const next = reduceParts(emit, from, count, point);
    if (from !== a) emit.release(from);
    [from, count, point] = [next, partsOf(count), nextPoint(emit, point) as bigint];
  } while (count > 1);
  return from;
};

/** Emits the coefficients of (a(X) − a(x)) / (X − x) into new scratch. */
export const emitQuotient = (emit: Emitter, a: Part, length: number, x: bigint): Part => {
  const values = emitScan(emit, a, length, x);
  const out = emit.take(length - 1);
  emit.combine(out, { a: values }, { length: length - 1, a_length: length, a_shift: 1 });
  emit.release(values);
  return out;
};
