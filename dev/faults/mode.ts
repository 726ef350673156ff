/** The interface of a mode: calls with known results, into which faults are injected. */
import type { Random } from '../oracle/known-bases.js';
import type { RecordingDevice } from './recording-device.js';

/** Returns whether the result is correct. It runs after the fault is over. */
export type Judge = () => Promise<boolean>;

/** An engine of a mode, and its calls. */
export interface Subject {
  readonly engine: { readonly lastRun: object | null; destroy(): void };
  /**
   * Makes a call of the mode on random data. Its commands depend on n alone.
   *
   * @param broken true if the call must be refused, for modes with such calls
   * @throws the errors of the engine
   */
  call(random: Random, n: number, broken: boolean): Promise<Judge>;
}

export interface Mode {
  /** Smallest and largest number of scalars, or of points. */
  readonly sizes: readonly [number, number];
  /** Bytes of a point on the GPU. */
  readonly pointBytes: number;
  /** @param most largest number of scalars of a call */
  open(device: RecordingDevice, random: Random, most: number): Promise<Subject>;
}
