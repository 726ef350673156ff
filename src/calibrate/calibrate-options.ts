/** The options of `calibrate`: their meaning, and the table that reads them. */
import type { CalibrationStore } from '../api/device.js';
import type { Fp2 } from '../api/values.js';
import type { Curve } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/more-curves.js';
import type { OptionTable } from '../option-table.js';

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
export const calibrateOptions = {
  of: 'calibrate',
  rows: {
    curve: { kind: 'any', default: 'bn254' },
    group: { kind: 'any' },
    store: { kind: 'store', isNullable: true },
    again: { kind: 'flag', default: false },
    signal: { kind: 'signal' },
    onProgress: { kind: 'function' },
  },
} as const satisfies OptionTable<CalibrateOptions>;
