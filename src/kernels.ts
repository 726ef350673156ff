import type { CurveContext } from './curves/curve.js';
import type { CarryMode } from './field/carry.js';
import type { Kernel } from './gpu/kernel.js';
import { type CheckKernels, checkKernels } from './stages/check.js';
import { decomposeKernel } from './stages/decompose.js';
import { importKernel } from './stages/import.js';
import { partitionKernel } from './stages/partition.js';
import { reduceKernel } from './stages/reduce.js';
import { type SortKernels, sortKernels } from './stages/sort.js';
import { type TablesKernels, tablesKernels } from './stages/tables.js';
import { type WalkShape, walkKernel } from './stages/walk.js';

/** The kernels of one curve, each rendered once. */
export interface Kernels {
  importPoints(carry: CarryMode): Kernel;
  tables(carry: CarryMode): TablesKernels;
  decompose(): Kernel;
  sort(threads: number, perThread: number): SortKernels;
  partition(): Kernel;
  walk(shape: WalkShape): Kernel;
  reduce(): Kernel;
  checks(carry: CarryMode): CheckKernels;
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

export const createKernels = (curve: CurveContext): Kernels => ({
  importPoints: once((carry: CarryMode) => importKernel(curve, carry)),
  tables: once((carry: CarryMode) => tablesKernels(curve, carry)),
  decompose: once(() => decomposeKernel(curve)),
  sort: once(sortKernels),
  partition: once(partitionKernel),
  walk: once((shape: WalkShape) => walkKernel(curve, shape)),
  reduce: once(reduceKernel),
  checks: once((carry: CarryMode) => checkKernels(curve, carry)),
});
