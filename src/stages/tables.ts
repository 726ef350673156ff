import template from '../../wgsl/tables.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import type { CarryMode } from '../field/carry.js';
import { fieldLiteral } from '../field/literal.js';
import { fieldView } from '../field/wgsl.js';
import { type Binding, type Kernel, kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';

export const SpreadConfig = struct('SpreadConfig', {
  points: 'bases in this slice',
  tables: 'points that each base has in the end',
});

export const DoubleConfig = struct('DoubleConfig', {
  points: 'bases in this slice',
  tables: 'points that each base has in the end',
  from_table: 'table that is read',
  to_table: 'table that is written; the same one, where an earlier dispatch began',
  doublings: 'how many times',
});

/** A thread takes one base. */
/** Threads in a workgroup of either kernel; one base each. */
export const TABLES_THREADS = 64;

export interface TablesKernels {
  readonly spread: Kernel;
  readonly double: Kernel;
}

export const tablesKernels = (curve: CurveContext, carry: CarryMode): TablesKernels => {
  const make = (part: 'spread' | 'double', structs: string, bindings: readonly Binding[]): Kernel =>
    kernel(`tables_${part}`, template, bindings, {
      ...fieldView(curve.field, carry),
      spread: part === 'spread',
      double: part === 'double',
      structs,
      threads: TABLES_THREADS,
      hasA: curve.a !== 0n,
      aLimbs: fieldLiteral(curve.field, curve.a),
    });
  const tables: Binding = { name: 'tables', access: 'write', type: 'array<Point>' };
  return {
    spread: make('spread', SpreadConfig.wgsl, [
      { name: 'config', access: 'uniform', type: SpreadConfig.name },
      { name: 'points', access: 'read', type: 'array<Point>' },
      tables,
    ]),
    double: make('double', DoubleConfig.wgsl, [{ name: 'config', access: 'uniform', type: DoubleConfig.name }, tables]),
  };
};
