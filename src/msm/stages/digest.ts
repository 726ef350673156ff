import template from '../../../wgsl/msm/digest.wgsl?template';
import { digestOf, stageKernel, weightedSum } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';

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
