import type { AffinePoint, Tuning } from '../api.js';
import type { Curve } from '../curves/curve.js';
import { MsmError } from '../errors.js';
// of the entry, as users have it: it is built with this one, and the engine stays there
import { createMsmEngine } from '../index.js';
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

const isExpected = (point: AffinePoint, expected: AffinePoint): boolean =>
  point.infinity === expected.infinity && point.x === expected.x && point.y === expected.y;

/** Sets a device up with a setting, and compiles; null if that does not work here. */
export const prepare = async (
  device: GPUDevice,
  curve: Curve,
  tuning: Partial<Tuning>,
  { points, scalars, expected }: Problem,
): Promise<Trial | null> => {
  const engine = await createMsmEngine({ curve, device, tuning: { ...tuning, cpuBelow: 0 }, selfTest: false });
  const destroy = (): void => engine.destroy();
  try {
    const bases = await engine.loadBases(points);
    const time = async (): Promise<number | null> => {
      const result = await engine.msm(bases, scalars);
      const run = engine.lastRun;
      if (run === null || !isExpected(result, expected)) return null;
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
