/**
 * Kernels of every arithmetic that this machine has. Node 20 has relaxed SIMD behind a flag of V8.
 */
import { setFlagsFromString } from 'node:v8';
import type { CurveContext } from '../../src/curves/curve.js';
import { kernelOf } from '../../src/msm/cpu/adder.js';
import {
  type CompiledKernel,
  hasArithmetic,
  type WasmArithmetic,
  wasmArithmetics,
} from '../../src/wasm/points/kernel.js';

if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');

/** `wasm-fma` is missing on a CPU without fused multiply-adds. */
export const arithmeticsHere = wasmArithmetics.filter(hasArithmetic);

/** Returns the kernel of a curve. */
export const kernelFor = async (curve: CurveContext, arithmetic: WasmArithmetic): Promise<CompiledKernel> => {
  const kernel = await kernelOf(curve, arithmetic);
  if (kernel === null) throw new Error(`the arithmetic '${arithmetic}' has no kernel for ${curve.name}`);
  return kernel;
};
