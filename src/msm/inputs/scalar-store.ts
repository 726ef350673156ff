import type { CurveContext } from '../../curves/curve.js';
import type { Runner } from '../../gpu/runner.js';
import type { CallContext } from '../../session/call-context.js';
import type { Resident } from '../../session/resident.js';

/** Scalars that several MSMs use: in main memory, and in a buffer on one device. */
export class ScalarStore implements Resident {
  readonly label: string;
  readonly order: bigint;
  /** Always false: the audit of decompose compares the scalars with those sent in every run. */
  readonly isSuspect = false;
  readonly noun = 'scalars';
  readonly canConfirm = false;
  #bytes: Uint8Array<ArrayBuffer>;
  #isDestroyed = false;
  #home: { readonly runner: Runner; readonly buffer: GPUBuffer } | null = null;

  /** @param bytes little-endian scalars; the store owns them */
  constructor(curve: CurveContext, bytes: Uint8Array<ArrayBuffer>, label: string) {
    this.order = curve.order;
    this.#bytes = bytes;
    this.label = label;
  }

  /** The scalars; empty once they are destroyed. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** True while the scalars are on a device. */
  get isPlaced(): boolean {
    return this.#home !== null && this.bufferOn(this.#home.runner) !== null;
  }

  /**
   * Returns the buffer of the scalars on the runner's device, whichever engine uploaded it; null if
   * there is none.
   */
  bufferOn({ device }: Runner): GPUBuffer | null {
    if (this.#home === null) return null;
    const { runner, buffer } = this.#home;
    return runner.device === device && !runner.isLost && runner.ledger.has(buffer) ? buffer : null;
  }

  async confirm(): Promise<boolean> {
    return true;
  }

  /** Uploads the scalars unless they are on the device. Frees the buffer if they were destroyed. */
  async bring(runner: Runner, call: CallContext): Promise<void> {
    if (this.bufferOn(runner) !== null || this.bytes.length === 0) return;
    this.#leave();
    const wait = { checkpoint: () => call.checkpoint(), ticket: undefined };
    const { length } = this.bytes;
    const buffer = await runner.createResident('scalars', this.label, length, wait, this.bytes);
    if (this.#isDestroyed) runner.ledger.destroy(buffer);
    else this.#home = { runner, buffer };
  }

  /** Frees the copy on the device, which may be wrong. The copy in main memory is right. */
  suspect(): void {
    this.#leave();
  }

  /**
   * Does nothing: a running call keeps the scalars in main memory after the handle is destroyed.
   */
  assertAlive(): void {}

  destroy(): void {
    this.#leave();
    this.#isDestroyed = true;
    this.#bytes = new Uint8Array();
  }

  #leave(): void {
    this.#home?.runner.ledger.destroy(this.#home.buffer);
    this.#home = null;
  }
}
