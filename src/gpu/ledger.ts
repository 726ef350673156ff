import { MsmError } from '../errors.js';
import { LEAST_BUFFER_BYTES } from '../shaders/limits.js';

/** What a buffer is counted as. */
export type Account = 'bases' | 'scalars' | 'scratch';

/** What there is to do about it. */
export const OUT_OF_MEMORY_ADVICE = 'set a smaller memoryBudget, or destroy bases that are not needed';

/** Makes and destroys the GPU buffers of one engine, and counts every byte of them. */
export class Ledger {
  readonly #device: GPUDevice;
  readonly #open = new Map<GPUBuffer, Account>();
  readonly #bytes: Record<Account, number> = { bases: 0, scalars: 0, scratch: 0 };
  #peak = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  get memory(): Record<Account | 'peak', number> {
    return { ...this.#bytes, peak: this.#peak };
  }

  /** Buffers that are alive. */
  get count(): number {
    return this.#open.size;
  }

  /** The caller holds error scopes around this: running out of memory shows there, not here. */
  create(account: Account, label: string, bytes: number, usage: number): GPUBuffer {
    const size = Math.max(LEAST_BUFFER_BYTES, Math.ceil(bytes / 4) * 4);
    let buffer: GPUBuffer;
    try {
      buffer = this.#device.createBuffer({ label: `webgpu-msm ${label}`, size, usage });
    } catch (error) {
      throw new MsmError(
        'out-of-memory',
        `the device refused a buffer of ${size} bytes for ${label}; ${OUT_OF_MEMORY_ADVICE}`,
        { cause: error },
      );
    }
    this.#open.set(buffer, account);
    this.#bytes[account] += size;
    this.#peak = Math.max(this.#peak, this.#bytes.scratch);
    return buffer;
  }

  /** Whether a buffer is one of these, and is alive. */
  has(buffer: GPUBuffer): boolean {
    return this.#open.has(buffer);
  }

  destroy(buffer: GPUBuffer): void {
    const account = this.#open.get(buffer);
    if (account === undefined) return;
    this.#open.delete(buffer);
    this.#bytes[account] -= buffer.size;
    buffer.destroy();
  }

  destroyAll(): void {
    for (const buffer of [...this.#open.keys()]) this.destroy(buffer);
  }
}
