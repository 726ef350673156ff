import { bufferUsage } from './constants.js';
import type { Ledger } from './ledger.js';

const STORAGE = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc | bufferUsage.indirect;

/** Named buffers that are kept from run to run, and replaced where a run wants a larger one. */
export class ScratchPool {
  readonly #ledger: Ledger;
  readonly #usages: Readonly<Record<string, number>>;
  readonly #buffers = new Map<string, GPUBuffer>();

  /** @param usages of the buffers that are no storage buffers */
  constructor(ledger: Ledger, usages: Readonly<Record<string, number>>) {
    this.#ledger = ledger;
    this.#usages = usages;
  }

  /**
   * Makes sure that every named buffer has at least the size asked for. Where keeping the larger buffers of earlier runs would
   * break the budget, all of them go and only what is asked for is made.
   */
  provide(sizes: Readonly<Record<string, number>>, budget: number): void {
    let kept = 0;
    for (const [name, buffer] of this.#buffers) if (!(name in sizes)) kept += buffer.size;
    for (const [name, bytes] of Object.entries(sizes)) kept += Math.max(bytes, this.#buffers.get(name)?.size ?? 0);
    if (kept > budget) this.clear();
    const short = Object.entries(sizes).filter(([name, bytes]) => (this.#buffers.get(name)?.size ?? 0) < bytes);
    // first all that goes, then all that comes, so that the peak is no more than the sum
    for (const [name] of short) this.#drop(name);
    for (const [name, bytes] of short) {
      this.#buffers.set(name, this.#ledger.create('scratch', name, bytes, this.#usages[name] ?? STORAGE));
    }
  }

  get(name: string): GPUBuffer | undefined {
    return this.#buffers.get(name);
  }

  clear(): void {
    for (const name of [...this.#buffers.keys()]) this.#drop(name);
  }

  #drop(name: string): void {
    const buffer = this.#buffers.get(name);
    if (buffer !== undefined) this.#ledger.destroy(buffer);
    this.#buffers.delete(name);
  }
}
