import type { Tuning } from '../api/tuning.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import { MsmError } from '../errors.js';
// of the entry, as users have it: it is built with this one, and the engine stays there
import { createMsmEngine } from '../index.js';
import { areSame } from '../msm/stages/combine-windows.js';
import type { Problem } from './problem.js';

/** A setting that works on a device. */
export interface Trial {
  readonly tuning: Partial<Tuning>;
  /** All knobs, as this made of them. */
  readonly resolved: Tuning;
  /** Milliseconds of one MSM, on the GPU where that is known; null if it came out wrong. */
  time(): Promise<number | null>;
  /** Frees its memory; calling it twice is harmless. */
  destroy(): void;
}

/** Sets a device up with a setting, and compiles; null if that does not work here. */
export const prepare = async (
  device: GPUDevice,
  curve: CurveContext,
  tuning: Partial<Tuning>,
  { points, scalars, expected }: Problem,
): Promise<Trial | null> => {
  // over whichever field: points are bytes here
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
      // clocks of browsers may be so coarse that a run takes no time
      return busy > 0 ? busy : Math.max(run.wallMs, Number.MIN_VALUE);
    };
    // the first run compiles
    const right = (await time()) !== null;
    const resolved = engine.lastRun?.tuning;
    if (right && resolved) return { tuning, resolved, time, destroy };
  } catch (error) {
    // what a device cannot do is no error of the caller's; that the device is gone is
    if (!(error instanceof MsmError) || error.code === 'device-lost' || error.code === 'destroyed') {
      destroy();
      throw error;
    }
  }
  destroy();
  return null;
};
