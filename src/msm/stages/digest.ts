import template from '../../../wgsl/msm/digest.wgsl?template';
import { digestOf, stageKernel, weight } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';

/** Config of the kernel that hashes the items of a buffer to one word. */
export const DigestConfig = struct('DigestConfig', {
  items: 'number of items',
  item_words: 'words of each item',
  account: 'account of the digest, in lanes',
});

export const DIGEST_THREADS = 64;

/** Returns the digest that the kernel computes of the same words, for comparison. */
export const digestOfItems = (words: Uint32Array, itemWords: number): number => {
  const weights = Int32Array.from({ length: itemWords }, (_, w) => weight(w));
  let digest = 0;
  for (let i = 0, at = 0; at < words.length; i++) {
    let sum = 0;
    for (let w = 0; w < itemWords; w++) sum = (sum + Math.imul(words[at++] as number, weights[w] as number)) | 0;
    digest = (digest + digestOf(i, sum)) | 0;
  }
  return digest >>> 0;
};

export const digestKernel = (): Kernel =>
  stageKernel('digest', template, DigestConfig, [{ name: 'words', access: 'read', type: 'array<u32>' }], {
    threads: DIGEST_THREADS,
  });
