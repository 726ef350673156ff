/** The challenges of a proof: hashes of what was sent before (Fiat and Shamir 1986). */
import type { AffinePoint } from '../../api/values.js';
import { joined } from '../../formats/source.js';
import { bytesOf, numberOf } from '../witness.js';

/**
 * Returns the challenge after some scalars and commitments: their hash modulo the order.
 *
 * @param parts scalars, and commitments as x‖y in big-endian bytes
 */
export const challengeOf = (order: bigint, ...parts: readonly (bigint | Uint8Array)[]): bigint => {
  const all = parts.map((part) => (typeof part === 'bigint' ? bytesOf(part).reverse() : part));
  return keccak256(joined(all)) % order;
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

/* Commitments as transcripts hash them: x‖y in big-endian bytes; zeros are infinity. */

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

/**
 * Keccak-256 (Bertoni et al., "The Keccak reference", 2011): rate 136 bytes, padding 0x01. Lanes
 * are pairs of 32-bit words, the low one first: rounds of BigInts take ten times as long.
 */

const ROUNDS = 24;

/** Bytes of the state that a block is added to. */
const RATE = 136;

/** Lanes of the state. */
const LANES = 25;

/** Offsets of the rotations of lane x + 5y. */
const rotations = /* @__PURE__ */ (() => {
  const all = new Uint8Array(LANES);
  for (let t = 0, x = 1, y = 0; t < ROUNDS; t++) {
    all[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return all;
})();

/** Constants of the rounds, by a linear feedback shift register. */
const roundConstants = /* @__PURE__ */ (() => {
  let register = 1;
  const words = new Uint32Array(2 * ROUNDS);
  for (let round = 0; round < ROUNDS; round++) {
    for (let j = 0; j < 7; j++) {
      const bit = 2 ** j - 1;
      const at = 2 * round + (bit >> 5);
      if (register & 1) words[at] = (words[at] as number) | (1 << (bit & 31));
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
  }
  return words;
})();

/** Writes lane `i` of `from`, rotated to the left, as lane `k`. */
const rotateInto = (to: Uint32Array, k: number, from: Uint32Array, i: number, by: number): void => {
  const isSwapped = by >= 32 ? 1 : 0;
  const low = from[2 * i + isSwapped] as number;
  const high = from[2 * i + 1 - isSwapped] as number;
  const bits = by & 31;
  // a shift by 32 is one by 0
  to[2 * k] = bits === 0 ? low : (low << bits) | (high >>> (32 - bits));
  to[2 * k + 1] = bits === 0 ? high : (high << bits) | (low >>> (32 - bits));
};

/** Applies the permutation Keccak-f[1600]. */
const permute = (state: Uint32Array): void => {
  const columns = new Uint32Array(10);
  const turned = new Uint32Array(10);
  const moved = new Uint32Array(2 * LANES);
  const word = (words: Uint32Array, i: number): number => words[i] as number;
  for (let round = 0; round < ROUNDS; round++) {
    columns.fill(0);
    for (let i = 0; i < 2 * LANES; i++) columns[i % 10] = word(columns, i % 10) ^ word(state, i);
    for (let x = 0; x < 5; x++) rotateInto(turned, x, columns, x, 1);
    for (let i = 0; i < 2 * LANES; i++) {
      state[i] = word(state, i) ^ word(columns, (i + 8) % 10) ^ word(turned, (i + 2) % 10);
    }
    for (let y = 0; y < 5; y++)
      for (let x = 0; x < 5; x++)
        rotateInto(moved, y + 5 * ((2 * x + 3 * y) % 5), state, x + 5 * y, rotations[x + 5 * y] as number);
    for (let i = 0; i < 2 * LANES; i++) {
      const row = i - (i % 10);
      state[i] = word(moved, i) ^ (~word(moved, row + ((i + 2) % 10)) & word(moved, row + ((i + 4) % 10)));
    }
    state[0] = word(state, 0) ^ word(roundConstants, 2 * round);
    state[1] = word(state, 1) ^ word(roundConstants, 2 * round + 1);
  }
};

/** Returns the hash of some bytes, as a big-endian number. */
export const keccak256 = (bytes: Uint8Array): bigint => {
  const padded = new Uint8Array(RATE * (Math.floor(bytes.length / RATE) + 1));
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80;
  const words = new DataView(padded.buffer);
  const state = new Uint32Array(2 * LANES);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let i = 0; 4 * i < RATE; i++) state[i] = (state[i] as number) ^ words.getUint32(block + 4 * i, true);
    permute(state);
  }
  const hash = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) hash.setUint32(4 * i, state[i] as number, true);
  return [0, 8, 16, 24].reduce((sum, i) => (sum << 64n) + hash.getBigUint64(i), 0n);
};
