/** Compiles the point arithmetic of a curve to WebAssembly, if the platform has it. */
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, addAffine, endomorphism, infinityOf, negated, toAffine } from '../../curves/jacobian.js';
import { writePoint } from '../../curves/point-source.js';
import { NoWasmMemory } from '../../errors.js';
import { wasmCurve } from '../../wasm/arithmetic/kernel-memory.js';
import { WasmModule } from '../../wasm/encoder/module.js';
import { fastestFirst } from '../../wasm/points/fastest-first.js';
import {
  type CompiledKernel,
  compileKernel,
  hasArithmetic,
  type KernelTest,
  type WasmArithmetic,
} from '../../wasm/points/kernel.js';
import { PointAdder, WrongKernelError } from '../../wasm/points/point-adder.js';
import type { CpuArithmetic } from '../plan/cost.js';

/** Returns whether the platform has WebAssembly and no content security policy forbids it. */
export const hasWasm = (): boolean => {
  try {
    return new WebAssembly.Module(new WasmModule().bytes()) !== null;
  } catch {
    return false;
  }
};

/** Returns the fastest arithmetic that the platform has. */
export const arithmeticHere = ({ p }: CurveContext): CpuArithmetic => {
  if (!hasWasm()) return 'bigint';
  try {
    return fastestFirst(p)[0] ?? 'wasm';
  } catch (error) {
    if (error instanceof NoWasmMemory) return 'bigint';
    throw error;
  }
};

/** Compiled kernels by the constants of the curve; null for an arithmetic that is not usable. */
const kernels = new WeakMap<object, Map<WasmArithmetic, Promise<CompiledKernel | null>>>();

/** Idle adders by the constants of the curve. */
let idle = new WeakMap<object, Map<WasmArithmetic, PointAdder>>();

/** Leaves the memory of idle adders to the garbage collector. */
export const dropIdleAdders = (): void => {
  idle = new WeakMap();
};

const ofCurve = <Value>(all: WeakMap<object, Map<WasmArithmetic, Value>>, key: object): Map<WasmArithmetic, Value> => {
  const own = all.get(key) ?? new Map<WasmArithmetic, Value>();
  all.set(key, own);
  return own;
};

/** Returns the kernel of a curve; null where the arithmetic is missing or wrong. */
export const kernelOf = (curve: CurveContext, arithmetic: WasmArithmetic): Promise<CompiledKernel | null> => {
  const own = ofCurve(kernels, curve.constants);
  const known = own.get(arithmetic);
  if (known !== undefined) return known;
  const compile = async (): Promise<CompiledKernel | null> =>
    hasArithmetic(arithmetic) ? compileKernel(wasmCurve(curve), arithmetic, kernelTest(curve)) : null;
  const compiled = compile();
  own.set(arithmetic, compiled);
  compiled.catch(() => own.delete(arithmetic));
  return compiled;
};

/**
 * Adders with more memory than this are not kept, in bytes. That of 2^16 points in G2 is, so that sums of one
 * page after the other do not take new memory each: the garbage collector ran at each page.
 */
const MAX_IDLE_BYTES = 2 ** 24;

/** Returns an idle or new adder, and its kernel; null if the arithmetic is missing or wrong. */
const openAdder = async (
  curve: CurveContext,
  arithmetic: WasmArithmetic,
): Promise<{ readonly adder: PointAdder; readonly kernel: CompiledKernel } | null> => {
  const kernel = await kernelOf(curve, arithmetic);
  if (kernel === null) return null;
  const waiting = ofCurve(idle, curve.constants);
  const known = waiting.get(arithmetic);
  waiting.delete(arithmetic);
  if (known !== undefined) return { adder: known, kernel };
  try {
    return { adder: await PointAdder.open(kernel), kernel };
  } catch (error) {
    if (!(error instanceof WrongKernelError)) throw error;
    ofCurve(kernels, curve.constants).set(arithmetic, Promise.resolve(null));
    return null;
  }
};

/**
 * Calls `work` with an adder for the curve.
 *
 * @param arithmetics the first that the platform has is used; by default the fastest
 * @returns null if there is none, or no WebAssembly
 * @throws NoWasmMemory; and what `work` throws
 */
export const withAdder = async <Result>(
  curve: CurveContext,
  work: (adder: PointAdder, kernel: CompiledKernel) => Promise<Result>,
  arithmetics: readonly WasmArithmetic[] = fastestFirst(curve.p),
): Promise<Result | null> => {
  // an adder whose sum ends after idle ones were dropped is dropped with them
  const kept = idle;
  for (const arithmetic of arithmetics) {
    const opened = await openAdder(curve, arithmetic);
    if (opened === null) continue;
    const { adder, kernel } = opened;
    let lacksMemory = false;
    try {
      return await work(adder, kernel);
    } catch (error) {
      lacksMemory = error instanceof NoWasmMemory;
      throw error;
    } finally {
      if (!lacksMemory && adder.bytes <= MAX_IDLE_BYTES) ofCurve(kept, curve.constants).set(arithmetic, adder);
    }
  }
  return null;
};

/** Settles as `work` does; with null where WebAssembly gets no memory, so that BigInts compute. */
export const unlessNoMemory = async <Result>(work: Promise<Result | null>): Promise<Result | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NoWasmMemory) return null;
    throw error;
  }
};

/* The known answer of a curve's kernel. */

/** Multiples of the generator that the test adds: 1·G to 6·G. */
const MULTIPLES = 6;

/** Points whose images the test computes. */
const IMAGES = 2;

/** Index of infinity, behind the multiples. */
const INFINITY = MULTIPLES;

/** Returns sums of multiples of the generator and infinity by every formula, and images, from BigInts. */
export const kernelTest = (curve: CurveContext): KernelTest => {
  const { coordinates: f, generator } = curve;
  const points: Affine[] = [generator];
  const sumOf = (P: Affine, Q: Affine): Affine =>
    toAffine(curve, addAffine(curve, addAffine(curve, infinityOf(curve), P), Q));
  while (points.length < MULTIPLES) points.push(sumOf(points.at(-1) as Affine, generator));
  points.push(null);
  const map = endomorphism(curve, { ...generator, conjugates: f.degree === 2, multiple: 0n });
  const words = new Uint32Array(points.length * curve.pointWords);
  for (const [i, point] of points.entries()) writePoint(curve, words, i, point);
  const signed = (index: number, negates: boolean): Affine => {
    const point = points[index] as Affine;
    return negates && point !== null ? negated(curve, point) : point;
  };
  const chosen = [
    [0, false, 1, false],
    [2, true, 3, false],
    [4, false, 5, true],
    [1, true, 5, true],
    [3, false, 3, false],
    [4, true, 4, true],
    // four doublings: each pass takes two at a time, and goes on with a product of those before
    [1, true, 1, true],
    [5, false, 5, false],
    [2, false, 2, true],
    [0, true, INFINITY, false],
    [INFINITY, false, 1, true],
  ] as const;
  // infinity is zeros; multiples of a generator of a small order are infinity, too
  const written = (point: Affine): bigint[] =>
    [point?.x ?? f.zero, point?.y ?? f.zero].flatMap((coordinate) => [...f.coefficients(coordinate)]);
  return {
    words,
    sums: chosen.map(([P, negatesP, Q, negatesQ]) => {
      const sum = sumOf(signed(P, negatesP), signed(Q, negatesQ));
      return [P, negatesP, Q, negatesQ, written(sum)];
    }),
    images: points.slice(1, 1 + IMAGES).map((point) => written(map(point))),
  };
};
