/** Emits inverses. */
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { INVERT_PART, InvertConfig } from '../stages/invert.js';
import type { Emitter, Part } from './emitter.js';

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
