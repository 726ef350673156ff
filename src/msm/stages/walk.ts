import runs from '../../../wgsl/msm/runs.wgsl?template';
import template from '../../../wgsl/msm/walk.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { divstepConstants } from '../../field/divsteps.js';
import type { Field } from '../../field/field.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, type KernelPart, struct } from '../../shaders/kernel.js';
import { entryWgsl, levelWgsl } from './entry.js';

/** Config of a walk, the bucket accumulation by segmented reduction. */
export const WalkConfig = struct('WalkConfig', {
  level: 'index of the level to walk',
  checksum: 'account of the digests of the entries taken in, minus those of the carries left',
  finite_points: 'account of the finite points, weighted',
  per_sum: 'weight of a sum that is written',
  per_point: 'weight of a point that is taken in',
  read_back: 'account of the digest of the sums if the host reads them back and every task is one run; else 0',
});

/** Parameters of the walk's source besides the curve. */
export interface WalkShape {
  readonly prefixMemory: 'private' | 'workgroup';
  readonly threads: number;
  readonly slots: number;
  /** Includes the kernel part of the engine's instrument. */
  readonly instrumented?: boolean;
}

/** Returns the workgroup memory of the prefix products, in bytes. */
export const prefixBytes = (curve: CurveContext, threads: number, slots: number): number =>
  threads * slots * curve.coordinates.bytes;

/**
 * Returns the rows of four words of a slot in private memory: its state, its sum, and its prefix
 * product unless that is shared.
 */
const rowsOf = ({ words }: Field, shared: boolean): number => 1 + (words / 4) * (shared ? 2 : 3);

/** Bytes that WGSL guarantees for all private variables of a shader together (WGSL, "Limits"). */
const PRIVATE_BYTES = 8192;

/**
 * Returns the most slots whose private variables fit. A thread has six words, the matrices of an
 * inversion, and the value that the products of a step pass on.
 */
export const mostSlots = ({ field, coordinates }: CurveContext, prefixMemory: WalkShape['prefixMemory']): number => {
  const slot = 16 * rowsOf(coordinates, prefixMemory === 'workgroup');
  const thread = 4 * 6 + 8 * divstepConstants(field).batches + 4 * coordinates.words;
  return Math.floor((PRIVATE_BYTES - thread) / slot);
};

export const walkKernel = (
  curve: CurveContext,
  { prefixMemory, threads, slots }: Omit<WalkShape, 'instrumented'>,
  instrument?: KernelPart,
): Kernel => {
  const shared = prefixMemory === 'workgroup';
  const vectors = curve.coordinates.words / 4;
  return stageKernel(
    'walk',
    template,
    WalkConfig,
    [
      { name: 'levels', access: 'read', type: 'array<Level>' },
      { name: 'stream', access: 'read', type: 'array<Entry>' },
      { name: 'points', access: 'read', type: 'array<Point>' },
      { name: 'sums', access: 'write', type: 'array<Point>' },
      { name: 'carries', access: 'write', type: 'array<Entry>' },
      { name: 'partials', access: 'write', type: 'array<Point>' },
      ...(instrument?.bindings ?? []),
    ],
    {
      ...curve.coordinates.view(),
      ...instrument?.view,
      instrumented: instrument !== undefined,
      level: levelWgsl,
      entry: entryWgsl,
      prefixIsShared: shared,
      prefixLength: threads * slots,
      rows: rowsOf(curve.coordinates, shared),
      memoryRows: slots * rowsOf(curve.coordinates, shared) + vectors,
      rowOfY: 1 + vectors,
      rowOfPrefix: 1 + 2 * vectors,
      sumRows: 2 * vectors,
      threads,
      slots,
      aLimbs: curve.coordinates.literal(curve.a),
    },
    { ...curve.coordinates.partials, runs, ...instrument?.partials },
  );
};
