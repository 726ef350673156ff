/** Elements of vectors in shaders. */
import template from '../../../wgsl/fields/element.wgsl?template';
import { type Modulus, toMontgomery, writeWords } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { fieldView } from '../../field/wgsl.js';
import { type Binding, type Struct, struct } from '../../shaders/kernel.js';
import type { Template, TemplateView } from '../../shaders/template.js';

/** Partials of kernels that compute with elements. */
export const elementPartials: Readonly<Record<string, Template>> = { element: template };

/** Config of a kernel: words of its own, and then a factor in Montgomery form. */
interface FactorConfig<Field extends string> {
  /** Returns the struct of the kernel for a field. */
  structOf(field: Modulus): Struct<string>;
  /** @param factor words of a stored element */
  pack(values: Readonly<Record<Field, number>>, factor: Uint32Array): Uint32Array<ArrayBuffer>;
}

/** @param documented descriptions of the kernel's own words */
export const factorConfig = <Field extends string>(
  name: string,
  documented: Readonly<Record<Field, string>>,
): FactorConfig<Field> => {
  const own = struct(name, documented);
  return {
    structOf: ({ words }) => {
      const factor = range(words).map((i) => [`factor${i}`, 'word of the factor, in Montgomery form']);
      return struct(name, { ...documented, ...Object.fromEntries(factor) });
    },
    pack: (values, factor) => {
      const words = new Uint32Array(own.fields.length + factor.length);
      words.set(own.pack(values));
      words.set(factor, own.fields.length);
      return words;
    },
  };
};

/** Returns a number in Montgomery form, as the words of a stored element. */
export const montgomeryWords = (field: Modulus, value: bigint): Uint32Array<ArrayBuffer> => {
  const words = new Uint32Array(field.words);
  writeWords(words, 0, field.words, toMontgomery(field, value));
  return words;
};

/** Returns the view of a kernel that computes with elements, and takes a factor from its config. */
export const elementView = (field: Modulus, threads: number): TemplateView => ({
  ...fieldView(field),
  threads,
  factor: range(field.words / 4).map((i) => ({
    vector: range(4)
      .map((j) => `config.factor${4 * i + j}`)
      .join(', '),
  })),
});

/** Returns the binding of a vector. */
export const vectorBinding = (name: string, access: 'read' | 'write'): Binding => ({
  ...{ name, access },
  type: 'array<Packed>',
});

/** Threads of a workgroup in stages whose threads share nothing. */
export const THREADS = 64;
