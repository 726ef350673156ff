import { MsmError } from '../errors.js';
import { LEAST_BUFFER_BYTES } from '../shaders/limits.js';

/** The account of scratch; all others are of residents. */
export const SCRATCH = 'scratch';

/** Advice of errors with code `out-of-memory`. */
export const OUT_OF_MEMORY_ADVICE = 'set a smaller memoryBudget, or destroy bases that are not needed';

/** Returns the size of a buffer for `bytes` bytes. */
export const bufferBytes = (bytes: number): number => Math.max(LEAST_BUFFER_BYTES, Math.ceil(bytes / 4) * 4);

/** Makes and destroys the GPU buffers of one engine, and counts every byte of them. */
export class Ledger {
  readonly #device: GPUDevice;
  readonly #open = new Map<GPUBuffer, string>();
  readonly #bytes = new Map<string, number>();
  #peak = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Peak of scratch, in bytes. */
  get peak(): number {
    return this.#peak;
  }

  /** Bytes of all accounts. */
  get total(): number {
    let total = 0;
    for (const bytes of this.#bytes.values()) total += bytes;
    return total;
  }

  /** Returns the bytes of an account, an open label such as `scratch` or `bases`. */
  bytesOf(account: string): number {
    return this.#bytes.get(account) ?? 0;
  }

  /** Makes a buffer, inside the caller's error scopes, which catch a lack of memory. */
  create(account: string, label: string, bytes: number, usage: number): GPUBuffer {
    const size = bufferBytes(bytes);
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
    this.#enter(buffer, account);
    return buffer;
  }

  /** Transfers a buffer to another ledger. */
  transfer(buffer: GPUBuffer, to: Ledger): void {
    const account = this.#open.get(buffer);
    if (account === undefined || to === this) return;
    this.#leave(buffer, account);
    to.#enter(buffer, account);
  }

  /** Returns true for a buffer of this ledger that is not destroyed. */
  has(buffer: GPUBuffer): boolean {
    return this.#open.has(buffer);
  }

  destroy(buffer: GPUBuffer): void {
    const account = this.#open.get(buffer);
    if (account === undefined) return;
    this.#leave(buffer, account);
    buffer.destroy();
  }

  destroyAll(): void {
    for (const buffer of [...this.#open.keys()]) this.destroy(buffer);
  }

  #enter(buffer: GPUBuffer, account: string): void {
    this.#open.set(buffer, account);
    this.#bytes.set(account, this.bytesOf(account) + buffer.size);
    this.#peak = Math.max(this.#peak, this.bytesOf(SCRATCH));
  }

  #leave(buffer: GPUBuffer, account: string): void {
    this.#open.delete(buffer);
    this.#bytes.set(account, this.bytesOf(account) - buffer.size);
  }
}
