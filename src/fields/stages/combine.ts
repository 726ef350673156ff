/** Combine: elements of a vector from those at the same place of others. */
import template from '../../../wgsl/fields/combine.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { elementPartials, elementView, factorConfig, THREADS, vectorBinding } from './element.js';

const documented = {
  length: 'elements of the result',
  a_length: 'elements of a; 0: x is 1',
  a_shift: 'index in a of element 0, modulo 2^32',
  products: 'number of factors of x: 0, 1, or 2 with `low`',
  b_length: 'elements of b; 0: y is not from b',
  b_shift: 'index in b of element 0, modulo 2^32',
  low: 'entries of the first table of powers in b, a power of 2; 0: b has no powers',
  reversed_bits: 'bits of an index that are reversed for its power; 0: none',
  c_length: 'elements of c; 0: z is 0',
  c_shift: 'index in c of element 0, modulo 2^32',
  subtracts: '1: z is subtracted',
  canonical: '1: results are below the prime',
};

const CombineConfig = /* @__PURE__ */ factorConfig('CombineConfig', documented);

/** Parameters of a dispatch. All but `length` are 0 unless given. */
export type CombineValues = Partial<Record<keyof typeof documented, number>> & { readonly length: number };

const none = /* @__PURE__ */ Object.fromEntries(Object.keys(documented).map((name) => [name, 0])) as Record<
  keyof typeof documented,
  number
>;

/** @param factor words of an element in Montgomery form */
export const packCombineConfig = (
  field: Modulus,
  values: CombineValues,
  factor: Uint32Array = new Uint32Array(field.words),
): Uint32Array<ArrayBuffer> => CombineConfig.pack({ ...none, ...values }, factor);

export const combineKernel = (field: Modulus): Kernel =>
  stageKernel(
    'combine',
    template,
    CombineConfig.structOf(field),
    [vectorBinding('a', 'read'), vectorBinding('b', 'read'), vectorBinding('c', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );
