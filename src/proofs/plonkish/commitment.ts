/** Commitments as transcripts hash them: x‖y in big-endian bytes; zeros are infinity. */
import type { AffinePoint } from '../../api/values.js';
import { numberOf } from '../scalars.js';

/** @param bytes of a coordinate */
export const encodeCommitment = ({ x, y, infinity }: AffinePoint, bytes: number): Uint8Array => {
  const encoded = new Uint8Array(2 * bytes);
  // whatever coordinates JSON has for it
  if (infinity) return encoded;
  for (const [i, coordinate] of [x, y].entries()) {
    let rest = coordinate;
    for (let k = bytes - 1; k >= 0; k--, rest >>= 8n) encoded[i * bytes + k] = Number(rest & 255n);
  }
  return encoded;
};

export const decodeCommitment = (commitment: Uint8Array): AffinePoint => {
  const half = commitment.length / 2;
  const coordinate = (from: number): bigint => numberOf(commitment.slice(from, from + half).reverse());
  const [x, y] = [coordinate(0), coordinate(half)];
  return { x, y, infinity: x === 0n && y === 0n };
};
