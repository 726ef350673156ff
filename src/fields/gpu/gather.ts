/** Emits vectors in another order. */
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { GatherConfig } from '../stages/gather.js';
import type { Emitter, Part } from './emitter.js';

/** Emits a[list[i]] into new scratch. */
export const emitGather = (emit: Emitter, a: Part, list: Uint32Array): Part => {
  const { length } = list;
  const out = emit.take(length);
  const config = GatherConfig.pack({ length, reversed_bits: 0 });
  const bindings = { a, indices: emit.upload(list), out };
  emit.dispatch(emit.setup.kernels.gather(), config, bindings, groupsFor(length, THREADS), 0);
  return out;
};

/** Emits a copy in the order of indices whose bits are reversed, and releases `a`. */
export const emitReversed = (emit: Emitter, a: Part, logLength: number): Part => {
  const length = 2 ** logLength;
  const out = emit.take(length);
  const config = GatherConfig.pack({ length, reversed_bits: logLength });
  emit.dispatch(emit.setup.kernels.gather(), config, { a, indices: undefined, out }, groupsFor(length, THREADS), 0);
  emit.release(a);
  return out;
};
