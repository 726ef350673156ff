import { ABSENT } from '../stages/entry.js';
import type { ReduceShape } from '../stages/reduce.js';

/** One run for each key, filled up to `run` entries with absent ones. */
const lay = (runs: readonly number[][], run: number): Uint32Array =>
  Uint32Array.from(
    runs.flatMap((members, key) => Array.from({ length: run }, (_, i) => [key, members[i] ?? ABSENT]).flat()),
  );

/** The CPU twin of wgsl/reduce.wgsl, from the definitions of the sums rather than from index arithmetic. */
export const reduce = (windows: number, shape: ReduceShape): { split: Uint32Array; bits: Uint32Array } => {
  const [high, low] = [2 ** shape.highBits, 2 ** shape.lowBits];
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const split: number[][] = [];
  const bits: number[][] = [];
  for (let j = 0; j < windows; j++) {
    const buckets = numbers(high * low);
    const name = (bucket: number): number => j * high * low + bucket;
    for (const v of numbers(high)) split.push(buckets.filter((k) => Math.floor(k / low) === v).map(name));
    for (const u of numbers(low)) split.push(buckets.filter((k) => k % low === u).map(name));
    const first = j * (high + low);
    const set = (count: number, bit: number): number[] => numbers(count).filter((value) => (value >> bit) & 1);
    for (const bit of numbers(shape.highBits)) bits.push(set(high, bit).map((v) => first + v));
    for (const bit of numbers(shape.lowBits)) bits.push(set(low, bit).map((u) => first + high + u));
    bits.push(numbers(low).map((u) => first + high + u));
  }
  return { split: lay(split, high), bits: lay(bits, shape.bitsRun) };
};
