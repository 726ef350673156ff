/** One worker of a pool, seen from the thread that started it. */
import type { ComputeWorker } from '../api/sharing.js';
import type { Assignment } from './chunks/chunk-source.js';
import type { Begin, FromWorker, More } from './messages.js';
import type { NodeWorker } from './node-module.js';
import type { PageWorker } from './platform.js';

/** Told of all that a worker sends, and of its death. */
export interface WorkerListener<Result> {
  message(message: FromWorker<Result>): void;
  death(why: string): void;
}

/** Returns whether a worker is Node's. Node does not end a process while such workers have refs. */
const isOfNode = (worker: ComputeWorker): worker is NodeWorker => 'on' in worker;

/** @throws TypeError if `worker` is no worker */
const listenTo = <Result>(worker: ComputeWorker, { message, death }: WorkerListener<Result>): void => {
  if (isOfNode(worker)) {
    worker.on('message', message);
    worker.on('error', (error: unknown) => death(`died: ${String(error)}`));
    worker.on('exit', () => death('ended'));
    worker.unref();
    return;
  }
  const page = worker as PageWorker;
  page.addEventListener('message', ({ data }: { readonly data: FromWorker<Result> }) => message(data));
  page.addEventListener('messageerror', () => death('sent a message that could not be read'));
  page.addEventListener('error', (event: { readonly message?: string; preventDefault(): void }) => {
    event.preventDefault();
    death(`died: ${event.message ?? 'it could not be loaded'}`);
  });
};

/** `busy`: the worker computes its part of a round. */
export type WorkerState = 'starting' | 'idle' | 'busy' | 'dead';

export class WorkerHandle<Task, Result> {
  /** Number of the worker in its pool, from 1. */
  readonly number: number;
  readonly startedAt = performance.now();
  readonly #worker: ComputeWorker;
  #state: WorkerState = 'starting';
  #setup: unknown = null;
  #isAsking = false;
  #rounds = 0;

  /** @throws TypeError if `worker` is no worker */
  constructor(number: number, worker: ComputeWorker, listener: WorkerListener<Result>) {
    this.number = number;
    this.#worker = worker;
    listenTo(worker, listener);
  }

  get state(): WorkerState {
    return this.#state;
  }

  /** True while the worker waits for the answer to `next`. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** True between rounds, once its code has run in one: engines compile it in its first round. */
  get isWarm(): boolean {
    return this.#state === 'idle' && this.#rounds > 0;
  }

  ready(): void {
    this.#state = 'idle';
  }

  begin(setup: unknown, task: Task, assignment: Assignment): void {
    const known = this.#setup === setup;
    this.#setup = setup;
    this.#state = 'busy';
    this.#isAsking = false;
    if (isOfNode(this.#worker)) this.#worker.ref();
    this.#worker.postMessage({
      say: 'begin',
      setup: known ? null : setup,
      task,
      assignment,
    } satisfies Begin<Task>);
  }

  asks(): void {
    this.#isAsking = true;
  }

  answer(chunk: number | null): void {
    this.#isAsking = false;
    this.#worker.postMessage({ say: 'more', chunk } satisfies More);
  }

  done(): void {
    this.#state = 'idle';
    this.#rounds++;
    if (isOfNode(this.#worker)) this.#worker.unref();
  }

  end(): void {
    this.#state = 'dead';
    this.#worker.terminate();
  }
}
