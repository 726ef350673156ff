import type { Scalars } from '../../api/handles.js';
import { badArgument, MsmError, show } from '../../errors.js';
import { dispose, inspect, notTheHandle, printed } from '../../handle.js';
import type { Surveyed } from '../plan/workload.js';
import type { ScalarStore } from './scalar-store.js';

/** A handle of loaded scalars, or of a consecutive part of them. */
export class LoadedScalars implements Scalars {
  readonly length: number;
  readonly store: ScalarStore;
  /** Offset of the first scalar in the store, in bytes. */
  readonly start: number;
  readonly #scalarBytes: number;
  readonly #isPart: boolean;
  #isOver = false;
  /** Surveys of the scalars by key: engines that plan differently have different keys. */
  readonly #surveys = new Map<string, Surveyed>();

  constructor(store: ScalarStore, scalarBytes: number, start: number, length: number, isPart: boolean) {
    this.store = store;
    this.start = start;
    this.length = length;
    this.#scalarBytes = scalarBytes;
    this.#isPart = isPart;
  }

  /** Returns whether `given` is a handle. A proxy or an heir of a handle is none. */
  static is(given: unknown): given is LoadedScalars {
    return typeof given === 'object' && given !== null && #isOver in given;
  }

  get byteLength(): number {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    return this.store.isPlaced && !this.#isOver ? this.length * this.#scalarBytes : 0;
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    const { label, isDestroyed } = this.store;
    if (isDestroyed) throw new MsmError('destroyed', `the scalars '${label}' were destroyed; load them again`);
    if (this.#isOver) throw new MsmError('destroyed', `a part of the scalars '${label}' was destroyed; take it again`);
  }

  /** @throws MsmError `destroyed` */
  get bytes(): Uint8Array<ArrayBuffer> {
    this.assertAlive();
    return this.store.bytes.subarray(this.start, this.start + this.length * this.#scalarBytes);
  }

  subarray(from = 0, to = this.length): Scalars {
    if (!Number.isInteger(from) || !Number.isInteger(to) || from < 0 || to < from || to > this.length) {
      throw badArgument(
        `from and to must be integers, 0 ≤ from ≤ to ≤ length = ${this.length}, got ${show(from)} and ${show(to)}`,
      );
    }
    this.assertAlive();
    return this.part(from, to);
  }

  /** Does the work of `subarray` for a running call, even if the handle was destroyed meanwhile. */
  part(from: number, to: number): LoadedScalars {
    return new LoadedScalars(this.store, this.#scalarBytes, this.start + from * this.#scalarBytes, to - from, true);
  }

  /** Returns the survey with this key; calls `look` only the first time. */
  remembered(key: string, look: () => Surveyed): Surveyed {
    const known = this.#surveys.get(key) ?? look();
    this.#surveys.set(key, known);
    return known;
  }

  destroy(): void {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    this.#isOver = true;
    this.#surveys.clear();
    if (!this.#isPart) this.store.destroy();
  }

  [dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'Scalars';
  }

  [inspect](): object {
    const { length, byteLength } = this;
    return printed('Scalars', { label: this.store.label, length, byteLength });
  }
}
