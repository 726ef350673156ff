/** Worker side of a pool, and the messages between a pool and its workers. */
import { NoWasmMemory } from '../errors.js';
import { type Assignment, chunksByCounter, chunksByMessages, chunksOfShare } from './chunks.js';
import { nodeModule } from './platform.js';

/** A worker's part of one round. */
interface RoundPart<Result> {
  /** @param input that the round has for the chunk; null: none */
  add(chunk: number, input: unknown): void;
  /** Returns the result of all chunks added. */
  settle(): Result;
  /** Returns the buffers of a result, which move to the thread of the pool. */
  transfer?(result: Result): ArrayBuffer[];
}

/** Computation of a worker. */
interface Computation<Setup, Prepared, Task, Result> {
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

/** A worker's end of the connection to the pool, in Node and in pages. */
interface WorkerPort {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
}

/** Serves the pool that started this worker, until it is terminated. */
export const servePool = <Setup, Prepared, Task, Result>({
  prepare,
  begin,
}: Computation<Setup, Prepared, Task, Result>): void => {
  const port = nodeModule('node:worker_threads')?.parentPort;
  const say = (message: FromWorker<Result>, transfer: ArrayBuffer[] = []): void =>
    ((port ?? globalThis) as WorkerPort).postMessage(message, transfer);
  const prepared = new Map<number, Prepared>();
  const inputs = new Map<number, unknown>();
  let onAnswer: ((chunk: number | null) => void) | null = null;

  const ask: Ask = () => {
    const answer = new Promise<number | null>((resolve) => {
      onAnswer = resolve;
    });
    say({ say: 'next' });
    return answer;
  };

  const hearInput = (chunk: number, input: unknown): void => {
    if (input !== null) inputs.set(chunk, input);
  };

  const compute = async ({ id, setup, task, assignment, input }: Begin<Task>): Promise<void> => {
    inputs.clear();
    if (assignment.by === 'message') hearInput(assignment.chunk, input);
    if (setup !== null) prepared.set(id, await prepare(setup as Setup));
    const part = begin(prepared.get(id) as Prepared, task);
    let chunks = 0;
    for await (const chunk of chunksOf(assignment, ask)) {
      chunks++;
      part.add(chunk, inputs.get(chunk) ?? null);
      inputs.delete(chunk);
    }
    const result = part.settle();
    say({ say: 'done', result, chunks }, part.transfer?.(result));
  };

  const fail = (error: unknown): void =>
    say({ say: 'failed', why: String(error), lacksMemory: error instanceof NoWasmMemory });

  const hear = (message: ToWorker<Task>): void => {
    if (message.say === 'more') {
      if (message.chunk !== null) hearInput(message.chunk, message.input);
      onAnswer?.(message.chunk);
    } else if (message.say === 'forget') prepared.delete(message.id);
    else compute(message).catch(fail);
  };

  if (port) port.on('message', (message) => hear(message as ToWorker<Task>));
  else globalThis.addEventListener('message', ({ data }) => hear(data as ToWorker<Task>));
  say({ say: 'ready' });
};

/** Begins a worker's part of a round. */
export interface Begin<Task> {
  readonly say: 'begin';
  /** Number of the setup. */
  readonly id: number;
  /** Value that the worker prepares itself with; null if it has prepared it before. */
  readonly setup: unknown;
  readonly task: Task;
  readonly assignment: Assignment;
  /** Input of the first chunk; null: the round has none for its chunks. */
  readonly input: unknown;
}

/** Answers `next`. */
export interface More {
  readonly say: 'more';
  /** null if no chunk is left. */
  readonly chunk: number | null;
  /** Input of the chunk; null: the round has none for its chunks. */
  readonly input: unknown;
}

/** Drops what was prepared of a setup. */
export interface Forget {
  readonly say: 'forget';
  readonly id: number;
}

export type ToWorker<Task> = Begin<Task> | More | Forget;

export type FromWorker<Result> =
  /** The worker has loaded and can compute. */
  | { readonly say: 'ready' }
  /** Asks for a chunk. */
  | { readonly say: 'next' }
  /** Ends the worker's part of a round. */
  | { readonly say: 'done'; readonly result: Result; readonly chunks: number }
  /** `lacksMemory`: WebAssembly got no memory. */
  | { readonly say: 'failed'; readonly why: string; readonly lacksMemory?: boolean };
