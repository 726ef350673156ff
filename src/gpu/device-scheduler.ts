/**
 * One for each device, whoever brought it: the jobs of all engines on it go through here. Nothing is made for a job before it is its turn and all
 * that it takes fits what its engine and the device may hold; what jobs have done with goes to the next, or is given back, a bounded step at a time.
 *
 * The queue of a device does one thing after the other. So a job's scratch is the next one's as soon as its last submit was made: what is still to be
 * done with it comes before. Only what is mapped stays its own.
 */
import { abortedBy, assertNotAborted, NoRoom, onAbort } from '../errors.js';
import { DeviceQueue } from '../scheduling/device-queue.js';
import type { Ticket } from '../scheduling/ticket.js';
import { BufferPool, type PooledBuffer, type Want } from './buffer-pool.js';
import { bufferUsage } from './constants.js';
import { watchOf } from './device-watch.js';
import { bufferBytes, type Ledger, OUT_OF_MEMORY_ADVICE } from './ledger.js';

/** Somebody who has jobs done on a device. */
export interface Client {
  readonly ledger: Ledger;
  /** The most bytes of scratch that it may hold. */
  readonly budget: number;
  /** The most bytes that all on the device may hold together, bases with them. */
  readonly deviceBudget: number;
  /** Whether its scratch is kept for the next job. */
  readonly keeps: boolean;
}

/** A job that waits, or has its turn. */
interface Request extends Ticket {
  readonly member: Client;
  /** Buffers that others may have had before, and may have after it. */
  readonly wants: readonly Want[];
  /** Bytes of the one that nobody else ever has. */
  readonly own: number;
  begin(lease: Lease): void;
  refuse(error: unknown): void;
}

interface HeldBuffer {
  readonly buffer: GPUBuffer;
  readonly want: Want;
}

/** What a job was given. */
export class Lease {
  readonly entry: Request;
  readonly held = new Map<string, HeldBuffer>();
  /** What is promised, and still to be made. */
  missing: readonly Want[];
  own: GPUBuffer | null = null;
  ownBytes: number;
  /** Its last submit was the device's so-manieth; 0 before. */
  number = 0;
  /** What it holds is of no use to others. */
  isTainted = false;
  readonly over: Promise<void>;
  settle: () => void = () => undefined;

  constructor(entry: Request, taken: ReadonlyMap<string, PooledBuffer>, missing: readonly Want[]) {
    this.entry = entry;
    this.missing = missing;
    this.ownBytes = bufferBytes(entry.own);
    for (const want of entry.wants) {
      const kept = taken.get(want.name);
      if (kept !== undefined) this.held.set(want.name, { buffer: kept.buffer, want });
    }
    this.over = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Bytes that are promised, and not yet made. */
  get reserved(): number {
    return bytesOf(this.missing) + this.ownBytes;
  }
}

const READ_BACK = 'read-back';

/** Usages of what is no plain scratch. */
const usages: Readonly<Record<string, number>> = {
  uniforms: bufferUsage.uniform | bufferUsage.copyDst,
  [READ_BACK]: bufferUsage.mapRead | bufferUsage.copyDst,
  timestamps: bufferUsage.queryResolve | bufferUsage.copySrc,
};
const SCRATCH = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc | bufferUsage.indirect;
const OWN = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc;

const bytesOf = (wants: readonly Want[]): number => wants.reduce((total, { bytes }) => total + bytes, 0);

/** What is there for a job: some that is kept, and what is to be made. */
interface Allotment {
  readonly taken: ReadonlyMap<string, PooledBuffer>;
  readonly missing: readonly Want[];
}

/** How much scratch there may be, and the option that says so. */
export interface Allowance {
  readonly bytes: number;
  readonly name: 'memoryBudget' | 'deviceBudget';
}

export class DeviceScheduler {
  readonly #line = new DeviceQueue<Request>();
  readonly #kept = new BufferPool();
  readonly #members = new Set<Client>();
  readonly #leases = new Map<Request, Lease>();
  /** Those whose last submit was made and which are not done, in their order. */
  readonly #ahead = new Set<Lease>();
  readonly #resuming = new Map<Request, () => void>();
  /** Bytes of what is to stay, and waits for room, in its order. */
  readonly #settling = new Set<{ readonly bytes: number }>();
  #submitted = 0;
  #done = 0;
  #frees = 0;
  #step: ReturnType<typeof setTimeout> | null = null;

  /** Scratch that was given back, in buffers. */
  get frees(): number {
    return this.#frees;
  }

  join(member: Client): void {
    this.#members.add(member);
  }

  /** Bytes of scratch that a member may hold, as things are: its budget, or what all else leaves of the device's. */
  roomOf({ budget }: Client): Allowance {
    let resident = 0;
    for (const { ledger } of this.#members) resident += ledger.total - ledger.bytesOf('scratch');
    const left = this.#budget - resident;
    return left < budget ? { bytes: left, name: 'deviceBudget' } : { bytes: budget, name: 'memoryBudget' };
  }

  /** Returns true if the device has, or is about to be given, work of equal or higher priority than `own`, of another call. */
  isBusyBeside(own: Ticket): boolean {
    return this.#line.isBusyBeside(own);
  }

  /** Takes a member's scratch, and refuses what of its jobs waits. */
  leave(member: Client): void {
    this.#members.delete(member);
    this.#refuse((entry) => entry.member === member, new Error('the engine was destroyed'));
    this.#kept.clear(member.ledger);
    this.#advance();
  }

  /** Refuses all that waits: the device is lost. */
  end(): void {
    this.#refuse(() => true, new Error('the device was lost'));
  }

  /**
   * Resolves when it is a job's turn and there is room for what it takes, which is then made by `make`.
   *
   * @param sizes of buffers that others may have had before, by name
   * @param own bytes of the one that nobody else ever has
   * @throws MsmError `aborted`; `out-of-memory` where there will never be room
   */
  admit(member: Client, sizes: Readonly<Record<string, number>>, own: number, ticket: Ticket): Promise<Lease> {
    const wants = Object.entries(sizes).map(
      ([name, bytes]): Want => ({ name, bytes: bufferBytes(bytes), usage: usages[name] ?? SCRATCH }),
    );
    return new Promise((resolve, reject) => {
      const { signal } = ticket;
      // who was aborted before is told of nothing
      assertNotAborted(signal);
      const leave = (): void => {
        this.#line.remove(entry);
        reject(abortedBy(signal));
        this.#advance();
      };
      let stay = (): void => undefined;
      const entry: Request = {
        ...ticket,
        ...{ member, wants, own },
        begin: (lease) => {
          stay();
          resolve(lease);
        },
        refuse: (error) => {
          stay();
          reject(error);
        },
      };
      this.#line.add(entry, performance.now());
      this.#advance();
      if (!this.#line.waiting.includes(entry)) return;
      try {
        stay = onAbort(signal, leave);
      } catch (error) {
        // of a caller's own make: nobody may wait who cannot be told
        this.#line.remove(entry);
        throw error;
      }
    });
  }

  /** Makes what was promised; the caller holds error scopes around this. Returns the buffer that is the job's alone. */
  make(lease: Lease): GPUBuffer {
    const { ledger } = lease.entry.member;
    while (lease.missing.length > 0) {
      const [want, ...rest] = lease.missing as [Want, ...Want[]];
      lease.held.set(want.name, { buffer: ledger.create('scratch', want.name, want.bytes, want.usage), want });
      lease.missing = rest;
    }
    lease.own = ledger.create('scratch', 'result', lease.ownBytes, OWN);
    lease.ownBytes = 0;
    return lease.own;
  }

  /**
   * Resolves at once, or when a more urgent job has made its submits; between two submits of a job.
   *
   * @throws MsmError `aborted`
   */
  async pause({ entry }: Lease): Promise<void> {
    this.#line.pause(entry);
    this.#advance();
    if (this.#line.resume(entry)) return;
    await new Promise<void>((resolve, reject) => {
      const unsubscribe = onAbort(entry.signal, () => {
        this.#resuming.delete(entry);
        reject(abortedBy(entry.signal));
      });
      this.#resuming.set(entry, () => {
        unsubscribe();
        resolve();
      });
    });
  }

  /** Resolves when the device has done all that it was given before by those that have made their last submit; null if it has. */
  ahead(): Promise<unknown> | null {
    return this.#ahead.size === 0 ? null : Promise.all([...this.#ahead].map(({ over }) => over));
  }

  /** The last submit of a job was made, and nothing was wrong with it. */
  submitted(lease: Lease): void {
    lease.number = ++this.#submitted;
    this.#ahead.add(lease);
    for (const name of [...lease.held.keys()]) if (name !== READ_BACK) this.#keep(lease, name);
    this.#line.submitted(lease.entry);
    this.#advance();
    lease.entry.onSubmitted?.();
  }

  /** What a job gave back was read, and nothing is mapped any more. */
  done(lease: Lease): void {
    this.#done = Math.max(this.#done, lease.number);
    this.#ahead.delete(lease);
    this.#keep(lease, READ_BACK);
    lease.settle();
    this.#line.done(lease.entry);
    this.#reclaim();
    this.#advance();
    lease.entry.onComputed?.();
  }

  /** A job is over, however it ended: what it still has is destroyed. */
  release(lease: Lease): void {
    const { entry, held, own } = lease;
    const { ledger } = entry.member;
    for (const { buffer } of held.values()) ledger.destroy(buffer);
    if (own !== null) ledger.destroy(own);
    this.#leases.delete(entry);
    this.#resuming.delete(entry);
    this.#ahead.delete(lease);
    this.#done = Math.max(this.#done, lease.number);
    this.#line.done(entry);
    lease.settle();
    this.#reclaim();
    this.#advance();
  }

  /** Gives back what is kept of a member's, and has nobody keep what its jobs hold. */
  discard(member: Client): void {
    this.#drop(({ ledger }) => ledger === member.ledger);
    for (const lease of this.#leases.values()) if (lease.entry.member === member) lease.isTainted = true;
  }

  /** Gives back what is kept of a member's, step by step, after the work that uses it. */
  async trim(member: Client): Promise<void> {
    const isIts = ({ ledger }: PooledBuffer): boolean => ledger === member.ledger;
    this.#kept.doom(isIts);
    for (;;) {
      this.#reclaim();
      if (!this.#kept.doomed.some(isIts)) return;
      await this.#change();
    }
  }

  /**
   * Has something made that stays, when there is room for it. Jobs that have not begun by then leave it that room, or it would wait for ever behind
   * those that come.
   *
   * @param make makes it before it first waits
   * @param goOn called now and then while it waits; what it throws ends that
   * @throws MsmError `out-of-memory` where there will never be; and what `make` throws
   */
  async withRoom<Result>(bytes: number, make: () => Promise<Result>, checkpoint: () => void): Promise<Result> {
    const own = { bytes };
    this.#settling.add(own);
    try {
      while (!this.#hasRoomFor(own)) {
        await this.#change();
        checkpoint();
      }
      return make();
    } finally {
      this.#settling.delete(own);
      this.#advance();
    }
  }

  /** Whether it is the turn of what is to stay, and there is room for it. @throws MsmError `out-of-memory` */
  #hasRoomFor(own: { readonly bytes: number }): boolean {
    const [first] = this.#settling;
    if (first !== own) return false;
    const isTooMuch = (): boolean => this.#bytes + own.bytes > this.#budget;
    // a step each time
    if (isTooMuch()) this.#drop(() => true);
    if (isTooMuch() && !this.#isMoreToCome) throw this.#tooMuch(own.bytes);
    return !isTooMuch();
  }

  /** Bytes of all members, with what was promised. */
  get #bytes(): number {
    let bytes = 0;
    for (const { ledger } of this.#members) bytes += ledger.total;
    for (const { reserved } of this.#leases.values()) bytes += reserved;
    return bytes;
  }

  /** Those, and what waits for room to stay. */
  get #claimed(): number {
    let bytes = this.#bytes;
    for (const each of this.#settling) bytes += each.bytes;
    return bytes;
  }

  /** Whether somebody is still to give something back. */
  get #isMoreToCome(): boolean {
    return this.#leases.size > 0 || this.#kept.doomed.length > 0;
  }

  get #budget(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { deviceBudget } of this.#members) least = Math.min(least, deviceBudget);
    return least;
  }

  #tooMuch(bytes: number): NoRoom {
    return new NoRoom(
      `${bytes} bytes more than the ${this.#bytes} that engines hold on the device are too many for a deviceBudget of ${this.#budget}; ${OUT_OF_MEMORY_ADVICE}`,
    );
  }

  /** A moment later: what is given back takes steps, and jobs end. */
  async #change(): Promise<void> {
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, this.#ahead.size === 0 ? 0 : 4)),
      ...[...this.#ahead].map(({ over }) => over),
    ]);
  }

  /** Refuses jobs that wait, and has those that are paused go on, which then find out themselves. */
  #refuse(isMeant: (entry: Request) => boolean, error: Error): void {
    for (const entry of this.#line.waiting.filter(isMeant)) {
      this.#line.remove(entry);
      entry.refuse(error);
    }
    for (const [entry, resume] of [...this.#resuming].filter(([each]) => isMeant(each))) {
      this.#resuming.delete(entry);
      resume();
    }
  }

  /** Lets go on, or begin, whoever may. */
  #advance(): void {
    for (const [entry, resume] of this.#resuming) {
      if (!this.#line.resume(entry)) continue;
      this.#resuming.delete(entry);
      resume();
    }
    for (;;) {
      let allotted: Allotment | NoRoom | null = null;
      const entry = this.#line.next(performance.now(), (candidate) => {
        allotted = this.#allot(candidate);
        return allotted !== null;
      });
      if (entry === null) return;
      const found = allotted as unknown as Allotment | NoRoom;
      if (found instanceof NoRoom) {
        this.#line.done(entry);
        entry.refuse(found);
        continue;
      }
      const { taken, missing } = found;
      this.#kept.take(new Set(taken.values()), entry.member.ledger);
      const lease = new Lease(entry, taken, missing);
      this.#leases.set(entry, lease);
      entry.onBegun?.();
      entry.begin(lease);
    }
  }

  /** What there is for a job; null: not yet; an error: there never will be. */
  #allot({ member, wants, own }: Request): Allotment | NoRoom | null {
    const { ledger, budget } = member;
    const reserved = [...this.#leases.values()]
      .filter(({ entry }) => entry.member === member)
      .reduce((total, lease) => total + lease.reserved, 0);
    const fits = (taken: ReadonlyMap<string, PooledBuffer>, missing: readonly Want[]): boolean => {
      const made = bytesOf(missing) + bufferBytes(own);
      let others = 0;
      for (const kept of taken.values()) if (kept.ledger !== ledger) others += kept.buffer.size;
      return ledger.bytesOf('scratch') + reserved + others + made <= budget && this.#claimed + made <= this.#budget;
    };
    const taken = this.#kept.match(wants);
    const missing = wants.filter(({ name }) => !taken.has(name));
    if (fits(taken, missing)) {
      const needed = new Set(taken.values());
      if (missing.length > 0) this.#drop((kept) => kept.ledger === ledger && !needed.has(kept));
      return { taken, missing };
    }
    // with what was kept for it and does not serve it there is no room: all of that goes
    const none: ReadonlyMap<string, PooledBuffer> = new Map();
    const isFull = this.#claimed + bytesOf(missing) + bufferBytes(own) > this.#budget;
    this.#drop((kept) => isFull || kept.ledger === ledger);
    if (fits(none, wants)) return { taken: none, missing: wants };
    if (this.#isMoreToCome || this.#settling.size > 0) return null;
    const all = bytesOf(wants) + bufferBytes(own);
    // beyond its engine's budget is what was planned so
    return this.#bytes + all > this.#budget ? this.#tooMuch(all) : { taken: none, missing: wants };
  }

  /** Gives some up, and a first step of it back; returns how many are gone. */
  #drop(isMeant: (kept: PooledBuffer) => boolean): number {
    this.#kept.doom(isMeant);
    return this.#reclaim();
  }

  /** A step of giving back; another one comes by itself, where there is more to do. */
  #reclaim(): number {
    const count = this.#kept.reclaim(this.#done);
    this.#frees += count;
    const isLeft = this.#kept.doomed.some(({ usedBy }) => usedBy <= this.#done);
    if (isLeft && this.#step === null) {
      this.#step = setTimeout(() => {
        this.#step = null;
        this.#reclaim();
        this.#advance();
      });
    }
    return count;
  }

  /** Has the next job have what one has done with. */
  #keep(lease: Lease, name: string): void {
    const held = lease.held.get(name);
    if (held === undefined) return;
    lease.held.delete(name);
    const { ledger, keeps } = lease.entry.member;
    // of an engine that was destroyed
    if (!ledger.has(held.buffer)) return;
    const { buffer, want } = held;
    const isDoomed = lease.isTainted || !keeps;
    this.#kept.keep({ buffer, usage: want.usage, ledger, usedBy: lease.number, isDoomed });
  }
}

const owners = new WeakMap<GPUDevice, DeviceScheduler>();

export const schedulerOf = (device: GPUDevice): DeviceScheduler => {
  const known = owners.get(device);
  if (known !== undefined) return known;
  const owner = new DeviceScheduler();
  owners.set(device, owner);
  void watchOf(device).loss.then(() => owner.end());
  return owner;
};
