/** Transform: stages of a number theoretic transform in workgroup memory, and whole transforms. */
import template from '../../../wgsl/fields/transform.wgsl?template';
import { invert, type Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Computation } from '../program/vectors.js';
import { emitCopy, type Operand, scaleByPowers, whole } from './combine.js';
import { elementPartials, elementView, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';
import { emitReversed } from './gather.js';

const TransformConfig = struct('TransformConfig', {
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
const logBlockOf = ({ bytes }: Modulus): number => Math.min(9, Math.floor(Math.log2(WORKGROUP_BYTES / bytes)));

/** One dispatch of a transform. */
interface TransformPass {
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
const transformPasses = (field: Modulus, logLength: number, isOther = false): TransformPass[] => {
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

/** Powers of the root of the longest transform: w^0, …, w^(2^logLength / 2 − 1). */
export interface Twiddles {
  readonly at: Part;
  readonly logLength: number;
}

type Transform = Extract<Computation, { readonly kind: 'ntt' | 'intt' }>;

/** Emits all passes of a transform without scalings, in place. */
const emitPasses = (
  emit: Emitter,
  data: Part,
  logLength: number,
  { kind, from }: Pick<Transform, 'kind' | 'from'>,
  twiddles: Twiddles,
): void => {
  const { field, kernels } = emit.setup;
  const inTime = from === 'reversed';
  const passes = transformPasses(field, logLength, emit.isOther);
  for (const { first, stages, logColumns, shift, blocks } of inTime ? passes.reverse() : passes) {
    const config = TransformConfig.pack({
      log_length: logLength,
      first,
      stages,
      log_columns: logColumns,
      shift,
      blocks,
      in_time: Number(inTime),
      inverse: Number(kind === 'intt'),
      stride: twiddles.logLength - logLength,
    });
    const products = (stages * 2 ** logLength) / 2;
    emit.dispatch(kernels.transform(), config, { data, twiddles: twiddles.at }, groupsFor(blocks, 1), products);
    emit.passes++;
  }
};

/**
 * Emits a transform, and returns where its result is.
 *
 * @param mayOverwrite true if `a` is a whole part of scratch that nothing else reads
 */
export const emitTransform = (
  emit: Emitter,
  own: Transform,
  a: Operand,
  length: number,
  mayOverwrite: boolean,
  twiddles: Twiddles | null,
): Part => {
  const { kind, from, to, coset, factor } = own;
  const logLength = Math.log2(length);
  let data = a.at;
  if (kind === 'ntt' && (coset !== 1n || factor !== 1n)) {
    data = scaleByPowers(emit, a, { base: coset, factor, length, order: from });
  } else if (!mayOverwrite) {
    data = emit.take(length);
    emitCopy(emit, data, a, length);
  }
  if (twiddles !== null) emitPasses(emit, data, logLength, own, twiddles);
  const order = from === 'natural' ? 'reversed' : 'natural';
  if (kind === 'intt' && (coset !== 1n || factor !== 1n)) {
    const base = coset === 1n ? 1n : invert(coset, emit.setup.field.p);
    const scaled = scaleByPowers(emit, whole(data, length), { base, factor, length, order });
    emit.release(data);
    data = scaled;
  }
  return to === order || logLength === 0 ? data : emitReversed(emit, data, logLength);
};
