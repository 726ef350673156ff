/**
 * WebAssembly module that adds points of a curve, two additions side by side, by multiply-adds of
 * floats that round once. A platform that rounds twice computes wrong sums: `isFused` tells.
 */

import { addBucketFunctions } from '../arithmetic/bucket-functions.js';
import type { KernelLayout, WasmCurve } from '../arithmetic/kernel-memory.js';
import { MAX_ADDITIONS } from '../arithmetic/list-adder.js';
import { createMemory, WasmModule, type Written } from '../encoder/module.js';
import { type FloatField, FloatMemory, floatField } from './float-field.js';
import { FloatFunctions, type FloatParts } from './float-functions.js';
import { lanesAt } from './float-line.js';
import { addFloatList } from './float-list.js';
import { addFloatCheck, addFloatEnter, addFloatImages, addFloatLeave } from './float-numbers.js';
import { PointPrograms } from './point-programs.js';

/** A generated module, the layout of its memory, and the format of its elements. */
interface FloatKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: KernelLayout;
  readonly field: FloatField;
}

function* generate(curve: WasmCurve, field: FloatField, settle: boolean): Written<FloatKernel> {
  const module = new WasmModule({ deferred: true });
  const memory = new FloatMemory(field);
  const [zero, one] = [memory.element([0n]), memory.element([1n])];
  const [a, b] = [memory.element(curve.a), memory.element(curve.b)];
  // the caller overwrites it
  const unit = memory.element([0n]);
  const hasA = curve.a.some((value) => value !== 0n);
  const programs = new PointPrograms(field, Number(curve.nonResidue ?? 0n), hasA ? lanesAt(a, a) : null, settle);
  const functions = new FloatFunctions(module, memory, programs);
  const parts: FloatParts = { module, memory, programs, functions, zero, one };
  const add = addFloatList(parts);
  addFloatEnter(parts, curve.wordBytes, unit);
  addFloatLeave(parts, curve.wordBytes, unit);
  addFloatImages(parts);
  addFloatCheck(parts, b);
  // functions take memory for their constants
  yield* module.write();
  const layout = {
    point: 2 * memory.coordinate,
    end: memory.end,
    additions: MAX_ADDITIONS,
    unit,
    constants: memory.constants,
  };
  addBucketFunctions(module, add, layout);
  yield* module.write();
  return { bytes: module.bytes(), layout, field };
}

/**
 * Generates the module of a curve, a function in a step. Returns null if the form does not have its
 * field.
 */
export function* floatKernel(curve: WasmCurve): Written<FloatKernel | null> {
  const field = floatField(curve.field.p, curve.nonResidue === null ? 1 : 2);
  if (field === null) return null;
  // the two products of a pair leave too little room for values that are not settled
  for (const settle of field.degree === 2 ? [true] : [false, true]) {
    try {
      return yield* generate(curve, field, settle);
    } catch (error) {
      // some value could leave the range in which it is exact
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return null;
}

/** Module with a function (a, b, c) that returns a·b + c by `relaxed_madd`. */
const maddModule = (): Uint8Array<ArrayBuffer> => {
  const module = new WasmModule();
  module.add('madd', { parameters: ['f64', 'f64', 'f64'], result: 'f64' }, (code) => {
    for (const i of [0, 1, 2]) code.get(code.parameter(i)).do('f64x2.splat');
    code.do('f64x2.relaxed_madd').extractLane(0);
  });
  return module.bytes();
};

/**
 * Calls after which engines have compiled a function again: Bun 1.4 then computes other results of
 * some relaxed instructions (findings/bun-relaxed-simd.sh), here after 1,420 calls.
 */
const HOT_CALLS = 2 ** 12;

/** Returns whether a function computes a·b + c with one rounding, in its first calls and later. */
export const roundsOnce = (madd: (a: number, b: number, c: number) => number): boolean => {
  for (let call = 0; call < HOT_CALLS; call++) {
    // (1 + 2^-30)(1 - 2^-30) - 1, which is 0 if the product is rounded
    if (madd(1 + 2 ** -30, 1 - 2 ** -30, -1) !== -(2 ** -60)) return false;
  }
  return true;
};

/**
 * Returns whether the platform has relaxed SIMD and rounds its multiply-add once. Without an
 * instruction of the CPU it may round twice (relaxed SIMD proposal, "Relaxed fused multiply-add").
 * No other relaxed instruction is used: conversions and lane selects differ as well.
 */
export const isFused = (): boolean => {
  const bytes = maddModule();
  if (!WebAssembly.validate(bytes)) return false;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    host: { memory: createMemory(1) },
  });
  return roundsOnce(exports.madd as Parameters<typeof roundsOnce>[0]);
};
