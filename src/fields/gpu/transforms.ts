/** Emits transforms. */
import { invert } from '../../field/modulus.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Computation } from '../program/steps.js';
import { TransformConfig, transformPasses } from '../stages/transform.js';
import { emitCopy, type Operand, scaleByPowers, whole } from './elementwise.js';
import type { Emitter, Part } from './emitter.js';
import { emitReversed } from './gather.js';

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
