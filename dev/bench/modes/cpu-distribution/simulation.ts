/**
 * Simulates the threads of machines with more cores: chunks take what they took on one thread, and
 * threads take them as each way distributes them. Deterministic, given the costs.
 */
import type { CurveContext } from '../../../../src/curves/curve.js';
import { withAdder } from '../../../../src/msm/cpu/adder.js';
import { digitsOfScalars, type Operands } from '../../../../src/msm/cpu/buckets.js';
import { type Cutting, cutRows } from '../../../../src/msm/cpu/cpu-threads.js';
import { rowsOf, Share } from '../../../../src/msm/cpu/share.js';
import { finish } from '../../../../src/scheduling/time-slice.js';
import type { MsmCase } from '../../../cases/msm-case.js';
import { SLOWED_TIMES } from '../../threads/slow-down.js';

/** Threads of simulated machines. */
export const SIMULATED = [7, 15, 32];

/** Passes of which each chunk's shortest time counts: longer ones were interrupted. */
const PASSES = 3;

/** Returns the milliseconds of each chunk on one thread. @param cuts as `cutRows` returns them */
export type CostsOf = (cuts: readonly number[]) => readonly number[];

/** Times chunks of the rows of a case on the own thread; no items without WebAssembly. */
export const measureCosts = async <Item>(
  curve: CurveContext,
  { points, scalars }: MsmCase,
  windowBits: number,
  use: (costsOf: CostsOf, rows: number) => Item[],
): Promise<Item[]> => {
  const items = await withAdder(curve, async (adder) => {
    const digits = digitsOfScalars(curve, scalars.bytes, curve.signedBits, windowBits);
    const operands: Operands = { points: new Uint32Array(points.bytes.slice().buffer), scale: 1n, digits };
    const rows = rowsOf(operands);
    const known = new Map<string, readonly number[]>();
    const measure = (cuts: readonly number[]): number[] => {
      const share = new Share(adder, [operands]);
      // the first rows also copy the points
      finish(share.add(0, 1));
      return cuts.slice(1).map((_, chunk) => {
        const begun = performance.now();
        finish(share.addChunk(cuts, chunk));
        return performance.now() - begun;
      });
    };
    const least = (cuts: readonly number[]): readonly number[] => {
      const [first = [], ...others] = Array.from({ length: PASSES }, () => measure(cuts));
      return first.map((ms, chunk) => Math.min(ms, ...others.map((pass) => pass[chunk] as number)));
    };
    // compilers optimise what ran
    measure(Array.from({ length: rows + 1 }, (_, row) => row));
    const costsOf: CostsOf = (cuts) => {
      const costs = known.get(cuts.join()) ?? least(cuts);
      known.set(cuts.join(), costs);
      return costs;
    };
    return use(costsOf, rows);
  });
  return items ?? [];
};

/**
 * Returns the milliseconds until all threads are done.
 *
 * @param isOneSlowed whether the second thread takes a multiple of the time
 */
export function simulatedMs(
  costsOf: CostsOf,
  rows: number,
  threads: number,
  cutting: Cutting,
  isOneSlowed = false,
): number {
  const costs = costsOf(cutRows(rows, threads - 1, cutting));
  const free = Array.from({ length: threads }, () => 0);
  for (const [chunk, ms] of costs.entries()) {
    // a thread that is done first draws the next chunk
    const next = cutting.distribution === 'static' ? chunk % threads : free.indexOf(Math.min(...free));
    free[next] = (free[next] as number) + ms * (isOneSlowed && next === 1 ? SLOWED_TIMES : 1);
  }
  return Math.max(...free);
}
