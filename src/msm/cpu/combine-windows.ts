/** Combines window sums: the last step of Pippenger's algorithm (Pippenger 1976). */
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { INFINITY, plus } from './bucket-sums.js';
import type { WindowSums } from './share.js';
import type { Steps } from './steps.js';

/** Windows of a scalar: their number, and their width c in bits. */
export interface WindowShape {
  readonly windowBits: number;
  readonly windows: number;
}

/** Adds up the sums that several threads have of the same windows. */
function* sumsOfThreads(adder: PointAdder, windows: number, results: readonly WindowSums[]): Steps<Uint32Array> {
  const sums = new Uint32Array(windows).fill(INFINITY);
  for (const result of results) {
    const start = adder.copyIn(result.points);
    for (const [i, window] of result.windows.entries()) {
      sums[window] = plus(adder, sums[window] as number, start + i * adder.pointBytes);
    }
    adder.flush();
    yield;
  }
  return sums;
}

/** Running total of one vector. */
interface Total extends WindowShape {
  /** Index of its first window among the windows of all operands. */
  readonly first: number;
  /** Address that its sums are written to. */
  readonly at: PointAt;
  total: PointAt;
}

const addTo = (adder: PointAdder, total: Total, point: PointAt): void => {
  if (point === INFINITY) return;
  adder.add(total.at, total.total, point);
  total.total = total.at;
};

/**
 * Returns Σ_j 2^(c·j)·W_j of each vector by Horner's rule, all vectors side by side.
 *
 * @param results window sums of all threads; windows are counted over all operands
 */
export function* combineWindows(
  adder: PointAdder,
  shapes: readonly WindowShape[],
  results: readonly WindowSums[],
): Steps<readonly PointAt[]> {
  adder.release();
  const windows = shapes.reduce((sum, shape) => sum + shape.windows, 0);
  const sums = yield* sumsOfThreads(adder, windows, results);
  let next = 0;
  const totals = shapes.map((shape): Total => {
    const first = next;
    next += shape.windows;
    return { ...shape, first, at: adder.take(1), total: INFINITY };
  });
  const mostWindows = totals.reduce((most, total) => Math.max(most, total.windows), 0);
  const widest = totals.reduce((most, total) => Math.max(most, total.windowBits), 0);
  for (let j = mostWindows - 1; j >= 0; j--) {
    const open = totals.filter((total) => j < total.windows);
    for (let bit = 0; bit < widest; bit++) {
      for (const total of open) if (bit < total.windowBits) addTo(adder, total, total.total);
      adder.flush();
    }
    for (const total of open) addTo(adder, total, sums[total.first + j] as number);
    adder.flush();
    yield;
  }
  return totals.map(({ total }) => total);
}
