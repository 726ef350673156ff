import type { AdapterDescription } from './device.js';
import type { Tuning } from './tuning.js';

/** One setting that was tried. */
export interface CalibrationTrial {
  /** The knobs that were set. */
  readonly tuning: Partial<Tuning>;
  /** Median of the MSMs that were timed, in milliseconds of GPU time where the device has `timestamp-query`; null if it computed wrongly or not at all. */
  readonly ms: number | null;
  /**
   * The defaults in the same turns. Medians of different rounds are no comparison, as a machine slows down
   * and speeds up between them. Absent where `ms` is null. Where the defaults do not work, the first setting that does stands for them.
   */
  readonly defaults?: {
    /** Their median, in milliseconds. */
    readonly ms: number;
    /** The setting's median ÷ theirs: below 1 it is faster. */
    readonly ratio: number;
    /** The lower end of the 95 % interval of the ratio. */
    readonly low: number;
    /** Its upper end. */
    readonly high: number;
  };
}

/** What `calibrate` of `webgpu-msm/calibrate` found; pass it to `createMsmEngine({ device, calibration })`. */
export interface Calibration {
  /** The knobs that are better set otherwise than by default on this device. */
  readonly tuning: Partial<Tuning>;
  /** All that was tried, in the order in which it was. */
  readonly trials: readonly CalibrationTrial[];
  /** The name of the curve that it was measured on. */
  readonly curve: string;
  /** The adapter that it was measured on. */
  readonly adapter: AdapterDescription;
  /** The version of this library. */
  readonly version: string;
  /** Whether it was remembered, and nothing measured. */
  readonly remembered: boolean;
  /** Milliseconds that it took. */
  readonly tookMs: number;
  /** How many of them went to compiling shaders. */
  readonly compileMs: number;
}
