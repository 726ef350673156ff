/**
 * The dispatch chain: a hash chain by which the host knows that every dispatch of a job ran, once,
 * in order, with the config that the host sent. Its idea is that each link is the hash of the link
 * before it and of a config, so the host can compute the chain ahead, and a dispatch can only
 * produce its link from the one before.
 *
 * Every job has a random first link. A dispatch checks that the link before it is there, and that
 * its config hashes to the link that the host expects; then it works and adds its own link.
 * Otherwise it does nothing, and neither does any later dispatch, so that the first missing link
 * names the stage that failed.
 */
import { type Binding, type Kernel, kernel, type Struct, struct } from './kernel.js';
import type { Template, TemplateView } from './template.js';

/** Name of the binding with the accounts of the stages and the links of the chain. */
export const CHAIN = 'chain';

/** Fields that the runner adds to the config of every dispatch. */
export const Tail = struct('Tail', {
  slot: 'index of the link of the dispatch before; this dispatch adds the next one',
  before: 'link of the dispatch before',
  after: 'link of this dispatch',
});

/** Words of an account that many threads add to, so that they do not all wait for one word. */
export const LANES = 32;

/**
 * Factor of a bijective mixing function: the first half of lowbias32 (Chris Wellons, "Prospecting
 * for hash functions", 2018).
 */
const FACTOR = 0x7feb352d;
/** 2^32 divided by the golden ratio, so that zero is mixed too. */
const STEP = 0x9e3779b9;

/**
 * Mixes a word, as a bijection. Zero does not map to zero, because unwritten memory is full of
 * zeros.
 */
export const mix = (word: number): number => {
  const moved = word + STEP;
  const mixed = Math.imul(moved ^ (moved >>> 16), FACTOR);
  return (mixed ^ (mixed >>> 15)) >>> 0;
};

/** Returns the factor of word `index` in a digest. It is odd, so that every bit counts. */
export const weight = (index: number): number => Math.imul(2 * index + 1, STEP);

/**
 * Returns the sum of `count` words times their weights, modulo 2^32. As weights are odd multiples
 * of one step, sums of suffixes give it with a single product.
 */
export const weightedSum = (words: Uint32Array, at: number, count: number): number => {
  let sum = 0;
  let multiples = 0;
  for (let w = at + count - 1; w > at; w--) {
    sum = (sum + (words[w] as number)) | 0;
    multiples = (multiples + sum) | 0;
  }
  return Math.imul(2 * multiples + sum + (words[at] as number), STEP);
};

/** Returns the value of an account, the sum of its lanes. */
export const sumOfLanes = (accounts: Uint32Array, first: number): number =>
  accounts.subarray(first, first + LANES).reduce((sum, lane) => (sum + lane) >>> 0, 0);

/** Returns the digest of an entry, or of an index and a word. */
export const digestOf = (first: number, second: number): number =>
  mix(Math.imul(first, weight(0)) + Math.imul(second, weight(1)));

/** Appends words to a hash chain and returns the new link, which any change of a word changes. */
export const absorb = (before: number, words: ArrayLike<number>, first = 0, end = words.length): number => {
  let value = before;
  for (let i = first; i < end; i++) value = mix(value ^ (words[i] as number));
  return value;
};

/** Renders a kernel in the dispatch chain, with a config as its first binding. */
export const stageKernel = <Field extends string>(
  name: string,
  template: Template,
  config: Pick<Struct<Field>, 'name' | 'fields' | 'documented'>,
  bindings: readonly Binding[],
  { structs, ...view }: TemplateView & { readonly structs?: string },
  partials?: Readonly<Record<string, Template>>,
): Kernel =>
  kernel(
    name,
    template,
    [
      { name: 'config', access: 'uniform', type: config.name },
      ...bindings,
      { name: CHAIN, access: 'write', type: 'array<atomic<u32>>' },
    ],
    {
      ...view,
      structs: `${struct(config.name, { ...config.documented, ...Tail.documented }).wgsl}\n${structs ?? ''}`,
      configFields: config.fields.map((name) => ({ name })),
      mixFactor: FACTOR,
      mixStep: STEP,
      lanes: LANES,
    },
    partials,
  );
