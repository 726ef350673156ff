/** The kernels of a field, each made when it is first needed. */
import type { Modulus } from '../../field/modulus.js';
import { digestKernel } from '../../msm/stages/entry.js';
import type { Kernel } from '../../shaders/kernel.js';
import { once } from '../../shaders/once.js';
import { combineKernel } from './combine.js';
import { gatherKernel } from './gather.js';
import { invertKernel } from './invert.js';
import { rowsKernel } from './rows.js';
import { scalarsKernel } from './scalars.js';
import { scanKernel } from './scan.js';
import { transformKernel } from './transform.js';

export interface FieldKernels {
  combine(): Kernel;
  transform(): Kernel;
  scan(): Kernel;
  invert(): Kernel;
  rows(): Kernel;
  gather(): Kernel;
  scalars(): Kernel;
  digest(): Kernel;
}

/** @param threads of a workgroup of the transform */
export const fieldKernels = (field: Modulus, threads: number): FieldKernels => ({
  combine: once(() => combineKernel(field)),
  transform: once(() => transformKernel(field, threads)),
  scan: once(() => scanKernel(field)),
  invert: once(() => invertKernel(field)),
  rows: once(() => rowsKernel(field)),
  gather: once(() => gatherKernel(field)),
  scalars: once(() => scalarsKernel(field)),
  digest: once(digestKernel),
});
