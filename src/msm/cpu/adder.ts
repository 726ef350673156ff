/** Compiles the point arithmetic of a curve to WebAssembly, if the platform has it. */
import type { CurveContext } from '../../curves/curve.js';
import { wasmField } from '../../wasm/arithmetic/field-programs.js';
import type { WasmCurve } from '../../wasm/arithmetic/kernel-memory.js';
import type { Lanes } from '../../wasm/arithmetic/lane-code.js';
import { type CompiledKernel, PointAdder } from '../../wasm/arithmetic/point-adder.js';
import { kernelModule } from '../../wasm/arithmetic/point-kernel.js';
import { WasmModule } from '../../wasm/encoder/module.js';

/** Returns the parameters of a curve that the WebAssembly kernel is generated from. */
export const wasmCurve = ({ p, coordinates: f, a, b, field }: CurveContext): WasmCurve => ({
  field: wasmField(p, f.degree),
  nonResidue: f.nonResidue,
  a: f.coefficients(a),
  b: f.coefficients(b),
  wordBytes: field.bytes,
});

/** Returns 2 if the platform has 128-bit SIMD, else 1. */
export const lanesHere = (): Lanes => {
  const probe = new WasmModule();
  probe.add(null, { parameters: [] }, (code) => {
    code.i64x2(0).set(code.local('v128'));
  });
  return WebAssembly.validate(probe.bytes()) ? 2 : 1;
};

/** Returns whether the platform has WebAssembly and no content security policy forbids it. */
export const hasWasm = (): boolean => {
  try {
    return new WebAssembly.Module(new WasmModule().bytes()) !== null;
  } catch {
    return false;
  }
};

/**
 * @throws Error of the platform if it has no WebAssembly or a content security policy forbids it
 */
export const compileKernel = async (curve: WasmCurve, lanes: Lanes): Promise<CompiledKernel> => {
  const { bytes, layout } = kernelModule(curve, lanes);
  return { curve, lanes, layout, module: await WebAssembly.compile(bytes) };
};

/** Compiled kernels by the constants of the curve; null without WebAssembly. */
const kernels = new WeakMap<object, Promise<CompiledKernel | null>>();

/** Idle adders by the constants of the curve. */
const idle = new WeakMap<object, PointAdder>();

/** Adders with more memory than this are not kept, in bytes. */
const MAX_IDLE_BYTES = 2 ** 20;

/** Calls `work` with an adder for the curve. @returns null if there is no WebAssembly */
export const withAdder = async <Result>(
  curve: CurveContext,
  work: (adder: PointAdder, kernel: CompiledKernel) => Promise<Result>,
): Promise<Result | null> => {
  const { constants } = curve;
  let compiled = kernels.get(constants);
  if (compiled === undefined) {
    const compile = async () => compileKernel(wasmCurve(curve), lanesHere());
    compiled = compile().catch(() => null);
    kernels.set(constants, compiled);
  }
  const kernel = await compiled;
  if (kernel === null) return null;
  const waiting = idle.get(constants);
  idle.delete(constants);
  const adder = waiting ?? (await PointAdder.open(kernel));
  try {
    return await work(adder, kernel);
  } finally {
    if (adder.bytes <= MAX_IDLE_BYTES) idle.set(constants, adder);
  }
};
