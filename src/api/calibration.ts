import type { AdapterDescription } from './device.js';
import type { Tuning } from './tuning.js';

/** One setting that was measured. */
export interface CalibrationTrial {
  /** Knobs that were set. */
  readonly tuning: Partial<Tuning>;
  /**
   * Median time of the measured MSMs, in milliseconds: GPU time where the device has
   * `timestamp-query`. null if the setting failed or gave a wrong result.
   */
  readonly ms: number | null;
  /**
   * The defaults, measured in alternation with this setting: a machine slows down and speeds up, so
   * medians of different rounds do not compare. Absent where `ms` is null. If the defaults do not
   * work, the first setting that works takes their place.
   */
  readonly defaults?:
    | {
        /** Median of the defaults, in milliseconds. */
        readonly ms: number;
        /** Median of the setting divided by that of the defaults: below 1 the setting is faster. */
        readonly ratio: number;
        /** Lower end of the 95 % interval of the ratio. */
        readonly low: number;
        /** Upper end of the 95 % interval of the ratio. */
        readonly high: number;
      }
    | undefined;
}

/**
 * A store of calibrations: texts by name. Errors of both methods are ignored; the calibration is
 * then measured again.
 */
export interface CalibrationStore {
  /** Returns the text of a name, or null if there is none. */
  get(name: string): Promise<string | null>;
  /** Sets the text of a name. */
  set(name: string, text: string): Promise<void>;
}

/**
 * Result of `calibrate` of `webgpu-msm/calibrate`; pass it to
 * `createMsmEngine({ device, calibration })`.
 */
export interface Calibration {
  /** Knobs for which another value than the default is faster on this device. */
  readonly tuning: Partial<Tuning>;
  /** All settings that were measured, in order. */
  readonly trials: readonly CalibrationTrial[];
  /** Name of the curve that was measured. */
  readonly curve: string;
  /** Adapter that was measured. */
  readonly adapter: AdapterDescription;
  /** Version of this library. */
  readonly version: string;
  /** True if this is a stored calibration and nothing was measured. */
  readonly remembered: boolean;
  /** Duration of the calibration, in milliseconds. */
  readonly tookMs: number;
  /** Part of `tookMs` in which shaders were compiled, in milliseconds. */
  readonly compileMs: number;
}
