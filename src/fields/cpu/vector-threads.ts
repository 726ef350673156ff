/**
 * Threads that compute vectors beside the engine's own: those that sums have. Where memory is shared, all threads
 * run one program, and each takes chunks of its open phase until none is left. Elsewhere each takes chains of
 * operations, whose vectors come and go by transfer.
 */
import type { Ticket } from '../../scheduling/edf.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import { ANY_SIZE, type Pause, type TurnQueue } from '../../scheduling/turn-queue.js';
import type { Pool } from '../../threads/pool.js';
import type { OwnThread } from '../../threads/round.js';
import type { SharedVectors, VectorMemory } from '../../wasm/vectors/vector-kernel.js';
import type { ChainResults, ChainTask, VectorModule } from '../../wasm/vectors/vector-messages.js';
import {
  type Phase,
  type ProgramHost,
  runOnHost,
  type SharedProgram,
  writeProgram,
} from '../../wasm/vectors/vector-program.js';

/** Message by which a worker takes part in a program. */
export interface VectorTask {
  readonly program: SharedProgram;
}

/** A pool of workers that add up buckets and compute vectors. */
export type VectorPool = Pick<
  Pool<VectorTask | ChainTask, unknown>,
  'run' | 'isBusy' | 'isOff' | 'size' | 'sharesMemory' | 'forget' | 'afford'
>;

/** Threads of an engine of sums. */
export interface Lent {
  readonly pool: VectorPool;
  /** Workers at most. */
  readonly most: number;
  /** Turns of the CPU. */
  readonly queue: Pick<TurnQueue, 'inTurn' | 'isIdle'>;
}

/** A worker stopped in the middle of a chunk. */
export class LostWorker extends Error {}

/** A run takes a worker for each of so many ms. */
const MS_OF_A_WORKER = 4;

/**
 * Least estimated time of a run that a single worker with shared memory takes part in, in ms. Else it adds up
 * sums meanwhile: to divide both between two threads takes longer (row `vectors-two-threads`), except where long
 * runs have no sums beside them (row `vectors-one-worker-bits`).
 */
const MS_OF_A_SINGLE_WORKER = 64;

/** Estimated time of a chain, in ms, from which on it is worth two messages. */
const LEAST_CHAIN_MS = 1;

/**
 * Milliseconds without the end of a phase after which a worker in a chunk counts as lost, and where
 * a worker has ended. A page gets no event when a worker is terminated.
 */
const [SILENT_MS, ENDED_MS] = [3000, 100];

/**
 * Returns how many workers a run is worth.
 *
 * @param ms its estimated time on one thread
 * @param most workers at most
 * @param isIdle whether the workers have no sums
 */
export const workersOfRun = (
  ms: number,
  most: number,
  { sharesMemory, isIdle }: { readonly sharesMemory: boolean; readonly isIdle: boolean },
): number => {
  const isSingle = most === 1 && sharesMemory;
  if ((isSingle && !isIdle) || ms < (isSingle ? MS_OF_A_SINGLE_WORKER : MS_OF_A_WORKER)) return 0;
  return Math.min(most, Math.floor(ms / MS_OF_A_WORKER));
};

export class VectorThreads {
  readonly #pool: VectorPool;
  readonly #queue: Lent['queue'];
  /** Workers at most. */
  readonly most: number;

  constructor({ pool, most, queue }: Lent) {
    this.#pool = pool;
    this.#queue = queue;
    this.most = most;
  }

  /** Returns how many workers a run takes. @param ms its estimated time on one thread */
  workersFor(ms: number): number {
    const pool = this.#pool;
    const wanted = workersOfRun(ms, this.most, { sharesMemory: pool.sharesMemory, isIdle: this.#queue.isIdle });
    return pool.isOff || wanted === 0 ? 0 : Math.min(wanted, pool.afford(ms / MS_OF_A_WORKER));
  }

  /** Returns whether a chain of operations is worth two messages. @param ms its estimated time on one thread */
  isWorthSending(ms: number): boolean {
    return ms >= LEAST_CHAIN_MS;
  }

  /**
   * Runs `work` in a turn of the CPU, so that a sum and vectors do not share the threads: either
   * would take the time of both. Vectors go before sums that wait, since more sums wait for them
   * than for a sum.
   *
   * @param work called with true if no paused sum has the workers
   */
  inTurn<Result>(ticket: Ticket, work: (isFree: boolean, pause: Pause) => Promise<Result>): Promise<Result> {
    const first = { ...ticket, deadline: Math.min(ticket.deadline ?? ticket.since, ticket.since), size: ANY_SIZE };
    return this.#queue.inTurn(first, (pause) => work(!this.#pool.isBusy, pause));
  }

  /**
   * Computes phases, one after the other, each on all threads.
   *
   * @returns numbers of the workers that took part
   * @throws LostWorker if a worker stopped that may still write to the memory; what `host` throws
   */
  async compute(
    memory: VectorMemory,
    phases: readonly Phase[],
    workers: number,
    host: Pick<ProgramHost, 'between' | 'onPhase'>,
  ): Promise<readonly number[]> {
    const program = writeProgram(phases);
    const left = { isStuck: false };
    let hasEnded = false;
    const work = async (): Promise<void> => {
      let since = performance.now();
      const waits = async (): Promise<void> => {
        await host.between();
        if (performance.now() - since < (hasEnded ? ENDED_MS : SILENT_MS)) return;
        throw new LostWorker(
          `a worker ${hasEnded ? 'ended' : 'was not heard of any more'} while it computed vectors, which were computed again`,
        );
      };
      const onPhase = (ended: number): void => {
        since = performance.now();
        host.onPhase(ended);
      };
      await runOnHost(phases, program, memory.exports, { between: host.between, waits, onPhase }, left);
    };
    try {
      const outcome = await this.#pool.run(
        {
          setup: memory.shared as SharedVectors,
          task: { program },
          // a seat for each thread: whoever sits down stays until the program ends
          chunks: 1 + workers,
          distribution: 'dynamic',
          measures: false,
          own: () => ownThread(work),
          now: () => performance.now(),
          checkpoint: async () => host.between(),
          turn: nextTurn,
          onLost: () => {
            hasEnded = true;
          },
        },
        workers,
      );
      return outcome.workers;
    } catch (error) {
      if (left.isStuck && !(error instanceof LostWorker)) await memory.move();
      throw error;
    }
  }

  /**
   * Computes chains, on this thread and on workers that share no memory with it. This thread computes those of
   * workers that are lost.
   *
   * @param chains called on this thread: `vectorOf` copies the vector that a chain begins with, and `compute`
   *   computes a chain
   * @throws what `chains` throws
   */
  async computeChains(
    setup: VectorModule,
    task: ChainTask,
    workers: number,
    chains: ChainsHere,
  ): Promise<ChainsOutcome> {
    const outcome = await this.#pool.run(
      {
        setup,
        task,
        chunks: task.chains.length,
        distribution: 'dynamic',
        measures: false,
        inputOf: (chain) => {
          const vector = chains.vectorOf(chain);
          return { value: vector, transfer: [vector] };
        },
        own: () => ({
          work: 0,
          add: async (chain) => {
            const begun = performance.now();
            await chains.compute(chain);
            return performance.now() - begun;
          },
          settle: async () => null,
        }),
        now: () => performance.now(),
        checkpoint: async () => chains.between(),
        turn: nextTurn,
      },
      Math.min(workers, task.chains.length - 1),
    );
    const results = (outcome.results as (ChainResults | null)[]).filter((each) => each !== null);
    return { results, workers: outcome.workers, lost: outcome.lost };
  }

  /** Lets workers drop a memory, or a module. */
  forget(setup: SharedVectors | VectorModule): void {
    this.#pool.forget(setup);
  }
}

/** Chains on the thread of the engine, by their numbers. */
interface ChainsHere {
  vectorOf(chain: number): ArrayBuffer;
  compute(chain: number): Promise<void>;
  /** Called while the thread waits; ends the round by throwing. */
  between(): Promise<void> | void;
}

/** Chains that workers have computed. */
interface ChainsOutcome {
  readonly results: readonly ChainResults[];
  /** Numbers of the workers that took part. */
  readonly workers: readonly number[];
  /** Reason why workers were lost; null if none was. */
  readonly lost: string | null;
}

/** Returns the engine's thread in a round: its first seat is the whole program. */
const ownThread = (work: () => Promise<void>): OwnThread<null> => {
  let isDone = false;
  return {
    work: 0,
    add: async () => {
      if (isDone) return 0;
      isDone = true;
      const begun = performance.now();
      await work();
      return performance.now() - begun;
    },
    settle: async () => null,
  };
};
