/** Emits transforms. */
import { invert } from '../../field/modulus.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Computation } from '../program/steps.js';
import { BUTTERFLY_THREADS, ButterfliesConfig, butterflyPasses } from '../stages/butterflies.js';
import { TransformConfig, transformPasses } from '../stages/transform.js';
import { emitCopy, type Operand, scaleByPowers, whole } from './elementwise.js';
import type { Emitter, Part } from './emitter.js';
import { emitReversed } from './gather.js';
import type { FieldSetup } from './setup.js';

/** Powers of the root of the longest transform: w^0, …, w^(2^logLength / 2 − 1). */
export interface Twiddles {
  readonly at: Part;
  readonly logLength: number;
}

type Transform = Extract<Computation, { readonly kind: 'ntt' | 'intt' }>;

type EmitPasses = (
  emit: Emitter,
  data: Part,
  logLength: number,
  own: Pick<Transform, 'kind' | 'from'>,
  twiddles: Twiddles,
) => void;

/** Emits all passes of a transform in blocks without scalings, in place. */
const emitBlocks: EmitPasses = (emit, data, logLength, { kind, from }, twiddles) => {
  const { field, kernels } = emit.setup;
  const inTime = from === 'reversed';
  const passes = transformPasses(field, logLength, emit.isOther);
  for (const { first, stages, logColumns, shift, blocks } of inTime ? passes.reverse() : passes) {
    const config = TransformConfig.pack({
      ...{ log_length: logLength, first, stages, log_columns: logColumns, shift, blocks },
      ...{ in_time: Number(inTime), inverse: Number(kind === 'intt') },
      stride: twiddles.logLength - logLength,
    });
    const products = (stages * 2 ** logLength) / 2;
    emit.dispatch(kernels.transform(), config, { data, twiddles: twiddles.at }, groupsFor(blocks, 1), products);
  }
};

/** Emits all stages of a transform by butterflies without scalings, in place. */
const emitButterflies =
  (kernelOf: NonNullable<FieldSetup['butterflies']>): EmitPasses =>
  (emit, data, logLength, { kind, from }, twiddles) => {
    const inTime = from === 'reversed';
    const withTwiddles = inTime ? 'time' : 'frequency';
    const passes = butterflyPasses(logLength, emit.isOther);
    for (const pass of inTime ? passes.reverse() : passes) {
      const config = ButterfliesConfig.pack({
        ...pass,
        ...{ inverse: Number(kind === 'intt'), stride: twiddles.logLength - logLength },
      });
      const groups = groupsFor(pass.threads, BUTTERFLY_THREADS);
      const kernel = kernelOf(pass.distance === 1 ? 'sum' : withTwiddles);
      emit.dispatch(kernel, config, { data, twiddles: twiddles.at }, groups, 2 ** (logLength - 1));
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
  const { butterflies } = emit.setup;
  const emitPasses = butterflies === null ? emitBlocks : emitButterflies(butterflies);
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
