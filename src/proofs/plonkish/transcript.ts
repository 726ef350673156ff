/** The challenges of a proof: hashes of what was sent before (Fiat and Shamir 1986). */
import type { AffinePoint } from '../../api/values.js';
import { bytesOf } from '../scalars.js';
import { encodeCommitment } from './commitment.js';
import { keccak256 } from './keccak.js';

/**
 * Returns the challenge after some scalars and commitments: their hash modulo the order.
 *
 * @param parts scalars, and commitments as x‖y in big-endian bytes
 */
export const challengeOf = (order: bigint, ...parts: readonly (bigint | Uint8Array)[]): bigint => {
  const all = parts.map((part) => (typeof part === 'bigint' ? bytesOf(part).reverse() : part));
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
  }
  return keccak256(bytes) % order;
};

/** Returns the challenge after scalars, commitments and points. @param bytes of a coordinate */
export const challengeOfPoints = (
  order: bigint,
  bytes: number,
  parts: readonly (bigint | Uint8Array | AffinePoint)[],
): bigint =>
  challengeOf(
    order,
    ...parts.map((part) => (typeof part === 'object' && 'x' in part ? encodeCommitment(part, bytes) : part)),
  );
