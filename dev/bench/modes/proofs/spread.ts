/**
 * Predicts the time of a proof on several threads that share memory, from its parts on one. Threads of the
 * prediction are equally fast and cost nothing, so that what a measured proof takes longer is their overhead.
 */
import { workersOfRun } from '../../../../src/fields/cpu/vector-threads.js';
import { workersOfSum } from '../../../../src/msm/plan/cost.js';

/** A sum of a proof, or a run of vectors. */
export interface ProofPart {
  readonly kind: 'sum' | 'vectors';
  /** Milliseconds on one thread, alone. */
  readonly ms: number;
  /** Numbers of the parts that have to end before it begins. */
  readonly after: readonly number[];
}

/** Parts of a proof on one thread, in the order in which they are asked for. */
export interface ProofGraph {
  readonly parts: readonly ProofPart[];
  /** Milliseconds of the rest, which only the engine's thread computes. */
  readonly restMs: number;
}

/** A part that waits or runs. */
interface Open extends ProofPart {
  readonly number: number;
  /** Milliseconds that are left of it on one thread. */
  leftMs: number;
  /** Workers that compute it beside the engine's thread, once it runs. */
  workers: number;
}

/** Milliseconds that rounding leaves of a part that has ended. */
const ROUNDING_MS = 1e-9;

/** Returns the predicted milliseconds. @param threads from 1 */
export const predictMs = ({ parts, restMs }: ProofGraph, threads: number): number => {
  const most = threads - 1;
  const ended = new Set<number>();
  let waiting = parts.map((part, number): Open => ({ ...part, number, leftMs: part.ms, workers: 0 }));
  /** The part that has the turn of the workers. */
  let inTurn: Open | null = null;
  /** Runs of vectors that the engine's thread computes meanwhile. */
  let alone: readonly Open[] = [];
  let ms = restMs;
  while (ended.size < parts.length) {
    const ready = waiting.filter(({ after }) => after.every((number) => ended.has(number)));
    for (const part of inOrder(ready, most)) {
      const isIdle = inTurn === null;
      part.workers = workersOf(part, most, isIdle);
      if (part.kind === 'vectors' && part.workers === 0) alone = [...alone, part];
      else if (isIdle) inTurn = part;
      else continue;
      waiting = waiting.filter((each) => each !== part);
    }
    const running: readonly Open[] = inTurn === null ? alone : [inTurn, ...alone];
    // they share the engine's thread
    const rateOf = ({ workers }: Open): number => workers + 1 / running.length;
    const step = Math.min(...running.map((part) => part.leftMs / rateOf(part)));
    if (!Number.isFinite(step)) throw new Error('the parts of a proof wait for each other');
    ms += step;
    for (const part of running) {
      part.leftMs -= step * rateOf(part);
      if (part.leftMs < ROUNDING_MS) ended.add(part.number);
    }
    if (inTurn !== null && ended.has(inTurn.number)) inTurn = null;
    alone = alone.filter(({ number }) => !ended.has(number));
  }
  return ms;
};

const workersOf = ({ kind, ms }: ProofPart, most: number, isIdle: boolean): number =>
  kind === 'sum' ? Math.min(most, workersOfSum(ms, true)) : workersOfRun(ms, most, { sharesMemory: true, isIdle });

/**
 * Returns parts in the order in which they begin: vectors first, since sums wait for them. A single worker
 * has sums first if some are long enough for it.
 */
const inOrder = (ready: readonly Open[], most: number): readonly Open[] => {
  const sums = ready.filter(({ kind }) => kind === 'sum');
  if (most === 1 && sums.some(({ ms }) => workersOfSum(ms, true) > 0)) return ready;
  return [...ready.filter(({ kind }) => kind === 'vectors'), ...sums];
};
