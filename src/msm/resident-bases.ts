import type { Bases } from '../api/handles.js';
import type { PointSource } from '../curves/point-source.js';
import { badArgument, MsmError } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { Loaded } from './gpu/load.js';
import type { TableShape } from './plan/workload.js';

/** JavaScript engines that lack `Symbol.dispose` lack `using` too; the method then has a name that nobody calls. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

/** Error of a handle's methods on another object: only the handle has its private fields. */
export const notTheHandle = (): MsmError =>
  badArgument('this is a proxy or a copy of a handle; call it on the handle itself');

/** Where bases are on the GPU. */
interface Home {
  readonly runner: Runner;
  readonly loaded: Loaded;
}

/** Bases on the GPU, or in main memory until a GPU needs them, and what the engine needs to know about them. */
export class ResidentBases implements Bases {
  readonly length: number;
  readonly label: string;
  readonly tables: TableShape;
  /** What to load them from again after the loss of a device. */
  readonly source: PointSource | null;
  /** How often something went wrong that may have been theirs, and as of when they were looked at. */
  #suspicions = 0;
  #cleared = 0;
  #home: Home | null;
  #isDestroyed = false;

  /** @param home null: in main memory alone; then there is a source */
  constructor(length: number, label: string, tables: TableShape, source: PointSource | null, home: Home | null) {
    this.length = length;
    this.label = label;
    this.tables = tables;
    this.source = source;
    this.#home = home;
  }

  /** Something went wrong since they were loaded or looked at. */
  get isSuspect(): boolean {
    return this.#suspicions > this.#cleared;
  }

  suspect(): void {
    this.#suspicions++;
  }

  /**
   * Looks at them: what goes wrong meanwhile leaves them suspect, for whoever saw it.
   *
   * @param areRight whether they are what was loaded
   * @returns the same
   */
  async clear(areRight: () => Promise<boolean>): Promise<boolean> {
    const seen = this.#suspicions;
    const found = await areRight();
    if (found) this.#cleared = Math.max(this.#cleared, seen);
    return found;
  }

  get byteLength(): number {
    if (!(#home in this)) throw notTheHandle();
    return this.#home?.loaded.buffer.size ?? 0;
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (this.#isDestroyed) throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
  }

  /** Where they are on a device; null if they are not on it. */
  on(runner: Runner): Loaded | null {
    this.assertAlive();
    return this.#home?.runner === runner ? this.#home.loaded : null;
  }

  moveTo(runner: Runner, loaded: Loaded): void {
    this.#leave();
    this.#home = { runner, loaded };
    this.#cleared = this.#suspicions;
  }

  destroy(): void {
    if (!(#home in this)) throw notTheHandle();
    this.#isDestroyed = true;
    this.#leave();
  }

  #leave(): void {
    this.#home?.runner.ledger.destroy(this.#home.loaded.buffer);
    this.#home = null;
  }

  [dispose](): void {
    this.destroy();
  }
}
