/** Faults: how they are made, and how they strike. */
import type { Random } from '../oracle/known-bases.js';
import type { Trace } from './commands.js';
import type { Injection, RecordingDevice } from './recording-device.js';

/** Inputs from which a fault is made. */
export interface Circumstances {
  readonly device: RecordingDevice;
  readonly random: Random;
  /** Trace of the previous call, which has the same shape and thus the same commands. */
  readonly before: Trace;
  readonly earlier: readonly Trace[];
  /** Number of WebGPU promises that the previous call awaited, by method. */
  readonly asked: ReadonlyMap<string, number>;
  /** Label of the command to strike; any command if absent. */
  readonly label?: string | undefined;
  readonly pointBytes: number;
}

export interface Armed {
  readonly injection: Injection;
  /** Description of the struck command and the change. */
  readonly where: string;
  /** Returns whether the fault struck. */
  struck(): boolean;
  /** Ends what the fault began, when the call is over. */
  over?(): void;
}

export type Arm = (circumstances: Circumstances) => Armed | null | Promise<Armed | null>;

/**
 * Returns a fault that notes when it strikes.
 *
 * @param inject makes the injection, which calls `hit` as it strikes
 */
export const striking = (where: string, inject: (hit: () => void) => Injection, over?: () => void): Armed => {
  let struck = false;
  const injection = inject(() => {
    struck = true;
  });
  return { injection, where, struck: () => struck, ...(over && { over }) };
};
