/** Jobs on vectors as data. */
import type { Resident } from '../../session/operation.js';
import type { Emitter, Part } from './emitter.js';

/** Kernels that have a known answer of their own. */
export type KnownKind = 'transform' | 'scan' | 'invert' | 'scalars';

/** One run, load or read. */
export interface FieldJob {
  /** Bytes of the buffer that stays; 0: none. */
  readonly outputBytes: number;
  readonly residents: readonly Resident[];
  /** Kernels whose known answers are wanted first. */
  readonly kinds: ReadonlySet<KnownKind>;
  /** Emits the commands. @returns the parts of the result */
  emit(emit: Emitter, output: Part | null): readonly Part[];
  /**
   * Emits a second evaluation. @returns pairs of parts that must be equal: of what `emit` left, and
   * of what this emits
   */
  readonly check?: ((emit: Emitter, output: Part | null) => readonly Part[]) | undefined;
}

/** Outcome of a job. */
export interface FieldOutcome {
  readonly output: GPUBuffer | null;
  /** Words of each part of the result. */
  readonly data: readonly Uint32Array[];
  readonly products: number;
  /** Passes of transforms. */
  readonly passes: number;
}
