import type { CurveContext } from '../../../../src/curves/curve.js';
import { type MsmCase, makeCase } from '../../../cases/msm-case.js';
import type { Bench } from '../../bench-setup.js';
import { makeEngine } from '../../engine-under-test.js';
import type { Knobs } from '../../knobs.js';
import { makeSetting } from '../../settings.js';
import { type EngineWithWorkers, engineWithWorkers } from '../../threads/engine-with-workers.js';

/** State that all measurements of `cpu-pool` share. */
export interface PoolBench extends Bench {
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
export async function openEngine(bench: PoolBench, workers: number, msmCase: MsmCase): Promise<EngineWithWorkers> {
  const { curve, knobs } = bench;
  const setting = makeSetting(new Map(Object.entries({ backend: 'cpu', workers: String(workers) })));
  const subject = await makeEngine(bench, knobs, setting);
  await subject.load(msmCase);
  return engineWithWorkers(subject, curve, workers);
}
