/** Emits operations along a vector: prefix products, values of polynomials, and quotients. */
import { power } from '../../field/square-root.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { packScanConfig, SCAN_PART } from '../stages/scan.js';
import type { Emitter, Part } from './emitter.js';

/** Elements of a part in a second evaluation. */
const OTHER_PART = 13;

/** Returns the point of the next level, whose elements are parts. */
const nextPoint = (emit: Emitter, x: bigint | null): bigint | null =>
  x === null ? null : power(x, BigInt(partOf(emit)), emit.setup.field.p);

/** Returns the elements of a part. */
const partOf = ({ isOther }: Emitter): number => (isOther ? OTHER_PART : SCAN_PART);

const partsOf = (emit: Emitter, length: number): number => Math.ceil(length / partOf(emit));

const dispatchScan = (
  emit: Emitter,
  { a, carries, out }: { readonly a: Part; readonly carries?: Part; readonly out: Part },
  length: number,
  x: bigint | null,
  reduces: boolean,
): void => {
  const config = packScanConfig(
    emit.setup.field,
    { length, part: partOf(emit), carries: carries === undefined ? 0 : partsOf(emit, length), reduces },
    x,
  );
  const groups = groupsFor(partsOf(emit, length), THREADS);
  emit.dispatch(emit.setup.kernels.scan(), config, { a, carries, out }, groups, length);
};

/** Emits the value of each part into new scratch. @param x as of `packScanConfig` */
const reduceParts = (emit: Emitter, a: Part, length: number, x: bigint | null): Part => {
  const out = emit.take(partsOf(emit, length));
  dispatchScan(emit, { a, out }, length, x, true);
  return out;
};

/**
 * Emits the values of a recurrence at all elements into new scratch.
 *
 * @param x as of `packScanConfig`
 */
export const emitScan = (emit: Emitter, a: Part, length: number, x: bigint | null): Part => {
  if (length <= partOf(emit)) {
    const out = emit.take(length);
    dispatchScan(emit, { a, out }, length, x, false);
    return out;
  }
  const parts = reduceParts(emit, a, length, x);
  const carries = emitScan(emit, parts, partsOf(emit, length), nextPoint(emit, x));
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
    [from, count, point] = [next, partsOf(emit, count), nextPoint(emit, point) as bigint];
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
