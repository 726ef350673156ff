/** Points that an engine holds, and the errors of points that it refuses. */
import type { Bases } from '../../api/engine.js';
import type { CurveContext } from '../../curves/curve.js';
import type { PointFormat, PointSource } from '../../curves/point-source.js';
import { badArgument, MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import { dispose, inspect, notTheHandle, printed } from '../../handle.js';
import type { Call } from '../../scheduling/call.js';
import { type Resident, Suspicion } from '../../session/operation.js';
import type { TableShape } from '../plan/workload.js';

/** Bases on a device: their buffer, and digests of its contents. */
export interface BasesOnDevice {
  readonly buffer: GPUBuffer;
  /** Slices that can be bound, and the digest of each. */
  readonly digests: readonly RangeDigest[];
}

/** A slice of resident bases and its digest. */
export interface RangeDigest {
  readonly buffer: string;
  readonly offset: number;
  readonly size: number;
  readonly digest: number;
}

/** Loads points to a device and compares what is there with what was loaded. */
export interface BasesLoader {
  load(runner: Runner, source: PointSource, bases: LoadedBases, call: Call): Promise<BasesOnDevice>;
  isAsLoaded(runner: Runner, loaded: BasesOnDevice, call: Call): Promise<boolean>;
}

/** Parts that bases are made of. */
interface BasesParts {
  /** Number of points. */
  readonly length: number;
  readonly label: string;
  readonly tables: TableShape;
  /** The points in main memory; null where they are on the device alone. */
  readonly source: PointSource | null;
  /** Loads them to a device; null where the CPU alone computes with them. */
  readonly loader: BasesLoader | null;
  /** As `LoadedBases.pages`. */
  readonly pages?: readonly LoadedBases[];
}

/** The handle of loaded bases: in main memory, on a device, or both. */
export class LoadedBases implements Bases, Resident {
  readonly length: number;
  readonly label: string;
  readonly tables: TableShape;
  readonly noun = 'bases';
  readonly canConfirm = true;
  /**
   * The same bases in ranges that follow each other, each in a buffer of its own; none where one
   * buffer of the device holds all.
   */
  readonly pages: readonly LoadedBases[];
  readonly #loader: BasesLoader | null;
  readonly #suspicion = new Suspicion();
  #source: PointSource | null;
  #home: { readonly runner: Runner; readonly loaded: BasesOnDevice } | null = null;
  #isDestroyed = false;

  constructor({ length, label, tables, source, loader, pages = [] }: BasesParts) {
    this.length = length;
    this.label = label;
    this.tables = tables;
    this.#source = source;
    this.#loader = loader;
    this.pages = pages;
  }

  /** Points in main memory; null where there is no copy, or the bases were destroyed. */
  get source(): PointSource | null {
    return this.#source;
  }

  /** True if no device takes these bases. */
  get isOnCpuOnly(): boolean {
    return this.#loader === null;
  }

  get byteLength(): number {
    if (!(#home in this)) throw notTheHandle();
    return this.pages.reduce((sum, page) => sum + page.byteLength, this.#home?.loaded.buffer.size ?? 0);
  }

  get isSuspect(): boolean {
    return this.#suspicion.isRaised;
  }

  suspect(): void {
    this.#suspicion.raise();
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (!this.#isDestroyed) return;
    throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
  }

  bufferOn(runner: Runner): GPUBuffer | null {
    return this.#on(runner)?.buffer ?? null;
  }

  async confirm(runner: Runner, call: Call): Promise<boolean> {
    const loaded = this.#on(runner);
    if (loaded === null || this.#loader === null) return false;
    const loader = this.#loader;
    return this.#suspicion.clear(() => loader.isAsLoaded(runner, loaded, call));
  }

  async bring(runner: Runner, call: Call): Promise<void> {
    this.assertAlive();
    // another call may have replaced the device meanwhile
    if (runner.isOver) call.onRefused?.();
    runner.assertAlive();
    if (this.#source === null || this.#loader === null) throw this.#lostError(runner);
    const loaded = await this.#loader.load(runner, this.#source, this, call.detached());
    try {
      this.assertAlive();
    } catch (error) {
      runner.ledger.destroy(loaded.buffer);
      throw error;
    }
    this.moveTo(runner, loaded);
  }

  /** Registers where the bases are on a device, and frees their earlier buffer. */
  moveTo(runner: Runner, loaded: BasesOnDevice): void {
    this.#leave();
    this.#home = { runner, loaded };
    this.#suspicion.reset();
  }

  destroy(): void {
    if (!(#home in this)) throw notTheHandle();
    this.#isDestroyed = true;
    this.#source = null;
    this.#leave();
    for (const page of this.pages) page.destroy();
  }

  [dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'Bases';
  }

  [inspect](): object {
    const { label, length, byteLength } = this;
    return printed('Bases', { label, length, byteLength });
  }

  #on(runner: Runner): BasesOnDevice | null {
    return this.#home?.runner === runner ? this.#home.loaded : null;
  }

  #lostError(runner: Runner): MsmError {
    const [code, what] =
      this.#on(runner) === null
        ? (['device-lost', 'were lost with their device'] as const)
        : (['internal', 'are no longer what was loaded'] as const);
    const advice = 'retainBases is false; load them again';
    return new MsmError(code, `the bases '${this.label}' ${what}, and ${advice}`);
  }

  #leave(): void {
    this.#home?.runner.ledger.destroy(this.#home.loaded.buffer);
    this.#home = null;
  }
}

/** Reason to reject a point. */
type Wrong = 'a coordinate' | 'off the curve' | 'outside the group';

/**
 * Returns the error of a load.
 *
 * @param index index of the first wrong point
 * @param meant format in which its bytes are a point of the curve; null: none
 */
export const refusal = ({ name }: CurveContext, index: number, wrong: Wrong, meant: PointFormat | null): MsmError => {
  const point = `points[${index}]`;
  const advice = meant === null ? '' : `, but read as ${meant} it is on the curve; convert before you load`;
  switch (wrong) {
    case 'a coordinate':
      return badArgument(`${point}: a coordinate is not below the prime of ${name}${advice}`);
    case 'off the curve':
      return new MsmError('not-on-curve', `${point} is not on ${name}${advice}`);
    case 'outside the group':
      return new MsmError('not-in-subgroup', `${point} is on ${name}, but not in its group of order r`);
  }
};
