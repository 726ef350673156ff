/** Invert: inverses of elements, with one inversion for each part of a vector. */
import template from '../../../wgsl/fields/invert.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import { elementPartials, elementView, THREADS, vectorBinding } from './element.js';

export const InvertConfig = struct('InvertConfig', {
  length: 'elements of the vector',
  part: 'elements of a part',
});

/** Elements of a part: an inversion takes as long as about 25 products. */
export const INVERT_PART = 32;

export const invertKernel = (field: Modulus): Kernel =>
  stageKernel(
    'invert',
    template,
    InvertConfig,
    [vectorBinding('a', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );
