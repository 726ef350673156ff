import type { CurveContext } from '../../curves/curve.js';
import type { Kernel, KernelPart } from '../../shaders/kernel.js';
import { decomposeKernel } from './decompose.js';
import { digestKernel } from './digest.js';
import { importKernel } from './import.js';
import { partitionKernel } from './partition.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, sortKernels } from './sort.js';
import { type WalkShape, walkKernel } from './walk.js';

/** The kernels of one curve, each rendered once. */
export interface Kernels {
  readonly curve: CurveContext;
  importPoints(): Kernel;
  digest(): Kernel;
  decompose(): Kernel;
  sort(threads: number, perThread: number): SortKernels;
  partition(): Kernel;
  walk(shape: WalkShape): Kernel;
  reduce(): Kernel;
}

const once = <Argument extends unknown[], Result>(make: (...argument: Argument) => Result) => {
  const made = new Map<string, Result>();
  return (...argument: Argument): Result => {
    const name = JSON.stringify(argument);
    const result = made.get(name) ?? make(...argument);
    made.set(name, result);
    return result;
  };
};

/** @param walkPart what the instrument of the engine adds to walks whose shape is `instrumented` */
export const createKernels = (curve: CurveContext, walkPart?: KernelPart): Kernels => ({
  curve,
  importPoints: once(() => importKernel(curve)),
  digest: once(digestKernel),
  decompose: once(() => decomposeKernel(curve)),
  sort: once(sortKernels),
  partition: once(partitionKernel),
  walk: once((shape: WalkShape) => walkKernel(curve, shape, shape.instrumented ? walkPart : undefined)),
  reduce: once(reduceKernel),
});
