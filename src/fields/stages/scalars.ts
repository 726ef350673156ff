/** Scalars: elements of a vector as scalars of a sum. */
import template from '../../../wgsl/fields/scalars.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';

/** Words of a scalar. */
export const SCALAR_WORDS = 8;

const documented = {
  length: 'number of scalars',
  first: 'index of the first element',
  first_out: 'index of the first scalar in the output',
  vector: 'index of the vector in the batch',
  first_base: 'index of the base that the first scalar multiplies',
  account: 'account of the digest of the scalars, in lanes',
};

/** Parameters of a dispatch. */
export type ScalarsValues = Readonly<Record<keyof typeof documented, number>>;

const ScalarsConfig = /* @__PURE__ */ factorConfig('ScalarsConfig', documented);

export const packScalarsConfig = (field: Modulus, values: ScalarsValues): Uint32Array<ArrayBuffer> =>
  // a Montgomery product with 1 divides by R
  ScalarsConfig.pack(values, montgomeryWords(field, field.rInverse));

export const scalarsKernel = (field: Modulus): Kernel =>
  stageKernel(
    'scalars',
    template,
    ScalarsConfig.structOf(field),
    [vectorBinding('a', 'read'), { name: 'out', access: 'write', type: 'array<u32>' }],
    {
      ...elementView(field, THREADS),
      scalarWords: SCALAR_WORDS,
      parts: range(SCALAR_WORDS).map((w) => ({
        w,
        word: w < field.words ? `packed.v${w >> 2}.${'xyzw'[w & 3]}` : '0u',
      })),
    },
    elementPartials,
  );
