/** Comparison of bytes, paged or not. */
import type { FfBytes } from './ffjavascript.js';

/** Bytes of paged points that are compared at a time. */
const PAGE_BYTES = 2 ** 22;

/**
 * Returns whether two arrays of one length are equal. Compares words of 32 bits where both are
 * aligned.
 */
const areSame = (left: Uint8Array, right: Uint8Array): boolean => {
  const words = (bytes: Uint8Array): Uint32Array | null =>
    bytes.byteOffset % 4 === 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : null;
  const [ours, theirs] = [words(left), words(right)];
  let at = 0;
  if (ours !== null && theirs !== null) {
    for (let i = 0; i < ours.length; i++) if (ours[i] !== theirs[i]) return false;
    at = 4 * ours.length;
  }
  for (; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
};

/**
 * Returns whether `held` begins with the given bytes. Compares all bytes, because a near-match
 * would produce a wrong proof. Other points mostly differ in the first words, so the comparison
 * ends early.
 */
export const beginsWith = (held: Uint8Array, given: FfBytes): boolean => {
  const { byteLength } = given;
  if (byteLength > held.length) return false;
  if (given instanceof Uint8Array) return areSame(held.subarray(0, byteLength), given);
  for (let from = 0; from < byteLength; from += PAGE_BYTES) {
    const to = Math.min(byteLength, from + PAGE_BYTES);
    const { buffer, byteOffset, byteLength: length } = given.slice(from, to);
    if (!areSame(held.subarray(from, to), new Uint8Array(buffer, byteOffset, length))) return false;
  }
  return true;
};
