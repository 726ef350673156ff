/** Computes one call in WebAssembly, round by round, with workers where a round is large enough. */
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, addAffine, infinityOf, toAffine } from '../../curves/jacobian.js';
import type { PointSource } from '../../curves/point-source.js';
import type { Steps } from '../../scheduling/steps.js';
import { inTimeSlices, type TimeSlice } from '../../scheduling/time-slice.js';
import { ANY_SIZE, timeSlices } from '../../scheduling/turn-queue.js';
import type { OwnThread } from '../../threads/round.js';
import type { ChosenWorkers } from '../../threads/worker-count.js';
import type { CompiledKernel } from '../../wasm/points/kernel.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { workersToStart, workersToWake } from '../plan/cost.js';
import type { SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import type { Horner } from '../stages/horner.js';
import { combineWindows } from './combine-windows.js';
import { cutRows } from './cut.js';
import { digitsOfScalars, wordsOfDigits } from './digits.js';
import type { CpuOutcome } from './outcome.js';
import { blocksOf, type Operands } from './point-blocks.js';
import { rowsOf, Share, type WindowSums } from './share.js';
import type { CpuPool, Threads } from './threads.js';
import { rangesOf, roundsOf, type VectorRange } from './vector-ranges.js';

/** Words that a step copies. */
const WORDS_PER_STEP = 2 ** 16;

/** Allocates words. */
type Allocate = (words: number) => Uint32Array;

/** Copies words to memory from an allocator. */
function* copyOf(words: Uint32Array, allocate: Allocate): Steps<Uint32Array> {
  const copy = allocate(words.length);
  for (let i = 0; i < words.length; i += WORDS_PER_STEP) {
    copy.set(words.subarray(i, i + WORDS_PER_STEP), i);
    yield;
  }
  return copy;
}

/** Returns operands whose clones hold nothing else: a view is cloned with its whole buffer. */
const alone = (operands: Operands): Operands => {
  const own = (words: Uint32Array): Uint32Array => (words.byteLength < words.buffer.byteLength ? words.slice() : words);
  const { points, digits, shared } = operands;
  if (shared !== undefined) return operands;
  return { ...operands, points: own(points), digits: { ...digits, scalars: own(digits.scalars) } };
};

const signed = ({ buffer, byteOffset, length }: Uint32Array): Int32Array => new Int32Array(buffer, byteOffset, length);

const sumOf = <Item>(items: readonly Item[], value: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0);

/** Place of one call: its curve and bases, arithmetics, and threads. */
export interface WasmMsmOptions {
  readonly curve: CurveContext;
  readonly source: PointSource;
  readonly adder: PointAdder;
  readonly kernel: CompiledKernel;
  /** Arithmetic that combines windows; null for lists of affine additions. */
  readonly horner: Horner | null;
  readonly threads: Threads;
}

export class WasmMsm {
  readonly #curve: CurveContext;
  readonly #source: PointSource;
  readonly #adder: PointAdder;
  readonly #kernel: CompiledKernel;
  readonly #horner: Horner | null;
  readonly #timeSlice: TimeSlice;
  readonly #threads: Threads;
  /** Numbers of the workers that took part. */
  readonly #workers = new Set<number>();
  readonly #lost: string[] = [];
  /** Whether some round was large enough for workers. */
  #isLarge = false;
  /** Rows of the largest chunk. */
  #mostRows = 0;
  /** Additions of the current round per thread. */
  #additionsPerThread = 0;

  constructor({ curve, source, adder, kernel, horner, threads }: WasmMsmOptions, checkpoint: () => void) {
    this.#curve = curve;
    this.#source = source;
    this.#adder = adder;
    this.#kernel = kernel;
    this.#horner = horner;
    this.#threads = threads;
    // a sum that goes first while the workers are busy has one thread: it must not take longer on
    // that than the round takes on all
    const maxAdditions = () => (threads.pool?.isBusy ? this.#additionsPerThread : ANY_SIZE);
    this.#timeSlice = timeSlices(checkpoint, threads.pause, maxAdditions);
  }

  async multiply(vectors: readonly SurveyedVector[]): Promise<CpuOutcome> {
    const curve = this.#curve;
    const sums = vectors.map(() => infinityOf(curve));
    let largest: VectorRange | null = null;
    let entries = 0;
    for (const ranges of roundsOf(rangesOf(curve, this.#source, vectors))) {
      await this.#timeSlice.checkpoint();
      const results = await this.#round(ranges);
      const shapes = ranges.map(({ shape }) => shape);
      const totals = await this.#run(combineWindows(curve, this.#adder, shapes, results, this.#horner));
      for (const [i, range] of ranges.entries()) {
        const total = totals[i] as Affine;
        sums[range.vector] = addAffine(curve, sums[range.vector] as (typeof sums)[number], total);
        if (range.entries > (largest?.entries ?? -1)) largest = range;
      }
      entries += sumOf(results, (result) => result.entries);
    }
    const { windowBits, windows } = largest?.shape ?? { windowBits: 2, windows: 0 };
    return {
      sums: sums.map((sum) => publicPoint(curve, toAffine(curve, sum))),
      ...{ windowBits, windows, entries },
      ...this.#record(),
    };
  }

  #record(): Omit<CpuOutcome, 'sums' | 'windowBits' | 'windows' | 'entries'> {
    return {
      arithmetic: this.#kernel.arithmetic,
      workers: this.#workers.size,
      noWorkers: this.#isLarge && this.#workers.size === 0 ? this.#whyNone : null,
      chunk: this.#mostRows,
      lost: this.#lost.length === 0 ? null : this.#lost.join('; '),
      waitedMs: this.#timeSlice.waitedMs,
    };
  }

  get #whyNone(): string | null {
    const { pool, whyNone = null } = this.#threads;
    return pool === null ? whyNone : pool.whyOff;
  }

  /** Returns the window sums of some ranges, by thread. */
  async #round(ranges: readonly VectorRange[]): Promise<readonly WindowSums[]> {
    const { pool } = this.#threads;
    const { workers, measures } = this.#workersOf(ranges);
    const operands = await this.#allOperands(ranges, workers > 0 ? pool : null);
    const rows = sumOf(operands, rowsOf);
    if (pool === null || workers === 0) {
      const own = this.#ownThread(operands, [0, rows]);
      await own.add(0);
      return [await own.settle()];
    }
    const { distribution, allowed } = this.#threads;
    const cuts = cutRows(rows, workers, this.#threads, measures);
    const chunks = cuts.length - 1;
    const used = Math.min(workers, chunks - 1);
    for (const [i, end] of cuts.slice(1).entries())
      this.#mostRows = Math.max(this.#mostRows, end - (cuts[i] as number));
    const outcome = await pool.run(
      {
        setup: this.#kernel,
        task: { operands: operands.map(alone), cuts },
        chunks,
        distribution,
        measures,
        now: () => this.#now(),
        own: () => this.#ownThread(operands, cuts),
        allowed,
        checkpoint: () => this.#timeSlice.checkpoint(),
        turn: () => this.#timeSlice.yield(),
      },
      used,
    );
    for (const worker of outcome.workers) this.#workers.add(worker);
    const { results, lost, measured } = outcome;
    if (lost !== null) this.#lost.push(lost);
    if (measured !== null) {
      const entries = sumOf(results, (result) => result.entries);
      pool.note(
        measured,
        used,
        sumOf(ranges, (range) => range.entries),
        entries,
      );
    }
    return results;
  }

  /** Decides how many workers a round uses. */
  #workersOf(ranges: readonly VectorRange[]): ChosenWorkers {
    const { pool, workers, distribution } = this.#threads;
    const entries = sumOf(ranges, (range) => range.entries);
    const curve = this.#curve;
    const started = workersToStart(curve, entries);
    if (started >= 1) this.#isLarge = true;
    // a pool that runs the round of another sum is busy
    const hasPool = pool !== null && !pool.isOff && !pool.isBusy;
    const most = hasPool
      ? Math.min(workers, workersToWake(curve, entries, pool.sharesMemory), pool.afford(started))
      : 0;
    // `static` is for those who want all workers that are permitted
    const isFixed = !hasPool || distribution === 'static';
    const chosen = isFixed ? { workers: most, measures: false } : pool.choose(entries, most);
    this.#additionsPerThread = entries / (1 + chosen.workers);
    return chosen;
  }

  /** Prepares the operands of a round. @param pool the workers that compute it, if any */
  async #allOperands(ranges: readonly VectorRange[], pool: CpuPool | null): Promise<readonly Operands[]> {
    // another sum may go first meanwhile, and must not take the pool or its memory
    pool?.reserve();
    try {
      const shared = pool?.sharesMemory ? this.#sharedMemory(pool, ranges) : null;
      const operands: Operands[] = [];
      for (const range of ranges) operands.push(await this.#run(this.#operandsOf(range, shared)));
      return operands;
    } catch (error) {
      pool?.release();
      throw error;
    }
  }

  *#operandsOf({ points, from, to, scalars, bits, shape }: VectorRange, shared: Allocate | null): Steps<Operands> {
    const curve = this.#curve;
    const words = yield* points.words(from, to);
    const digits = digitsOfScalars(curve, scalars, bits, shape.windowBits);
    const { scale } = points;
    if (shared === null) return { points: words, scale, digits };
    const { count } = digits;
    return {
      points: yield* copyOf(words, shared),
      scale,
      digits: { ...digits, scalars: yield* copyOf(digits.scalars, shared) },
      shared: {
        states: signed(shared(blocksOf(count))).fill(0),
        points: signed(shared(count * this.#pointWords)),
        digits: signed(shared(count * digits.words)),
      },
    };
  }

  /** Words of a point in the format of the arithmetic. */
  get #pointWords(): number {
    return this.#adder.pointBytes / 4;
  }

  /** Returns an allocator in shared memory, with space for all of `ranges`. */
  #sharedMemory(pool: CpuPool, ranges: readonly VectorRange[]): Allocate {
    const { pointWords, scalarBytes } = this.#curve;
    const words = sumOf(ranges, ({ from, to, shape: { windows, windowBits } }) => {
      const each = pointWords + scalarBytes / 4 + this.#pointWords + wordsOfDigits(windows, windowBits);
      return (to - from) * each + blocksOf(to - from);
    });
    const all = pool.takeInput(words);
    let used = 0;
    return (wanted) => {
      used += wanted;
      return all.subarray(used - wanted, used);
    };
  }

  #ownThread(operands: readonly Operands[], cuts: readonly number[]): OwnThread<WindowSums> {
    const share = new Share(this.#adder, operands);
    return {
      get work() {
        return share.entries;
      },
      add: (chunk) => this.#timed(share.addChunk(cuts, chunk)),
      settle: () => this.#run(share.settle()),
    };
  }

  /** Runs steps. @returns how long they took, without sums that went first, in milliseconds */
  async #timed(steps: Steps<void>): Promise<number> {
    const before = this.#now();
    await this.#run(steps);
    return this.#now() - before;
  }

  /** Returns the time without that of sums that went first, in milliseconds. */
  #now(): number {
    return performance.now() - this.#timeSlice.waitedMs;
  }

  #run<Result>(steps: Steps<Result>): Promise<Result> {
    return inTimeSlices(steps, this.#timeSlice);
  }
}
