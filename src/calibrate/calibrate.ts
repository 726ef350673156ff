import type { Calibration } from '../api/calibration.js';
import type { Fp2 } from '../api/values.js';
import type { Curve, CurveContext } from '../curves/curve.js';
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
  /**
   * The curve to measure: a name or constants.
   *
   * @defaultValue `bn254`
   */
  readonly curve?: NamedCurve | Curve | Curve<Fp2>;
  /**
   * The group of a named curve.
   *
   * @defaultValue `g1`
   */
  readonly group?: Group;
  /**
   * The store that remembers the result, by adapter, limits, features, curve and version of the
   * library; null: none. Nothing is remembered if the adapter has no name. In Node pass
   * `fileStore(path)` of `webgpu-msm/node`.
   *
   * @defaultValue IndexedDB in browsers; in Node none
   */
  readonly store?: CalibrationStore | null;
  /**
   * True: measures even if a result is remembered.
   *
   * @defaultValue `false`
   */
  readonly again?: boolean;
  /** Aborts the calibration between two MSMs, with code `aborted`. */
  readonly signal?: AbortSignal;
  /** Called after each setting: `done` of `total` settings were measured. */
  onProgress?(progress: { readonly done: number; readonly total: number }): void;
}

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
 * Finds the fastest tuning for a device. Runs the real kernels on a small MSM in a dozen settings
 * of the field product, the memory of the prefix products, the slots, and the threads of a
 * workgroup. Checks every result, and excludes settings that compute a wrong one. Settings run in
 * turn; one replaces the defaults only if the 95 % confidence interval of its pairs with them shows
 * that it is faster, and its median is 3 % faster or more.
 *
 * The timed runs take about 300 ms together on a GPU; compiling the shaders takes longer. The MSM
 * has 2^14, 2^12 or 2^10 points to fit that time, and each setting runs 6 to 24 times a round. The
 * runs take longer if 2^10 points take more than 3 ms, as on a software adapter, where calibration
 * takes about 15 s.
 *
 * @param device your device. Create the engine that uses the result on it, or on another device of
 * the same adapter
 * @throws MsmError `bad-argument` for an invalid argument, `aborted` by the signal, `device-lost`
 * if the device is lost
 * @example
 * ```ts
 * import { createMsmEngine } from 'webgpu-msm';
 * import { calibrate } from 'webgpu-msm/calibrate';
 *
 * const adapter = await navigator.gpu.requestAdapter();
 * if (adapter === null) throw new Error('no GPU to calibrate');
 * const device = await adapter.requestDevice();
 * const calibration = await calibrate(device);
 * const engine = await createMsmEngine({ curve: 'bn254', device, calibration });
 * engine.destroy();
 * ```
 */
export const calibrate = async (device: GPUDevice, options: CalibrateOptions = {}): Promise<Calibration> => {
  if (typeof device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
  const own = ownOptions(options);
  const { store = indexedDbStore(), again = false, signal, onProgress } = own;
  const curve = await openCurve(own.curve ?? 'bn254', own.group);
  const checkpoint = (): void => assertNotAborted(signal, 'calibration');
  checkpoint();
  const adapter = describeAdapter(device.adapterInfo);
  const name = rememberedName(adapter, device, curve.name);
  const known = again ? null : await recall(store, name);
  // the store may have taken long
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
      // SwiftShader expands dot products into code that may crash its compiler, and executes all
      // branches of a walk in extended coordinates in every step
      offers: ({ fieldProduct, walkerCoordinates }) =>
        !adapter.software || (fieldProduct !== 'dot4' && walkerCoordinates === undefined),
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
