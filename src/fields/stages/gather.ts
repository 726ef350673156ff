/** Gather: elements of a vector in another order. */
import template from '../../../wgsl/fields/gather.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { fieldView } from '../../field/wgsl.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { THREADS, vectorBinding } from './element.js';

export const GatherConfig = struct('GatherConfig', {
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
