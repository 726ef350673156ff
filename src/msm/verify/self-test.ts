/** Whether what MSMs are made of computes rightly on a device: found out before the first result is believed. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import { MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import { CallClock } from '../../session/clock.js';
import type { Checks } from '../gpu/checks.js';
import { evaluate } from '../gpu/evaluate.js';
import { loadPoints } from '../gpu/load.js';
import type { LoadContext } from '../gpu/load-context.js';
import type { PlanLimits } from '../plan/planner.js';
import { schedule } from '../plan/schedule.js';
import { survey } from '../plan/survey.js';
import type { Knobs } from '../plan/tuning.js';
import { loadedTables } from '../plan/workload.js';
import { areSame } from '../stages/fold.js';
import { knownAnswer } from './known-answer.js';

/** What is tested: an engine's pipelines. */
export interface Tested extends LoadContext {
  readonly limits: PlanLimits;
  readonly tuning: Knobs & { readonly checks?: Checks | undefined };
  /** The most bytes of scratch. */
  readonly budget: number;
  /** Those that make tables of bases, too. */
  readonly tables: boolean;
}

/** What was found on a device, by what was tested: null, or what was wrong. */
const remembered = new WeakMap<GPUDevice, Map<string, string | null>>();

const TABLES = 3;

const run = async (runner: Runner, tested: Tested, checkpoint: () => void): Promise<string | null> => {
  const { curve, kernels, limits, tuning, budget, additionsPerMs } = tested;
  const { points, scalars, sum } = knownAnswer(curve);
  const tables = loadedTables(curve, tested.tables ? TABLES : 1);
  const request = {
    source: { bytes: points, scale: 1n, encoding: 'le' as const },
    tables,
    label: 'self-test',
    budget,
    checkSubgroup: false,
    checkpoint,
    onProgress: undefined,
  };
  const { buffer } = await loadPoints(runner, tested, request);
  try {
    const vectors = [{ ...survey(curve, scalars, tables, false), offset: 0, loaded: null }];
    const jobs = schedule(vectors, curve, limits, budget, tuning);
    const own = { curve, kernels, checks: tuning.checks, additionsPerMs };
    const context = { ...own, bases: buffer, clock: new CallClock(), checkpoint };
    const [found] = (await evaluate(runner, context, { vectors, jobs }, checkpoint)).sums as [AffinePoint<Coordinate>];
    return areSame(curve, found, sum) ? null : 'the sum of known points came out as another';
  } finally {
    runner.ledger.destroy(buffer);
  }
};

/**
 * Runs the very pipelines that will be used on an MSM with a known answer (src/msm/verify/known-answer.ts), and compares bit for bit; twice before
 * it says that something is wrong, as what was lost once need not be wrong twice. What was found is remembered as long as the device is there.
 *
 * @param goOn called now and then; what it throws ends the test
 * @returns null, or what was wrong
 * @throws what runners throw, but for `internal`
 */
export const selfTest = async (runner: Runner, given: Tested, checkpoint: () => void): Promise<string | null> => {
  // what is in no pipeline
  const { windowBits: _c, cpuBelow: _n, ...tuning } = given.tuning;
  const tested = { ...given, tuning };
  const { name, p, a, b, field, coordinates: f } = tested.curve;
  const constants = [p, ...f.coefficients(a), ...f.coefficients(b)].join();
  const key = JSON.stringify([name, constants, field.product, tested.tables, tested.tuning]);
  const known = remembered.get(runner.device) ?? new Map<string, string | null>();
  remembered.set(runner.device, known);
  let wrong = known.get(key);
  for (let left = 2; left > 0 && wrong === undefined; left--) {
    try {
      wrong = await run(runner, tested, checkpoint);
    } catch (error) {
      if (!(error instanceof MsmError) || error.code !== 'internal') throw error;
      wrong = error.message;
    }
    // also as the buffers of so few points are of no use to the next
    runner.discard();
    if (wrong !== null && left > 1) wrong = undefined;
  }
  known.set(key, wrong as string | null);
  return wrong as string | null;
};
