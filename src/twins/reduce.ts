import { ABSENT } from '../stages/entry.js';
import type { ReduceShape } from '../stages/reduce.js';

/** One run for each key, filled up to `run` entries with absent ones. */
const lay = (runs: readonly number[][], run: number): Uint32Array => {
  const stream = new Uint32Array(2 * run * runs.length);
  runs.forEach((members, key) => {
    for (let i = 0; i < run; i++) stream.set([key, members[i] ?? ABSENT], 2 * (key * run + i));
  });
  return stream;
};

/** The CPU twin of wgsl/reduce.wgsl, from the definitions of the sums rather than from index arithmetic. */
export const reduce = (windows: number, shape: ReduceShape): { split: Uint32Array; bits: Uint32Array } => {
  const [high, low] = [2 ** shape.highBits, 2 ** shape.lowBits];
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const split: number[][] = [];
  const bits: number[][] = [];
  for (let j = 0; j < windows; j++) {
    // every bucket goes to two runs: that of its v, and that of its u
    const [byHigh, byLow] = [numbers(high).map((): number[] => []), numbers(low).map((): number[] => [])];
    for (const k of numbers(high * low)) {
      const name = j * high * low + k;
      byHigh[Math.floor(k / low)]?.push(name);
      byLow[k % low]?.push(name);
    }
    split.push(...byHigh, ...byLow);
    const first = j * (high + low);
    const set = (count: number, bit: number): number[] => numbers(count).filter((value) => (value >> bit) & 1);
    for (const bit of numbers(shape.highBits)) bits.push(set(high, bit).map((v) => first + v));
    for (const bit of numbers(shape.lowBits)) bits.push(set(low, bit).map((u) => first + high + u));
    bits.push(numbers(low).map((u) => first + high + u));
  }
  return { split: lay(split, high), bits: lay(bits, shape.bitsRun) };
};
