/** Runs an MSM on the CPU and writes its record. */
import type { AdapterDescription } from '../../api/device.js';
import type { RunRecord } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import type { PointSource } from '../../curves/point-source.js';
import { ticketOf } from '../../scheduling/ticket.js';
import type { CallContext } from '../../session/call-context.js';
import { cpuShape } from '../plan/cost.js';
import { type DeviceProfile, type Knobs, resolveTuning } from '../plan/tuning.js';
import { fullWorkload, type SurveyedVector } from '../plan/workload.js';
import { multiplyOnCpu } from './multiply.js';
import type { CpuThreads } from './threads.js';

/** Engine side of a run: threads, and values for its record. */
export interface CpuRunContext {
  readonly curve: CurveContext;
  readonly limits: DeviceProfile;
  readonly tuning: Knobs;
  readonly adapter: AdapterDescription;
  readonly threads: CpuThreads;
  /** Returns how many workers may compute at the moment; if absent, all. */
  readonly allowed?: (() => number) | undefined;
}

export interface CpuRun {
  readonly sums: AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Duration without the time in which other sums went first. */
  readonly ms: number;
}

const additionsOf = (vectors: readonly SurveyedVector[]): number =>
  vectors.reduce((sum, { load }) => sum + (load.n === 0 ? 0 : cpuShape(load).digits), 0);

/**
 * Computes an MSM when it is its turn.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param n scalars that were given, of all vectors
 */
export const runOnCpu = async (
  { curve, limits, tuning, adapter, threads, allowed }: CpuRunContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  n: number,
  call: CallContext,
): Promise<CpuRun> => {
  const ticket = { ...ticketOf(call.ticket), size: additionsOf(vectors) };
  const checkpoint = (): void => call.checkpoint();
  return threads.queue.inTurn(ticket, async (pause) => {
    checkpoint();
    call.progress('msm', 0, 1);
    const computing = performance.now();
    const done = await multiplyOnCpu(curve, source, vectors, checkpoint, { ...threads.of(tuning), allowed, pause });
    const { sums, windowBits, windows, entries, arithmetic, workers, noWorkers, lost, chunk } = done;
    if (noWorkers !== null) threads.warn(noWorkers);
    const ms = performance.now() - computing - done.waitedMs;
    call.progress('msm', 1, 1);
    checkpoint();
    const record: RunRecord = {
      on: 'cpu',
      gpuShare: 0,
      arithmetic,
      workers,
      noWorkers,
      n,
      vectors: vectors.length,
      windowBits,
      windows,
      tasks: 0,
      entries,
      dispatches: 0,
      uploadedBytes: 0,
      submits: 0,
      wallMs: call.clock.read().wallMs,
      hostTimes: null,
      retried: lost,
      fallback: null,
      verified: true,
      phases: [{ name: 'msm (CPU)', ms }],
      timeline: null,
      tuning: { ...resolveTuning(fullWorkload(n, curve), curve, limits, tuning), windowBits, cpuChunk: chunk },
      adapter,
      predicted: null,
    };
    return { sums, record, ms };
  });
};
