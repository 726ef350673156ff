import type { Calibration } from '../api/calibration.js';
import type { Fp2 } from '../api/values.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import { loadModels } from '../curves/load-models.js';
import type { Group, NamedCurve } from '../curves/names.js';
import { openCurve } from '../curves/open-curve.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { describeAdapter } from '../gpu/device.js';
import { compileTimes } from '../gpu/pipelines.js';
import { ownOptions } from '../own-options.js';
import { version } from '../version.js';
import { recall, remember, rememberedName } from './memory.js';
import { makeProblem, type Problem } from './problem.js';
import { type Found, leastRuns, search } from './search.js';
import { type CalibrationStore, indexedDbStore } from './store.js';
import { prepare, type Trial } from './trial.js';

/** Options of `calibrate`. */
export interface CalibrateOptions {
  /** Whose arithmetic to measure. Default `bn254`. */
  readonly curve?: NamedCurve | Curve | Curve<Fp2>;
  /** Which group of a curve that is given by its name. Default `g1`. */
  readonly group?: Group;
  /**
   * Where the result is remembered, by adapter, limits, features, curve and version of the library; nowhere if the adapter has no name. Default: the browser's IndexedDB; in Node nowhere,
   * unless you pass `fileStore(path)` of `webgpu-msm/node`. null: nowhere.
   */
  readonly store?: CalibrationStore | null;
  /** Measure even if a result is remembered. Default false. */
  readonly again?: boolean;
  /** Ends it between two MSMs, with code `aborted`. */
  readonly signal?: AbortSignal;
  /** Called as it goes on: `done` of `total` settings were measured. */
  onProgress?(progress: { readonly done: number; readonly total: number }): void;
}

/** What the timed MSMs may take together, on a GPU that is fast enough for it. */
const BUDGET_MS = 300;

/** Points of the MSM that is tried, where none larger fits the budget. With fewer nothing but latency would be measured. */
const LEAST_SIZE = 2 ** 10;

const LARGER_SIZES = [2 ** 14, 2 ** 12];

/**
 * The largest MSM on which the defaults leave time for a search.
 *
 * @param tried takes the trials, which have compiled what the search needs again, and are to be destroyed after it
 */
const chooseProblem = async (device: GPUDevice, curve: CurveContext, tried: Trial[]): Promise<Problem> => {
  for (const n of LARGER_SIZES) {
    const problem = makeProblem(curve, n);
    const trial = await prepare(device, curve, {}, problem);
    if (trial === null) continue;
    tried.push(trial);
    const ms = await trial.time();
    if (ms !== null && ms * leastRuns <= BUDGET_MS) return problem;
  }
  return makeProblem(curve, LEAST_SIZE);
};

/**
 * Finds the knobs that suit a device, by running the real walker on a small MSM in a dozen settings: how products are computed, where
 * the prefix products live, slots, threads in a workgroup. Every result is checked; a setting that computes wrongly is out. Settings run in
 * turn, and one is kept only if the 95 % interval of its pairs with the defaults says that it is faster, and the medians that it is by 3 %.
 *
 * On a GPU the timed runs take about 300 ms together once the shaders are compiled, which takes longer: the MSM has 2^14, 2^12 or 2^10 points
 * accordingly, and each setting 6 to 24 runs a round. Where 2^10 points take more than 3 ms they take longer, as on a software
 * adapter: there it is a quarter of a minute.
 *
 * @param device one of yours: the engine that uses the result is created on it, or on another of the same adapter
 * @throws MsmError `bad-argument`, `aborted`, `device-lost`
 */
export const calibrate = async (device: GPUDevice, options: CalibrateOptions = {}): Promise<Calibration> => {
  if (typeof device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
  const own = ownOptions(options);
  const { store = indexedDbStore(), again = false, signal, onProgress } = own;
  const curve = await openCurve(own.curve ?? 'bn254', own.group, loadModels);
  const checkpoint = (): void => assertNotAborted(signal, 'calibration');
  checkpoint();
  const adapter = describeAdapter(device.adapterInfo);
  const name = rememberedName(adapter, device, curve.name);
  const known = again ? null : await recall(store, name);
  // the store may have taken its time
  checkpoint();
  if (known !== null) return known;

  const begun = performance.now();
  const compiledBefore = compileTimes(device).length;
  const tried: Trial[] = [];
  let found: Found;
  try {
    const problem = adapter.software ? makeProblem(curve, LEAST_SIZE) : await chooseProblem(device, curve, tried);
    found = await search({
      prepare: (tuning) => prepare(device, curve, tuning, problem),
      // SwiftShader writes dot products out, in code that its compiler may not survive
      offers: ({ fieldProduct }) => !adapter.software || fieldProduct !== 'dot4',
      budgetMs: BUDGET_MS,
      checkpoint,
      onProgress,
    });
  } finally {
    for (const { destroy } of tried) destroy();
  }
  const calibration: Calibration = {
    tuning: Object.freeze(found.tuning),
    trials: found.trials,
    curve: curve.name,
    adapter,
    version,
    remembered: false,
    tookMs: performance.now() - begun,
    compileMs: compileTimes(device)
      .slice(compiledBefore)
      .reduce((sum, { ms }) => sum + ms, 0),
  };
  await remember(store, name, calibration);
  return calibration;
};
