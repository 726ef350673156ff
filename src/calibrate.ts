/**
 * Calibration: finds the fastest tuning for a device and remembers it, for `createMsmEngine({
 * device, calibration })`.
 *
 * @module
 */
import type { Calibration, CalibrationStore } from './api/device.js';
import type { Fp2 } from './api/values.js';
import { measure } from './calibrate/search.js';
import { indexedDbStore, recall, remember, rememberedName } from './calibrate/store.js';
import type { Curve } from './curves/curve.js';
import type { Group, NamedCurve } from './curves/more-curves.js';
import { openCurve } from './curves/open-curve.js';
import { subjectOf } from './engine/first-use.js';
import { progressRow, signalRow } from './engine/options.js';
import { assertNotAborted, badArgument, untilAborted } from './errors.js';
import { describeAdapter } from './gpu/device.js';
// from the entry, so that the build leaves the engine in index.js
import { createMsmEngine } from './index.js';
import { type OptionTable, readOptions } from './option-table.js';

export { indexedDbStore } from './calibrate/store.js';
export type { Calibration, CalibrationStore, CalibrationTrial } from './index.js';

/** Options of `calibrate`. */
export interface CalibrateOptions {
  /**
   * The curve to measure: a name or constants.
   *
   * @defaultValue `bn254`
   */
  readonly curve?: NamedCurve | Curve | Curve<Fp2> | undefined;
  /**
   * The group of a named curve.
   *
   * @defaultValue `g1`
   */
  readonly group?: Group | undefined;
  /**
   * The store that remembers the result, by adapter, limits, features, curve and version of the
   * library; null: none. Nothing is remembered if the adapter has no name. In Node pass
   * `fileStore(path)` of `webgpu-msm/node`.
   *
   * @defaultValue IndexedDB in browsers; in Node none
   */
  readonly store?: CalibrationStore | null | undefined;
  /**
   * True: measures even if a result is remembered.
   *
   * @defaultValue `false`
   */
  readonly again?: boolean | undefined;
  /** Aborts the calibration, with code `aborted`. The GPU finishes its current submit. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each setting: `done` of `total` settings were measured. */
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

/** `calibrate`. */
const calibrateOptions = {
  of: 'calibrate',
  rows: {
    curve: { kind: 'any', default: 'bn254' },
    group: { kind: 'any' },
    store: { kind: 'store', isNullable: true },
    again: { kind: 'flag', default: false },
    signal: signalRow,
    onProgress: progressRow,
  },
} as const satisfies OptionTable<CalibrateOptions>;

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
  const {
    curve: given,
    group,
    store = indexedDbStore(),
    again,
    signal,
    onProgress,
  } = readOptions(calibrateOptions, options);
  const curve = await openCurve(given, group);
  const checkpoint = (): void => assertNotAborted(signal, 'calibration');
  checkpoint();
  // points are bytes here, so the type of coordinates does not matter
  const constants = curve.constants as Curve;
  const open = { device, adapter: describeAdapter(device.adapterInfo) };
  const subject = subjectOf(curve, open, (tuning) =>
    createMsmEngine({ curve: constants, device, tuning: { ...tuning, cpuBelow: 0 }, selfTest: false }),
  );
  const name = rememberedName(subject);
  const known = again ? null : await untilAborted(recall(store, name, subject), signal);
  if (known !== null) return known;
  const calibration = await measure(subject, { signal, checkpoint, onProgress });
  await untilAborted(remember(store, name, calibration), signal);
  return calibration;
};
