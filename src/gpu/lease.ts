/** Leases: the buffers that the device gives a submission for its run. */
import type { Ticket } from '../scheduling/ticket.js';
import type { PooledBuffer, Want } from './buffer-pool.js';
import { bufferUsage } from './constants.js';
import { bufferBytes, type Ledger } from './ledger.js';

/** An engine as a client of a device. */
export interface Client {
  readonly ledger: Ledger;
  /** Limit on its scratch, in bytes. */
  readonly budget: number;
  /** Limit on all clients of the device together, with residents, in bytes. */
  readonly deviceBudget: number;
  /** True if its scratch is pooled for the next submission. */
  readonly keeps: boolean;
}

/** A submission that waits for its lease, or has it. */
export interface LeaseRequest extends Ticket {
  readonly client: Client;
  /** Buffers that are pooled between submissions. */
  readonly wants: readonly Want[];
  begin(lease: Lease): void;
  refuse(error: unknown): void;
}

/** A buffer of a lease, and the want that it serves. */
export interface HeldBuffer {
  readonly buffer: GPUBuffer;
  readonly want: Want;
}

/** Name of the buffer that is mapped. */
export const READ_BACK = 'read-back';

/** Name of the buffer with the dispatch chain and what a submission returns. */
export const RETURNED = 'result';

/** Usages of buffers other than plain scratch. */
const usages: Readonly<Record<string, number>> = {
  uniforms: bufferUsage.uniform | bufferUsage.copyDst,
  [READ_BACK]: bufferUsage.mapRead | bufferUsage.copyDst,
  timestamps: bufferUsage.queryResolve | bufferUsage.copySrc,
  [RETURNED]: bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc,
};
const SCRATCH_USAGE = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc | bufferUsage.indirect;

/** Returns the wants of a submission. @param sizes bytes by name */
export const wantsOf = (sizes: Readonly<Record<string, number>>): Want[] =>
  Object.entries(sizes).map(([name, bytes]) => ({
    name,
    bytes: bufferBytes(bytes),
    usage: usages[name] ?? SCRATCH_USAGE,
  }));

/** Returns the bytes of wants together. */
export const bytesOf = (wants: readonly Want[]): number => wants.reduce((total, { bytes }) => total + bytes, 0);

/** Buffers of a submission: pooled ones, and wants for which buffers are still made. */
export class Lease {
  readonly request: LeaseRequest;
  readonly held = new Map<string, HeldBuffer>();
  /** Sequence number of its last submit on the device; 0 until submitted. */
  number = 0;
  /** True if its buffers must not be pooled. */
  isTainted = false;
  /** Resolves when the submission is over. */
  readonly over: Promise<void>;
  settle: () => void = () => undefined;
  #missing: readonly Want[];

  constructor(request: LeaseRequest, taken: ReadonlyMap<string, PooledBuffer>, missing: readonly Want[]) {
    this.request = request;
    this.#missing = missing;
    for (const want of request.wants) {
      const pooled = taken.get(want.name);
      if (pooled !== undefined) this.held.set(want.name, { buffer: pooled.buffer, want });
    }
    this.over = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Bytes of the buffers that are still made. */
  get reserved(): number {
    return bytesOf(this.#missing);
  }

  /** Makes the missing buffers, inside the caller's error scopes. */
  make(): void {
    const { ledger } = this.request.client;
    while (this.#missing.length > 0) {
      const [want, ...rest] = this.#missing as [Want, ...Want[]];
      const buffer = ledger.create('scratch', want.name, want.bytes, want.usage);
      this.held.set(want.name, { buffer, want });
      this.#missing = rest;
    }
  }

  /** Destroys the buffers that it still holds. */
  destroy(): void {
    const { ledger } = this.request.client;
    for (const { buffer } of this.held.values()) ledger.destroy(buffer);
  }
}
