/** An MSM on the CPU, and what is told of it. */
import type { AdapterDescription, AffinePoint, Coordinate, RunRecord } from '../api.js';
import { multiplyOnCpu } from '../cpu/multiply.js';
import type { CpuThreads } from '../cpu/threads.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';
import type { DeviceProfile } from '../plan/device-defaults.js';
import type { SurveyedVector } from '../plan/survey.js';
import { type Knobs, resolveTuning } from '../plan/tuning.js';
import { fullWorkload } from '../plan/workload.js';
import type { HostClock } from './clock.js';
import type { CallOptions } from './input.js';

/** What knobs would be, and what is told of where it ran. */
export interface CpuRunContext {
  readonly curve: CurveContext;
  readonly limits: DeviceProfile;
  readonly tuning: Knobs;
  readonly adapter: AdapterDescription;
  readonly threads: CpuThreads;
  /** How many workers may be at work; asked now and then. */
  readonly allowed?: (() => number) | undefined;
}

/**
 * @param source all bases; null only if no vector has any scalars
 * @param n scalars that were given, of all vectors
 * @param goOn called now and then; what it throws ends the call
 */
export const runOnCpu = async (
  { curve, limits, tuning, adapter, threads, allowed }: CpuRunContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  n: number,
  { onProgress }: Pick<CallOptions, 'onProgress'>,
  clock: HostClock,
  goOn: () => void,
): Promise<{ readonly sums: AffinePoint<Coordinate>[]; readonly record: RunRecord }> => {
  goOn();
  onProgress?.({ phase: 'msm', done: 0, total: 1 });
  const computing = performance.now();
  const { sums, windowBits, windows, entries, arithmetic, workers, lost, chunk } = await multiplyOnCpu(
    curve,
    source,
    vectors,
    goOn,
    { ...threads.of(tuning), allowed },
  );
  const ms = performance.now() - computing;
  onProgress?.({ phase: 'msm', done: 1, total: 1 });
  goOn();
  const record: RunRecord = {
    on: 'cpu',
    gpuShare: 0,
    arithmetic,
    workers,
    n,
    vectors: vectors.length,
    windowBits,
    windows,
    tasks: 0,
    entries,
    dispatches: 0,
    submits: 0,
    wallMs: clock.read().wallMs,
    walls: null,
    retried: lost,
    fallback: null,
    verified: true,
    phases: [{ name: 'msm (CPU)', ms }],
    timeline: null,
    tuning: { ...resolveTuning(fullWorkload(n, curve), curve, limits, tuning), windowBits, cpuChunk: chunk },
    adapter,
    predicted: null,
  };
  return { sums, record };
};
