/** Writes a number as `count` little-endian words of 64 bits at index `at`. */
export const writeNumber = (target: BigUint64Array, at: number, count: number, value: bigint): void => {
  let rest = value;
  for (let i = 0; i < count; i++) {
    // the array takes numbers modulo 2^64
    target[at + i] = rest;
    rest >>= 64n;
  }
};
