/** Worker side of a pool. */
import { NoWasmMemory } from '../errors.js';
import { chunksByMessages } from './chunks/by-messages.js';
import type { Assignment } from './chunks/chunk-source.js';
import { chunksByCounter } from './chunks/shared-counter.js';
import { chunksOfShare } from './chunks/static-shares.js';
import type { Begin, FromWorker, ToWorker } from './messages.js';
import { nodeModule } from './node-module.js';

/** A worker's part of one round. */
export interface RoundPart<Result> {
  add(chunk: number): void;
  /** Returns the result of all chunks added. */
  settle(): Result;
}

/** Computation of a worker. */
export interface Computation<Setup, Prepared, Task, Result> {
  /** Prepares the worker; called again only when the pool sends another setup. */
  prepare(setup: Setup): Promise<Prepared>;
  begin(prepared: Prepared, task: Task): RoundPart<Result>;
}

type Ask = () => Promise<number | null>;

const chunksOf = (assignment: Assignment, ask: Ask): Iterable<number> | AsyncIterable<number> => {
  if (assignment.by === 'share') return chunksOfShare(assignment);
  if (assignment.by === 'message') return chunksByMessages(assignment.chunk, ask);
  return chunksByCounter(assignment);
};

/** Serves the pool that started this worker, until it is terminated. */
export const servePool = <Setup, Prepared, Task, Result>({
  prepare,
  begin,
}: Computation<Setup, Prepared, Task, Result>): void => {
  const port = nodeModule('node:worker_threads')?.parentPort;
  const say = (message: FromWorker<Result>): void => (port ?? globalThis).postMessage(message);
  let prepared: Prepared | null = null;
  let onAnswer: ((chunk: number | null) => void) | null = null;

  const ask: Ask = () => {
    const answer = new Promise<number | null>((resolve) => {
      onAnswer = resolve;
    });
    say({ say: 'next' });
    return answer;
  };

  const compute = async ({ setup, task, assignment }: Begin<Task>): Promise<void> => {
    if (setup !== null) prepared = await prepare(setup as Setup);
    const part = begin(prepared as Prepared, task);
    let chunks = 0;
    for await (const chunk of chunksOf(assignment, ask)) {
      chunks++;
      part.add(chunk);
    }
    say({ say: 'done', result: part.settle(), chunks });
  };

  const fail = (error: unknown): void =>
    say({ say: 'failed', why: String(error), lacksMemory: error instanceof NoWasmMemory });

  const hear = (message: ToWorker<Task>): void => {
    if (message.say === 'more') onAnswer?.(message.chunk);
    else compute(message).catch(fail);
  };

  if (port) port.on('message', (message) => hear(message as ToWorker<Task>));
  else globalThis.addEventListener('message', ({ data }) => hear(data as ToWorker<Task>));
  say({ say: 'ready' });
};
