/** Formats that the stages share: entries of streams, levels of walks, digests. */

import template from '../../../wgsl/msm/digest.wgsl?template';
import { absorb, digestOf, stageKernel, weightedSum } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';

/** One element of a stream, an instruction: add the point of `point_ref` to the sum of `key`. */
export const Entry = struct('Entry', {
  key: 'the bucket that the point goes to',
  point_ref: 'bits 0 to 30: index of the point; bit 31: take its negative; ABSENT: no point here, only the key',
});

/**
 * Point reference to no point. It is not 0, because fresh buffers are zero and 0 is a valid index.
 */
export const ABSENT = 0xffffffff;
/** Flag of a point reference: the negative of the point. */
export const NEGATE = 0x80000000;
export const INDEX_MASK = 0x7fffffff;
export const ENTRY_WORDS = Entry.fields.length;

/** WGSL of entries, which templates include as `{{entry}}`. */
export const entryWgsl = [
  Entry.wgsl,
  `const ABSENT = ${ABSENT}u;`,
  `const NEGATE = ${NEGATE}u;`,
  `const INDEX_MASK = ${INDEX_MASK}u;`,
].join('\n');

/**
 * Shape of one walk over one stream: entries, tasks and threads. Partition writes it on the GPU,
 * because the number of nonzero digits is known only there. A walk is dispatched for the most
 * threads that it may have: Dawn takes 0.13 ms of the host to check an indirect dispatch.
 */
export const Level = struct('Level', {
  entries: 'E, the length of the stream',
  tasks: 'N; task t owns the entries from t·quotient + min(t, remainder) up to where task t + 1 begins',
  quotient: '⌊E / N⌋',
  remainder: 'E mod N',
  threads: 'thread i takes the tasks i, i + threads, i + 2·threads, …, one for each of its slots',
  digest: 'digest of the fields above',
});

const digested = Level.fields.filter((field) => field !== 'digest');

/** Packs a level with its digest, without which a walk does nothing. */
export const packLevel = (values: Omit<ReturnType<typeof Level.unpack>, 'digest'>): Uint32Array<ArrayBuffer> =>
  Level.pack({
    ...values,
    digest: absorb(
      0,
      digested.map((field) => values[field as keyof typeof values]),
    ),
  });

/** WGSL of levels, which templates in the dispatch chain include as `{{level}}`. */
export const levelWgsl = [
  Level.wgsl,
  'fn level_digest(level: Level) -> u32 {',
  '  var digest = 0u;',
  ...digested.map((field) => `  digest = absorb(digest, level.${field});`),
  '  return digest;',
  '}',
].join('\n');

/** Config of the kernel that hashes the items of a buffer to one word. */
export const DigestConfig = struct('DigestConfig', {
  items: 'number of items',
  item_words: 'words of each item',
  account: 'account of the digest, in lanes',
});

export const DIGEST_THREADS = 64;

/**
 * Returns the digest that the kernel computes of the same words, for comparison.
 *
 * @param first index of the first of the items; digests of consecutive items add up, modulo 2^32
 */
export const digestOfItems = (words: Uint32Array, itemWords: number, first = 0): number => {
  let digest = 0;
  for (let i = first, at = 0; at < words.length; i++, at += itemWords) {
    digest = (digest + digestOf(i, weightedSum(words, at, itemWords))) | 0;
  }
  return digest >>> 0;
};

export const digestKernel = (): Kernel =>
  stageKernel('digest', template, DigestConfig, [{ name: 'words', access: 'read', type: 'array<u32>' }], {
    threads: DIGEST_THREADS,
  });
