/** Gather: elements of a vector in another order. */
import template from '../../../wgsl/fields/gather.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { fieldView } from '../../field/wgsl.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, type Slice, struct } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS, vectorBinding } from './element.js';
import { type Emitter, nothing, type Part } from './emitter.js';

const GatherConfig = struct('GatherConfig', {
  length: 'elements of the result',
  reversed_bits: 'bits of an index; 0: the list has the indices',
});

export const gatherKernel = (field: Modulus): Kernel =>
  stageKernel({
    name: 'gather',
    template,
    config: GatherConfig,
    bindings: [
      vectorBinding('a', 'read'),
      { name: 'indices', access: 'read', type: 'array<u32>' },
      vectorBinding('out', 'write'),
    ],
    view: { ...fieldView(field), threads: THREADS },
  });

const emitInOrder = (emit: Emitter, a: Part, indices: Slice, length: number, reversedBits: number): Part => {
  const out = emit.take(length);
  const config = GatherConfig.pack({ length, reversed_bits: reversedBits });
  const groups = groupsFor(length, THREADS);
  emit.dispatch({ kernel: emit.setup.kernels.gather(), config, bindings: { a, indices, out }, groups });
  return out;
};

/** Emits a[list[i]] into new scratch. */
export const emitGather = (emit: Emitter, a: Part, list: Uint32Array): Part =>
  emitInOrder(emit, a, emit.upload(list), list.length, 0);

/** Emits a copy in the order of indices whose bits are reversed, and releases `a`. */
export const emitReversed = (emit: Emitter, a: Part, logLength: number): Part => {
  const out = emitInOrder(emit, a, nothing, 2 ** logLength, logLength);
  emit.release(a);
  return out;
};
