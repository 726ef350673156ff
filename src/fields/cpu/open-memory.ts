/** Opens the fastest arithmetic of a field that computes known answers. */
import { NoWasmMemory } from '../../errors.js';
import { fastestFirst } from '../../wasm/points/fastest-first.js';
import { hasArithmetic, type WasmArithmetic } from '../../wasm/points/kernel.js';
import { type VectorKernel, VectorMemory, vectorKernel } from '../../wasm/vectors/vector-kernel.js';
import type { OpenField } from '../program/open-field.js';
import { knowsAnswers } from './known-answer.js';

/** Generated kernels by field and arithmetic; null for those that are missing or wrong. */
const kernels = new Map<string, VectorKernel | null>();

const kernelOf = (
  p: bigint,
  arithmetic: WasmArithmetic,
): { readonly key: string; readonly kernel: VectorKernel | null } => {
  const key = `${arithmetic} ${p}`;
  const known = kernels.get(key);
  if (known !== undefined) return { key, kernel: known };
  const kernel = hasArithmetic(arithmetic) ? vectorKernel(p, arithmetic) : null;
  kernels.set(key, kernel);
  return { key, kernel };
};

/**
 * Returns memory whose arithmetic has computed known answers; null if there is none, or the
 * platform has no WebAssembly.
 *
 * @throws NoWasmMemory
 * @param given arithmetics in the order in which they are tried; default: the fastest first
 */
export const openMemory = async (field: OpenField, given?: readonly WasmArithmetic[]): Promise<VectorMemory | null> => {
  for (const arithmetic of given ?? fastestFirst(field.p)) {
    const { key, kernel } = kernelOf(field.p, arithmetic);
    if (kernel === null) continue;
    let memory: VectorMemory;
    try {
      memory = await VectorMemory.open(kernel);
    } catch (error) {
      if (error instanceof NoWasmMemory) throw error;
      // a content security policy forbids WebAssembly
      continue;
    }
    if (knowsAnswers(memory, field)) return memory;
    kernels.set(key, null);
  }
  return null;
};
