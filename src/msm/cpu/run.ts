/** An MSM on the CPU, and what is told of it. */
import type { AdapterDescription } from '../../api/device.js';
import type { RunRecord } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import type { PointSource } from '../../curves/point-source.js';
import type { Call } from '../../engine/input.js';
import type { CallClock } from '../../session/clock.js';
import type { DeviceProfile } from '../plan/device-defaults.js';
import type { SurveyedVector } from '../plan/survey.js';
import { type Knobs, resolveTuning } from '../plan/tuning.js';
import { cpuShape } from '../plan/work.js';
import { fullWorkload } from '../plan/workload.js';
import { multiplyOnCpu } from './multiply.js';
import type { CpuThreads } from './threads.js';

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

/** What came of it. */
export interface CpuRun {
  readonly sums: AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Without waiting for other sums. */
  readonly ms: number;
}

const additionsOf = (vectors: readonly SurveyedVector[]): number =>
  vectors.reduce((sum, { load }) => sum + (load.n === 0 ? 0 : cpuShape(load).digits), 0);

/**
 * An MSM when it is its turn.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param n scalars that were given, of all vectors
 * @param goOn called now and then; what it throws ends the call
 */
export const runOnCpu = async (
  { curve, limits, tuning, adapter, threads, allowed }: CpuRunContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  n: number,
  { onProgress, turn }: Pick<Call, 'onProgress' | 'turn'>,
  clock: CallClock,
  checkpoint: () => void,
): Promise<CpuRun> =>
  threads.line.inTurn({ ...turn, additions: additionsOf(vectors) }, async (pause) => {
    checkpoint();
    onProgress?.({ phase: 'msm', done: 0, total: 1 });
    const computing = performance.now();
    const done = await multiplyOnCpu(curve, source, vectors, checkpoint, { ...threads.of(tuning), allowed, pause });
    const { sums, windowBits, windows, entries, arithmetic, workers, noWorkers, lost, chunk } = done;
    if (noWorkers !== null) threads.warn(noWorkers);
    const ms = performance.now() - computing - done.waitedMs;
    onProgress?.({ phase: 'msm', done: 1, total: 1 });
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
      submits: 0,
      wallMs: clock.read().wallMs,
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
