/** Elements of vectors in shaders. */
import template from '../../../wgsl/fields/element.wgsl?template';
import { type Modulus, toMontgomery, writeWords } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { fieldView } from '../../field/wgsl.js';
import type { Binding } from '../../shaders/kernel.js';
import type { Template, TemplateView } from '../../shaders/template.js';

/** Partials of kernels that compute with elements. */
export const elementPartials: Readonly<Record<string, Template>> = { element: template };

/** Names of the config's words that hold a factor in Montgomery form. */
const factorWords = ({ words }: Modulus): string[] => range(words).map((i) => `factor${i}`);

/** Fields of a config that hold a factor in Montgomery form. */
export const factorFields = (field: Modulus): Record<string, string> =>
  Object.fromEntries(factorWords(field).map((name) => [name, 'word of the factor, in Montgomery form']));

/** Returns a number in Montgomery form, as the words of a stored element. */
export const montgomeryWords = (field: Modulus, value: bigint): Uint32Array<ArrayBuffer> => {
  const words = new Uint32Array(field.words);
  writeWords(words, 0, field.words, toMontgomery(field, value));
  return words;
};

/** Returns the values of `factorFields`. @param words of a stored element */
export const factorValues = (field: Modulus, words: Uint32Array): Record<string, number> =>
  Object.fromEntries(factorWords(field).map((name, i) => [name, words[i] as number]));

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
