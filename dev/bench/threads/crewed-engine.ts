/** Calls on the CPU whose answers are right and whose workers are all there: nothing else is timed. */
import type { RunRecord } from '../../../src/api/run-record.js';
import type { CurveContext } from '../../../src/curves/curve.js';
import { rowsOf } from '../../../src/msm/cpu/share.js';
import { workersFor } from '../../../src/msm/plan/work.js';
import type { MsmCase } from '../../cases/msm-case.js';
import type { EngineUnderTest } from '../engine-under-test.js';
import { wrongResult } from '../measure.js';

/** A machine that has not started its workers within so many calls is not going to. */
const MOST_CALLS = 20;

/** After this an engine may have ended its workers, which have had nothing to do, or is about to. */
const IDLE_MS = 8000;

/** Workers that a call is worth, by what is told of one like it: never more than there are chunks beside the own thread's. */
export function worthwhileWorkers(
  curve: CurveContext,
  { entries, windows, windowBits, tuning: { cpuChunk } }: RunRecord,
  most: number,
): number {
  const worth = Math.min(most, workersFor(curve, entries));
  if (cpuChunk === 0) return worth;
  return Math.min(worth, Math.ceil(rowsOf({ digits: { windows, windowBits } }) / cpuChunk) - 1);
}

export interface TimedCall {
  readonly wallMs: number;
  readonly record: RunRecord;
}

/** One call. @throws Error if its answer is wrong, or a worker died of it */
export async function callOnCpu(subject: EngineUnderTest, msmCase: MsmCase): Promise<TimedCall> {
  const { label } = subject;
  const outcome = await subject.compute(msmCase);
  const { agrees, record, wallMs } = outcome;
  if (!agrees) throw wrongResult(msmCase, label, outcome);
  if (record === null) throw new Error(`${label}: nothing was computed`);
  if (record.retried !== null) throw new Error(`${label}: ${record.retried}`);
  return { wallMs, record };
}

/** An engine on the CPU, the workers of which are there before anything is timed. */
export class CrewedEngine {
  readonly subject: EngineUnderTest;
  readonly #curve: CurveContext;
  readonly #most: number;
  #calledAt = Number.NEGATIVE_INFINITY;

  /** @param most workers that it may have */
  constructor(subject: EngineUnderTest, curve: CurveContext, most: number) {
    this.subject = subject;
    this.#curve = curve;
    this.#most = most;
  }

  /** One call, whoever is there. */
  async call(msmCase: MsmCase): Promise<TimedCall> {
    const timed = await callOnCpu(this.subject, msmCase);
    this.#calledAt = performance.now();
    return timed;
  }

  /** Calls until all take part that are worth it, or there will be no more of them. */
  async bringWorkers(msmCase: MsmCase): Promise<void> {
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const { record } = await this.call(msmCase);
      if (record.workers >= worthwhileWorkers(this.#curve, record, this.#most)) return;
    }
  }

  /** One call of an engine that has its workers. */
  async crewedCall(msmCase: MsmCase): Promise<TimedCall> {
    if (performance.now() - this.#calledAt > IDLE_MS) await this.bringWorkers(msmCase);
    return this.call(msmCase);
  }
}
