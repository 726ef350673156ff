import template from '../../../wgsl/msm/normalize.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { divstepConstants } from '../../field/divsteps.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { extendedPartials } from './walk-xyzz.js';

/** Config of normalize, which converts the last sums to affine coordinates. */
export const NormalizeConfig = struct('NormalizeConfig', {
  sums: 'number of sums',
  read_back: 'account of the digest of the sums, which the host reads back',
});

/** Threads in a workgroup of normalize; each converts one sum. */
export const NORMALIZE_THREADS = 32;

export const normalizeKernel = (curve: CurveContext): Kernel =>
  stageKernel(
    'normalize',
    template,
    NormalizeConfig,
    [
      { name: 'extended', access: 'read', type: 'array<Extended>' },
      { name: 'sums', access: 'write', type: 'array<Point>' },
    ],
    {
      ...curve.coordinates.view(),
      batches: divstepConstants(curve.field).batches,
      threads: NORMALIZE_THREADS,
    },
    { ...curve.coordinates.partials, ...extendedPartials },
  );
