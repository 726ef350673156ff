/** MSMs without a GPU: in WebAssembly, on several threads where there is enough to do; on BigInts where there is no WebAssembly. */
import type { RunRecord } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, addAffine, infinityOf, toAffine } from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { OwnShare, WorkerPool } from '../../threads/pool.js';
import type { CompiledKernel, PointAdder } from '../../wasm/arithmetic/point-adder.js';
import type { SurveyedVector } from '../plan/survey.js';
import { cpuShape, MOST_POINTS, workersFor } from '../plan/work.js';
import { publicPoint } from '../stages/combine-windows.js';
import { withAdder } from './adder.js';
import type { Steps } from './bucket-sums.js';
import { type Cutting, cutRows } from './cut.js';
import { digitsOfScalars, wordsOfDigits } from './digits.js';
import { gather, type Shape } from './gather.js';
import { pippenger } from './pippenger.js';
import { type Operands, rowsOf, Share, type WindowSums } from './share.js';
import { ANY, type Pause, turnsOf } from './sum-line.js';

/** What a call came to that was computed on the CPU. */
export interface CpuOutcome {
  /** The sums of the vectors. */
  readonly sums: AffinePoint<Coordinate>[];
  /** c, and digits of a scalar, of the vector with the most digits. */
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that were not zero, of all vectors. */
  readonly entries: number;
  readonly arithmetic: Exclude<RunRecord['arithmetic'], null>;
  /** Workers that took part. */
  readonly workers: number;
  /** Why there were none though there was enough to do for some; null where none failed. */
  readonly noWorkers: string | null;
  /** Rows of a chunk, of the last round; 0 where there was but one thread. */
  readonly chunk: number;
  /** What became of workers that died; null if none did. */
  readonly lost: string | null;
  /** Milliseconds in which others went first. */
  readonly waitedMs: number;
}

/** With which other threads, and how what is to be done is cut for them. */
export interface Threads extends Cutting {
  /** null where there are none. */
  readonly pool: WorkerPool | null;
  /** The most workers beside the own thread. */
  readonly workers: number;
  /** Why there are none where some were permitted. */
  readonly whyNone?: string;
  /** How many of them may be at work; asked now and then. Where it is not there all may. */
  readonly allowed?: (() => number) | undefined;
  /** Called now and then, to let others go first. */
  readonly pause?: Pause | undefined;
}

export const SINGLE_THREAD: Threads = { pool: null, workers: 0, distribution: 'dynamic', chunk: null };

/**
 * Multiplies vectors on the CPU.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param goOn called now and then; what it throws ends the computation
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  threads: Threads = SINGLE_THREAD,
): Promise<CpuOutcome> => {
  const wide =
    source &&
    (await withAdder(curve, (adder, kernel) =>
      new WasmMsm(curve, source, adder, kernel, checkpoint, threads).multiply(vectors),
    ));
  return wide ?? onBigInts(curve, source, vectors, checkpoint, threads);
};

const onBigInts = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  checkpoint: () => void,
  threads: Threads,
): Promise<CpuOutcome> => {
  const turns = turnsOf(checkpoint, threads.pause);
  const read = source === null ? () => null : readerOf(curve, source);
  let most = { windowBits: 2, windows: 0, entries: 0 };
  let entries = 0;
  const sums: AffinePoint<Coordinate>[] = [];
  for (const vector of vectors) {
    const done = await pippenger(curve, (i) => read(baseOf(vector, i)), vector.scalars, turns);
    sums.push(publicPoint(curve, toAffine(curve, done.sum)));
    entries += done.entries;
    if (done.entries > most.entries) most = done;
  }
  const { windowBits, windows } = most;
  const { waitedMs } = turns;
  const nobody = { workers: 0, noWorkers: null, chunk: 0, lost: null };
  return { sums, windowBits, windows, entries, arithmetic: 'bigint', ...nobody, waitedMs };
};

/** Which of the bases scalar i multiplies. */
const baseOf = ({ offset, indices }: SurveyedVector, i: number): number =>
  offset + (indices === null ? i : (indices[i] as number));

/** The points of a vector's scalars. */
interface Points {
  /** Of those from one up to another; not to be written to. */
  readonly words: (from: number, to: number) => Uint32Array;
  /** What their coordinates were multiplied by. */
  readonly scale: bigint;
}

const pointsOf = (curve: CurveContext, source: PointSource, vector: SurveyedVector): Points => {
  const { pointWords } = curve;
  if (source.sign === undefined && source.edwards === undefined) {
    const all = wordsOf(source.bytes);
    const { scale } = source;
    if (vector.indices === null) {
      const at = (i: number): number => (vector.offset + i) * pointWords;
      return { scale, words: (from, to) => all.subarray(at(from), at(to)) };
    }
    const words = (from: number, to: number): Uint32Array => {
      const picked = new Uint32Array((to - from) * pointWords);
      for (let i = from; i < to; i++) {
        const at = baseOf(vector, i) * pointWords;
        picked.set(all.subarray(at, at + pointWords), (i - from) * pointWords);
      }
      return picked;
    };
    return { scale, words };
  }
  const read = readerOf(curve, source);
  const words = (from: number, to: number): Uint32Array => {
    const written = new Uint32Array((to - from) * pointWords);
    for (let i = from; i < to; i++) writePoint(curve, written, i - from, read(baseOf(vector, i)));
    return written;
  };
  return { scale: 1n, words };
};

/** Windows of a round, of all pieces. */
const MOST_WINDOWS = 2 ** 12;

/** A part of a vector. */
interface Part {
  readonly vector: number;
  readonly points: Points;
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly bits: number;
  readonly from: number;
  readonly to: number;
  /** Digits that are not zero, about. */
  readonly entries: number;
  readonly shape: Shape;
}

/** A call that is computed in WebAssembly: round by round, each of as many pieces as are in memory together. */
class WasmMsm {
  readonly #curve: CurveContext;
  readonly #source: PointSource;
  readonly #adder: PointAdder;
  readonly #kernel: CompiledKernel;
  readonly #turns: TimeSlice;
  readonly #threads: Threads;
  readonly #workers = new Set<number>();
  readonly #lost: string[] = [];
  /** Whether a round was worth workers. */
  #isLarge = false;
  #chunk = 0;
  /** Additions of a round that are a thread's. */
  #share = 0;

  constructor(
    curve: CurveContext,
    source: PointSource,
    adder: PointAdder,
    kernel: CompiledKernel,
    checkpoint: () => void,
    threads: Threads,
  ) {
    this.#curve = curve;
    this.#source = source;
    this.#adder = adder;
    this.#kernel = kernel;
    this.#threads = threads;
    // beside a round, whose workers it cannot have, goes what takes one thread no longer than the round takes them all
    this.#turns = turnsOf(checkpoint, threads.pause, () => (threads.pool?.isBusy ? this.#share : ANY));
  }

  async multiply(vectors: readonly SurveyedVector[]): Promise<CpuOutcome> {
    const curve = this.#curve;
    const sums = vectors.map(() => infinityOf(curve));
    let most: Part | null = null;
    let entries = 0;
    for (const parts of roundsOf(this.#partsOf(vectors))) {
      await this.#turns.checkpoint();
      const done = await this.#round(parts);
      const points = await this.#inTurns(
        gather(
          this.#adder,
          parts.map(({ shape }) => shape),
          done,
        ),
      );
      for (const [i, part] of parts.entries()) {
        const sum = this.#read(points[i] as number);
        if (sum !== null) sums[part.vector] = addAffine(curve, sums[part.vector] as (typeof sums)[number], sum);
        if (part.entries > (most?.entries ?? -1)) most = part;
      }
      entries += done.reduce((all, each) => all + each.entries, 0);
    }
    const { windowBits, windows } = most?.shape ?? { windowBits: 2, windows: 0 };
    return {
      sums: sums.map((sum) => publicPoint(curve, toAffine(curve, sum))),
      windowBits,
      windows,
      entries,
      arithmetic: this.#kernel.lanes === 1 ? 'wasm' : 'wasm-simd',
      workers: this.#workers.size,
      noWorkers: this.#isLarge && this.#workers.size === 0 ? this.#whyNone : null,
      chunk: this.#chunk,
      lost: this.#lost.length === 0 ? null : this.#lost.join('; '),
      waitedMs: this.#turns.waitedMs,
    };
  }

  get #whyNone(): string | null {
    const { pool, whyNone = null } = this.#threads;
    return pool === null ? whyNone : pool.whyOff;
  }

  *#partsOf(vectors: readonly SurveyedVector[]): Generator<Part> {
    const { scalarBytes } = this.#curve;
    for (const [index, vector] of vectors.entries()) {
      const { n, bits } = vector.load;
      if (n === 0) continue;
      const points = pointsOf(this.#curve, this.#source, vector);
      const shape = cpuShape(vector.load);
      for (let from = 0; from < n; from += MOST_POINTS) {
        const to = Math.min(n, from + MOST_POINTS);
        const scalars = vector.scalars.subarray(from * scalarBytes, to * scalarBytes);
        yield { vector: index, points, scalars, bits, from, to, shape, entries: (shape.digits * (to - from)) / n };
      }
    }
  }

  async #round(parts: readonly Part[]): Promise<readonly WindowSums[]> {
    const { pool } = this.#threads;
    const entries = parts.reduce((sum, part) => sum + part.entries, 0);
    // beside a round of another sum the own thread computes alone
    const isAlone = pool === null || pool.isOff || pool.isBusy;
    const worth = workersFor(this.#curve, entries);
    if (worth > 0) this.#isLarge = true;
    const workers = isAlone ? 0 : Math.min(this.#threads.workers, worth);
    this.#share = entries / (1 + workers);
    const make = workers > 0 && pool?.shares ? this.#sharedWith(pool, parts) : null;
    const pieces = parts.map(({ points, scalars, bits, from, to, shape }): Operands => {
      const words = points.words(from, to);
      return {
        points: make === null ? words : copied(words, make),
        scale: points.scale,
        digits: digitsOfScalars(this.#curve, scalars, bits, shape.windowBits, make ?? undefined),
      };
    });
    const rows = pieces.reduce((sum, piece) => sum + rowsOf(piece), 0);
    const share = (rowsPerChunk: number): OwnShare => {
      const own = new Share(this.#adder, pieces);
      return {
        add: (chunk) => this.#timed(own.add(chunk * rowsPerChunk, (chunk + 1) * rowsPerChunk)),
        settle: () => this.#inTurns(own.settle()),
      };
    };
    if (pool === null || workers === 0) {
      const own = share(rows);
      await own.add(0);
      return [await own.settle()];
    }
    const { rowsPerChunk, chunks } = cutRows(rows, workers, this.#threads);
    this.#chunk = rowsPerChunk;
    const outcome = await pool.run(
      {
        kernel: this.#kernel,
        task: { pieces, rowsPerChunk },
        chunks,
        isStatic: this.#threads.distribution === 'static',
        own: () => share(rowsPerChunk),
        allowed: this.#threads.allowed,
        checkpoint: () => this.#turns.checkpoint(),
      },
      Math.min(workers, chunks - 1),
    );
    for (const worker of outcome.workers) this.#workers.add(worker);
    if (outcome.lost !== null) this.#lost.push(outcome.lost);
    return outcome.parts;
  }

  /** Makes room, one behind the other, in memory that workers see, for the points of parts and their digits. */
  #sharedWith(pool: WorkerPool, parts: readonly Part[]): (words: number) => Uint32Array {
    const { pointWords } = this.#curve;
    const words = parts.reduce((sum, { from, to, shape: { windows, windowBits } }) => {
      return sum + (to - from) * (pointWords + wordsOfDigits(windows, windowBits));
    }, 0);
    const all = pool.room(words);
    let used = 0;
    return (wanted) => {
      used += wanted;
      return all.subarray(used - wanted, used);
    };
  }

  #read(at: number): Affine {
    const sum = this.#adder.read(at);
    if (sum.every((value) => value === 0n)) return null;
    const f = this.#curve.coordinates;
    return { x: f.of(sum.slice(0, f.degree)), y: f.of(sum.slice(f.degree)) };
  }

  /** How long steps took the own thread, in milliseconds. */
  async #timed(steps: Steps<void>): Promise<number> {
    const spent = (): number => performance.now() - this.#turns.waitedMs;
    const before = spent();
    await this.#inTurns(steps);
    return spent() - before;
  }

  async #inTurns<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (this.#turns.isOver) await this.#turns.yield();
    }
  }
}

const copied = (words: Uint32Array, make: (words: number) => Uint32Array): Uint32Array => {
  const copy = make(words.length);
  copy.set(words);
  return copy;
};

/** Parts that are computed together, in their order. */
function* roundsOf(parts: Iterable<Part>): Generator<readonly Part[]> {
  let round: Part[] = [];
  let [points, windows] = [0, 0];
  for (const part of parts) {
    const [morePoints, moreWindows] = [points + part.to - part.from, windows + part.shape.windows];
    if (round.length > 0 && (morePoints > MOST_POINTS || moreWindows > MOST_WINDOWS)) {
      yield round;
      [round, points, windows] = [[], 0, 0];
    }
    round.push(part);
    points += part.to - part.from;
    windows += part.shape.windows;
  }
  if (round.length > 0) yield round;
}
