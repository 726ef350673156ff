/**
 * WebAssembly module that adds points of a curve: lists of independent additions P + Q of affine
 * points, which share one inversion.
 *
 * A point is two coordinates, x‖y, at an address divisible by 4; infinity is zeros. As an operand
 * the address plus 1 is the negative of the point.
 */
import { WasmModule, type Written } from '../encoder/module.js';
import { addBucketFunctions, type BucketExports } from '../lists/bucket-functions.js';
import { addAddList } from './add-list.js';
import { addCheck } from './check-curve.js';
import { addClassify } from './classify.js';
import type { FieldFunctions } from './elements.js';
import { addEnter } from './enter-numbers.js';
import type { FieldFormat } from './field-programs.js';
import { type KernelLayout, KernelMemory, type WasmCurve } from './kernel-memory.js';
import type { KernelParts } from './kernel-parts.js';
import type { Lanes } from './lane-code.js';
import { primeElements } from './prime-elements.js';
import { quadraticElements } from './quadratic-elements.js';

/** Functions of the module. */
export interface KernelExports extends BucketExports {
  /**
   * Computes `count` additions, at most `KernelLayout.additions`. The list has three addresses for
   * each: of the result, of P and of Q. A result may overwrite its own operands, but no operand of
   * another addition. The list is overwritten, and up to three items behind it.
   */
  add(list: number, count: number): void;
  /** Converts `count` numbers below p, of `wordBytes` each, and multiplies by the one at `unit`. */
  enter(to: number, from: number, count: number): void;
  /** Returns how many of `count` ≥ 1 consecutive points precede the first not on the curve. */
  check(points: number, count: number): number;
}

/**
 * Generates the module of a curve, a function in a step.
 *
 * @param functionsOf adds functions of the prime field
 */
export function* kernelModule<Field extends FieldFormat>(
  curve: WasmCurve<Field>,
  lanes: Lanes,
  functionsOf: (module: WasmModule, field: Field) => FieldFunctions,
): Written<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly layout: KernelLayout }> {
  const { field, nonResidue } = curve;
  const module = new WasmModule({ deferred: true });
  const memory = new KernelMemory(curve, lanes);
  const functions = functionsOf(module, field);
  const elements =
    nonResidue === null
      ? primeElements(functions, lanes, memory)
      : quadraticElements(module, functions, Number(nonResidue), lanes, memory);
  const [difference, left, right] = [memory.takeElement(), memory.takeElement(), memory.takeElement()];
  const temporary = { difference, left, right };
  const step = memory.takeStep();
  const parts: KernelParts = { module, curve, lanes, elements, memory, temporary, step };
  const classify = addClassify(parts);
  const add = addAddList(parts, classify);
  addEnter(parts);
  addCheck(parts);
  // functions take memory for their constants
  yield* module.write();
  const layout = memory.layout();
  addBucketFunctions(module, add, layout);
  yield* module.write();
  return { bytes: module.bytes(), layout };
}
