import type { Calibration } from '../api/calibration.js';
import type { Problem } from './problem.js';
import { Random } from './random.js';
import { type Found, leastRuns, type SearchOptions, search } from './search.js';
import type { Subject } from './subject.js';
import { type Bench, prepare, type Trial } from './trial.js';

/** Time that all timed MSMs together may take on a fast GPU, in ms. */
const BUDGET_MS = 300;

/** Points of the timed MSM if no larger one fits the budget. With fewer, latency would dominate. */
const LEAST_SIZE = 2 ** 10;

/** Larger sizes of the timed MSM, tried first. */
const LARGER_SIZES = [2 ** 14, 2 ** 12];

/**
 * Returns the largest MSM that the defaults compute fast enough for a search within the budget.
 *
 * @param tried receives the trials. They hold pipelines that the search uses again; the caller
 * destroys them afterwards
 */
const chooseProblem = async (bench: Bench, make: (n: number) => Problem, tried: Trial[]): Promise<Problem> => {
  for (const n of LARGER_SIZES) {
    const problem = make(n);
    const trial = await prepare(bench, {}, problem);
    if (trial === null) continue;
    tried.push(trial);
    const ms = await trial.time();
    if (ms !== null && ms * leastRuns <= BUDGET_MS) return problem;
  }
  return make(LEAST_SIZE);
};

/** Settings of a measurement. */
export type MeasureOptions = Pick<Bench, 'signal'> & Pick<SearchOptions, 'checkpoint' | 'onProgress'>;

/**
 * Measures which knobs are the fastest on a device.
 *
 * @throws the error of `checkpoint`; MsmError `aborted` by the signal, `device-lost`
 */
export const measure = async (subject: Subject, options: MeasureOptions): Promise<Calibration> => {
  const { adapter, version, curve, open } = subject;
  const { signal, checkpoint, onProgress } = options;
  const begun = performance.now();
  const compiledBefore = subject.compileMs();
  const bench = { open, signal };
  const make = (n: number): Problem => {
    const random = new Random(0x243f6a88); // the first fractional bits of π
    return subject.makeProblem(n, () => random.u32());
  };
  const tried: Trial[] = [];
  let found: Found;
  try {
    const problem = adapter.software ? make(LEAST_SIZE) : await chooseProblem(bench, make, tried);
    found = await search({
      prepare: (tuning) => prepare(bench, tuning, problem),
      // SwiftShader expands dot products into code that may crash its compiler, and executes all
      // branches of a walk in extended coordinates in every step
      offers: ({ fieldProduct, walkerCoordinates }) =>
        !adapter.software || (fieldProduct !== 'dot4' && walkerCoordinates === undefined),
      budgetMs: BUDGET_MS,
      ...{ checkpoint, onProgress },
    });
  } finally {
    for (const { destroy } of tried) destroy();
  }
  return {
    tuning: Object.freeze(found.tuning),
    trials: found.trials,
    ...{ curve, adapter, version },
    remembered: false,
    tookMs: performance.now() - begun,
    compileMs: subject.compileMs() - compiledBefore,
  };
};
