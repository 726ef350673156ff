import type { CurveContext } from '../../curves/curve.js';
import type { Kernel, KernelPart } from '../../shaders/kernel.js';
import type { KernelWithArray } from '../../shaders/local-arrays.js';
import { once } from '../../shaders/once.js';
import { decomposeKernel } from './decompose.js';
import { digestKernel } from './digest.js';
import { importKernel } from './import.js';
import { normalizeKernel } from './normalize.js';
import { partitionKernel } from './partition.js';
import { programKernel } from './program.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, type SortShape, sortKernels } from './sort.js';
import { type TablesKernels, tablesKernels } from './tables.js';
import { type WalkShape, walkKernel } from './walk.js';
import { walkXyzzKernel } from './walk-xyzz.js';

/** The kernels of one curve; each is rendered once. */
export interface Kernels {
  readonly curve: CurveContext;
  program(): Kernel;
  importPoints(): Kernel;
  tables(): TablesKernels;
  digest(): Kernel;
  decompose(): Kernel;
  sort(shape: SortShape): SortKernels;
  partition(): Kernel;
  walk(shape: WalkShape): Kernel;
  walkXyzz(shape: Pick<WalkShape, 'threads' | 'instrumented'>): Kernel;
  normalize(): Kernel;
  reduce(): Kernel;
}

/**
 * @param walkPart kernel part that walks include whose shape is `instrumented`
 * @param padded kernels whose private arrays are padded (`localLength`)
 */
export const createKernels = (
  curve: CurveContext,
  walkPart?: KernelPart,
  padded: readonly KernelWithArray[] = [],
): Kernels => ({
  curve,
  program: once(() => programKernel(curve, padded.includes('program'))),
  importPoints: once(() => importKernel(curve)),
  tables: once(() => tablesKernels(curve, padded.includes('tables'))),
  digest: once(digestKernel),
  decompose: once(() => decomposeKernel(curve)),
  sort: once(sortKernels),
  partition: once(partitionKernel),
  walk: once((shape: WalkShape) => walkKernel(curve, shape, shape.instrumented ? walkPart : undefined)),
  walkXyzz: once(({ threads, instrumented }: Pick<WalkShape, 'threads' | 'instrumented'>) =>
    walkXyzzKernel(curve, threads, instrumented ? walkPart : undefined),
  ),
  normalize: once(() => normalizeKernel(curve)),
  reduce: once(reduceKernel),
});
