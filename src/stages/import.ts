import template from '../../wgsl/import.wgsl?template';
import type { CurveContext } from '../curves/curve.js';
import { fieldLiteral } from '../field/literal.js';
import { fieldView } from '../field/wgsl.js';
import { stageKernel } from '../shaders/custody.js';
import type { Kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';

export const ImportConfig = struct('ImportConfig', {
  points: 'points in this slice',
  first: 'index of the first of them among all bases',
  rejects: 'the two accounts of what is refused',
});

export const IMPORT_THREADS = 64;
/** Where nothing is refused. */
export const NONE_REJECTED = 0xffffffff;
/** The index in an account of what is refused. */
export const rejectedIn = (account: number): number => ~account >>> 0;

export const importKernel = (curve: CurveContext): Kernel =>
  stageKernel('import_points', template, ImportConfig, [{ name: 'points', access: 'write', type: 'array<Point>' }], {
    ...fieldView(curve.field),
    threads: IMPORT_THREADS,
    aLimbs: fieldLiteral(curve.field, curve.a),
    bLimbs: fieldLiteral(curve.field, curve.b),
  });
