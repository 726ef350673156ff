/** Memory of a device: budgets of its clients, pooled scratch, and room for residents. */
import { NoRoom } from '../errors.js';
import { BufferPool, type PooledBuffer, type Want } from './buffer-pool.js';
import { bytesOf, type Client, type Lease, type LeaseRequest } from './lease.js';
import { OUT_OF_MEMORY_ADVICE } from './ledger.js';

/** Limit on scratch in bytes, and the option that sets it. */
export interface Allowance {
  readonly bytes: number;
  readonly name: 'memoryBudget' | 'deviceBudget';
}

/** Buffers for a submission: pooled ones, and wants for which new buffers are made. */
export interface Allotment {
  readonly taken: ReadonlyMap<string, PooledBuffer>;
  readonly missing: readonly Want[];
}

export class DeviceMemory {
  readonly pool = new BufferPool();
  readonly #clients = new Set<Client>();
  readonly #leases: ReadonlyMap<LeaseRequest, Lease>;
  /** Residents that wait for room, in their order. */
  readonly #settling = new Set<{ readonly bytes: number }>();
  /** Sequence number of the last submission that is done. */
  #done = 0;
  #frees = 0;

  /** @param leases of the submissions under way */
  constructor(leases: ReadonlyMap<LeaseRequest, Lease>) {
    this.#leases = leases;
  }

  /** Scratch buffers that were freed. */
  get frees(): number {
    return this.#frees;
  }

  join(client: Client): void {
    this.#clients.add(client);
  }

  /** Frees a client's pooled scratch, and removes the client. */
  leave(client: Client): void {
    this.#clients.delete(client);
    this.pool.clear(client.ledger);
  }

  /**
   * Returns the scratch that a client may hold now: its budget, or what residents leave of the
   * device's.
   */
  allowanceOf({ budget }: Client): Allowance {
    let resident = 0;
    for (const { ledger } of this.#clients) resident += ledger.total - ledger.bytesOf('scratch');
    const left = this.#budget - resident;
    return left < budget ? { bytes: left, name: 'deviceBudget' } : { bytes: budget, name: 'memoryBudget' };
  }

  /** Returns buffers for a submission; null if it has to wait; an error if they never fit. */
  allot({ client, wants }: LeaseRequest): Allotment | NoRoom | null {
    const taken = this.pool.match(wants);
    const missing = wants.filter(({ name }) => !taken.has(name));
    if (this.#fits(client, taken, missing)) {
      const needed = new Set(taken.values());
      if (missing.length > 0) this.retire((pooled) => pooled.ledger === client.ledger && !needed.has(pooled));
      return { taken, missing };
    }
    // the pooled buffers take the room that the submission needs: all of them are retired
    const none: ReadonlyMap<string, PooledBuffer> = new Map();
    const isFull = this.#claimed + bytesOf(missing) > this.#budget;
    this.retire((pooled) => isFull || pooled.ledger === client.ledger);
    if (this.#fits(client, none, wants)) return { taken: none, missing: wants };
    if (this.#isMoreToCome || this.#settling.size > 0) return null;
    const all = bytesOf(wants);
    // the planner may exceed the client's own budget; only the device's is a hard limit
    return this.#bytes + all > this.#budget ? this.#tooMuch(all) : { taken: none, missing: wants };
  }

  /** Gives buffers of an allotment to a client. */
  take({ taken }: Allotment, { ledger }: Client): void {
    this.pool.take(new Set(taken.values()), ledger);
  }

  /** Pools a buffer of a lease for the next submission. */
  keep(lease: Lease, name: string): void {
    const held = lease.held.get(name);
    if (held === undefined) return;
    lease.held.delete(name);
    const { ledger, keeps } = lease.request.client;
    // destroying an engine destroys its buffers
    if (!ledger.has(held.buffer)) return;
    const { buffer, want } = held;
    const isRetired = lease.isTainted || !keeps;
    this.pool.keep({ buffer, usage: want.usage, ledger, usedBy: lease.number, isRetired });
  }

  /** Retires pooled buffers, and frees those that no submission uses. */
  retire(isMeant: (pooled: PooledBuffer) => boolean): void {
    this.pool.retire(isMeant);
    this.reclaim();
  }

  /**
   * Frees retired buffers that no submission uses. @param done sequence number of a submission that
   * is done
   */
  reclaim(done = 0): void {
    this.#done = Math.max(this.#done, done);
    this.#frees += this.pool.reclaim(this.#done);
  }

  /** Adds a resident that waits for room. */
  settle(bytes: number): { readonly bytes: number } {
    const own = { bytes };
    this.#settling.add(own);
    return own;
  }

  /** Removes a resident that has its room, or needs none. */
  unsettle(own: { readonly bytes: number }): void {
    this.#settling.delete(own);
  }

  /**
   * Returns true if a resident is next, and there is room for it. @throws MsmError `out-of-memory`
   */
  hasRoomFor(own: { readonly bytes: number }): boolean {
    const [first] = this.#settling;
    if (first !== own) return false;
    const isTooMuch = (): boolean => this.#bytes + own.bytes > this.#budget;
    if (isTooMuch()) this.retire(() => true);
    if (isTooMuch() && !this.#isMoreToCome) throw this.#tooMuch(own.bytes);
    return !isTooMuch();
  }

  #fits(client: Client, taken: ReadonlyMap<string, PooledBuffer>, missing: readonly Want[]): boolean {
    const { ledger, budget } = client;
    const reserved = [...this.#leases.values()]
      .filter(({ request }) => request.client === client)
      .reduce((total, lease) => total + lease.reserved, 0);
    const made = bytesOf(missing);
    let others = 0;
    for (const pooled of taken.values()) if (pooled.ledger !== ledger) others += pooled.buffer.size;
    const held = ledger.bytesOf('scratch') + reserved + others + made;
    return held <= budget && this.#claimed + made <= this.#budget;
  }

  /** Bytes of all clients, with buffers that leases will still make. */
  get #bytes(): number {
    let bytes = 0;
    for (const { ledger } of this.#clients) bytes += ledger.total;
    for (const { reserved } of this.#leases.values()) bytes += reserved;
    return bytes;
  }

  /** Bytes of all clients, with residents that wait for room. */
  get #claimed(): number {
    let bytes = this.#bytes;
    for (const each of this.#settling) bytes += each.bytes;
    return bytes;
  }

  /** True if memory will still be freed. */
  get #isMoreToCome(): boolean {
    return this.#leases.size > 0 || this.pool.retired.length > 0;
  }

  get #budget(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { deviceBudget } of this.#clients) least = Math.min(least, deviceBudget);
    return least;
  }

  #tooMuch(bytes: number): NoRoom {
    return new NoRoom(
      `${bytes} bytes more than the ${this.#bytes} that engines hold on the device are too many for a ` +
        `deviceBudget of ${this.#budget}; ${OUT_OF_MEMORY_ADVICE}`,
    );
  }
}
