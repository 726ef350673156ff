/** Buffers that vectors stay in between runs. */
import { MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import type { Resident } from '../../session/resident.js';

/** A buffer with the results of one run, or with a matrix. It is freed with the last of them. */
export class VectorBuffer implements Resident {
  readonly noun = 'vectors';
  readonly label: string;
  readonly isSuspect = false;
  readonly canConfirm = false;
  readonly buffer: GPUBuffer;
  readonly #runner: Runner;
  #users: number;

  constructor(label: string, buffer: GPUBuffer, runner: Runner, users: number) {
    this.label = label;
    this.buffer = buffer;
    this.#runner = runner;
    this.#users = users;
  }

  bufferOn(runner: Runner): GPUBuffer | null {
    return runner.ledger.has(this.buffer) ? this.buffer : null;
  }

  async confirm(): Promise<boolean> {
    return true;
  }

  suspect(): void {}

  async bring(): Promise<void> {
    throw new MsmError('device-lost', 'the vectors were lost with the GPU device; load them again, and compute them');
  }

  assertAlive(): void {}

  /** Notes that one user has ended. */
  leave(): void {
    if (--this.#users === 0) this.destroy();
  }

  destroy(): void {
    this.#runner.ledger.destroy(this.buffer);
  }
}
