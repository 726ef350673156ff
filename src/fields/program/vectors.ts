/**
 * Vectors and matrices as handles, operations on them as data, and the interface of a backend: a place
 * where vectors live and are computed, CPU or GPU.
 */

import type { Progress } from '../../api/calls.js';
import type { FieldOrder, FieldPlan, FieldRunRecord, FieldVector, SparseMatrix } from '../../api/fields.js';
import { badArgument, kindOf, MsmError } from '../../errors.js';
import { inspect, printed } from '../../handle.js';
import { type DeviceVector, type FieldScalars, sourcesOfVectors } from '../../msm/inputs/scalars.js';
import type { Ticket } from '../../scheduling/edf.js';

/** Engine of a handle. */
export interface VectorOwner {
  /** Prime of the field. */
  readonly p: bigint;
  /** Frees what a handle stands for. */
  release(handle: Vector | Matrix): void;
  /**
   * Keeps a vector for a sum, even if it is destroyed meanwhile.
   *
   * @param name of the argument, for errors
   * @throws MsmError `bad-argument`, `destroyed`
   */
  hold(vector: Vector, name: string): FieldScalars;
}

/** A vector: recorded, in memory, or destroyed. */
export class Vector implements FieldVector {
  readonly length: number;
  readonly owner: VectorOwner;
  state: 'recorded' | 'resident' | 'destroyed';
  /** Whether it outlives its run. */
  isKept = false;

  constructor(owner: VectorOwner, length: number, state: 'recorded' | 'resident') {
    this.owner = owner;
    this.length = length;
    this.state = state;
    sourcesOfVectors.set(this, { p: owner.p, length, hold: (name) => owner.hold(this, name) });
  }

  destroy(): void {
    if (this.state === 'destroyed') return;
    const isResident = this.state === 'resident';
    this.state = 'destroyed';
    if (isResident) this.owner.release(this);
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'FieldVector';
  }

  [inspect](): object {
    const { length, state } = this;
    return printed('FieldVector', { length, state });
  }
}

/** A sparse matrix in memory. */
export class Matrix implements SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
  readonly owner: VectorOwner;
  isDestroyed = false;

  constructor(owner: VectorOwner, { rows, columns, entries }: Pick<SparseMatrix, 'rows' | 'columns' | 'entries'>) {
    this.owner = owner;
    this.rows = rows;
    this.columns = columns;
    this.entries = entries;
  }

  destroy(): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.owner.release(this);
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'SparseMatrix';
  }

  [inspect](): object {
    const { rows, columns, entries } = this;
    return printed('SparseMatrix', { rows, columns, entries });
  }
}

/**
 * Returns a handle of an owner.
 *
 * @param name of the argument, for errors
 * @throws MsmError `bad-argument`, `destroyed`
 */
export const vectorOf = (owner: VectorOwner, name: string, given: FieldVector): Vector => {
  if (!(given instanceof Vector)) throw badArgument(`${name} must be a vector of this engine, got ${kindOf(given)}`);
  if (given.owner !== owner) throw badArgument(`${name} is a vector of another engine; load it into this one`);
  if (given.state === 'destroyed') throw new MsmError('destroyed', `${name} was destroyed, or not kept in its run`);
  return given;
};

/** As `vectorOf`, for matrices. */
export const matrixOf = (owner: VectorOwner, name: string, given: SparseMatrix): Matrix => {
  if (!(given instanceof Matrix)) throw badArgument(`${name} must be a matrix of this engine, got ${kindOf(given)}`);
  if (given.owner !== owner) throw badArgument(`${name} is a matrix of another engine; load it into this one`);
  if (given.isDestroyed) throw new MsmError('destroyed', `${name} was destroyed`);
  return given;
};

/** Kind of a step, and its parameters. */
export type Computation =
  | { readonly kind: 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract' }
  | { readonly kind: 'scale'; readonly factor: bigint }
  | { readonly kind: 'scalePowers'; readonly base: bigint; readonly factor: bigint; readonly order: FieldOrder }
  | {
      readonly kind: 'ntt' | 'intt';
      readonly from: FieldOrder;
      readonly to: FieldOrder;
      readonly coset: bigint;
      /** Factor of the result, beside the powers of the coset; 1/n of an inverse transform. */
      readonly factor: bigint;
    }
  | { readonly kind: 'linearCombination'; readonly factors: readonly bigint[] }
  | { readonly kind: 'invert' | 'prefixProduct' }
  | { readonly kind: 'evaluate' | 'divideByLinear'; readonly x: bigint }
  | { readonly kind: 'slice' | 'pad'; readonly first: number }
  | { readonly kind: 'gather'; readonly indices: Uint32Array }
  | { readonly kind: 'apply'; readonly matrix: Matrix };

/** One operation of a run. */
export interface FieldStep {
  readonly computation: Computation;
  readonly operands: readonly Vector[];
  readonly result: Vector;
}

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
