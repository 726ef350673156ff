/** Gather: elements of a vector in another order. */
import template from '../../../wgsl/fields/gather.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { fieldView } from '../../field/wgsl.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';

const GatherConfig = struct('GatherConfig', {
  length: 'elements of the result',
  reversed_bits: 'bits of an index; 0: the list has the indices',
});

export const gatherKernel = (field: Modulus): Kernel =>
  stageKernel(
    'gather',
    template,
    GatherConfig,
    [
      vectorBinding('a', 'read'),
      { name: 'indices', access: 'read', type: 'array<u32>' },
      vectorBinding('out', 'write'),
    ],
    { ...fieldView(field), threads: THREADS },
  );

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
