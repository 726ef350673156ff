import type { Tuning } from '../api/tuning.js';
import type { MsmError, MsmErrorCode } from '../errors.js';
import type { Problem } from './problem.js';
import type { Subject } from './subject.js';

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

/** Where settings are tried. */
export interface Bench extends Pick<Subject, 'open'> {
  /** Ends the MSM under way. */
  readonly signal: AbortSignal | undefined;
}

/** Errors that end a calibration; others exclude a setting, which may exceed the device. */
const fatal: readonly MsmErrorCode[] = ['aborted', 'destroyed', 'device-lost'];

/** Returns true for an error of the library that excludes a setting. */
const isOfSetting = (error: unknown): boolean => {
  const { name, code } = Object(error) as Partial<MsmError>;
  return name === 'MsmError' && !fatal.includes(code as MsmErrorCode);
};

/**
 * Creates an engine with a setting, and compiles; null if the setting does not work on the device.
 *
 * @throws MsmError `aborted`, `destroyed`, `device-lost`
 */
export const prepare = async (
  { open, signal }: Bench,
  tuning: Partial<Tuning>,
  { points, scalars, isSolvedBy }: Problem,
): Promise<Trial | null> => {
  const engine = await open(tuning);
  const destroy = (): void => engine.destroy();
  // calls of other engines on the device go first
  const turn = { priority: 'background', ...(signal && { signal }) } as const;
  try {
    const bases = await engine.loadBases(points, turn);
    const time = async (): Promise<number | null> => {
      const result = await engine.msm(bases, scalars, turn);
      const run = engine.lastRun;
      if (run === null || !isSolvedBy(result)) return null;
      const busy = (run.timeline ?? []).reduce((sum, { ms }) => sum + ms, 0);
      // the coarse clock of a browser may measure 0
      return busy > 0 ? busy : Math.max(run.wallMs, Number.MIN_VALUE);
    };
    // the first run compiles
    const right = (await time()) !== null;
    const resolved = engine.lastRun?.tuning;
    if (right && resolved) return { tuning, resolved, time, destroy };
  } catch (error) {
    if (!isOfSetting(error)) {
      destroy();
      throw error;
    }
  }
  destroy();
  return null;
};
