/** Run of one submission that has its lease: its submits, its map and its buffers. */
import type { Ending } from '../ending.js';
import { MsmError } from '../errors.js';
import { RESULT, type Slice } from '../shaders/commands.js';
import { CHAIN } from '../shaders/hash-chain.js';
import type { Kernel } from '../shaders/kernel.js';
import { jobBytes } from '../shaders/limits.js';
import type { DeviceScheduler } from './device-scheduler.js';
import type { WaitRequest } from './device-watch.js';
import { DispatchChain } from './dispatch-chain.js';
import { encodeReadBack, encodeSegment, type Prepared, uniformContents } from './encode.js';
import { inErrorScopes } from './error-scopes.js';
import { type HeldBuffer, type Lease, READ_BACK, RETURNED } from './lease.js';
import { cutSlices, readMapped, readTimes } from './read-back.js';
import { type Pass, type Stopwatch, type Submission, type SubmissionResult, toSegments } from './submission.js';
import { waitForQueue } from './wait.js';

/** Queries of a set, at most (WebGPU, "GPUQuerySetDescriptor"). */
const MAX_QUERIES = 4096;

/** Pipelines that were dispatched: drivers may compile at the first dispatch. */
const used = new WeakSet<GPUComputePipeline>();

/** A submission, with all sizes that are known before its lease. */
export class PlannedSubmission {
  readonly submission: Submission;
  readonly pipelines: ReadonlyMap<Kernel, GPUComputePipeline>;
  readonly segments: readonly (readonly Pass[])[];
  readonly passes: number;
  readonly dispatches: number;
  /** True if the passes are timed. */
  readonly isTimed: boolean;
  readonly sizes: ReturnType<typeof jobBytes>;
  /** Bytes of the slices of `read`. */
  readonly readBytes: number;
  readonly call: number;
  readonly chain: DispatchChain;

  /** @param call number of the submission, which starts its dispatch chain */
  constructor(
    submission: Submission,
    pipelines: ReadonlyMap<Kernel, GPUComputePipeline>,
    hasTimestamps: boolean,
    call: number,
  ) {
    this.submission = submission;
    this.pipelines = pipelines;
    this.segments = toSegments(submission.commands);
    const passes = this.segments.flat();
    const dispatches = passes.flatMap((pass) => pass.dispatches);
    this.passes = passes.length;
    this.dispatches = dispatches.length;
    this.isTimed = hasTimestamps && 2 * passes.length <= MAX_QUERIES;
    const { accounts = 0, result = 0, read = [] } = submission;
    this.readBytes = read.reduce((sum, { size }) => sum + size, 0);
    const timed = this.isTimed ? passes.length : 0;
    this.sizes = jobBytes(accounts, result, dispatches.length, timed, this.readBytes);
    this.call = call;
    this.chain = new DispatchChain(call, accounts / 4, dispatches);
  }

  /** Bytes of the pooled buffers, by name. */
  get wanted(): Readonly<Record<string, number>> {
    return {
      ...this.submission.scratch,
      uniforms: this.sizes.uniforms,
      [READ_BACK]: this.sizes.staging,
      ...(this.isTimed && { timestamps: this.sizes.times }),
      [RETURNED]: this.sizes.returned,
    };
  }
}

/** The runner as its runs see it. */
export interface RunHost {
  readonly device: GPUDevice;
  readonly scheduler: DeviceScheduler;
  readonly ending: Ending;
  readonly isOver: boolean;
  assertAlive(): void;
  /** Turns errors of WebGPU into those of the library. */
  guard<Value>(calls: () => Promise<Value>): Promise<Value>;
  takeQueries(count: number): GPUQuerySet;
  returnQueries(querySet: GPUQuerySet): void;
  /** Writes bytes to a buffer, in the order of the queue. */
  upload(to: GPUBuffer, at: number, data: Uint8Array | Uint32Array): void;
  /** Throws pooled scratch away. */
  discard(): void;
}

export class SubmissionRun {
  readonly #host: RunHost;
  readonly #planned: PlannedSubmission;
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

  constructor(host: RunHost, planned: PlannedSubmission, lease: Lease, clock: Stopwatch) {
    this.#host = host;
    this.#planned = planned;
    this.#lease = lease;
    this.#clock = clock;
    this.#signal = planned.submission.ticket?.signal;
    this.#unused = [...planned.pipelines.values()].filter((pipeline) => !used.has(pipeline));
  }

  /** @throws GpuFault where a dispatch is missing; MsmError as runners throw */
  async run(): Promise<SubmissionResult> {
    try {
      this.#host.assertAlive();
      await this.#submitAll();
      const [bytes] = await this.#readBack();
      return this.#resultOf(bytes);
    } catch (error) {
      this.#step++;
      this.#querySet?.destroy();
      this.#host.discard();
      throw error;
    } finally {
      const release = (): void => this.#host.scheduler.release(this.#lease);
      // an aborted call ends at once, but its lease only with its work on the device
      if (this.#rest === null || this.#host.isOver) release();
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
    const { device, scheduler, ending } = this.#host;
    const { sizes, passes } = this.#planned;
    await this.#host.guard(() => {
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
    const { ending, scheduler } = this.#host;
    await this.#host.guard(() => {
      const done = this.#workDone();
      this.#rest = () => done;
      return ending.race(done, this.#signal);
    });
    this.#rest = null;
    this.#host.assertAlive();
    this.#step++;
    this.#clock.enter(null);
    await scheduler.pause(this.#lease);
    this.#host.assertAlive();
    this.#clock.enter('encodeMs');
  }

  /** Maps the result, while the host does its part. */
  #readBack(): Promise<[ArrayBuffer, unknown]> {
    const { device, scheduler, ending } = this.#host;
    const { sizes, submission } = this.#planned;
    const { staging } = this.#prepared as Prepared;
    // later work on the device may use the queries now
    if (this.#querySet !== null) this.#host.returnQueries(this.#querySet);
    this.#querySet = null;
    scheduler.submitted(this.#lease);
    // mapping a destroyed buffer is an error that would reach the caller's handlers
    this.#host.assertAlive();
    const request = this.#request('reading back the result');
    const mapped = this.#host
      .guard(() => readMapped(device, staging, sizes.staging, this.#clock, request))
      .then((read) => {
        this.#step++;
        for (const pipeline of this.#unused) used.add(pipeline);
        scheduler.done(this.#lease);
        return read;
      });
    this.#rest = () => mapped;
    const meanwhile = submission.meanwhile?.() ?? Promise.resolve();
    return Promise.all([ending.race(mapped, this.#signal), meanwhile]);
  }

  #resultOf(bytes: ArrayBuffer): SubmissionResult {
    const { submission, sizes, chain, segments, passes, dispatches, isTimed, readBytes } = this.#planned;
    const { accounts = 0, result = 0, read = [] } = submission;
    const words = (at: number, size: number): Uint32Array => new Uint32Array(bytes, at, size / 4);
    chain.assertWhole(words(accounts, sizes.chain - accounts));
    const times = () => new BigUint64Array(bytes.slice(sizes.staging - sizes.times), 0, 2 * passes);
    return {
      accounts: words(0, accounts),
      result: words(sizes.resultAt, result),
      data: cutSlices(words(sizes.returned, readBytes), read),
      dispatches,
      submits: segments.length,
      uploadedBytes: this.#uploadedBytes,
      passes: isTimed ? readTimes(segments, times()) : null,
    };
  }

  /** Makes the buffers that the lease lacks and uploads the inputs. */
  #prepare(encoder: GPUCommandEncoder): Prepared {
    const { device, scheduler } = this.#host;
    const { submission, pipelines, chain, sizes, call, passes, isTimed } = this.#planned;
    scheduler.make(this.#lease);
    if (isTimed) this.#querySet = this.#host.takeQueries(2 * passes);
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
        this.#host.upload(place.buffer, at, data);
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
    const { device } = this.#host;
    return waitForQueue(device, device.queue.onSubmittedWorkDone(), this.#request('the end of a submit'));
  }
}
