/**
 * Memory of a device, from the whole to the parts: budgets of its clients and room for residents, the
 * lease of a submission, the ledger that counts the buffers of one engine, and the pool of scratch.
 */
import { MsmError, NoRoom } from '../errors.js';
import type { Ticket } from '../scheduling/edf.js';
import { LEAST_BUFFER_BYTES } from '../shaders/limits.js';

/**
 * Flags of the WebGPU specification (GPUBufferUsage, GPUMapMode). Browsers have them as globals,
 * Node has not, and this library neither needs nor declares globals.
 */
export const bufferUsage = {
  mapRead: 0x0001,
  mapWrite: 0x0002,
  copySrc: 0x0004,
  copyDst: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
  indirect: 0x0100,
  queryResolve: 0x0200,
} as const;

export const mapModeRead = 0x0001;
export const mapModeWrite = 0x0002;

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

/** The account of scratch; all others are of residents. */
const SCRATCH = 'scratch';

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

/** A pooled buffer. */
export interface PooledBuffer {
  readonly buffer: GPUBuffer;
  readonly usage: number;
  /** The ledger that counts it. */
  readonly ledger: Ledger;
  /** Sequence number of the last submission whose commands use it. */
  readonly usedBy: number;
  /** True if it is destroyed once these commands are done. */
  isRetired: boolean;
}

/** A buffer that a submission wants: its size in bytes and its usage. */
interface Want {
  readonly name: string;
  readonly bytes: number;
  readonly usage: number;
}

export class BufferPool {
  #buffers: PooledBuffer[] = [];
  /** Numbers of buffers in the order in which they came. */
  readonly #numbers = new WeakMap<GPUBuffer, number>();
  #count = 0;

  /** Buffers that submissions may take. */
  get free(): readonly PooledBuffer[] {
    return this.#buffers.filter(({ isRetired }) => !isRetired);
  }

  /** Buffers that will be destroyed. */
  get retired(): readonly PooledBuffer[] {
    return this.#buffers.filter(({ isRetired }) => isRetired);
  }

  keep(pooled: PooledBuffer): void {
    if (!this.#numbers.has(pooled.buffer)) this.#numbers.set(pooled.buffer, this.#count++);
    this.#buffers.push(pooled);
  }

  /**
   * Returns for each want the smallest free buffer that serves it, where there is one. The same
   * wants get the same buffers again, so that bind groups made for them can be used again.
   */
  match(wants: readonly Want[]): ReadonlyMap<string, PooledBuffer> {
    const numberOf = ({ buffer }: PooledBuffer): number => this.#numbers.get(buffer) as number;
    const left = this.free.toSorted(
      (one, other) => one.buffer.size - other.buffer.size || numberOf(one) - numberOf(other),
    );
    const found = new Map<string, PooledBuffer>();
    // the largest want first: a buffer that serves it would serve all smaller ones
    for (const { name, bytes, usage } of wants.toSorted((one, other) => other.bytes - one.bytes)) {
      const at = left.findIndex((pooled) => pooled.usage === usage && pooled.buffer.size >= bytes);
      if (at !== -1) found.set(name, left.splice(at, 1)[0] as PooledBuffer);
    }
    return found;
  }

  /** Transfers pooled buffers to `ledger`. */
  take(taken: ReadonlySet<PooledBuffer>, ledger: Ledger): void {
    this.#buffers = this.#buffers.filter((pooled) => !taken.has(pooled));
    for (const pooled of taken) pooled.ledger.transfer(pooled.buffer, ledger);
  }

  /** Retires buffers: no submission may take them any more. */
  retire(isMeant: (pooled: PooledBuffer) => boolean): void {
    for (const pooled of this.#buffers) if (isMeant(pooled)) pooled.isRetired = true;
  }

  /**
   * Destroys retired buffers that no submission uses.
   *
   * @param done sequence number of the last submission that is done
   * @returns the number of destroyed buffers
   */
  reclaim(done: number): number {
    const over = this.#buffers.filter(({ isRetired, usedBy }) => isRetired && usedBy <= done);
    if (over.length === 0) return 0;
    this.#buffers = this.#buffers.filter((pooled) => !over.includes(pooled));
    for (const { ledger, buffer } of over) ledger.destroy(buffer);
    return over.length;
  }

  /** Destroys all buffers of a ledger, even those in use. */
  clear(ledger: Ledger): void {
    for (const pooled of this.#buffers) if (pooled.ledger === ledger) ledger.destroy(pooled.buffer);
    this.#buffers = this.#buffers.filter((pooled) => pooled.ledger !== ledger);
  }
}
