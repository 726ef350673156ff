/** Sums of few terms on all cores: how they are cut into rounds and chunks, and joined again. */
import type { CurveContext } from '../../curves/curve.js';
import { endomorphismOf } from '../../curves/halving.js';
import { writePoint } from '../../curves/point-source.js';
import { MsmError } from '../../errors.js';
import { inTimeSlices, TimeSlice } from '../../scheduling/time-slice.js';
import { mostWorkers } from '../../threads/platform.js';
import type { Pool } from '../../threads/pool.js';
import type { CompiledKernel } from '../../wasm/points/kernel.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { dropIdleAdders, withAdder } from './adder.js';
import { openPool, type WorkerOptions } from './cpu-threads.js';
import { roomForMultipliers, writeMultiplier } from './point-multiples.js';
import { BLOCK_TERMS, type ManySums, type PartialSums, PointSums, resultsOf, type SumsTask } from './point-sums.js';

/** A term whose point is not on the curve. */
export class PointNotOnCurve extends Error {
  readonly term: number;

  constructor(term: number) {
    super(`the point of term ${term} is not on the curve`);
    this.term = term;
  }
}

/** Sums in a chunk at most. Of more terms than a block has, a chunk is one block. */
const CHUNK = 512;

/** Multipliers that are split and written without a pause: less than a millisecond. */
const SPLIT_AT_ONCE = 64;

/** Terms that another thread is worth waiting for. */
const LEAST_TERMS = 2 ** 10;

/** Returns the first sum of each chunk, and the number of sums. */
const cutSums = (starts: Uint32Array): number[] => {
  const cuts = [0];
  const sums = starts.length - 1;
  let first = 0;
  for (let sum = 1; sum <= sums; sum++) {
    // with the next sum
    const terms = (starts[sum + 1] as number) - (starts[first] as number);
    if (sum < sums && sum - first < CHUNK && terms <= BLOCK_TERMS) continue;
    cuts.push(sum);
    first = sum;
  }
  return cuts;
};

/** The threads of one computation. */
export class SumThreads {
  readonly #workers: number;
  readonly #pool: Pool<SumsTask, PartialSums> | null;
  readonly #checkpoint: () => void;
  readonly #slice: TimeSlice;

  /** @param checkpoint called between turns; ends a computation by throwing */
  constructor(options: WorkerOptions, checkpoint: () => void) {
    this.#workers = mostWorkers(options);
    this.#pool = this.#workers === 0 ? null : openPool(options.createWorker);
    this.#checkpoint = checkpoint;
    this.#slice = new TimeSlice(checkpoint);
  }

  /** Ends the workers, and frees memory that is kept for sums. */
  destroy(): void {
    dropIdleAdders();
    this.#pool?.destroy();
  }

  /** Lets the event loop run where that is due. */
  async pause(): Promise<void> {
    if (this.#slice.isOver) await this.#slice.yield();
  }

  /**
   * Computes sums in the group of order r.
   *
   * @returns for each scale x‖y of the sums or butterflies, little-endian; infinity is zeros
   * @throws PointNotOnCurve; MsmError `unsupported-device` without WebAssembly; NoWasmMemory; and
   *   what the checkpoint throws
   */
  async compute(curve: CurveContext, sums: ManySums): Promise<Uint32Array[]> {
    const { factors, parts, split } = endomorphismOf(curve);
    const { points, starts, which, scale, scales, addends } = sums;
    if (which.length === 0) {
      return scales.map(() => new Uint32Array(resultsOf(sums) * (starts.length - 1) * curve.pointWords));
    }
    const image = new Uint32Array(curve.pointWords);
    writePoint(curve, image, 0, factors);
    const task: SumsTask = {
      kind: 'sums',
      ...{ points, scale, starts, which, scales, addends },
      factors: image,
      multipliers: roomForMultipliers(sums.multipliers.length, parts),
      cuts: cutSums(starts),
    };
    let partial: readonly PartialSums[] | null;
    try {
      for (const [i, k] of sums.multipliers.entries()) {
        writeMultiplier(task.multipliers, i, split(k));
        if (i % SPLIT_AT_ONCE === 0) await this.pause();
      }
      partial = await withAdder(curve, (adder, kernel) => this.#run(task, adder, kernel));
    } finally {
      // they may be secret
      task.multipliers.words.fill(0);
    }
    if (partial === null) {
      throw new MsmError(
        'unsupported-device',
        'a setup needs WebAssembly, which this platform does not have or a content security policy forbids',
      );
    }
    const wrong = partial.map((part) => part.wrong).filter((term) => term !== null);
    if (wrong.length > 0) throw new PointNotOnCurve(Math.min(...wrong));
    return scales.map((_, k) => joinChunks(task, partial, k, curve.pointWords));
  }

  async #run(task: SumsTask, adder: PointAdder, kernel: CompiledKernel): Promise<readonly PartialSums[]> {
    const pool = this.#pool;
    const chunks = task.cuts.length - 1;
    const all: PointSums[] = [];
    const own = () => {
      const sums = new PointSums(adder, task);
      all.push(sums);
      return {
        get work() {
          return sums.terms;
        },
        add: async (chunk: number): Promise<number> => {
          const begun = performance.now();
          await inTimeSlices(sums.addChunk(chunk), this.#slice);
          return performance.now() - begun;
        },
        settle: async () => sums.settle(),
      };
    };
    try {
      const workers = pool === null || pool.isOff || task.which.length < LEAST_TERMS ? 0 : this.#workers;
      if (pool === null || workers === 0) {
        const thread = own();
        for (let chunk = 0; chunk < chunks; chunk++) await thread.add(chunk);
        return [await thread.settle()];
      }
      const { results } = await pool.run(
        {
          setup: kernel,
          task: pool.sharesMemory ? shared(task, pool) : task,
          chunks,
          distribution: 'dynamic',
          measures: false,
          own,
          now: () => performance.now(),
          checkpoint: async () => this.#checkpoint(),
          turn: () => this.#slice.yield(),
        },
        Math.min(workers, chunks - 1),
      );
      return results;
    } finally {
      // also where they were ended, so that no digits of multipliers stay
      for (const sums of all) sums.settle();
    }
  }
}

/** Returns a task whose points are in memory that workers share. */
const shared = (task: SumsTask, pool: Pool<SumsTask, PartialSums>): SumsTask => {
  const { points, addends } = task;
  const all = pool.takeInput(points.length + (addends?.length ?? 0));
  all.set(points);
  if (addends === undefined) return { ...task, points: all };
  all.set(addends, points.length);
  return { ...task, points: all.subarray(0, points.length), addends: all.subarray(points.length) };
};

/** Joins the results of all threads for one scale. */
const joinChunks = (
  { cuts, starts, addends }: SumsTask,
  parts: readonly PartialSums[],
  scale: number,
  pointWords: number,
): Uint32Array => {
  const words = resultsOf({ addends }) * pointWords;
  const all = new Uint32Array((starts.length - 1) * words);
  for (const part of parts) {
    for (const [i, chunk] of part.chunks.entries()) {
      all.set(part.words[i]?.[scale] as Uint32Array, (cuts[chunk] as number) * words);
    }
  }
  return all;
};
