import { Ending } from '../ending.js';
import { MsmError, NoAnswerError } from '../errors.js';
import { type Ticket, ticketOf } from '../scheduling/ticket.js';
import { kernelsOf } from '../shaders/commands.js';
import type { Kernel } from '../shaders/kernel.js';
import { bufferUsage } from './constants.js';
import type { Allowance } from './device-memory.js';
import { type DeviceScheduler, schedulerOf } from './device-scheduler.js';
import { type Loss, Stuck, watchOf } from './device-watch.js';
import { inErrorScopes } from './error-scopes.js';
import type { Client, Lease } from './lease.js';
import { Ledger } from './ledger.js';
import { pipelineFor, releasePipelines } from './pipelines.js';
import type { Stopwatch, Submission, SubmissionResult } from './submission.js';
import { PlannedSubmission, type RunHost, SubmissionRun } from './submission-run.js';
import { type UploadBuffer, uploadBufferOf } from './upload-buffer.js';
import { measureWaits } from './wait.js';

/** Settings of a runner. */
export interface RunnerOptions {
  /** Advice of the error when the device was lost. */
  readonly afterLoss?: string;
  /** Bytes that all clients of the device may hold together, at most. */
  readonly deviceBudget?: number;
  /** True to pool scratch for the next submission. Default true. */
  readonly keeps?: boolean;
}

/** How a resident buffer waits for room. */
export interface ResidentRequest {
  /** Called now and then; what it throws ends the wait. */
  checkpoint(): void;
  readonly ticket?: Ticket | undefined;
}

const unwatched: Stopwatch = { enter: () => undefined };

/**
 * Runs submissions on a device, each with one map, and with one submit unless the commands have
 * more. It knows buffers, pipelines, bind groups, dispatch chains and times, and no mathematics. It
 * returns a result only if all dispatches were executed once and in order, and throws otherwise.
 */
export class Runner {
  readonly device: GPUDevice;
  readonly ledger: Ledger;
  readonly #scheduler: DeviceScheduler;
  readonly #client: Client;
  readonly #afterLoss: string;
  readonly #uploads: UploadBuffer;
  /** Query sets that no job uses. */
  #queries: GPUQuerySet[] = [];
  #lost: Loss | null = null;
  #destroyed = false;
  /** Ends all waits of this runner when it is destroyed. */
  readonly #ending = new Ending();
  /**
   * Number of the last job; it starts at random, since another engine may have used the same
   * memory.
   */
  #call = Math.floor(Math.random() * 2 ** 32);

  /** @param budget limit on scratch, in bytes */
  constructor(device: GPUDevice, budget: number, options: RunnerOptions = {}) {
    const { afterLoss = 'request another', deviceBudget = Number.POSITIVE_INFINITY, keeps = true } = options;
    this.device = device;
    this.#afterLoss = afterLoss;
    this.ledger = new Ledger(device);
    this.#client = { ledger: this.ledger, budget, deviceBudget, keeps };
    this.#uploads = uploadBufferOf(device);
    this.#scheduler = schedulerOf(device);
    this.#scheduler.join(this.#client);
    // a strong reference would keep every runner as long as its device
    const self = new WeakRef(this);
    void watchOf(device).loss.then((loss) => {
      const runner = self.deref();
      if (runner !== undefined) runner.#lost = loss;
    });
  }

  /** The runner as its runs see it. */
  get #host(): RunHost {
    const isOver = (): boolean => this.isOver;
    return {
      device: this.device,
      scheduler: this.#scheduler,
      ending: this.#ending,
      get isOver() {
        return isOver();
      },
      assertAlive: () => this.assertAlive(),
      guard: (calls) => this.#guard(calls),
      takeQueries: (count) => this.#takeQueries(count),
      returnQueries: (querySet) => this.#queries.push(querySet),
      upload: (to, at, data) => this.#upload(to, at, data),
      discard: () => this.discard(),
    };
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** True if the device counts as lost because it stopped answering. */
  get isSilent(): boolean {
    return this.#lost?.isSilent === true;
  }

  /** True after the loss of the device or the end of the engine. */
  get isOver(): boolean {
    return this.#destroyed || this.isLost;
  }

  /** Limit on the scratch of a job. */
  get room(): Allowance {
    return this.#scheduler.allowanceOf(this.#client);
  }

  /**
   * Returns true if the device has work of equal or higher priority than `own`, of any engine and
   * any other call.
   */
  isBusyBeside(own: Ticket | undefined): boolean {
    return this.#scheduler.isBusyBeside(ticketOf(own));
  }

  /** Scratch buffers that were freed on its device. */
  get frees(): number {
    return this.#scheduler.frees;
  }

  /** @throws MsmError `destroyed` or `device-lost` */
  assertAlive(cause?: unknown): void {
    if (this.#destroyed) throw new MsmError('destroyed', 'the engine was destroyed while it computed', { cause });
    if (this.#lost !== null) {
      const message = `the GPU device was lost (${this.#lost.message}); ${this.#afterLoss}`;
      // the error of a compiler has the stuck wait as its cause
      const isStuck = cause instanceof Stuck || (cause instanceof Error && cause.cause instanceof Stuck);
      throw this.#lost.isSilent
        ? new NoAnswerError(message, isStuck, cause)
        : new MsmError('device-lost', message, { cause });
    }
  }

  /**
   * Compiles kernels in parallel, except those that are compiled already. Meanwhile it measures the
   * device's waits.
   *
   * @param signal ends the wait, not the compiling
   */
  async compile(kernels: readonly Kernel[], signal?: AbortSignal): Promise<ReadonlyMap<Kernel, GPUComputePipeline>> {
    const measuring = measureWaits(this.device);
    const compiled = kernels.map(async (kernel) => [kernel, await pipelineFor(this.device, kernel, this)] as const);
    const pipelines = new Map(await this.#guard(() => this.#ending.race(Promise.all(compiled), signal)));
    await this.#ending.race(measuring, signal);
    return pipelines;
  }

  /**
   * Runs a submission. @param clock of the call, in `encodeMs` before and in `readBackMs` after it
   */
  async run(submission: Submission, clock: Stopwatch = unwatched): Promise<SubmissionResult> {
    const { ticket } = submission;
    if (this.isOver) ticket?.onRefused?.();
    this.assertAlive();
    const pipelines = await this.compile(kernelsOf(submission.commands), ticket?.signal);
    // the device may be lost since
    this.assertAlive();
    this.#call = (this.#call + 1) >>> 0 || 1;
    const hasTimestamps = this.device.features.has('timestamp-query');
    const planned = new PlannedSubmission(submission, pipelines, hasTimestamps, this.#call);
    // the wait for other submissions does not count as time of the call
    clock.enter(null);
    const lease = await this.#admit(planned.wanted, ticket);
    clock.enter('encodeMs');
    const run = new SubmissionRun(this.#host, planned, lease, clock);
    return await run.run();
  }

  /** Discards the scratch: after a failed run it may be invalid, mapped or wrong. */
  discard(): void {
    this.#scheduler.discard(this.#client);
    this.#uploads.free();
    this.#dropQueries();
  }

  /** Frees pooled scratch, after the work that uses it, and the buffer for uploads. */
  async trim(): Promise<void> {
    this.#uploads.free();
    this.#dropQueries();
    await this.#scheduler.trim(this.#client);
  }

  /**
   * Makes a buffer that outlives the job; the ledger destroys it.
   *
   * @param contents bytes to upload at once
   */
  async createResident(
    account: string,
    label: string,
    bytes: number,
    { checkpoint, ticket }: ResidentRequest,
    contents?: Uint8Array<ArrayBuffer>,
  ): Promise<GPUBuffer> {
    this.assertAlive();
    const usage = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc;
    let made: GPUBuffer | null = null;
    try {
      const make = (): Promise<void> => {
        ticket?.onBegun?.();
        const making = inErrorScopes(
          this.device,
          () => {
            made = this.ledger.create(account, label, bytes, usage);
            if (contents !== undefined) this.#upload(made, 0, contents);
          },
          { what: `making ${label}` },
        );
        return this.#ending.race(making, ticket?.signal);
      };
      await this.#scheduler.withRoom(
        bytes,
        () => this.#guard(make),
        () => {
          if (this.isOver) ticket?.onRefused?.();
          checkpoint();
          this.assertAlive();
        },
      );
      return made as unknown as GPUBuffer;
    } catch (error) {
      if (made !== null) this.ledger.destroy(made);
      throw error;
    }
  }

  destroy(): void {
    this.#destroyed = true;
    this.#scheduler.leave(this.#client);
    // other runners on the device make a new one
    this.#uploads.free();
    this.ledger.destroyAll();
    this.#dropQueries();
    releasePipelines(this.device, this);
    this.#ending.end(new MsmError('destroyed', 'the engine was destroyed while it computed'));
  }

  #upload(to: GPUBuffer, at: number, data: Uint8Array | Uint32Array): void {
    if (this.#client.keeps) this.#uploads.write(to, at, data);
    else this.device.queue.writeBuffer(to, at, data as Uint8Array<ArrayBuffer>);
  }

  #dropQueries(): void {
    for (const querySet of this.#queries) querySet.destroy();
    this.#queries = [];
  }

  async #admit(sizes: Readonly<Record<string, number>>, ticket: Ticket | undefined): Promise<Lease> {
    try {
      return await this.#scheduler.admit(this.#client, sizes, ticketOf(ticket));
    } catch (error) {
      if (this.isOver) ticket?.onRefused?.();
      this.assertAlive(error);
      throw error;
    }
  }

  /** Returns an unused query set for at least `count` queries. */
  #takeQueries(count: number): GPUQuerySet {
    const found = this.#queries.find((each) => each.count >= count);
    if (found === undefined) {
      this.#dropQueries();
      return this.device.createQuerySet({ label: 'webgpu-msm', type: 'timestamp', count });
    }
    this.#queries = this.#queries.filter((each) => each !== found);
    return found;
  }

  /** Turns errors of WebGPU into an MsmError; after a loss of the device all are `device-lost`. */
  async #guard<Value>(calls: () => Promise<Value>): Promise<Value> {
    try {
      return await calls();
    } catch (error) {
      // an aborted call ends at once
      if (error instanceof MsmError && error.code === 'aborted') throw error;
      // `lost` may resolve a moment after the errors that it causes
      await Promise.race([watchOf(this.device).loss, new Promise((resolve) => setTimeout(resolve, 50))]);
      this.assertAlive(error);
      if (error instanceof MsmError) throw error;
      throw new MsmError('internal', `WebGPU failed: ${(error as Error).message}`, { cause: error });
    }
  }
}
