import type { ReduceShape } from '../../src/msm/stages/reduce.js';

/** Cuts runs into runs of `length`. */
const cut = (runs: readonly number[][], length: number): number[][] =>
  runs.flatMap((run) => Array.from({ length: run.length / length }, (_, i) => run.slice(i * length, (i + 1) * length)));

/** Lays runs out contiguously, with their numbers as keys. */
const lay = (runs: readonly number[][]): Uint32Array =>
  Uint32Array.from(runs.flatMap((members, key) => members.flatMap((member) => [key, member])));

/**
 * CPU reference of wgsl/msm/reduce.wgsl, by the definitions of the sums instead of index
 * arithmetic.
 */
export const reduce = (
  windows: number,
  shape: ReduceShape,
): { split: Uint32Array; bits: Uint32Array; fold: Uint32Array } => {
  const [high, low] = [2 ** shape.highBits, 2 ** shape.lowBits];
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const split: number[][] = [];
  const bits: number[][] = [];
  for (let j = 0; j < windows; j++) {
    // every bucket goes to two runs: the one of its v, and the one of its u, which has a part for
    // every 2^q values of v
    const [byHigh, byLow] = [numbers(high).map((): number[] => []), numbers(high).map((): number[] => [])];
    for (const k of numbers(high * low)) {
      const name = j * high * low + k;
      const [v, u] = [Math.floor(k / low), k % low];
      byHigh[v]?.push(name);
      byLow[Math.floor(v / low) * low + u]?.push(name);
    }
    split.push(...byHigh, ...byLow);
    const first = j * 2 * high;
    const set = (bit: number): number[] => numbers(high).filter((value) => (value >> bit) & 1);
    for (const bit of numbers(shape.highBits)) bits.push(set(bit).map((v) => first + v));
    for (const bit of numbers(shape.lowBits)) bits.push(set(bit).map((part) => first + high + part));
    bits.push(numbers(high / 2).map((v) => first + v));
  }
  const folded = numbers(shape.foldEntries / 2 ** shape.foldBits).map((sum) =>
    numbers(2 ** shape.foldBits).map((i) => sum * 2 ** shape.foldBits + i),
  );
  return {
    split: lay(cut(split, 2 ** shape.splitRunBits)),
    bits: lay(cut(bits, 2 ** shape.bitsRunBits)),
    fold: lay(folded),
  };
};
