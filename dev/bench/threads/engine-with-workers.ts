/** Times calls on the CPU with checked answers and all workers running. */
import type { CpuRun } from '../../../src/api/run-record.js';
import type { CurveContext } from '../../../src/curves/curve.js';
import { rowsOf } from '../../../src/msm/cpu/share.js';
import { workersToWake } from '../../../src/msm/plan/cost.js';
import type { MsmCase } from '../../cases/msm-case.js';
import type { EngineUnderTest } from '../engine-under-test.js';
import { wrongResult } from '../measure.js';

/** Calls within which a machine starts its workers, or never does. */
const MOST_CALLS = 20;

/** Milliseconds after which an engine may have ended idle workers. */
const IDLE_MS = 8000;

/**
 * Returns the workers worth using for a call like a recorded one: at most one per chunk that the
 * own thread leaves.
 */
export function worthwhileWorkers(
  curve: CurveContext,
  { entries, windows, windowBits, chunkRows }: Pick<CpuRun, 'entries' | 'windows' | 'windowBits' | 'chunkRows'>,
  most: number,
): number {
  const worth = Math.min(most, workersToWake(curve, entries, true));
  if (chunkRows === 0) return worth;
  return Math.min(worth, Math.ceil(rowsOf({ digits: { windows, windowBits } }) / chunkRows) - 1);
}

export interface TimedCall {
  readonly wallMs: number;
  readonly record: CpuRun;
}

/** Times one call. @throws Error if its answer is wrong, a worker failed, or the CPU did not compute */
export async function callOnCpu(subject: EngineUnderTest, msmCase: MsmCase): Promise<TimedCall> {
  const { label } = subject;
  const outcome = await subject.compute(msmCase);
  const { agrees, record, wallMs } = outcome;
  if (!agrees) throw wrongResult(msmCase, label, outcome);
  if (record?.on !== 'cpu') throw new Error(`${label}: ${record?.on ?? 'nothing'} computed, not the CPU`);
  if (record.retried !== null) throw new Error(`${label}: ${record.retried}`);
  return { wallMs, record };
}

export type EngineWithWorkers = ReturnType<typeof engineWithWorkers>;

/**
 * Returns an engine on the CPU that runs all its workers before anything is timed.
 *
 * @param most largest number of its workers
 */
export function engineWithWorkers(subject: EngineUnderTest, curve: CurveContext, most: number) {
  let calledAt = Number.NEGATIVE_INFINITY;
  /** Times one call with the workers that are running. */
  const call = async (msmCase: MsmCase): Promise<TimedCall> => {
    const timed = await callOnCpu(subject, msmCase);
    calledAt = performance.now();
    return timed;
  };
  /** Calls until all workers worth using take part, or no more will start. */
  const awaitWorkers = async (msmCase: MsmCase): Promise<void> => {
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const { record } = await call(msmCase);
      if (record.workers >= worthwhileWorkers(curve, record, most)) return;
    }
  };
  /** Times one call with all workers running. */
  const callWithWorkers = async (msmCase: MsmCase): Promise<TimedCall> => {
    if (performance.now() - calledAt > IDLE_MS) await awaitWorkers(msmCase);
    return call(msmCase);
  };
  return { subject, call, awaitWorkers, callWithWorkers };
}
