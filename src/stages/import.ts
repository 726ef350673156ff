import template from '../../wgsl/import.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import type { CarryMode } from '../field/carry.js';
import { fieldLiteral } from '../field/literal.js';
import { fieldView } from '../field/wgsl.js';
import { type Kernel, kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';

export const ImportConfig = struct('ImportConfig', {
  points: 'points in this slice',
  first: 'index of the first of them among all bases',
});

export const IMPORT_THREADS = 64;
/** What the first two words of `outcome` hold as long as nothing was rejected. */
export const NONE_REJECTED = 0xffffffff;
/** Words of `outcome` before the import: nothing rejected, nothing done. */
export const importStart = (): Uint32Array<ArrayBuffer> => Uint32Array.of(NONE_REJECTED, NONE_REJECTED, 0);

export const importKernel = (curve: CurveContext, carry: CarryMode): Kernel =>
  kernel(
    'import_points',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ImportConfig' },
      { name: 'points', access: 'write', type: 'array<Point>' },
      { name: 'outcome', access: 'write', type: 'Outcome' },
    ],
    {
      ...fieldView(curve.field, carry),
      structs: ImportConfig.wgsl,
      threads: IMPORT_THREADS,
      aLimbs: fieldLiteral(curve.field, curve.a),
      bLimbs: fieldLiteral(curve.field, curve.b),
    },
  );
