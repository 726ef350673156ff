/** Transform: stages of a number theoretic transform in workgroup memory. */
import template from '../../../wgsl/fields/transform.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { elementPartials, elementView, vectorBinding } from './element.js';

export const TransformConfig = struct('TransformConfig', {
  log_length: 'log2 of the elements of the transform',
  first: 'first stage of the pass',
  stages: 'stages of the pass',
  log_columns: 'log2 of the columns of a workgroup',
  shift: 'log2 of the distance of the elements of a column',
  blocks: 'workgroups that have columns',
  in_time: '1: decimation in time; 0: in frequency',
  inverse: '1: the root is 1/w',
  stride: 'log2 of the powers of the table that make one of w',
});

/** Bytes of workgroup memory that every device has (WebGPU's maxComputeWorkgroupStorageSize). */
const WORKGROUP_BYTES = 16_384;

/** Returns log2 of the elements of a workgroup. At most 2^9: the table of twiddles is read. */
export const logBlockOf = ({ bytes }: Modulus): number => Math.min(9, Math.floor(Math.log2(WORKGROUP_BYTES / bytes)));

/** One dispatch of a transform. */
export interface TransformPass {
  readonly first: number;
  readonly stages: number;
  readonly logColumns: number;
  readonly shift: number;
  readonly blocks: number;
}

/**
 * Divides the stages of a transform into the fewest passes, in the order of decimation in
 * frequency.
 *
 * @param isOther true to divide them into smaller blocks
 */
export const transformPasses = (field: Modulus, logLength: number, isOther = false): TransformPass[] => {
  const less = Number(isOther && logLength > 1);
  const logBlock = Math.min(logBlockOf(field) - less, logLength - less);
  const count = Math.ceil(logLength / Math.max(1, logBlock));
  const ends = Array.from({ length: count }, (_, i) => Math.ceil(((i + 1) * logLength) / count));
  return ends.map((end, i) => {
    const first = ends[i - 1] ?? 0;
    const stages = end - first;
    return {
      ...{ first, stages, logColumns: logBlock - stages },
      ...{ shift: logLength - end, blocks: 2 ** (logLength - logBlock) },
    };
  });
};

/** @param threads of a workgroup */
export const transformKernel = (field: Modulus, threads: number): Kernel =>
  stageKernel(
    'transform',
    template,
    TransformConfig,
    [vectorBinding('data', 'write'), vectorBinding('twiddles', 'read')],
    { ...elementView(field, threads), block: 2 ** logBlockOf(field) },
    elementPartials,
  );
