/** Invert: inverses of elements, with one inversion for each part of a vector. */
import template from '../../../wgsl/fields/invert.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { elementPartials, elementView, THREADS, vectorBinding } from './element.js';
import type { Emitter, Part } from './emitter.js';

const InvertConfig = struct('InvertConfig', {
  length: 'elements of the vector',
  part: 'elements of a part',
});

/** Elements of a part: an inversion takes as long as about 25 products. */
const INVERT_PART = 32;

export const invertKernel = (field: Modulus): Kernel =>
  stageKernel(
    'invert',
    template,
    InvertConfig,
    [vectorBinding('a', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );

/** Products that take as long as an inversion. */
const INVERSION = 25;

/** Elements of a part in a second evaluation. */
const OTHER_PART = 19;

/** Emits 1/a[i], and 0 of 0, into new scratch. */
export const emitInverses = (emit: Emitter, a: Part, length: number): Part => {
  const out = emit.take(length);
  const part = emit.isOther ? OTHER_PART : INVERT_PART;
  const parts = Math.ceil(length / part);
  const config = InvertConfig.pack({ length, part });
  emit.dispatch(
    emit.setup.kernels.invert(),
    config,
    { a, out },
    groupsFor(parts, THREADS),
    3 * length + INVERSION * parts,
  );
  return out;
};
