import template from '../../../wgsl/msm/tables.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { divstepConstants } from '../../field/divsteps.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Binding, type Kernel, type Struct, struct } from '../../shaders/kernel.js';
import { localLength } from '../../shaders/limits.js';

/** Config of the kernel that moves imported points to table 0. */
export const SpreadConfig = struct('SpreadConfig', {
  points: 'bases in this slice',
  tables: 'resident multiples of each base',
});

/** Config of the kernel that doubles one table into another. */
export const DoubleConfig = struct('DoubleConfig', {
  points: 'bases in this slice',
  tables: 'resident multiples of each base',
  from_table: 'table that is read',
  to_table: 'table that is written; the same one where an earlier dispatch began it',
  doublings: 'number of doublings',
});

/** Threads in a workgroup of either kernel; each takes one base. */
export const TABLES_THREADS = 64;

/** The kernels that compute tables of multiples of the bases (Lim and Lee 1994). */
export interface TablesKernels {
  readonly spread: Kernel;
  readonly double: Kernel;
}

/** Bytes of a matrix of the inversion. */
const MATRIX_BYTES = 8;

/** @param pads whether its private array is padded (`localLength`) */
export const tablesKernels = (curve: CurveContext, pads = false): TablesKernels => {
  const make = <Field extends string>(part: 'spread' | 'double', config: Struct<Field>, ...bindings: Binding[]) =>
    stageKernel(
      `tables_${part}`,
      template,
      config,
      bindings,
      {
        ...curve.coordinates.view(),
        spread: part === 'spread',
        double: part === 'double',
        threads: TABLES_THREADS,
        matrices: localLength(divstepConstants(curve.field).batches, MATRIX_BYTES, pads),
        hasA: !curve.coordinates.isZero(curve.a),
        aLimbs: curve.coordinates.literal(curve.a),
      },
      curve.coordinates.partials,
    );
  const tables: Binding = { name: 'tables', access: 'write', type: 'array<Point>' };
  return {
    spread: make('spread', SpreadConfig, { name: 'points', access: 'read', type: 'array<Point>' }, tables),
    double: make('double', DoubleConfig, tables),
  };
};
