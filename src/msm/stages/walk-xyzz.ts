import extendedTemplate from '../../../wgsl/msm/extended.wgsl?template';
import runs from '../../../wgsl/msm/runs.wgsl?template';
import template from '../../../wgsl/msm/walk-xyzz.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, type KernelPart, struct } from '../../shaders/kernel.js';
import { entryWgsl, levelWgsl } from './entry.js';

/** Config of a walk with sums in extended coordinates. */
export const WalkXyzzConfig = struct('WalkXyzzConfig', {
  level: 'index of the level to walk',
  extended: '1 if the points are sums of a walk, 0 if they are affine',
  checksum: 'account of the digests of the entries taken in, minus those of the carries left',
  finite_points: 'account of the finite points, weighted',
  per_sum: 'weight of a sum that is written',
  per_point: 'weight of a point that is taken in',
});

/** Partials of the shaders that read or write points in extended coordinates. */
export const extendedPartials = { extended: extendedTemplate };

/** Returns the words of a point in extended coordinates. */
export const extendedWords = ({ coordinates }: CurveContext): number => 4 * coordinates.words;

/** @param threads threads in a workgroup */
export const walkXyzzKernel = (curve: CurveContext, threads: number, instrument?: KernelPart): Kernel => {
  const { coordinates } = curve;
  return stageKernel(
    'walk_xyzz',
    template,
    WalkXyzzConfig,
    [
      { name: 'levels', access: 'read', type: 'array<Level>' },
      { name: 'stream', access: 'read', type: 'array<Entry>' },
      { name: 'points', access: 'read', type: 'array<Packed>' },
      { name: 'sums', access: 'write', type: 'array<Extended>' },
      { name: 'carries', access: 'write', type: 'array<Entry>' },
      { name: 'partials', access: 'write', type: 'array<Extended>' },
      ...(instrument?.bindings ?? []),
    ],
    {
      ...coordinates.view(),
      ...instrument?.view,
      instrumented: instrument !== undefined,
      level: levelWgsl,
      entry: entryWgsl,
      threads,
      hasA: !coordinates.isZero(curve.a),
      aLimbs: coordinates.literal(curve.a),
      zeroLimbs: coordinates.literal(coordinates.zero),
    },
    { ...coordinates.partials, ...extendedPartials, runs, ...instrument?.partials },
  );
};
