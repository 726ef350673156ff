import type { CurveContext } from '../../../../src/curves/curve.js';
import { type MsmCase, makeCase } from '../../../cases/msm-case.js';
import { type EnginePlace, makeEngine } from '../../engine-under-test.js';
import type { Host } from '../../environment.js';
import type { Knobs } from '../../knobs.js';
import type { Run } from '../../run.js';
import { makeSetting } from '../../settings.js';
import { CrewedEngine } from '../../threads/crewed-engine.js';

/** What the parts of `cpu-pool` share. */
export interface PoolBench {
  readonly run: Run;
  readonly host: Host;
  readonly place: EnginePlace;
  readonly curve: CurveContext;
  readonly knobs: Knobs;
  /** The most workers of an engine. */
  readonly most: number;
  /** A sum that is worth workers. */
  readonly large: MsmCase;
}

/** Random scalars over distinct points. */
export const caseOf = ({ curve, group, encoding, seed }: Knobs, n: number): MsmCase =>
  makeCase({ curve, group, encoding, points: 'distinct', scalars: 'random', n, seed });

/** A new engine that may have so many workers, with the points of a case. */
export async function openEngine(
  { run, place, curve, knobs }: PoolBench,
  workers: number,
  msmCase: MsmCase,
): Promise<CrewedEngine> {
  const setting = makeSetting(
    new Map([
      ['backend', 'cpu'],
      ['workers', String(workers)],
    ]),
  );
  const subject = await makeEngine(run, place, knobs, setting);
  await subject.load(msmCase);
  return new CrewedEngine(subject, curve, workers);
}
