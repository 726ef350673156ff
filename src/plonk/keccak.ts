/** Keccak-256 (Bertoni et al., "The Keccak reference", 2011): rate 136 bytes, padding 0x01. */

const ROUNDS = 24;

/** Bytes of the state that a block is added to. */
const RATE = 136;

const MASK = (1n << 64n) - 1n;

/** Offsets of the rotations of lane x + 5y. */
const rotations = /* @__PURE__ */ (() => {
  const all = new Array<bigint>(25).fill(0n);
  for (let t = 0, x = 1, y = 0; t < ROUNDS; t++) {
    all[x + 5 * y] = BigInt((((t + 1) * (t + 2)) / 2) % 64);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return all;
})();

/** Constants of the rounds, by a linear feedback shift register. */
const roundConstants = /* @__PURE__ */ (() => {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if (register & 1) constant |= 1n << BigInt(2 ** j - 1);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
    return constant;
  });
})();

const rotate = (lane: bigint, by: bigint): bigint => ((lane << by) | (lane >> (64n - by))) & MASK;

const at = (state: readonly bigint[], x: number, y: number): bigint => state[(x % 5) + 5 * (y % 5)] as bigint;

/** The permutation Keccak-f[1600]. */
const permuted = (given: readonly bigint[]): bigint[] => {
  let state = [...given];
  for (const constant of roundConstants) {
    const columns = [0, 1, 2, 3, 4].map((x) => [0, 1, 2, 3, 4].reduce((sum, y) => sum ^ at(state, x, y), 0n));
    const mixed = state.map(
      (lane, i) => lane ^ (columns[((i % 5) + 4) % 5] as bigint) ^ rotate(columns[((i % 5) + 1) % 5] as bigint, 1n),
    );
    const moved = new Array<bigint>(25);
    for (let y = 0; y < 5; y++)
      for (let x = 0; x < 5; x++)
        moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(at(mixed, x, y), rotations[x + 5 * y] as bigint);
    state = moved.map((lane, i) => {
      const [x, y] = [i % 5, Math.floor(i / 5)];
      return lane ^ (~at(moved, x + 1, y) & MASK & at(moved, x + 2, y));
    });
    state[0] = (state[0] as bigint) ^ constant;
  }
  return state;
};

/** Returns the hash of some bytes, as a big-endian number. */
export const keccak256 = (bytes: Uint8Array): bigint => {
  const padded = new Uint8Array(RATE * (Math.floor(bytes.length / RATE) + 1));
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80;
  const words = new DataView(padded.buffer);
  let state = new Array<bigint>(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE) {
    state = permuted(state.map((lane, i) => (8 * i < RATE ? lane ^ words.getBigUint64(block + 8 * i, true) : lane)));
  }
  const hash = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 4; i++) hash.setBigUint64(8 * i, state[i] as bigint, true);
  return [0, 8, 16, 24].reduce((sum, i) => (sum << 64n) + hash.getBigUint64(i), 0n);
};
