/** Threads that compute rounds together: who draws which chunk, and what becomes of the chunks of one that dies. No mathematics. */
import type { ComputeWorker } from '../api/sharing.js';
import type { WindowSums } from '../msm/cpu/share.js';
import type { CompiledKernel } from '../wasm/arithmetic/point-adder.js';
import {
  ALL,
  allow,
  type Begin,
  controlIn,
  drawFrom,
  drawnBy,
  type FromWorker,
  isLeftIn,
  type More,
  type Task,
} from './messages.js';
import type { NodeWorker } from './node-module.js';
import type { PageWorker, StartWorker } from './platform.js';
import { SharedWords } from './shared-words.js';

/** How long is long, in milliseconds. */
export interface PoolTimeouts {
  /** Workers that had nothing to do for so long end. */
  readonly idleMs: number;
  /**
   * A page is not told when a worker of it was terminated. One that has not said anything for so long after all else was done, and for 20 times what the
   * longest chunk took the own thread, counts as dead.
   */
  readonly silentMs: number;
  /** A worker that was not ready for so long after it was started is another script, or none. Default 10,000. */
  readonly startMs?: number;
}

const TIMEOUTS: PoolTimeouts = { idleMs: 10_000, silentMs: 3000 };

const SILENT_CHUNKS = 20;

const START_MS = 10_000;

/** The caller's own thread looks so often whether it is to go on while it waits for others, in milliseconds. */
const LOOK_MS = 10;

/** After so many deaths in a row there are no more workers. */
const MOST_DEATHS = 2;

/** The own thread's part of a round. */
export interface OwnShare {
  /** @returns how long it took, in milliseconds */
  add(chunk: number): Promise<number>;
  settle(): Promise<WindowSums>;
}

export interface Round {
  readonly kernel: CompiledKernel;
  readonly task: Task;
  /** How many there are; with `isStatic` a share for each participant, the first the own thread's. */
  readonly chunks: number;
  readonly isStatic: boolean;
  /** What the own thread is to have a share by. */
  own(): OwnShare;
  /** How many workers may be at work, where they draw; asked now and then. Others wait before their next chunk, until all are drawn. */
  allowed?: (() => number) | undefined;
  /** Called now and then, and waited for; what it throws ends the round. */
  checkpoint(): Promise<void>;
}

export interface RoundOutcome {
  readonly parts: readonly WindowSums[];
  /** Workers that took part, by number. */
  readonly workers: readonly number[];
  /** What became of workers that died; null if none did. */
  readonly lost: string | null;
}

/** A process of Node's ends while such workers are there, but not while they are at work. */
const isOfNode = (worker: ComputeWorker): worker is NodeWorker => 'on' in worker;

/** A round that is under way. */
interface Current {
  readonly round: Round;
  readonly control: Int32Array | null;
  /** The most workers. */
  readonly most: number;
  /** How many of them may be at work. */
  allowed: number;
  /** Of those that are drawn by message; ascending. */
  next: number;
  readonly parts: WindowSums[];
  readonly workers: number[];
  readonly lost: string[];
  /** To be computed again. */
  readonly again: number[];
}

/** A worker and what it was given. */
class PoolWorker {
  readonly number: number;
  readonly worker: ComputeWorker;
  readonly since = performance.now();
  state: 'starting' | 'idle' | 'busy' | 'dead' = 'starting';
  kernel: CompiledKernel | null = null;
  readonly drawn = new Set<number>();
  /** It asked for a chunk, and was not answered. */
  isAsking = false;

  constructor(number: number, worker: ComputeWorker) {
    this.number = number;
    this.worker = worker;
  }
}

export class WorkerPool {
  /** null while another way is looked for. */
  #start: StartWorker | null;
  /** Another way to start workers, until it is taken, or a worker was ready. */
  #otherwise: (() => Promise<StartWorker>) | null;
  readonly #shares: boolean;
  readonly #patience: PoolTimeouts;
  readonly #inputs = new SharedWords();
  readonly #control = new SharedWords();
  #members: PoolWorker[] = [];
  #numbers = 0;
  #deaths = 0;
  #whyOff: string | null = null;
  #current: Current | null = null;
  #onChange: () => void = () => undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param shares whether workers can be given shared memory
   * @param otherwise gives another way to start workers, for where `start` leads to none that is ever ready
   */
  constructor(
    start: StartWorker,
    shares: boolean,
    patience = TIMEOUTS,
    otherwise: (() => Promise<StartWorker>) | null = null,
  ) {
    this.#start = start;
    this.#otherwise = otherwise;
    this.#shares = shares;
    this.#patience = patience;
  }

  /** Whether what workers are given should be in shared memory. */
  get shares(): boolean {
    return this.#shares;
  }

  /** Room for what is given to workers, in shared memory: the next round's, until it is over. */
  room(words: number): Uint32Array {
    this.#assertIdle();
    return this.#inputs.take(words);
  }

  #assertIdle(): void {
    if (this.#current !== null) throw new Error('a pool computes one round at a time');
  }

  /** How many there are. */
  get size(): number {
    return this.#members.length;
  }

  /** Whether a round is under way. */
  get isBusy(): boolean {
    return this.#current !== null;
  }

  /** Whether there are no workers any more. */
  get isOff(): boolean {
    return this.#deaths >= MOST_DEATHS;
  }

  /** Fate of the last worker, where none is left; else null. */
  get whyOff(): string | null {
    return this.isOff ? this.#whyOff : null;
  }

  /**
   * Computes a round, with at most so many workers: those that there are, and others, which are started and take part once they are there.
   *
   * @throws what `goOn` throws, or the own share; workers that were at work are ended then
   */
  async run(round: Round, workers: number): Promise<RoundOutcome> {
    this.#assertIdle();
    clearTimeout(this.#idle);
    const current: Current = {
      round,
      control: this.#shares && !round.isStatic ? controlIn(this.#control, round.chunks) : null,
      most: workers,
      allowed: 0,
      next: round.isStatic ? 1 : 0,
      parts: [],
      workers: [],
      lost: [],
      again: [],
    };
    this.#current = current;
    try {
      // what came before may have taken a while, as compiling does: no workers for a call that is over
      await round.checkpoint();
      this.#look(current);
      await this.#computeOwn(current);
    } finally {
      this.#current = null;
      for (const member of this.#members.filter(({ state }) => state === 'busy')) this.#end(member);
      this.#idle = setTimeout(() => {
        this.#loseLate();
        this.destroy();
      }, this.#patience.idleMs);
      // of Node: what waits for nothing else may end
      (this.#idle as { unref?(): void }).unref?.();
    }
    return {
      parts: current.parts,
      workers: current.workers,
      lost: current.lost.length === 0 ? null : current.lost.join('; '),
    };
  }

  /** Ends all workers; the next round starts others. */
  destroy(): void {
    clearTimeout(this.#idle);
    for (const member of [...this.#members]) this.#end(member);
    this.#forget();
  }

  /** Uses no memory again that was shared so far. */
  #forget(): void {
    this.#inputs.drop();
    this.#control.drop();
  }

  /** Looks how many workers may be at work. */
  #look(current: Current): void {
    const { round, most } = current;
    this.#loseLate();
    this.#allow(current, round.isStatic ? most : Math.min(most, round.allowed?.() ?? most));
  }

  #allow(current: Current, workers: number): void {
    const { control, allowed } = current;
    if (workers === allowed) return;
    current.allowed = workers;
    if (control !== null) allow(control, workers);
    if (workers < allowed) return;
    for (const member of this.#members.slice(0, workers)) if (member.isAsking) this.#answer(member);
    if (!this.isOff) this.#wake(workers);
  }

  /** Has all that wait go on, as nothing is left to wait for. */
  #release(current: Current): void {
    const { control } = current;
    current.allowed = ALL;
    if (control !== null) allow(control, ALL);
    for (const member of this.#members) if (member.isAsking) this.#answer(member);
  }

  /** Has those that there are take part, and starts others. */
  #wake(workers: number): void {
    const there = this.#members.slice(0, workers);
    for (const member of there) if (member.state === 'idle') this.#hand(member);
    for (let i = there.length; i < workers && !this.isOff && this.#start !== null; i++) this.#add(this.#start);
  }

  async #computeOwn(current: Current): Promise<void> {
    const { round } = current;
    let own: OwnShare | null = null;
    let longest = 0;
    const add = async (chunk: number): Promise<void> => {
      own ??= round.own();
      longest = Math.max(longest, await own.add(chunk));
    };
    const settle = async (): Promise<void> => {
      if (own !== null) current.parts.push(await own.settle());
      own = null;
    };
    if (round.isStatic) await add(0);
    else {
      for (let chunk = this.#draw(current, 0); chunk !== null; chunk = this.#draw(current, 0)) {
        await add(chunk);
        this.#look(current);
      }
    }
    this.#release(current);
    await settle();
    const since = performance.now();
    const patience = this.#patience.silentMs + SILENT_CHUNKS * longest;
    for (;;) {
      const open = this.#members.filter(({ state }) => state === 'busy' || (round.isStatic && state === 'starting'));
      if (open.length === 0) break;
      if (performance.now() - since > patience) {
        for (const member of open) this.#lose(member, 'was not heard of any more');
        break;
      }
      await this.#change();
      await round.checkpoint();
    }
    // what was drawn by one that died before it could say so
    const { control } = current;
    for (let chunk = 0; control !== null && chunk < round.chunks; chunk++) {
      if (drawnBy(control, chunk) === 0) current.again.push(chunk);
    }
    for (let chunk = current.next; round.isStatic && chunk < round.chunks; chunk++) current.again.push(chunk);
    for (const chunk of current.again) await add(chunk);
    await settle();
  }

  /** Until something is heard of a worker, or some milliseconds. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#onChange = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #draw(current: Current, worker: number): number | null {
    // the own thread's are marked by a number that no worker has
    if (current.control !== null) return drawFrom(current.control, worker === 0 ? -1 : worker);
    return current.next < current.round.chunks ? current.next++ : null;
  }

  #add(start: StartWorker): void {
    try {
      const member = new PoolWorker(++this.#numbers, start());
      this.#listen(member);
      this.#members.push(member);
    } catch (error) {
      if (this.#turnToOther()) return;
      this.#mourn(`a worker could not be started: ${String(error)}`);
    }
  }

  #mourn(why: string): void {
    this.#deaths++;
    this.#whyOff = why;
    this.#current?.lost.push(why);
  }

  /** Takes the other way to start workers. @returns whether there is one that was not taken yet */
  #turnToOther(): boolean {
    const otherwise = this.#otherwise;
    if (otherwise === null) return false;
    this.#otherwise = null;
    this.#start = null;
    for (const member of [...this.#members]) this.#end(member);
    this.#numbers = 0;
    otherwise().then(
      (start) => {
        this.#start = start;
        if (this.#current !== null) this.#wake(Math.min(this.#current.most, this.#current.allowed));
      },
      (error: unknown) => {
        this.#deaths = MOST_DEATHS;
        this.#whyOff = String(error);
      },
    );
    return true;
  }

  /** Gives up those that should have been ready. */
  #loseLate(): void {
    const { startMs = START_MS } = this.#patience;
    const now = performance.now();
    for (const member of [...this.#members]) {
      if (member.state === 'starting' && now - member.since > startMs) this.#lose(member, 'did not get ready');
    }
  }

  /** @throws TypeError where it is no worker */
  #listen(member: PoolWorker): void {
    const { worker } = member;
    const hear = (message: FromWorker): void => this.#hear(member, message);
    const lose = (why: string): void => this.#lose(member, why);
    if (isOfNode(worker)) {
      worker.on('message', hear);
      worker.on('error', (error: unknown) => lose(`died: ${String(error)}`));
      worker.on('exit', () => lose('ended'));
      worker.unref();
      return;
    }
    const page = worker as PageWorker;
    page.addEventListener('message', ({ data }: { readonly data: FromWorker }) => hear(data));
    page.addEventListener('messageerror', () => lose('could not be understood'));
    page.addEventListener('error', (event: { readonly message?: string; preventDefault(): void }) => {
      event.preventDefault();
      lose(`died: ${event.message ?? 'it could not be loaded'}`);
    });
  }

  #hear(member: PoolWorker, message: FromWorker): void {
    const current = this.#current;
    // a script that is not ours may say anything
    if (member.state === 'dead' || typeof message !== 'object' || message === null) return;
    if (message.say === 'ready') {
      member.state = 'idle';
      this.#otherwise = null;
      if (current !== null && this.#placeOf(member) <= current.allowed) this.#hand(member);
    } else if (current === null || member.state !== 'busy') {
      return;
    } else if (message.say === 'next') {
      member.isAsking = true;
      if (this.#placeOf(member) <= current.allowed) this.#answer(member);
      return;
    } else if (message.say === 'failed') {
      this.#lose(member, `failed: ${message.why}`);
    } else {
      member.state = 'idle';
      if (isOfNode(member.worker)) member.worker.unref();
      this.#deaths = 0;
      if (message.chunks > 0) {
        current.parts.push(message.sums);
        current.workers.push(member.number);
      }
    }
    this.#onChange();
  }

  /** From 1. */
  #placeOf(member: PoolWorker): number {
    return 1 + this.#members.indexOf(member);
  }

  /** Answers a worker that asked for a chunk. */
  #answer(member: PoolWorker): void {
    const current = this.#current as Current;
    const chunk = current.round.isStatic ? null : this.#draw(current, member.number);
    if (chunk !== null) member.drawn.add(chunk);
    member.isAsking = false;
    member.worker.postMessage({ chunk } satisfies More);
  }

  /** Gives a worker what is to be done, if there is anything left. */
  #hand(member: PoolWorker): void {
    const current = this.#current as Current;
    const { round, control } = current;
    member.drawn.clear();
    member.isAsking = false;
    const isLeft = control === null ? current.next < round.chunks : isLeftIn(control);
    if (!isLeft) return;
    const chunk = control === null ? this.#draw(current, member.number) : null;
    if (chunk !== null) member.drawn.add(chunk);
    const begin: Begin = {
      kernel: member.kernel === round.kernel ? null : round.kernel,
      task: round.task,
      chunks: chunk === null ? [] : [chunk],
      control,
      worker: member.number,
      place: this.#placeOf(member),
      isAll: round.isStatic,
    };
    member.kernel = round.kernel;
    member.state = 'busy';
    if (isOfNode(member.worker)) member.worker.ref();
    member.worker.postMessage(begin);
  }

  /** A worker that is there no more: what it drew is to be done again. */
  #lose(member: PoolWorker, why: string): void {
    if (member.state === 'dead') return;
    const current = this.#current;
    const wasBusy = member.state === 'busy';
    const wasIdle = member.state === 'idle';
    // nothing was lost but time
    if (member.state === 'starting' && this.#turnToOther()) return;
    this.#end(member);
    // one that somebody ended while it had nothing to do is no bad sign
    if (!wasIdle) this.#mourn(`worker ${member.number} ${why}`);
    if (current !== null && wasBusy) {
      const { control } = current;
      const drawn =
        control === null
          ? [...member.drawn]
          : Array.from({ length: current.round.chunks }, (_, chunk) => chunk).filter(
              (chunk) => drawnBy(control, chunk) === member.number,
            );
      current.again.push(...drawn);
    }
    this.#onChange();
  }

  #end(member: PoolWorker): void {
    // it may go on for a moment: read what it was given, and draw
    if (member.state === 'busy') this.#forget();
    member.state = 'dead';
    this.#members = this.#members.filter((other) => other !== member);
    member.worker.terminate();
  }
}
