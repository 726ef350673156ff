/**
 * Scan: products of the elements before each, and Horner's rule, in parts of a vector; and the
 * operations that run along a vector: prefix products, values of polynomials, quotients.
 */
import template from '../../../wgsl/fields/scan.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { combine } from './combine.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';

const documented = {
  length: 'elements of the vector',
  part: 'elements of a part',
  carries: 'elements of `carries`; 0: every part begins afresh',
  horner: "1: Horner's rule downwards; 0: products upwards",
  reduces: '1: only the last value of each part is written',
};

const ScanConfig = /* @__PURE__ */ factorConfig('ScanConfig', documented);

/** Elements of a part: a thread has little to do, and few levels are left. */
const SCAN_PART = 16;

/** @param x the point of Horner's rule; null: products */
const packScanConfig = (
  field: Modulus,
  values: { readonly length: number; readonly part: number; readonly carries: number; readonly reduces: boolean },
  x: bigint | null,
): Uint32Array<ArrayBuffer> =>
  ScanConfig.pack(
    { ...values, reduces: Number(values.reduces), horner: Number(x !== null) },
    montgomeryWords(field, x ?? 0n),
  );

export const scanKernel = (field: Modulus): Kernel =>
  stageKernel(
    'scan',
    template,
    ScanConfig.structOf(field),
    [vectorBinding('a', 'read'), vectorBinding('carries', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );

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
  combine(emit, out, { a: values }, { length: length - 1, a_length: length, a_shift: 1 });
  emit.release(values);
  return out;
};
