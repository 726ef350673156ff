/** Scalars that several MSMs share: in main memory, and in a buffer on the device of the engine that loaded them. */
import type { Scalars } from '../api/handles.js';
import type { CurveContext } from '../curves/curve.js';
import { badArgument, MsmError, show } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { Surveyed } from './plan/survey.js';
import { dispose, notTheHandle } from './resident-bases.js';

/** Where scalars are, for all handles that see some of them. */
export class ScalarStore {
  readonly label: string;
  readonly order: bigint;
  #bytes: Uint8Array<ArrayBuffer>;
  #isDestroyed = false;
  #home: { readonly runner: Runner; readonly buffer: GPUBuffer } | null = null;

  /** @param bytes little-endian, its own */
  constructor(curve: CurveContext, bytes: Uint8Array<ArrayBuffer>, label: string) {
    this.order = curve.order;
    this.#bytes = bytes;
    this.label = label;
  }

  /** None, once they are destroyed. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** Whether they are on a device. */
  get isPlaced(): boolean {
    return this.#home !== null && this.on(this.#home.runner.device) !== null;
  }

  /** Where they are on a device; null if they are not, or are no longer. */
  on(device: GPUDevice): GPUBuffer | null {
    if (this.#home === null) return null;
    const { runner, buffer } = this.#home;
    return runner.device === device && !runner.isLost && runner.ledger.has(buffer) ? buffer : null;
  }

  /**
   * Uploads them, if they are not on the device. One that is destroyed meanwhile has nothing there.
   *
   * @param goOn called now and then while it waits for room; what it throws ends that
   */
  async place(runner: Runner, checkpoint: () => void): Promise<void> {
    if (this.on(runner.device) !== null || this.bytes.length === 0) return;
    this.leave();
    const buffer = await runner.createResident('scalars', this.label, this.bytes.length, { checkpoint }, this.bytes);
    if (this.#isDestroyed) runner.ledger.destroy(buffer);
    else this.#home = { runner, buffer };
  }

  /** Gives up what is on a device. */
  leave(): void {
    this.#home?.runner.ledger.destroy(this.#home.buffer);
    this.#home = null;
  }

  destroy(): void {
    this.leave();
    this.#isDestroyed = true;
    this.#bytes = new Uint8Array();
  }
}

/** A handle of scalars, or of some in a row. */
export class LoadedScalars implements Scalars {
  readonly length: number;
  readonly store: ScalarStore;
  /** Of the store, in bytes. */
  readonly start: number;
  readonly #scalarBytes: number;
  readonly #isPart: boolean;
  #isOver = false;
  /** What was found out about them, for those who compute differently. */
  readonly #surveys = new Map<string, Surveyed>();

  constructor(store: ScalarStore, scalarBytes: number, start: number, length: number, isPart: boolean) {
    this.store = store;
    this.start = start;
    this.length = length;
    this.#scalarBytes = scalarBytes;
    this.#isPart = isPart;
  }

  /** Whether it is a handle: its proxies and heirs are none, though they are instances of the class. */
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

  /** `subarray`, for calls that go on where the handle was destroyed meanwhile. */
  part(from: number, to: number): LoadedScalars {
    return new LoadedScalars(this.store, this.#scalarBytes, this.start + from * this.#scalarBytes, to - from, true);
  }

  /** What was found by looking at them; looks only once for each key. */
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
}
