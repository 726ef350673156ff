import type { Calibration } from '../api/calibration.js';
import type { MsmEngine } from '../api/engine.js';
import type { Tuning } from '../api/tuning.js';
import type { Coordinate } from '../api/values.js';
import type { Problem } from './problem.js';

/**
 * A device and a curve to calibrate, with all that calibrations need of the rest of the library.
 * They import nothing of it: index.js loads calibration.js, and rolldown keeps every module of a
 * circle of dynamic imports in every program.
 */
export interface Subject extends Pick<Calibration, 'adapter' | 'version' | 'curve'> {
  readonly device: GPUDevice;
  /** Creates an engine of the curve on the device, whose sums the GPU computes. */
  open(tuning: Partial<Tuning>): Promise<MsmEngine<Coordinate>>;
  /**
   * Makes an MSM of n points.
   *
   * @param random returns random words of 32 bits
   */
  makeProblem(n: number, random: () => number): Problem;
  /** Returns the time that pipelines of the device took to compile so far, in ms. */
  compileMs(): number;
  /** Returns true while the device has work. */
  isBusy(): boolean;
  /** Checks knobs. @throws MsmError `bad-argument` */
  checkTuning(knobs: Partial<Tuning>): Partial<Tuning>;
}
