/** WebAssembly for a curve, where the platform has it. */
import type { CurveContext } from '../../curves/curve.js';
import type { Lanes } from '../../wasm/arithmetic/lane-code.js';
import { type CompiledKernel, PointAdder } from '../../wasm/arithmetic/point-adder.js';
import { kernelModule, type WasmCurve } from '../../wasm/arithmetic/point-kernel.js';
import { wasmField } from '../../wasm/arithmetic/product.js';
import { WasmModule } from '../../wasm/encoder/module.js';

export const wasmCurve = ({ p, coordinates: f, a, b, field }: CurveContext): WasmCurve => ({
  field: wasmField(p, f.degree),
  nonResidue: f.nonResidue,
  a: f.coefficients(a),
  b: f.coefficients(b),
  wordBytes: field.bytes,
});

/** Two where the platform has vectors. */
export const lanesHere = (): Lanes => {
  const probe = new WasmModule();
  probe.add(null, { parameters: [] }, (code) => {
    code.i64x2(0).set(code.local('v128'));
  });
  return WebAssembly.validate(probe.bytes()) ? 2 : 1;
};

/** Whether there is WebAssembly, and no content security policy forbids it. */
export const hasWasm = (): boolean => {
  try {
    return new WebAssembly.Module(new WasmModule().bytes()) !== null;
  } catch {
    return false;
  }
};

/** @throws what the platform has against it: that there is no WebAssembly, or that a content security policy forbids it */
export const compileKernel = async (curve: WasmCurve, lanes: Lanes): Promise<CompiledKernel> => {
  const { bytes, layout } = kernelModule(curve, lanes);
  return { curve, lanes, layout, module: await WebAssembly.compile(bytes) };
};

/** By the constants of a curve; null where there is no WebAssembly. */
const kernels = new WeakMap<object, Promise<CompiledKernel | null>>();

/** An adder that is not at work, by the constants of its curve. */
const idle = new WeakMap<object, PointAdder>();

/** Memory that an adder keeps between calls, in bytes. */
const MOST_KEPT = 2 ** 20;

/** Has an adder do something; null where there is none. */
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
    if (adder.bytes <= MOST_KEPT) idle.set(constants, adder);
  }
};
