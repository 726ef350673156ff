/**
 * Custody: how the host knows that what comes back was computed from what it sent, by all that it told the GPU to do, in this job.
 *
 * Every job has a number of its own, its *call*. It goes up as the first word of the job's *stamps*; a dispatch finds there what the one
 * before it left, and leaves a word in turn, the *seal* of its config on top of that. So the stamps are a chain, which the host
 * computes ahead. A dispatch that does not find what it should, or whose config is not the one that was sealed, does nothing and leaves no
 * stamp, and neither do those behind it: the first stamp that is missing names the stage.
 */
import { type Binding, type Kernel, kernel } from './kernel.js';
import { type Struct, struct } from './struct.js';
import type { Template, TemplateView } from './template.js';

/** The binding of a job's custody buffer: the accounts of the stages, then the stamps. */
export const CHAIN = 'chain';

/** What the runner adds to the config of every dispatch. */
export const Tail = struct('Tail', {
  slot: 'where the stamp of the dispatch before is; this one leaves its own behind it',
  before: 'what is there',
  after: 'what this one leaves',
});

/** Threads of a stage add to an account in so many lanes, so that they do not all wait for one word. */
export const LANES = 32;

/** One round of a mixing function that loses nothing (Chris Wellons, "hash prospector", 2018: the first half of lowbias32). */
const FACTOR = 0x7feb352d;
/** 2^32 divided by the golden ratio: zeros are mixed as well as anything else. */
const STEP = 0x9e3779b9;

/** Mixes a word; another word, another result. Zero does not stay zero: it is what unwritten memory is full of. */
export const mix = (word: number): number => {
  const moved = word + STEP;
  const mixed = Math.imul(moved ^ (moved >>> 16), FACTOR);
  return (mixed ^ (mixed >>> 15)) >>> 0;
};

/** The number by which word `index` of something counts in its digest: odd, so that no single bit is lost. */
export const weight = (index: number): number => Math.imul(2 * index + 1, STEP);

/** What the threads of a stage put into an account of many lanes. */
export const sumOfLanes = (accounts: Uint32Array, first: number): number =>
  accounts.subarray(first, first + LANES).reduce((sum, lane) => (sum + lane) >>> 0, 0);

/** The digest of an entry, or of a number and what it has. */
export const digestOf = (first: number, second: number): number =>
  mix(Math.imul(first, weight(0)) + Math.imul(second, weight(1)));

/** Words on top of a seal: one that differs anywhere gives another seal. */
export const absorb = (before: number, words: ArrayLike<number>, first = 0, end = words.length): number => {
  let value = before;
  for (let i = first; i < end; i++) value = mix(value ^ (words[i] as number));
  return value;
};

/** A kernel of a stage: with a config as its first binding, and in custody. */
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
