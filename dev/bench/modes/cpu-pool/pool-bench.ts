import type { CurveContext } from '../../../../src/curves/curve.js';
import { type MsmCase, makeCase } from '../../../cases/msm-case.js';
import { type EngineSetup, makeEngine } from '../../engine-under-test.js';
import type { Host } from '../../environment.js';
import type { Knobs } from '../../knobs.js';
import type { Run } from '../../run.js';
import { makeSetting } from '../../settings.js';
import { EngineWithWorkers } from '../../threads/engine-with-workers.js';

/** State that all measurements of `cpu-pool` share. */
export interface PoolBench {
  readonly run: Run;
  readonly host: Host;
  readonly setup: EngineSetup;
  readonly curve: CurveContext;
  readonly knobs: Knobs;
  /** Largest number of workers of an engine. */
  readonly most: number;
  /** A sum large enough for workers. */
  readonly large: MsmCase;
}

/** Returns a case of random scalars over distinct points. */
export const caseOf = ({ curve, group, encoding, seed }: Knobs, n: number): MsmCase =>
  makeCase({ curve, group, encoding, points: 'distinct', scalars: 'random', n, seed });

/** Creates an engine with at most `workers` workers, and loads the points of a case. */
export async function openEngine(
  { run, setup, curve, knobs }: PoolBench,
  workers: number,
  msmCase: MsmCase,
): Promise<EngineWithWorkers> {
  const setting = makeSetting(
    new Map([
      ['backend', 'cpu'],
      ['workers', String(workers)],
    ]),
  );
  const subject = await makeEngine(run, setup, knobs, setting);
  await subject.load(msmCase);
  return new EngineWithWorkers(subject, curve, workers);
}
