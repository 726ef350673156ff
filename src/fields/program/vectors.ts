/** Handles of vectors and matrices. */
import type { FieldVector, SparseMatrix } from '../../api/fields.js';
import { badArgument, kindOf, MsmError } from '../../errors.js';
import { inspect, printed } from '../../handle.js';
import { type FieldScalars, sourcesOfVectors } from '../../msm/inputs/scalars.js';

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
