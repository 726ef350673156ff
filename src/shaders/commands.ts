import type { Kernel } from './kernel.js';

/**
 * Name of the buffer of a job's result; the runner makes a new one, with the dispatch chain, for
 * each job.
 */
export const RESULT = 'result';

/** Part of a named buffer, in bytes. Default: all of it. */
export interface Slice {
  readonly buffer: string;
  readonly offset?: number;
  readonly size?: number;
}

/** One dispatch of a kernel. */
export interface Dispatch {
  /** Stage to which the time of the dispatch counts. */
  readonly phase: string;
  readonly kernel: Kernel;
  /**
   * A slice for each binding of the kernel. The runner binds the uniform and the dispatch chain
   * itself; a dispatch that binds a chain of its own is not a link of the job's chain.
   */
  readonly bindings: Readonly<Record<string, Slice>>;
  /** Contents of the kernel's uniform. */
  readonly config?: Uint32Array;
  /** Number of workgroups, or the slice from which the GPU reads it. */
  readonly groups: readonly [number, number] | Slice;
}

export type Command =
  | ({ readonly kind: 'dispatch' } & Dispatch)
  | { readonly kind: 'clear'; readonly slice: Slice }
  /** Submits the commands before it; those after it wait until the GPU is done. */
  | { readonly kind: 'submit' };

/** Returns the kernels of commands, each once. */
export const kernelsOf = (commands: readonly Command[]): Kernel[] => [
  ...new Set(commands.flatMap((command) => (command.kind === 'dispatch' ? [command.kernel] : []))),
];
