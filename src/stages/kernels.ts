import type { CurveContext } from '../curves/curve.js';
import type { CarryMode } from '../field/carry.js';
import type { Kernel } from '../shaders/kernel.js';
import { type CheckKernels, checkKernels } from './check.js';
import { decomposeKernel } from './decompose.js';
import { importKernel } from './import.js';
import { partitionKernel } from './partition.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, sortKernels } from './sort.js';
import { type TablesKernels, tablesKernels } from './tables.js';
import { type WalkShape, walkKernel } from './walk.js';

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
