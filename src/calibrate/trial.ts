import type { Tuning } from '../api/tuning.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import { MsmError } from '../errors.js';
// from the entry, so that the build leaves the engine in index.js
import { createMsmEngine } from '../index.js';
import { areSame } from '../msm/stages/combine-windows.js';
import type { Problem } from './problem.js';

/** A setting that works on a device. Holds an engine. */
export interface Trial {
  readonly tuning: Partial<Tuning>;
  /** All knobs, as the engine resolved them. */
  readonly resolved: Tuning;
  /**
   * Computes the MSM and returns its time in ms: GPU time with timestamps, else wall time; null for
   * a wrong result.
   */
  time(): Promise<number | null>;
  /** Frees the engine. Calling it twice is harmless. */
  destroy(): void;
}

/**
 * Creates an engine with a setting, and compiles; null if the setting does not work on the device.
 */
export const prepare = async (
  device: GPUDevice,
  curve: CurveContext,
  tuning: Partial<Tuning>,
  { points, scalars, expected }: Problem,
): Promise<Trial | null> => {
  // points are bytes here, so the type of coordinates does not matter
  const constants = curve.constants as Curve;
  const engine = await createMsmEngine({
    curve: constants,
    device,
    tuning: { ...tuning, cpuBelow: 0 },
    selfTest: false,
  });
  const destroy = (): void => engine.destroy();
  try {
    const bases = await engine.loadBases(points);
    const time = async (): Promise<number | null> => {
      const result = await engine.msm(bases, scalars);
      const run = engine.lastRun;
      if (run === null || !areSame(curve, result, expected)) return null;
      const busy = (run.timeline ?? []).reduce((sum, { ms }) => sum + ms, 0);
      // the coarse clock of a browser may measure 0
      return busy > 0 ? busy : Math.max(run.wallMs, Number.MIN_VALUE);
    };
    // the first run compiles
    const right = (await time()) !== null;
    const resolved = engine.lastRun?.tuning;
    if (right && resolved) return { tuning, resolved, time, destroy };
  } catch (error) {
    // a setting may exceed the device, but a lost device ends the calibration
    if (!(error instanceof MsmError) || error.code === 'device-lost' || error.code === 'destroyed') {
      destroy();
      throw error;
    }
  }
  destroy();
  return null;
};
