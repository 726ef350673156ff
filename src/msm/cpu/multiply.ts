/**
 * MSMs on the CPU: in WebAssembly, on several threads if there is enough to do; on BigInts where
 * the platform has no WebAssembly.
 */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { toAffine } from '../../curves/jacobian.js';
import { type PointSource, readerOf } from '../../curves/point-source.js';
import { badArgument, NoWasmMemory } from '../../errors.js';
import { timeSlices } from '../../scheduling/turn-queue.js';
import { workersToStart } from '../plan/cost.js';
import type { SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import { withAdder } from './adder.js';
import { type FewSum, multiplyFew } from './few-points.js';
import { hornerFor } from './horner.js';
import type { CpuOutcome } from './outcome.js';
import { pippenger } from './pippenger.js';
import { SINGLE_THREAD, type Threads } from './threads.js';
import { baseIndex } from './vector-ranges.js';
import { WasmMsm } from './wasm-msm.js';

const NO_WEBASSEMBLY = "WebAssembly is missing or forbidden (CSP: 'wasm-unsafe-eval'), so BigInts compute";

/**
 * Multiplies vectors on the CPU.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param checkpoint called between time slices; ends the computation by throwing
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  threads: Threads = SINGLE_THREAD,
): Promise<CpuOutcome> => {
  const { arithmetic = 'auto', pool } = threads;
  const onBigInts = (why: string | null, lost: string | null = null): Promise<CpuOutcome> =>
    multiplyOnBigInts(curve, source, vectors, checkpoint, { threads, why, lost });
  if (source === null || arithmetic === 'bigint') return onBigInts(null);
  const computing = withAdder(
    curve,
    async (adder, kernel) => {
      const horner = arithmetic === 'auto' ? hornerFor(curve) : null;
      const few = horner && multiplyFew(curve, horner, source, vectors);
      if (few !== null) return outcomeOfFew(few);
      return new WasmMsm({ curve, source, adder, kernel, horner, threads }, checkpoint).multiply(vectors);
    },
    arithmetic === 'auto' ? undefined : [arithmetic],
  );
  let outcome: CpuOutcome | null;
  try {
    outcome = await computing;
  } catch (error) {
    if (!(error instanceof NoWasmMemory) || arithmetic !== 'auto') throw error;
    // the memories of idle workers are for the next sum
    if (pool?.isBusy === false) pool.destroy();
    return onBigInts(error.message, `${error.message}; BigInts computed`);
  }
  if (outcome !== null) return outcome;
  if (arithmetic !== 'auto') {
    throw badArgument(`tuning.cpuArithmetic is '${arithmetic}', which this platform does not have; leave it out`);
  }
  return onBigInts(NO_WEBASSEMBLY);
};

const outcomeOfFew = ({ sum, digits, entries }: FewSum): CpuOutcome => ({
  ...{ sums: [sum], windowBits: 1, windows: digits, entries, arithmetic: 'wasm' },
  ...{ workers: 0, noWorkers: null, chunk: 0, lost: null, waitedMs: 0 },
});

const multiplyOnBigInts = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  { threads, why, lost }: { readonly threads: Threads; readonly why: string | null; readonly lost: string | null },
): Promise<CpuOutcome> => {
  const timeSlice = timeSlices(checkpoint, threads.pause);
  const read = source === null ? () => null : readerOf(curve, source);
  let largest = { windowBits: 2, windows: 0, entries: 0 };
  let entries = 0;
  const sums: AffinePoint<Coordinate>[] = [];
  for (const vector of vectors) {
    const done = await pippenger(curve, (i) => read(baseIndex(vector, i)), vector.scalars, timeSlice);
    sums.push(publicPoint(curve, toAffine(curve, done.sum)));
    entries += done.entries;
    if (done.entries > largest.entries) largest = done;
  }
  const { windowBits, windows } = largest;
  const { waitedMs } = timeSlice;
  const wantsWorkers = threads.workers > 0 && workersToStart(curve, entries) >= 1;
  const withoutWorkers = { workers: 0, noWorkers: wantsWorkers ? why : null, chunk: 0, lost };
  return { sums, windowBits, windows, entries, arithmetic: 'bigint', ...withoutWorkers, waitedMs };
};
