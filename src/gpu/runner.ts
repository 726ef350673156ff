/** Runs submissions on a device: compiling, admission, submits, the map of the results, and errors. */
import { Ending, MsmError, NoAnswerError } from '../errors.js';
import { type Ticket, ticketOf } from '../scheduling/edf.js';
import { CHAIN } from '../shaders/hash-chain.js';
import { type Kernel, kernelsOf, RESULT, type Slice } from '../shaders/kernel.js';
import { pipelineFor, releasePipelines } from './device.js';
import {
  type Allowance,
  bufferUsage,
  type Client,
  type HeldBuffer,
  type Lease,
  Ledger,
  READ_BACK,
  RETURNED,
} from './device-memory.js';
import { type DeviceScheduler, schedulerOf } from './device-scheduler.js';
import {
  inErrorScopes,
  type Loss,
  measureWaits,
  Stuck,
  type WaitRequest,
  waitForQueue,
  watchOf,
} from './device-watch.js';
import {
  cutSlices,
  encodeReadBack,
  encodeSegment,
  type Pass,
  PlannedSubmission,
  type Prepared,
  readMapped,
  readTimes,
  type Stopwatch,
  type Submission,
  type SubmissionResult,
  uniformContents,
} from './submission.js';
import { type UploadBuffer, uploadBufferOf } from './upload-buffer.js';

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
interface ResidentRequest {
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
  readonly #use: DeviceUse;
  /**
   * Number of the last job; it starts at random, since another engine may have used the same
   * memory.
   */
  #call = Math.floor(Math.random() * 2 ** 32);

  /** @param budget limit on scratch, in bytes */
  constructor(device: GPUDevice, budget: number, options: RunnerOptions = {}) {
    this.#use = new DeviceUse(device, budget, options);
  }

  get device(): GPUDevice {
    return this.#use.device;
  }

  get ledger(): Ledger {
    return this.#use.ledger;
  }

  get isLost(): boolean {
    return this.#use.lost !== null;
  }

  /** True if the device counts as lost because it stopped answering. */
  get isSilent(): boolean {
    return this.#use.lost?.isSilent === true;
  }

  /** True after the loss of the device or the end of the engine. */
  get isOver(): boolean {
    return this.#use.isOver;
  }

  /** Limit on the scratch of a job. */
  get room(): Allowance {
    return this.#use.scheduler.allowanceOf(this.#use.client);
  }

  /**
   * Returns true if the device has work of equal or higher priority than `own`, of any engine and
   * any other call.
   */
  isBusyBeside(own: Ticket | undefined): boolean {
    return this.#use.scheduler.isBusyBeside(ticketOf(own));
  }

  /** Scratch buffers that were freed on its device. */
  get frees(): number {
    return this.#use.scheduler.frees;
  }

  /** @throws MsmError `destroyed` or `device-lost` */
  assertAlive(cause?: unknown): void {
    this.#use.assertAlive(cause);
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
    const pipelines = new Map(await this.#use.guard(() => this.#use.ending.race(Promise.all(compiled), signal)));
    await this.#use.ending.race(measuring, signal);
    return pipelines;
  }

  /**
   * Runs a submission. @param clock of the call, in `encodeMs` before and in `readBackMs` after it
   */
  async run<Expected>(
    submission: Submission<Expected>,
    clock: Stopwatch = unwatched,
  ): Promise<SubmissionResult<Expected>> {
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
    const run = new SubmissionRun<Expected>(this.#use, planned, lease, clock);
    return await run.run();
  }

  /** Discards the scratch: after a failed run it may be invalid, mapped or wrong. */
  discard(): void {
    this.#use.discard();
  }

  /** Frees pooled scratch, after the work that uses it, and the buffer for uploads. */
  async trim(): Promise<void> {
    this.#use.freeKept();
    await this.#use.scheduler.trim(this.#use.client);
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
            if (contents !== undefined) this.#use.upload(made, 0, contents);
          },
          { what: `making ${label}` },
        );
        return this.#use.ending.race(making, ticket?.signal);
      };
      await this.#use.scheduler.withRoom(
        bytes,
        () => this.#use.guard(make),
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
    this.#use.destroy();
    releasePipelines(this.device, this);
  }

  async #admit(sizes: Readonly<Record<string, number>>, ticket: Ticket | undefined): Promise<Lease> {
    try {
      return await this.#use.scheduler.admit(this.#use.client, sizes, ticketOf(ticket));
    } catch (error) {
      if (this.isOver) ticket?.onRefused?.();
      this.assertAlive(error);
      throw error;
    }
  }
}

/** Pipelines that were dispatched: drivers may compile at the first dispatch. */
const used = new WeakSet<GPUComputePipeline>();

/** The run of one submission that has its lease: its submits, its map and its buffers. */
class SubmissionRun<Expected> {
  readonly #use: DeviceUse;
  readonly #planned: PlannedSubmission<Expected>;
  readonly #lease: Lease;
  readonly #clock: Stopwatch;
  readonly #signal: AbortSignal | undefined;
  /** Pipelines that may still be compiled at their first dispatch. */
  readonly #unused: readonly GPUComputePipeline[];
  #querySet: GPUQuerySet | null = null;
  #uploadedBytes = 0;
  #prepared: Prepared | null = null;
  /** Counts submits: a late message about the work ahead of one is not for the next. */
  #step = 0;
  /** Waits until the device has done what it was given last; null when nothing is under way. */
  #rest: (() => Promise<unknown>) | null = null;

  constructor(use: DeviceUse, planned: PlannedSubmission<Expected>, lease: Lease, clock: Stopwatch) {
    this.#use = use;
    this.#planned = planned;
    this.#lease = lease;
    this.#clock = clock;
    this.#signal = planned.submission.ticket?.signal;
    this.#unused = [...planned.pipelines.values()].filter((pipeline) => !used.has(pipeline));
  }

  /** @throws GpuFault where a dispatch is missing; MsmError as runners throw */
  async run(): Promise<SubmissionResult<Expected>> {
    try {
      this.#use.assertAlive();
      await this.#submitAll();
      const [bytes, expected] = await this.#readBack();
      return this.#resultOf(bytes, expected);
    } catch (error) {
      this.#step++;
      this.#querySet?.destroy();
      this.#use.discard();
      throw error;
    } finally {
      const release = (): void => this.#use.scheduler.release(this.#lease);
      // an aborted call ends at once, but its lease only with its work on the device
      if (this.#rest === null || this.#use.isOver) release();
      else void this.#rest().then(release, release);
    }
  }

  async #submitAll(): Promise<void> {
    const { segments, submission } = this.#planned;
    let [dispatch, pass] = [0, 0];
    for (const [index, segment] of segments.entries()) {
      const isLast = index === segments.length - 1;
      await this.#submit(segment, { dispatch, pass }, isLast);
      dispatch += segment.reduce((sum, { dispatches: own }) => sum + own.length, 0);
      pass += segment.length;
      if (isLast) return;
      await this.#pause();
      submission.onSubmitted?.(index + 1, segments.length);
    }
  }

  /** Encodes one submit and hands it to the queue. */
  async #submit(
    segment: readonly Pass[],
    first: { readonly dispatch: number; readonly pass: number },
    isLast: boolean,
  ): Promise<void> {
    const { device, scheduler, ending } = this.#use;
    const { sizes, passes } = this.#planned;
    await this.#use.guard(() => {
      const encodeAndSubmit = (): void => {
        const encoder = device.createCommandEncoder({ label: 'webgpu-msm' });
        this.#prepared ??= this.#prepare(encoder);
        encodeSegment(device, encoder, this.#prepared, segment, first);
        if (isLast) encodeReadBack(encoder, this.#prepared, passes, sizes.staging - sizes.times);
        device.queue.submit([encoder.finish()]);
        // the GPU may be done before the scopes are popped, so the time is taken here
        const ahead = scheduler.ahead();
        this.#clock.enter(ahead === null ? 'submitToResultMs' : null);
        const own = this.#step;
        void ahead?.then(() => own === this.#step && this.#clock.enter('submitToResultMs'));
      };
      const submitting = inErrorScopes(device, encodeAndSubmit, this.#request('a submit'));
      this.#rest = () => submitting.then(() => this.#workDone());
      return ending.race(submitting, this.#signal);
    });
  }

  /** Waits until the device has done a submit, and lets more urgent work go first. */
  async #pause(): Promise<void> {
    const { ending, scheduler } = this.#use;
    await this.#use.guard(() => {
      const done = this.#workDone();
      this.#rest = () => done;
      return ending.race(done, this.#signal);
    });
    this.#rest = null;
    this.#use.assertAlive();
    this.#step++;
    this.#clock.enter(null);
    await scheduler.pause(this.#lease);
    this.#use.assertAlive();
    this.#clock.enter('encodeMs');
  }

  /** Maps the result, while the host does its part. */
  #readBack(): Promise<[ArrayBuffer, Expected]> {
    const { device, scheduler, ending } = this.#use;
    const { sizes, submission } = this.#planned;
    const { staging } = this.#prepared as Prepared;
    // later work on the device may use the queries now
    if (this.#querySet !== null) this.#use.returnQueries(this.#querySet);
    this.#querySet = null;
    scheduler.submitted(this.#lease);
    // mapping a destroyed buffer is an error that would reach the caller's handlers
    this.#use.assertAlive();
    const request = this.#request('reading back the result');
    const mapped = this.#use
      .guard(() => readMapped(device, staging, sizes.staging, this.#clock, request))
      .then((read) => {
        this.#step++;
        for (const pipeline of this.#unused) used.add(pipeline);
        scheduler.done(this.#lease);
        return read;
      });
    this.#rest = () => mapped;
    const meanwhile = submission.meanwhile?.() ?? Promise.resolve(undefined as Expected);
    return Promise.all([ending.race(mapped, this.#signal), meanwhile]);
  }

  #resultOf(bytes: ArrayBuffer, expected: Expected): SubmissionResult<Expected> {
    const { submission, sizes, chain, segments, passes, dispatches, isTimed, readBytes } = this.#planned;
    const { accounts = 0, result = 0, read = [] } = submission;
    const words = (at: number, size: number): Uint32Array => new Uint32Array(bytes, at, size / 4);
    chain.assertWhole(words(accounts, sizes.chain - accounts));
    const times = () => new BigUint64Array(bytes.slice(sizes.staging - sizes.times), 0, 2 * passes);
    return {
      accounts: words(0, accounts),
      result: words(sizes.resultAt, result),
      data: cutSlices(words(sizes.returned, readBytes), read),
      expected,
      dispatches,
      submits: segments.length,
      uploadedBytes: this.#uploadedBytes,
      passes: isTimed ? readTimes(segments, times()) : null,
    };
  }

  /** Makes the buffers that the lease lacks and uploads the inputs. */
  #prepare(encoder: GPUCommandEncoder): Prepared {
    const { device } = this.#use;
    const { submission, pipelines, chain, sizes, call, passes, isTimed } = this.#planned;
    this.#lease.make();
    if (isTimed) this.#querySet = this.#use.takeQueries(2 * passes);
    const resolve = (slice: Slice): GPUBufferBinding => this.#resolve(slice);
    const bufferOf = (name: string): GPUBuffer => resolve({ buffer: name }).buffer;
    const { accounts = 0 } = submission;
    const { buffer: returned } = this.#held(RETURNED);
    device.queue.writeBuffer(bufferOf('uniforms'), 0, uniformContents(chain.configs));
    // the buffer has the bytes of the submission before, and the first link is written already
    device.queue.writeBuffer(returned, accounts, Uint32Array.of(call));
    if (accounts > 0) encoder.clearBuffer(returned, 0, accounts);
    encoder.clearBuffer(returned, accounts + 4, sizes.returned - accounts - 4);
    for (const { to, data, from } of submission.uploads) {
      const place = resolve(to);
      const at = place.offset as number;
      const there = from?.() ?? null;
      if (there === null) {
        this.#use.upload(place.buffer, at, data);
        this.#uploadedBytes += data.byteLength;
      } else encoder.copyBufferToBuffer(there.buffer, there.offset, place.buffer, at, data.byteLength);
    }
    return {
      ...{ submission, pipelines, resolve, returned: { buffer: returned, size: sizes.returned } },
      uniforms: bufferOf('uniforms'),
      staging: bufferOf(READ_BACK),
      timing: this.#querySet === null ? null : { querySet: this.#querySet, resolved: bufferOf('timestamps') },
    };
  }

  #resolve({ buffer, offset = 0, size }: Slice): GPUBufferBinding {
    const { submission, sizes } = this.#planned;
    if (buffer === CHAIN) return { buffer: this.#held(RETURNED).buffer, offset: 0, size: sizes.chain };
    if (buffer === RESULT) {
      const { result = 0 } = submission;
      const { buffer: returned } = this.#held(RETURNED);
      return { buffer: returned, offset: sizes.resultAt + offset, size: size ?? result - offset };
    }
    const external = submission.external?.[buffer];
    if (external !== undefined) return { buffer: external, offset, size: size ?? external.size - offset };
    const { buffer: held, want } = this.#held(buffer);
    // a pooled buffer may be larger than wanted
    return { buffer: held, offset, size: size ?? want.bytes - offset };
  }

  #held(name: string): HeldBuffer {
    const held = this.#lease.held.get(name);
    if (held === undefined) throw new MsmError('internal', `no buffer is named '${name}'`);
    return held;
  }

  #request(what: string): WaitRequest {
    const { expectedMs = 0 } = this.#planned.submission;
    return { what, expectedMs, compiles: this.#unused.length > 0 };
  }

  #workDone(): Promise<unknown> {
    const { device } = this.#use;
    return waitForQueue(device, device.queue.onSubmittedWorkDone(), this.#request('the end of a submit'));
  }
}

/**
 * The device as one runner uses it: its end, its errors, its uploads and its queries. A runner has
 * one, and each of its runs works on the same.
 */
class DeviceUse {
  readonly device: GPUDevice;
  readonly ledger: Ledger;
  readonly scheduler: DeviceScheduler;
  readonly client: Client;
  /** Ends all waits of the runner when it is destroyed. */
  readonly ending = new Ending();
  readonly #afterLoss: string;
  readonly #uploads: UploadBuffer;
  /** Query sets that no job uses. */
  #queries: GPUQuerySet[] = [];
  #lost: Loss | null = null;
  #destroyed = false;

  constructor(device: GPUDevice, budget: number, options: RunnerOptions) {
    const { afterLoss = 'request another', deviceBudget = Number.POSITIVE_INFINITY, keeps = true } = options;
    this.device = device;
    this.#afterLoss = afterLoss;
    this.ledger = new Ledger(device);
    this.client = { ledger: this.ledger, budget, deviceBudget, keeps };
    this.#uploads = uploadBufferOf(device);
    this.scheduler = schedulerOf(device);
    this.scheduler.join(this.client);
    // a strong reference would keep every runner as long as its device
    const self = new WeakRef(this);
    void watchOf(device).loss.then((loss) => {
      const use = self.deref();
      if (use !== undefined) use.#lost = loss;
    });
  }

  /** Reason for the loss of the device; null before. */
  get lost(): Loss | null {
    return this.#lost;
  }

  /** True after the loss of the device or the end of the engine. */
  get isOver(): boolean {
    return this.#destroyed || this.#lost !== null;
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

  /** Turns errors of WebGPU into an MsmError; after a loss of the device all are `device-lost`. */
  async guard<Value>(calls: () => Promise<Value>): Promise<Value> {
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
  /** Writes bytes to a buffer, in the order of the queue. */
  upload(to: GPUBuffer, at: number, data: Uint8Array | Uint32Array): void {
    if (this.client.keeps) this.#uploads.write(to, at, data);
    else this.device.queue.writeBuffer(to, at, data as Uint8Array<ArrayBuffer>);
  }

  /** Returns an unused query set for at least `count` queries. */
  takeQueries(count: number): GPUQuerySet {
    const found = this.#queries.find((each) => each.count >= count);
    if (found === undefined) {
      for (const querySet of this.#queries) querySet.destroy();
      this.#queries = [];
      return this.device.createQuerySet({ label: 'webgpu-msm', type: 'timestamp', count });
    }
    this.#queries = this.#queries.filter((each) => each !== found);
    return found;
  }

  returnQueries(querySet: GPUQuerySet): void {
    this.#queries.push(querySet);
  }

  /** Frees what is kept for later submissions: query sets, and the buffer for uploads. */
  freeKept(): void {
    this.#uploads.free();
    for (const querySet of this.#queries) querySet.destroy();
    this.#queries = [];
  }

  /** Discards the scratch: after a failed run it may be invalid, mapped or wrong. */
  discard(): void {
    this.scheduler.discard(this.client);
    this.freeKept();
  }

  destroy(): void {
    this.#destroyed = true;
    this.scheduler.leave(this.client);
    // other runners on the device make a new buffer for uploads
    this.freeKept();
    this.ledger.destroyAll();
    this.ending.end(new MsmError('destroyed', 'the engine was destroyed while it computed'));
  }
}
