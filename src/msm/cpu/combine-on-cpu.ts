/** Combines window sums: the last step of Pippenger's algorithm (Pippenger 1976). */
import type { CurveContext } from '../../curves/curve.js';
import type { Affine } from '../../curves/jacobian.js';
import { nextTurn, type Steps } from '../../scheduling/time-slice.js';
import { WasmHorner } from '../../wasm/points/horner-kernel.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { agree, bigIntHorner, type Horner, pointOf, storedPoints } from '../stages/horner.js';
import { INFINITY, plus } from './buckets.js';
import type { WindowSums } from './share.js';

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

/** Combines the windows of all vectors side by side. */
function* combineSums(adder: PointAdder, shapes: readonly WindowShape[], sums: Uint32Array): Steps<readonly PointAt[]> {
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

/** Vectors whose windows are combined one after the other; more share the inversions of lists. */
const MOST_APART = 4;

const readPoint = (curve: CurveContext, adder: PointAdder, at: PointAt): Affine => {
  const numbers = adder.read(at);
  return numbers.every((number) => number === 0n) ? null : pointOf(curve, numbers);
};

/** Combines the windows of one vector after the other. Returns null if a sum is on no curve. */
function* combineApart(
  curve: CurveContext,
  horner: Horner,
  shapes: readonly WindowShape[],
  sums: readonly Affine[],
): Steps<readonly Affine[] | null> {
  const totals: Affine[] = [];
  let first = 0;
  for (const { windows, windowBits } of shapes) {
    const own = sums.slice(first, first + windows);
    if (horner.take(storedPoints(curve, own)) < windows) return null;
    for (let j = windows - 1; j >= 0; j--) {
      for (let bit = 0; bit < windowBits; bit++) horner.double();
      horner.add(j);
    }
    totals.push(pointOf(curve, horner.total()));
    first += windows;
    yield;
  }
  return totals;
}

/**
 * Returns Σ_j 2^(c·j)·W_j of each vector by Horner's rule.
 *
 * @param results window sums of all threads; windows are counted over all operands
 * @param horner arithmetic that is faster for few vectors; null: lists of additions alone
 */
export function* combineWindows(
  curve: CurveContext,
  adder: PointAdder,
  shapes: readonly WindowShape[],
  results: readonly WindowSums[],
  horner: Horner | null = null,
): Steps<readonly Affine[]> {
  adder.release();
  const windows = shapes.reduce((sum, shape) => sum + shape.windows, 0);
  const sums = yield* sumsOfThreads(adder, windows, results);
  const read = (at: PointAt): Affine => readPoint(curve, adder, at);
  if (horner !== null && shapes.length <= MOST_APART) {
    const totals = yield* combineApart(curve, horner, shapes, Array.from(sums, read));
    if (totals !== null) return totals;
  }
  return (yield* combineSums(adder, shapes, sums)).map(read);
}

/*
 * Horner's rule on the CPU, in Jacobian coordinates: a doubling takes a tenth of an affine one,
 * whose inversion only the additions of a list share.
 */

/**
 * Sums on a curve after which its module is generated, which takes 10 to 20 ms: more than a proof has, so
 * that the first proof does not wait for it (row `first-proof-horner-2e14`).
 */
export const SUMS_BEFORE = 10;

/** The module of a curve, once it is there, and the number of sums so far. */
interface Arithmetic {
  horner: Horner | null;
  sums: number;
}

/** By the constants of the curve. */
const known = new WeakMap<object, Arithmetic>();

const load = async (curve: CurveContext, arithmetic: Arithmetic): Promise<void> => {
  // the caller gets its sum first
  await nextTurn();
  try {
    const horner = await WasmHorner.open(curve);
    if (agree(curve, horner, bigIntHorner(curve))) arithmetic.horner = horner;
  } catch {
    // lists of affine additions stay
  }
};

/**
 * Counts a sum that Horner's rule makes faster. Returns the arithmetic; null as long as there is
 * none.
 */
export const hornerFor = (curve: CurveContext): Horner | null => {
  const own = known.get(curve.constants) ?? { horner: null, sums: 0 };
  known.set(curve.constants, own);
  if (++own.sums === SUMS_BEFORE) void load(curve, own);
  return own.horner;
};
