import type { CurveContext } from '../../curves/curve.js';
import type { Kernel, KernelPart } from '../../shaders/kernel.js';
import { once } from '../../shaders/once.js';
import { decomposeKernel } from './decompose.js';
import { digestKernel } from './digest.js';
import { importKernel } from './import.js';
import { partitionKernel } from './partition.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, sortKernels } from './sort.js';
import { type WalkShape, walkKernel } from './walk.js';

/** The kernels of one curve; each is rendered once. */
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

/** @param walkPart kernel part that walks include whose shape is `instrumented` */
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
