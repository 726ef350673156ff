/** The interface of what has vectors, and computes with them. */
import type { Progress } from '../../api/calls.js';
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import type { DeviceVector } from '../../msm/inputs/scalars.js';
import type { Ticket } from '../../scheduling/edf.js';
import type { FieldStep } from './steps.js';
import type { Matrix, Vector } from './vector.js';

/** A call of an engine that has its turn. */
export interface VectorCall {
  /** Throws if the call was aborted, or its engine destroyed. Called between steps. */
  check(): void;
  /** Lets one more urgent call go first; null if none waits. @throws MsmError of `check` */
  pause(): Promise<void> | null;
  readonly ticket: Ticket;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Numbers of a caller: little-endian words of each value times `scale`, below the prime. */
export interface ScaledNumbers {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly scale: bigint;
}

/** Entries of a matrix, in any order. */
export interface Entries extends ScaledNumbers {
  readonly row: Uint32Array;
  readonly column: Uint32Array;
}

/** Turns of an engine: it makes one call at a time. */
export interface EngineTurns {
  /** @throws MsmError `destroyed` */
  assertUsable(): void;
  /** Does work in the turn of a ticket. @throws MsmError `aborted`, `destroyed` */
  inTurn<Result>(ticket: Ticket, work: (call: VectorCall) => Promise<Result>): Promise<Result>;
}

/** Has the vectors and matrices of an engine. The engine makes one call at a time. */
export interface VectorBackend {
  /** Bytes of vectors, matrices and tables, now and at most so far. */
  readonly memory: { readonly used: number; readonly peak: number };
  /** Returns whether a vector has been computed or loaded, and not released. */
  has(vector: Vector): boolean;
  /**
   * Loads a vector. The words are the backend's from now on: it overwrites them as soon as it needs
   * them no more.
   *
   * @throws MsmError `out-of-memory`, and errors of `call.check`; then the words are the caller's
   */
  enter(vector: Vector, numbers: ScaledNumbers, call: VectorCall): Promise<void>;
  /** Loads a matrix. @throws MsmError as `enter` */
  enterMatrix(matrix: Matrix, entries: Entries, call: VectorCall): Promise<void>;
  /**
   * Computes the results of steps, and keeps those that are kept. Where all that is in use is
   * vectors, it may pause.
   *
   * @param verifies true to have a GPU compute them a second time in another way, and compare
   * @throws MsmError as `enter`
   */
  execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldRunRecord>;
  /**
   * Returns the costs of steps.
   *
   * @param verifies true to include the memory of a verification
   * @throws MsmError as `execute`
   */
  plan(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldPlan>;
  /** Writes the values of a vector times `scale` to `words`. @throws MsmError of `call.check` */
  leave(vector: Vector, numbers: ScaledNumbers, call: VectorCall): Promise<void>;
  /**
   * Returns a vector for sums on its GPU; null if the CPU has it.
   *
   * @param turns of the engine
   */
  onDevice(vector: Vector, turns: EngineTurns): DeviceVector | null;
  /** Has the conversion to scalars compute a known answer, once. @throws MsmError as `enter` */
  prepareScalars(call: VectorCall): Promise<void>;
  /** True if `prepareScalars` has nothing to do. */
  readonly hasPrepared: boolean;
  release(handle: Vector | Matrix): void;
  /** Frees tables and pooled scratch. */
  trim(): void;
  /** Frees all that is left. */
  destroy(): void;
}
