/** The forms of arithmetic in which WebAssembly adds points. */
import { NoWasmMemory } from '../../errors.js';
import { digitsOf, joinLimbs, mod } from '../../field/modulus.js';
import { inTimeSlices, TimeSlice } from '../../scheduling/time-slice.js';
import { integerFunctions } from '../arithmetic/elements.js';
import type { WasmField } from '../arithmetic/field-programs.js';
import type { Lanes } from '../arithmetic/formula.js';
import type { KernelLayout, WasmCurve } from '../arithmetic/kernel-memory.js';
import { kernelModule } from '../arithmetic/point-kernel.js';
import { hasWideArithmetic, type WordsField, wordsField, wordsFunctions } from '../arithmetic/words.js';
import { WasmModule, type Written } from '../encoder/module.js';
import { type FloatField, floatWords } from '../floats/float-field.js';
import { floatKernel, isFused } from '../floats/float-kernel.js';

/**
 * `wasm-fma`: multiply-adds of floats in two lanes; `wasm-wide`: integers of 64 bits with products
 * of 128; `wasm-simd`: integers of 32 bits in two lanes; `wasm`: integers of 32 bits in one.
 */
export const wasmArithmetics = ['wasm-fma', 'wasm-wide', 'wasm-simd', 'wasm'] as const;
export type WasmArithmetic = (typeof wasmArithmetics)[number];

/** Compiled module of a curve. Can be sent to another thread. */
export interface CompiledKernel {
  readonly arithmetic: WasmArithmetic;
  readonly curve: WasmCurve;
  readonly field: KernelField;
  readonly layout: KernelLayout;
  readonly module: WebAssembly.Module;
  readonly test: KernelTest;
}

/** Returns whether the platform has 128-bit SIMD. */
const hasSimd = (): boolean => {
  const probe = new WasmModule();
  probe.add(null, { parameters: [] }, (code) => {
    code.i64x2(0).set(code.local('v128'));
  });
  return WebAssembly.validate(probe.bytes());
};

/** Probes of the platform. */
const probes: Readonly<Record<WasmArithmetic, () => boolean>> = {
  'wasm-fma': isFused,
  'wasm-wide': hasWideArithmetic,
  'wasm-simd': hasSimd,
  wasm: () => true,
};

/** Returns whether the platform has an arithmetic, and computes right in it. @throws NoWasmMemory */
export const hasArithmetic = (arithmetic: WasmArithmetic): boolean => {
  try {
    return probes[arithmetic]();
  } catch (error) {
    // there may be memory at the next call
    if (error instanceof NoWasmMemory) throw error;
    // the platform has no WebAssembly, or a content security policy forbids it
    return false;
  }
};

interface GeneratedKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: KernelLayout;
  readonly field: KernelField;
}

/** Generates a module in steps; null if the arithmetic does not have the curve's field. */
type Generate = (curve: WasmCurve) => Written<GeneratedKernel | null>;

function* integerKernel(curve: WasmCurve, lanes: Lanes): ReturnType<Generate> {
  return { ...(yield* kernelModule(curve, lanes, integerFunctions)), field: curve.field };
}

function* wideKernel(curve: WasmCurve): ReturnType<Generate> {
  const field = wordsField(curve.field.p);
  return { ...(yield* kernelModule({ ...curve, field }, 1, wordsFunctions)), field };
}

const generate: Readonly<Record<WasmArithmetic, Generate>> = {
  'wasm-fma': floatKernel,
  'wasm-wide': wideKernel,
  'wasm-simd': (curve) => integerKernel(curve, 2),
  wasm: (curve) => integerKernel(curve, 1),
};

const compile = async (bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module | null> => {
  try {
    return await WebAssembly.compile(bytes);
  } catch {
    return null;
  }
};

/**
 * Generates and compiles the kernel of a curve.
 *
 * @returns null if the arithmetic does not have the curve's field, the platform has no WebAssembly,
 * or a content security policy forbids it
 */
export const compileKernel = async (
  curve: WasmCurve,
  arithmetic: WasmArithmetic,
  test: KernelTest,
): Promise<CompiledKernel | null> => {
  const generated = await inTimeSlices(generate[arithmetic](curve), new TimeSlice(() => undefined));
  if (generated === null) return null;
  const { bytes, layout, field } = generated;
  const module = await compile(bytes);
  return module === null ? null : { arithmetic, curve, field, layout, module, test };
};

/**
 * Known answer of a kernel, which an adder computes before its first result: sums of points that
 * were computed by other means. Can be sent to another thread.
 */
export interface KernelTest {
  /** x‖y of points on the curve, little-endian. */
  readonly words: Uint32Array<ArrayBuffer>;
  /**
   * Indices of two points, whether each is negated, and the coefficients of x and y of their sum.
   */
  readonly sums: readonly (readonly [
    P: number,
    negatesP: boolean,
    Q: number,
    negatesQ: boolean,
    sum: readonly bigint[],
  ])[];
  /**
   * Coefficients of x and y of the images of the points behind the first, whose coordinates are the factors of
   * the map.
   */
  readonly images: readonly (readonly bigint[])[];
}

/** A prime field in the format of a kernel. */
export type KernelField = WasmField | WordsField | FloatField;

/** Returns the words of an element. @param value below p, in Montgomery form */
export const wordsOfElement = (field: KernelField, value: bigint): number[] =>
  field.kind === 'floats' ? floatWords(field, value) : digitsOf(value, field.width, field.limbs);

/** Returns a·R⁻¹ mod p of an element a in Montgomery form. */
export const valueOfWords = ({ kind, p, width, rInverse }: KernelField, words: Int32Array): bigint => {
  const unsigned = kind === 'words' ? new Uint32Array(words) : words;
  const limbs = kind === 'floats' ? new Float64Array(words.slice().buffer) : unsigned;
  return mod(joinLimbs([...limbs], width) * rInverse, p);
};
