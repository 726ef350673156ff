/** Computes one call in WebAssembly, round by round, with workers where a round is large enough. */

import type { CpuRun } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, addAffine, infinityOf, toAffine } from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import { ITEMS_PER_STEP, inTimeSlices, type Steps, type TimeSlice } from '../../scheduling/time-slice.js';
import { ANY_SIZE, timeSlices } from '../../scheduling/turn-queue.js';
import type { OwnThread } from '../../threads/round.js';
import type { ChosenWorkers } from '../../threads/worker-count.js';
import type { CompiledKernel } from '../../wasm/points/kernel.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { cpuShape, MOST_POINTS, workersToStart, workersToWake } from '../plan/cost.js';
import type { SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import type { Horner } from '../stages/horner.js';
import { blocksOf, digitsOfScalars, type Operands, wordsOfDigits } from './buckets.js';
import { combineWindows, type WindowShape } from './combine-on-cpu.js';
import { type CpuPool, cutRows, type Threads } from './cpu-threads.js';
import { rowsOf, Share, type WindowSums } from './share.js';
import { dividedByLength } from './short-scalars.js';

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
interface WasmMsmOptions {
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
    const copies: Uint8Array[] = [];
    try {
      for await (const ranges of roundsOf(this.#rangesOf(vectors, copies))) {
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
    } finally {
      for (const copy of copies) copy.fill(0);
    }
    const { windowBits, windows } = largest?.shape ?? { windowBits: 2, windows: 0 };
    return {
      sums: sums.map((sum) => publicPoint(curve, toAffine(curve, sum))),
      ...{ windowBits, windows, entries },
      ...this.#record(),
    };
  }

  /** Yields the ranges of all vectors, in order. @param copies receives the copies of scalars */
  async *#rangesOf(vectors: readonly SurveyedVector[], copies: Uint8Array[]): AsyncGenerator<VectorRange> {
    const { scalarBytes } = this.#curve;
    for (const [index, whole] of vectors.entries()) {
      for (const vector of await this.#run(dividedByLength(this.#curve, whole))) {
        if (vector !== whole) copies.push(vector.scalars);
        const { n, bits } = vector.load;
        if (n === 0) continue;
        const points = pointsOf(this.#curve, this.#source, vector);
        const shape = cpuShape(vector.load);
        for (let from = 0; from < n; from += MOST_POINTS) {
          const to = Math.min(n, from + MOST_POINTS);
          const scalars = vector.scalars.subarray(from * scalarBytes, to * scalarBytes);
          const entries = (shape.digits * (to - from)) / n;
          yield { vector: index, points, scalars, bits, from, to, shape, entries };
        }
      }
    }
  }

  #record(): Omit<CpuOutcome, 'sums' | 'windowBits' | 'windows' | 'entries'> {
    return {
      arithmetic: this.#kernel.arithmetic,
      workers: this.#workers.size,
      noWorkers: this.#isLarge && this.#workers.size === 0 ? this.#whyNone : null,
      chunkRows: this.#mostRows,
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
    const { lost, measured } = outcome;
    const results = outcome.results.filter((result) => result !== null);
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

/** Result of a call on the CPU. */
export interface CpuOutcome
  extends Pick<CpuRun, 'windowBits' | 'windows' | 'entries' | 'arithmetic' | 'workers' | 'noWorkers' | 'chunkRows'> {
  /** One sum per vector. */
  readonly sums: AffinePoint<Coordinate>[];
  /** Why workers were lost; null if none was. */
  readonly lost: string | null;
  /** Time in which other sums went first, in milliseconds. */
  readonly waitedMs: number;
}

/* Cuts vectors into ranges of scalars, and groups these into rounds that fit in memory. */

/** Windows of one round at most, of all its ranges. */
const MAX_WINDOWS = 2 ** 12;

/** The points that the scalars of a vector multiply. */
interface VectorPoints {
  /** Returns the words of the points `from` to `to`; not to be written to. */
  readonly words: (from: number, to: number) => Steps<Uint32Array>;
  /** Factor that the coordinates were multiplied by. */
  readonly scale: bigint;
}

/** Consecutive scalars of one vector, at most `MOST_POINTS`. */
interface VectorRange {
  /** Index of the vector. */
  readonly vector: number;
  readonly points: VectorPoints;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Bit length of the scalars at most. */
  readonly bits: number;
  readonly from: number;
  readonly to: number;
  /** Estimated number of digits that are not zero. */
  readonly entries: number;
  readonly shape: WindowShape;
}

/** Returns the index of the base that scalar `i` multiplies. */
export const baseIndex = ({ offset, indices }: SurveyedVector, i: number): number =>
  offset + (indices === null ? i : (indices[i] as number));

/** Points that can be used as they are stored. */
const storedPoints = ({ pointWords }: CurveContext, source: PointSource, vector: SurveyedVector): VectorPoints => {
  const all = wordsOf(source.bytes);
  const { scale } = source;
  if (vector.indices === null) {
    const at = (i: number): number => (vector.offset + i) * pointWords;
    return {
      scale,
      *words(from, to) {
        yield;
        return all.subarray(at(from), at(to));
      },
    };
  }
  function* words(from: number, end: number): Steps<Uint32Array> {
    const picked = new Uint32Array((end - from) * pointWords);
    for (let i = from; i < end; i++) {
      const at = baseIndex(vector, i) * pointWords;
      const to = (i - from) * pointWords;
      // faster than a view of each point
      for (let w = 0; w < pointWords; w++) picked[to + w] = all[at + w] as number;
      if (i % ITEMS_PER_STEP === 0) yield;
    }
    return picked;
  }
  return { scale, words };
};

const pointsOf = (curve: CurveContext, source: PointSource, vector: SurveyedVector): VectorPoints => {
  if (source.sign === undefined && source.edwards === undefined) return storedPoints(curve, source, vector);
  const read = readerOf(curve, source);
  function* words(from: number, to: number): Steps<Uint32Array> {
    const written = new Uint32Array((to - from) * curve.pointWords);
    for (let i = from; i < to; i++) {
      writePoint(curve, written, i - from, read(baseIndex(vector, i)));
      // a square root takes 0.1 to 1 ms
      yield;
    }
    return written;
  }
  return { scale: 1n, words };
};

/** Groups ranges into rounds, each of as many consecutive ranges as fit in memory together. */
async function* roundsOf(ranges: AsyncIterable<VectorRange>): AsyncGenerator<readonly VectorRange[]> {
  let round: VectorRange[] = [];
  let [points, windows] = [0, 0];
  for await (const range of ranges) {
    const [morePoints, moreWindows] = [points + range.to - range.from, windows + range.shape.windows];
    if (round.length > 0 && (morePoints > MOST_POINTS || moreWindows > MAX_WINDOWS)) {
      yield round;
      [round, points, windows] = [[], 0, 0];
    }
    round.push(range);
    points += range.to - range.from;
    windows += range.shape.windows;
  }
  if (round.length > 0) yield round;
}
