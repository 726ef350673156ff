import type { Kernel } from './kernel.js';

/** The buffer of what a job gives back, behind its custody; the runner makes a new one for every job. */
export const RESULT = 'result';

/** A part of a named buffer; all of it unless offset and size say otherwise. In bytes. */
export interface Slice {
  readonly buffer: string;
  readonly offset?: number;
  readonly size?: number;
}

/** One dispatch of a kernel. */
export interface Dispatch {
  /** The stage that its time is counted to. */
  readonly phase: string;
  readonly kernel: Kernel;
  /**
   * A slice for every binding of the kernel but the uniform one and its custody, which the runner knows. A dispatch that names a custody is in
   * none.
   */
  readonly bindings: Readonly<Record<string, Slice>>;
  /** Contents of the kernel's uniform. */
  readonly config?: Uint32Array;
  /** Workgroups, or where the GPU finds their number. */
  readonly groups: readonly [number, number] | Slice;
}

export type Command =
  | ({ readonly kind: 'dispatch' } & Dispatch)
  | { readonly kind: 'clear'; readonly slice: Slice }
  /** What comes before goes to the GPU, and what comes after waits until that is done. */
  | { readonly kind: 'submit' };

/** What commands dispatch, each once. */
export const kernelsOf = (commands: readonly Command[]): Kernel[] => [
  ...new Set(commands.flatMap((command) => (command.kind === 'dispatch' ? [command.kernel] : []))),
];
