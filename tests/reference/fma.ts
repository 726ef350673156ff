/** CPU reference of a float multiply-add on integers, in every way that WGSL allows. */

/** Returns a neighbour among floats of 24 bits: below, above, or the nearest with ties to even. */
const rounded = (value: bigint, way: 'down' | 'up' | 'nearest'): bigint => {
  const bits = BigInt(Math.max(0, value.toString(2).length - 24));
  const below = (value >> bits) << bits;
  const rest = value - below;
  if (rest === 0n) return value;
  const half = (1n << bits) / 2n;
  const isOdd = ((below >> bits) & 1n) === 1n;
  const isUp = way === 'up' || (way === 'nearest' && (rest > half || (rest === half && isOdd)));
  return isUp ? below + (1n << bits) : below;
};

/**
 * Ways to compute a·b + c: WGSL allows a fused and a separate multiplication, and roundings to
 * either neighbour. `wild` is wrong by as much as the bounds of the product permit.
 */
export const fmas = {
  fused: (a, b, c) => rounded(a * b + c, 'nearest'),
  separate: (a, b, c) => rounded(rounded(a * b, 'nearest') + c, 'nearest'),
  up: (a, b, c) => rounded(rounded(a * b, 'up') + c, 'up'),
  down: (a, b, c) => rounded(rounded(a * b, 'down') + c, 'down'),
  wild: (a, b, c) => {
    const unit = 2n ** 25n;
    const near = (a * b) / unit;
    const all = [near - 1n, near, near + 1n, near + 2n].filter((high) => {
      const low = a * b - high * unit;
      return high >= 0n && 2n * low < 3n * unit && 2n * low > -3n * unit;
    });
    return c + unit * (all[Number((a ^ b) % BigInt(all.length))] as bigint);
  },
} as const satisfies Record<string, (a: bigint, b: bigint, c: bigint) => bigint>;
export type Fma = keyof typeof fmas;

/** Returns the bits of an integer that is a float. @throws RangeError if it is none */
export const floatBits = (value: bigint): bigint => {
  const [bits = 0] = new Uint32Array(Float32Array.of(Number(value)).buffer);
  if (BigInt(Math.fround(Number(value))) !== value) throw new RangeError(`${value} is no float`);
  return BigInt(bits);
};
