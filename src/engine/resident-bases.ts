import type { Bases } from '../api.js';
import { MsmError } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { TableShape } from '../plan/workload.js';

/** JavaScript engines that lack `Symbol.dispose` lack `using` too; the method then has a name that nobody calls. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

/** Bases on the GPU, and what the engine needs to know about them. */
export class ResidentBases implements Bases {
  readonly length: number;
  readonly label: string;
  readonly tables: TableShape;
  /** What to load them from again after the loss of a device. */
  readonly source: Uint8Array<ArrayBuffer> | null;
  #home: { readonly runner: Runner; readonly buffer: GPUBuffer } | null;

  constructor(
    length: number,
    label: string,
    tables: TableShape,
    source: Uint8Array<ArrayBuffer> | null,
    runner: Runner,
    buffer: GPUBuffer,
  ) {
    this.length = length;
    this.label = label;
    this.tables = tables;
    this.source = source;
    this.#home = { runner, buffer };
  }

  get byteLength(): number {
    return this.#home?.buffer.size ?? 0;
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (this.#home === null)
      throw new MsmError('destroyed', `the bases '${this.label}' were destroyed; load them again`);
  }

  /** Their buffer on a device; null if they are on another one, which must have been lost. */
  bufferOn(runner: Runner): GPUBuffer | null {
    this.assertAlive();
    return this.#home?.runner === runner ? this.#home.buffer : null;
  }

  moveTo(runner: Runner, buffer: GPUBuffer): void {
    this.#home = { runner, buffer };
  }

  destroy(): void {
    this.#home?.runner.ledger.destroy(this.#home.buffer);
    this.#home = null;
  }

  [dispose](): void {
    this.destroy();
  }
}
