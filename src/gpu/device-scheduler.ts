/** Scheduler of a device: it grants turns and memory to the submissions of all engines. */
import { abortedBy, assertNotAborted, NoRoom, onAbort } from '../errors.js';
import { DeviceQueue } from '../scheduling/device-queue.js';
import type { Ticket } from '../scheduling/edf.js';
import {
  type Allotment,
  type Allowance,
  type Client,
  DeviceMemory,
  Lease,
  type LeaseRequest,
  READ_BACK,
  wantsOf,
} from './device-memory.js';
import { watchOf } from './device-watch.js';

/** Milliseconds between two checks for room while the device computes. */
const CHECK_MS = 4;

/**
 * Grants leases on one device. A submission has no buffer before its turn, and before all its
 * buffers fit the budgets of its engine and of the device.
 *
 * A GPUQueue executes submits in order. So the next submission may take the scratch of a submission
 * as soon as the last submit was made: earlier commands use it first. Only the mapped buffer is not
 * shared.
 */
export class DeviceScheduler {
  readonly #queue = new DeviceQueue<LeaseRequest>();
  readonly #leases = new Map<LeaseRequest, Lease>();
  readonly #memory = new DeviceMemory(this.#leases);
  /** Leases whose last submit was made and which are not done, in their order. */
  readonly #ahead = new Set<Lease>();
  /** Paused submissions, and what resumes each. */
  readonly #resuming = new Map<LeaseRequest, () => void>();
  #submitted = 0;

  /** Scratch buffers that were freed. */
  get frees(): number {
    return this.#memory.frees;
  }

  join(client: Client): void {
    this.#memory.join(client);
  }

  /** Returns the scratch that a client may hold now. */
  allowanceOf(client: Client): Allowance {
    return this.#memory.allowanceOf(client);
  }

  /**
   * Returns true if the device has, or is about to be given, work of equal or higher priority than
   * `own`, of another call.
   */
  isBusyBeside(own: Ticket): boolean {
    return this.#queue.isBusyBeside(own);
  }

  /** Frees a client's scratch, and refuses its submissions that wait. */
  leave(client: Client): void {
    this.#refuse((request) => request.client === client, new Error('the engine was destroyed'));
    this.#memory.leave(client);
    this.#advance();
  }

  /** Refuses all waiting submissions: the device is lost. */
  end(): void {
    this.#refuse(() => true, new Error('the device was lost'));
  }

  /**
   * Grants a lease when a submission has its turn and its buffers fit.
   *
   * @param sizes bytes of the pooled buffers, by name
   * @throws MsmError `aborted`; `out-of-memory` where there will never be room
   */
  admit(client: Client, sizes: Readonly<Record<string, number>>, ticket: Ticket): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const { signal } = ticket;
      // a signal that is aborted already fires no event
      assertNotAborted(signal);
      const leave = (): void => {
        this.#queue.remove(request);
        reject(abortedBy(signal));
        this.#advance();
      };
      let unsubscribe = (): void => undefined;
      const request: LeaseRequest = {
        ...ticket,
        ...{ client, wants: wantsOf(sizes) },
        begin: (lease) => {
          unsubscribe();
          resolve(lease);
        },
        refuse: (error) => {
          unsubscribe();
          reject(error);
        },
      };
      this.#queue.add(request, performance.now());
      this.#advance();
      if (!this.#queue.waiting.includes(request)) return;
      try {
        unsubscribe = onAbort(signal, leave);
      } catch (error) {
        // the caller's signal may not be a real AbortSignal; such a request must not wait
        this.#queue.remove(request);
        throw error;
      }
    });
  }

  /**
   * Resolves at once, or when a more urgent submission has made its submits; called between two
   * submits.
   *
   * @throws MsmError `aborted`
   */
  async pause({ request }: Lease): Promise<void> {
    this.#queue.pause(request);
    this.#advance();
    if (this.#queue.resume(request)) return;
    await new Promise<void>((resolve, reject) => {
      const unsubscribe = onAbort(request.signal, () => {
        this.#resuming.delete(request);
        reject(abortedBy(request.signal));
      });
      this.#resuming.set(request, () => {
        unsubscribe();
        resolve();
      });
    });
  }

  /** Resolves when earlier submissions are done; null if they are. */
  ahead(): Promise<unknown> | null {
    return this.#ahead.size === 0 ? null : Promise.all([...this.#ahead].map(({ over }) => over));
  }

  /** Notes that the last submit of a lease was made, without an error. */
  submitted(lease: Lease): void {
    lease.number = ++this.#submitted;
    this.#ahead.add(lease);
    for (const name of [...lease.held.keys()]) if (name !== READ_BACK) this.#memory.keep(lease, name);
    this.#queue.submitted(lease.request);
    this.#advance();
    lease.request.onSubmitted?.();
  }

  /** Notes that the result of a lease was read and its buffer is unmapped. */
  done(lease: Lease): void {
    this.#ahead.delete(lease);
    this.#memory.keep(lease, READ_BACK);
    lease.settle();
    this.#queue.done(lease.request);
    this.#memory.reclaim(lease.number);
    this.#advance();
    lease.request.onComputed?.();
  }

  /** Ends a lease after success or failure, and destroys the buffers that it still holds. */
  release(lease: Lease): void {
    lease.destroy();
    this.#leases.delete(lease.request);
    this.#resuming.delete(lease.request);
    this.#ahead.delete(lease);
    this.#queue.done(lease.request);
    lease.settle();
    this.#memory.reclaim(lease.number);
    this.#advance();
  }

  /** Frees a client's pooled scratch; the buffers of its leases will not be pooled either. */
  discard(client: Client): void {
    this.#memory.retire(({ ledger }) => ledger === client.ledger);
    for (const lease of this.#leases.values()) if (lease.request.client === client) lease.isTainted = true;
  }

  /** Frees a client's pooled scratch, after the work that uses it. */
  async trim({ ledger: own }: Client): Promise<void> {
    this.#memory.retire(({ ledger }) => ledger === own);
    while (this.#memory.pool.retired.some(({ ledger }) => ledger === own)) {
      await this.#change();
      this.#memory.reclaim();
    }
  }

  /**
   * Makes a resident when there is room for it. New submissions leave that room free, so that the
   * resident does not wait for ever.
   *
   * @param make makes the resident, before it first waits
   * @param checkpoint called now and then while it waits; what it throws ends the wait
   * @throws MsmError `out-of-memory` where there will never be room; what `make` throws
   */
  async withRoom<Result>(bytes: number, make: () => Promise<Result>, checkpoint: () => void): Promise<Result> {
    const own = this.#memory.settle(bytes);
    try {
      while (!this.#memory.hasRoomFor(own)) {
        await this.#change();
        checkpoint();
      }
      return make();
    } finally {
      this.#memory.unsettle(own);
      this.#advance();
    }
  }

  /** Resolves after a short time, or when a submission ends. */
  async #change(): Promise<void> {
    const wait = this.#ahead.size === 0 ? 0 : CHECK_MS;
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, wait)),
      ...[...this.#ahead].map(({ over }) => over),
    ]);
  }

  /** Refuses waiting submissions, and resumes paused ones, which then fail by themselves. */
  #refuse(isMeant: (request: LeaseRequest) => boolean, error: Error): void {
    for (const request of this.#queue.waiting.filter(isMeant)) {
      this.#queue.remove(request);
      request.refuse(error);
    }
    for (const [request, resume] of [...this.#resuming].filter(([each]) => isMeant(each))) {
      this.#resuming.delete(request);
      resume();
    }
  }

  /** Resumes or begins every submission that has its turn. */
  #advance(): void {
    for (const [request, resume] of this.#resuming) {
      if (!this.#queue.resume(request)) continue;
      this.#resuming.delete(request);
      resume();
    }
    for (;;) {
      let allotted: Allotment | NoRoom | null = null;
      const request = this.#queue.next(performance.now(), (candidate) => {
        allotted = this.#memory.allot(candidate);
        return allotted !== null;
      });
      if (request === null) return;
      this.#begin(request, allotted as unknown as Allotment | NoRoom);
    }
  }

  #begin(request: LeaseRequest, allotted: Allotment | NoRoom): void {
    if (allotted instanceof NoRoom) {
      this.#queue.done(request);
      request.refuse(allotted);
      return;
    }
    this.#memory.take(allotted, request.client);
    const lease = new Lease(request, allotted.taken, allotted.missing);
    this.#leases.set(request, lease);
    request.onBegun?.();
    request.begin(lease);
  }
}

const schedulers = new WeakMap<GPUDevice, DeviceScheduler>();

/** Returns the scheduler of a device. */
export const schedulerOf = (device: GPUDevice): DeviceScheduler => {
  const known = schedulers.get(device);
  if (known !== undefined) return known;
  const scheduler = new DeviceScheduler();
  schedulers.set(device, scheduler);
  void watchOf(device).loss.then(() => scheduler.end());
  return scheduler;
};
