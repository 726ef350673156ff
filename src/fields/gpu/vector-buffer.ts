/** Buffers that vectors stay in between runs. */
import { MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import type { CallContext } from '../../session/call.js';
import type { Resident } from '../../session/operation.js';

/** A buffer, and the runner whose ledger has it. */
export interface FilledBuffer {
  readonly buffer: GPUBuffer;
  readonly runner: Runner;
}

/** The source of a buffer's contents: numbers in main memory, or a run and its operands. */
export interface BufferSource {
  /**
   * Fills a buffer on the current device.
   *
   * @throws MsmError `device-lost` where an operand was destroyed since
   */
  fill(call: CallContext): Promise<FilledBuffer>;
  /** Overwrites the numbers that the source has in main memory. */
  forget?(): void;
}

/** A buffer with the results of one run, or with a matrix. It is freed with the last of them. */
export class VectorBuffer implements Resident {
  readonly noun = 'vectors';
  readonly label = 'vectors';
  readonly isSuspect = false;
  readonly canConfirm = false;
  /** Null where the buffer cannot be filled again, and once it is freed. */
  #source: BufferSource | null;
  #filled: FilledBuffer;
  #users: number;

  /** @param source fills the buffer again after a loss of the device; null: nothing can */
  constructor(filled: FilledBuffer, users: number, source: BufferSource | null) {
    this.#filled = filled;
    this.#users = users;
    this.#source = source;
  }

  get buffer(): GPUBuffer {
    return this.#filled.buffer;
  }

  /** Returns the buffer if it is on a device, for whichever engine; null if it is not. */
  on(device: GPUDevice): GPUBuffer | null {
    const { buffer, runner } = this.#filled;
    return runner.device === device && runner.ledger.has(buffer) ? buffer : null;
  }

  bufferOn({ ledger }: Runner): GPUBuffer | null {
    return ledger.has(this.buffer) ? this.buffer : null;
  }

  async confirm(): Promise<boolean> {
    return true;
  }

  suspect(): void {}

  async bring(_: Runner, call: CallContext): Promise<void> {
    if (this.#source === null) {
      const why = this.#users === 0 ? 'what they were computed from was destroyed' : 'retainVectors is false';
      throw new MsmError(
        'device-lost',
        `the vectors were lost with the GPU device, and ${why}; load them again, and compute them`,
      );
    }
    this.#filled = await this.#source.fill(call);
    // the handle may have been destroyed meanwhile
    if (this.#users === 0) this.destroy();
  }

  assertAlive(): void {}

  /** Notes that one user has ended. */
  leave(): void {
    if (--this.#users === 0) this.destroy();
  }

  /** Frees the buffer, and its source. */
  destroy(): void {
    this.#filled.runner.ledger.destroy(this.#filled.buffer);
    this.forget();
  }

  /** Frees the source: the buffer is lost with its device. */
  forget(): void {
    this.#source?.forget?.();
    this.#source = null;
  }
}
