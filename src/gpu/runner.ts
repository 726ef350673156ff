import type { HostTimes } from '../api/run-record.js';
import { Ending } from '../ending.js';
import { MsmError, NoAnswerError } from '../errors.js';
import { type Ticket, ticketOf } from '../scheduling/ticket.js';
import { CHAIN } from '../shaders/hash-chain.js';
import type { Kernel } from '../shaders/kernel.js';
import { jobBytes, UNIFORM_ALIGNMENT } from '../shaders/limits.js';
import { type Command, type Dispatch, kernelsOf, RESULT, type Slice } from './commands.js';
import { bufferUsage, mapModeRead } from './constants.js';
import { type Allowance, type Client, type DeviceScheduler, type Lease, schedulerOf } from './device-scheduler.js';
import { type Loss, Stuck, type WaitRequest, watchOf } from './device-watch.js';
import { DispatchChain } from './dispatch-chain.js';
import { Ledger, OUT_OF_MEMORY_ADVICE } from './ledger.js';
import { pipelineFor, releasePipelines } from './pipelines.js';
import { measureWaits, waitForQueue } from './wait.js';

/** Queries of a set, at most (WebGPU, "GPUQuerySetDescriptor"). */
const MAX_QUERIES = 4096;

export interface Upload {
  readonly to: Slice;
  readonly data: Uint8Array | Uint32Array;
  /** Where on the device the same bytes are; null if nowhere. Asked once. */
  readonly from?: () => { readonly buffer: GPUBuffer; readonly offset: number } | null;
}

/** One or more submits: what goes in, what is done, what comes out. */
export interface Submission {
  /** Named storage buffers that the commands use, in bytes; kept for the next job. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Buffers that are not the runner's, by name. */
  readonly external?: Readonly<Record<string, GPUBuffer>>;
  readonly uploads: readonly Upload[];
  readonly commands: readonly Command[];
  /** When its turn is to be. Default: in its order among those of normal priority. */
  readonly ticket?: Ticket | undefined;
  /** Milliseconds that the device is expected to take for one of its submits. Default: next to none. */
  readonly expectedMs?: number;
  /** Bytes of the accounts of its stages, which are zero when it begins; they come back. */
  readonly accounts?: number;
  /** Bytes of `RESULT`, which is zero when it begins; it comes back. */
  readonly result?: number;
  /** What else to read back, for those who want to see what is between the stages; in whole words. */
  readonly read?: readonly (Slice & { readonly size: number })[];
  /** Called when the GPU has everything. */
  meanwhile?(): Promise<void>;
  /** Called between submits; what it throws ends the job. */
  onSubmitted?(done: number, total: number): void;
}

export interface SubmissionResult {
  readonly accounts: Uint32Array;
  readonly result: Uint32Array;
  /** The words of each slice that was to be read. */
  readonly data: readonly Uint32Array[];
  readonly dispatches: number;
  readonly submits: number;
  /** In the order of the commands; null without timestamps, or with more passes than they can be had for. */
  readonly passes: readonly PassTime[] | null;
}

export interface RunnerOptions {
  /** What an error says to do when the device was lost. */
  readonly afterLoss?: string;
  /** The most bytes that everybody may hold on the device. */
  readonly deviceBudget?: number;
  /** Whether scratch is kept for the next job. Default true. */
  readonly keeps?: boolean;
}

/** How something waits that is to stay on the device. */
export interface ResidentRequest {
  checkpoint(): void;
  readonly ticket?: Ticket | undefined;
}

/** Is told what the time of a call goes to from now on. */
export interface Stopwatch {
  /** @param part null: nothing that counts */
  enter(part: keyof HostTimes | null): void;
}

const unwatched: Stopwatch = { enter: () => undefined };

/** When a pass ran, in nanoseconds by a clock of the device's. */
export interface PassTime {
  readonly phase: string;
  /** Of the job, from 0. */
  readonly submit: number;
  readonly begin: bigint;
  readonly end: bigint;
}

/**
 * Runs recorded commands on a device: one map a job, and one submit unless the commands
 * say otherwise. It knows buffers, pipelines, bind groups, custody and time, and nothing
 * of what they compute. What it returns is the job's own, and all of its dispatches were done, once and in their order; or it throws.
 */
export class Runner {
  readonly device: GPUDevice;
  readonly ledger: Ledger;
  readonly #owner: DeviceScheduler;
  readonly #member: Client;
  readonly #afterLoss: string;
  /** Those that no job has. */
  #queries: GPUQuerySet[] = [];
  #lost: Loss | null = null;
  #destroyed = false;
  /** Ends all waits of this runner when it is destroyed. */
  readonly #ending = new Ending();
  /** The number of the last job: not those of another engine, which may have had the same memory. */
  #call = Math.floor(Math.random() * 2 ** 32);

  /** @param budget the most bytes of scratch */
  constructor(device: GPUDevice, budget: number, options: RunnerOptions = {}) {
    const { afterLoss = 'request another', deviceBudget = Number.POSITIVE_INFINITY, keeps = true } = options;
    this.device = device;
    this.#afterLoss = afterLoss;
    this.ledger = new Ledger(device);
    this.#member = { ledger: this.ledger, budget, deviceBudget, keeps };
    this.#owner = schedulerOf(device);
    this.#owner.join(this.#member);
    // a device may outlive many runners, and would keep them all
    const self = new WeakRef(this);
    void watchOf(device).loss.then((loss) => {
      const runner = self.deref();
      if (runner !== undefined) runner.#lost = loss;
    });
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** Whether the device counts as lost because it stopped answering. */
  get isSilent(): boolean {
    return this.#lost?.isSilent === true;
  }

  /** Whether it runs nothing any more. */
  get isOver(): boolean {
    return this.#destroyed || this.isLost;
  }

  /** What scratch a job may take. */
  get room(): Allowance {
    return this.#owner.roomOf(this.#member);
  }

  /** Returns true if the device has work of equal or higher priority than `own`, of any engine and any other call. */
  isBusyBeside(own: Ticket | undefined): boolean {
    return this.#owner.isBusyBeside(ticketOf(own));
  }

  /** Scratch buffers that were given back on its device. */
  get frees(): number {
    return this.#owner.frees;
  }

  /** @throws MsmError `destroyed` or `device-lost` */
  assertAlive(cause?: unknown): void {
    if (this.#destroyed) throw new MsmError('destroyed', 'the engine was destroyed while it computed', { cause });
    if (this.#lost !== null) {
      const message = `the GPU device was lost (${this.#lost.message}); ${this.#afterLoss}`;
      // a compiler's failure has it as its cause
      const isStuck = cause instanceof Stuck || (cause instanceof Error && cause.cause instanceof Stuck);
      throw this.#lost.isSilent
        ? new NoAnswerError(message, isStuck, cause)
        : new MsmError('device-lost', message, { cause });
    }
  }

  /**
   * Compiles kernels in parallel; those that the device has seen are there at once. Meanwhile it measures how the device waits.
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

  /** @param clock of the call that the job is a part of; it is in `encodeMs` before, and in `readBackMs` after */
  async run(job: Submission, clock: Stopwatch = unwatched): Promise<SubmissionResult> {
    if (this.isOver) job.ticket?.onRefused?.();
    this.assertAlive();
    const signal = job.ticket?.signal;
    const pipelines = await this.compile(kernelsOf(job.commands), signal);
    // compiling took a while
    this.assertAlive();

    const { device } = this;
    const segments = toSegments(job.commands);
    const passes = segments.flat();
    const dispatches = passes.flatMap((pass) => pass.dispatches);
    const timing = device.features.has('timestamp-query') && 2 * passes.length <= MAX_QUERIES;
    const { accounts = 0, result = 0, read = [] } = job;
    const others = read.reduce((sum, { size }) => sum + size, 0);
    const sizes = jobBytes(accounts, result, dispatches.length, timing ? passes.length : 0, others);
    this.#call = (this.#call + 1) >>> 0 || 1;
    const call = this.#call;
    const chain = new DispatchChain(call, accounts / 4, dispatches);
    const wanted = {
      ...job.scratch,
      uniforms: sizes.uniforms,
      'read-back': sizes.staging,
      ...(timing && { timestamps: sizes.times }),
    };
    // waiting for others is no part of what it takes
    clock.enter(null);
    const lease = await this.#admit(wanted, sizes.returned, job.ticket);
    clock.enter('encodeMs');
    let querySet: GPUQuerySet | null = null;
    const prepare = (encoder: GPUCommandEncoder): Prepared => {
      const returned = this.#owner.make(lease);
      if (timing) querySet = this.#takeQueries(2 * passes.length);
      const resolve = ({ buffer, offset = 0, size }: Slice): GPUBufferBinding => {
        if (buffer === CHAIN) return { buffer: returned, offset: 0, size: sizes.chain };
        if (buffer === RESULT) {
          return { buffer: returned, offset: sizes.resultAt + offset, size: size ?? result - offset };
        }
        const external = job.external?.[buffer];
        if (external !== undefined) return { buffer: external, offset, size: size ?? external.size - offset };
        const held = lease.held.get(buffer);
        if (held === undefined) throw new MsmError('internal', `no buffer is named '${buffer}'`);
        // not what there is more of it, from others
        return { buffer: held.buffer, offset, size: size ?? held.want.bytes - offset };
      };
      const buffer = (name: string): GPUBuffer => resolve({ buffer: name }).buffer;
      device.queue.writeBuffer(buffer('uniforms'), 0, uniformContents(chain.configs));
      device.queue.writeBuffer(returned, accounts, Uint32Array.of(call));
      for (const { to, data, from } of job.uploads) {
        const place = resolve(to);
        const at = place.offset as number;
        const there = from?.() ?? null;
        if (there === null) device.queue.writeBuffer(place.buffer, at, data as Uint8Array<ArrayBuffer>);
        else encoder.copyBufferToBuffer(there.buffer, there.offset, place.buffer, at, data.byteLength);
      }
      return {
        job,
        pipelines,
        resolve,
        returned,
        uniforms: buffer('uniforms'),
        staging: buffer('read-back'),
        timing: querySet === null ? null : { querySet, resolved: buffer('timestamps') },
      };
    };

    const unused = [...pipelines.values()].filter((pipeline) => !used.has(pipeline));
    const { expectedMs = 0 } = job;
    const request = (what: string): WaitRequest => ({ what, expectedMs, compiles: unused.length > 0 });

    // what the clock is told of work ahead of this may come when it has gone on
    let step = 0;
    /** Waits until the device has done what it was given last; null when nothing is under way. */
    let rest: (() => Promise<unknown>) | null = null;
    const workDone = (): Promise<unknown> =>
      waitForQueue(device, device.queue.onSubmittedWorkDone(), request('the end of a submit'));
    try {
      this.assertAlive();
      let prepared: Prepared | null = null;
      let [dispatch, pass] = [0, 0];
      for (const [index, segment] of segments.entries()) {
        const isLast = index === segments.length - 1;
        await this.#guard(() => {
          const submitting = this.#scoped(() => {
            const encoder = device.createCommandEncoder({ label: 'webgpu-msm' });
            prepared ??= prepare(encoder);
            this.#encode(encoder, prepared, segment, dispatch, pass);
            if (isLast) this.#encodeReadBack(encoder, prepared, passes.length, sizes.staging - sizes.times);
            device.queue.submit([encoder.finish()]);
            // here, not when the scopes are popped: by then a GPU may be done
            const ahead = this.#owner.ahead();
            clock.enter(ahead === null ? 'submitToResultMs' : null);
            const own = step;
            void ahead?.then(() => own === step && clock.enter('submitToResultMs'));
          }, request('a submit'));
          rest = () => submitting.then(workDone);
          return this.#ending.race(submitting, signal);
        });
        dispatch += segment.reduce((sum, { dispatches: own }) => sum + own.length, 0);
        pass += segment.length;
        if (isLast) break;
        await this.#guard(() => {
          const done = workDone();
          rest = () => done;
          return this.#ending.race(done, signal);
        });
        rest = null;
        this.assertAlive();
        step++;
        clock.enter(null);
        await this.#owner.pause(lease);
        this.assertAlive();
        clock.enter('encodeMs');
        job.onSubmitted?.(index + 1, segments.length);
      }
      const { staging } = prepared as unknown as Prepared;
      // what comes after it on the device may have them now
      if (querySet !== null) this.#queries.push(querySet);
      querySet = null;
      this.#owner.submitted(lease);
      // the map of a buffer that was destroyed meanwhile is an error of the device, and would reach the caller's handlers
      this.assertAlive();
      const mapped = this.#guard(() =>
        readMapped(device, staging, sizes.staging, clock, request('reading back what was computed')),
      ).then((read) => {
        step++;
        for (const pipeline of unused) used.add(pipeline);
        this.#owner.done(lease);
        return read;
      });
      rest = () => mapped;
      const [bytes] = await Promise.all([this.#ending.race(mapped, signal), job.meanwhile?.()]);
      const words = (at: number, size: number): Uint32Array => new Uint32Array(bytes, at, size / 4);
      chain.assertWhole(words(accounts, sizes.chain - accounts));
      return {
        accounts: words(0, accounts),
        result: words(sizes.resultAt, result),
        data: cut(words(sizes.returned, others), read),
        dispatches: dispatches.length,
        submits: segments.length,
        passes: timing
          ? readTimes(segments, new BigUint64Array(bytes.slice(sizes.staging - sizes.times), 0, 2 * passes.length))
          : null,
      };
    } catch (error) {
      step++;
      (querySet as GPUQuerySet | null)?.destroy();
      this.discard();
      throw error;
    } finally {
      const release = (): void => this.#owner.release(lease);
      // a call that was aborted is over at once; its job is not, and the device is given no more meanwhile than it should have
      const left = rest as (() => Promise<unknown>) | null;
      if (left === null || this.isOver) release();
      else void left().then(release, release);
    }
  }

  /** Throws the scratch away: what a failed run left behind may be invalid, or mapped, or wrong. */
  discard(): void {
    this.#owner.discard(this.#member);
    this.#dropQueries();
  }

  /** Gives back the scratch that is kept for the next job, after the work that uses it. */
  async trim(): Promise<void> {
    this.#dropQueries();
    await this.#owner.trim(this.#member);
  }

  /**
   * Makes a buffer that outlives the job, with errors caught; the ledger destroys it.
   *
   * @param wait what becomes of it while it waits for room: what `goOn` throws, which is called now and then, ends that
   * @param contents what is uploaded at once
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
        const making = this.#scoped(
          () => {
            made = this.ledger.create(account, label, bytes, usage);
            if (contents !== undefined) this.device.queue.writeBuffer(made, 0, contents);
          },
          { what: `making ${label}` },
        );
        return this.#ending.race(making, ticket?.signal);
      };
      await this.#owner.withRoom(
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
    this.#owner.leave(this.#member);
    this.ledger.destroyAll();
    this.#dropQueries();
    releasePipelines(this.device, this);
    this.#ending.end(new MsmError('destroyed', 'the engine was destroyed while it computed'));
  }

  #dropQueries(): void {
    for (const querySet of this.#queries) querySet.destroy();
    this.#queries = [];
  }

  async #admit(sizes: Readonly<Record<string, number>>, own: number, ticket: Ticket | undefined): Promise<Lease> {
    try {
      return await this.#owner.admit(this.#member, sizes, own, ticketOf(ticket));
    } catch (error) {
      if (this.isOver) ticket?.onRefused?.();
      this.assertAlive(error);
      throw error;
    }
  }

  /** @param firstDispatch, firstPass how many there were in the segments before */
  #encode(
    encoder: GPUCommandEncoder,
    { pipelines, resolve, uniforms, timing }: Prepared,
    segment: readonly Pass[],
    firstDispatch: number,
    firstPass: number,
  ): void {
    let uniform = firstDispatch;
    segment.forEach((pass, index) => {
      for (const slice of pass.clears) {
        const { buffer, offset, size } = resolve(slice);
        encoder.clearBuffer(buffer, offset, size);
      }
      const query = 2 * (firstPass + index);
      const compute = encoder.beginComputePass({
        label: `webgpu-msm ${pass.phase}`,
        ...(timing && {
          timestampWrites: {
            querySet: timing.querySet,
            beginningOfPassWriteIndex: query,
            endOfPassWriteIndex: query + 1,
          },
        }),
      });
      for (const { kernel, bindings, groups } of pass.dispatches) {
        const pipeline = pipelines.get(kernel) as GPUComputePipeline;
        const offset = UNIFORM_ALIGNMENT * uniform++;
        const entries = kernel.bindings.map(({ name, access }, binding) => {
          if (access === 'uniform') {
            return { binding, resource: { buffer: uniforms, offset, size: UNIFORM_ALIGNMENT } };
          }
          const slice = bindings[name] ?? (name === CHAIN ? { buffer: CHAIN } : undefined);
          if (slice === undefined) throw new MsmError('internal', `${kernel.name} lacks a buffer for '${name}'`);
          return { binding, resource: resolve(slice) };
        });
        const layout = pipeline.getBindGroupLayout(0);
        compute.setPipeline(pipeline);
        compute.setBindGroup(0, this.device.createBindGroup({ label: `webgpu-msm ${kernel.name}`, layout, entries }));
        if (isSlice(groups)) {
          const { buffer, offset: at } = resolve(groups);
          compute.dispatchWorkgroupsIndirect(buffer, at as number);
        } else {
          compute.dispatchWorkgroups(groups[0], groups[1]);
        }
      }
      compute.end();
    });
  }

  /** What the job gives back, in one piece with its custody, what else is wanted, and the times, one behind the other, to where they can be mapped. */
  #encodeReadBack(encoder: GPUCommandEncoder, prepared: Prepared, passes: number, timesAt: number): void {
    const { job, resolve, returned, staging, timing } = prepared;
    encoder.copyBufferToBuffer(returned, 0, staging, 0, returned.size);
    let at = returned.size;
    for (const slice of job.read ?? []) {
      const { buffer, offset = 0 } = resolve(slice);
      encoder.copyBufferToBuffer(buffer, offset, staging, at, slice.size);
      at += slice.size;
    }
    if (timing) {
      encoder.resolveQuerySet(timing.querySet, 0, 2 * passes, timing.resolved, 0);
      encoder.copyBufferToBuffer(timing.resolved, 0, staging, timesAt, 16 * passes);
    }
  }

  /** A set of queries that no job has, as large as the largest job wanted it. */
  #takeQueries(count: number): GPUQuerySet {
    const found = this.#queries.find((each) => each.count >= count);
    if (found === undefined) {
      this.#dropQueries();
      return this.device.createQuerySet({ label: 'webgpu-msm', type: 'timestamp', count });
    }
    this.#queries = this.#queries.filter((each) => each !== found);
    return found;
  }

  /**
   * Runs synchronous WebGPU calls inside error scopes of their own, so that neither do our errors reach the caller's scopes and
   * handlers nor the other way round.
   */
  #scoped(calls: () => void, request: WaitRequest): Promise<void> {
    const { device } = this;
    const watch = watchOf(device);
    device.pushErrorScope('validation');
    device.pushErrorScope('internal');
    device.pushErrorScope('out-of-memory');
    const pop = async (): Promise<void> => {
      const [memory, internal, validation] = await Promise.all([
        watch.wait(device.popErrorScope(), request),
        watch.wait(device.popErrorScope(), request),
        watch.wait(device.popErrorScope(), request),
      ]);
      if (memory) {
        throw new MsmError('out-of-memory', `the GPU is out of memory: ${memory.message}; ${OUT_OF_MEMORY_ADVICE}`);
      }
      const error = validation ?? internal;
      if (error)
        throw new MsmError(
          'internal',
          `WebGPU refused a command: ${error.message}. Please report it, with the adapter`,
        );
    };
    try {
      calls();
    } catch (error) {
      pop().catch(() => undefined);
      throw error;
    }
    return pop();
  }

  /** Turns whatever WebGPU throws, or a promise of its rejects with, into an MsmError; a lost device explains everything else. */
  async #guard<Value>(calls: () => Promise<Value>): Promise<Value> {
    try {
      return await calls();
    } catch (error) {
      // a call that is aborted ends at once
      if (error instanceof MsmError && error.code === 'aborted') throw error;
      // `lost` may resolve a moment after what it makes fail
      await Promise.race([watchOf(this.device).loss, new Promise((resolve) => setTimeout(resolve, 50))]);
      this.assertAlive(error);
      if (error instanceof MsmError) throw error;
      throw new MsmError('internal', `WebGPU failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Pipelines that have computed something: drivers may put off compiling one until it does. */
const used = new WeakSet<GPUComputePipeline>();

/** What a job needs on the GPU besides its commands. */
interface Prepared {
  readonly job: Submission;
  readonly pipelines: ReadonlyMap<Kernel, GPUComputePipeline>;
  resolve(slice: Slice): GPUBufferBinding;
  /** Of this job alone, and never of another: its custody and what it gives back. */
  readonly returned: GPUBuffer;
  readonly uniforms: GPUBuffer;
  readonly staging: GPUBuffer;
  readonly timing: { readonly querySet: GPUQuerySet; readonly resolved: GPUBuffer } | null;
}

/** The bytes of a buffer, which is not mapped afterwards. */
const readMapped = async (
  device: GPUDevice,
  buffer: GPUBuffer,
  size: number,
  clock: Stopwatch,
  request: WaitRequest,
): Promise<ArrayBuffer> => {
  await waitForQueue(device, buffer.mapAsync(mapModeRead, 0, size), request);
  clock.enter('readBackMs');
  const bytes = buffer.getMappedRange(0, size).slice(0);
  buffer.unmap();
  return bytes;
};

/** The configs of all dispatches, each where a uniform may start. */
const uniformContents = (configs: DispatchChain['configs']): Uint32Array<ArrayBuffer> => {
  const words = UNIFORM_ALIGNMENT / 4;
  const contents = new Uint32Array(words * Math.max(1, configs.length));
  configs.forEach((config, i) => {
    if (config !== undefined) contents.set(config, words * i);
  });
  return contents;
};

/** The words of slices that lie one behind the other. */
const cut = (words: Uint32Array, slices: NonNullable<Submission['read']>): Uint32Array[] => {
  let at = 0;
  return slices.map(({ size }) => {
    const first = at;
    at += size / 4;
    return words.subarray(first, at);
  });
};

/** Consecutive commands of one phase; their time is taken together. */
interface Pass {
  readonly phase: string;
  readonly clears: Slice[];
  readonly dispatches: Dispatch[];
}

/**
 * The passes of each submit. Clears go before the pass of the dispatch that follows them, which no earlier dispatch of that pass
 * may want otherwise.
 */
const toSegments = (commands: readonly Command[]): Pass[][] => {
  const segments: Pass[][] = [[]];
  let clears: Slice[] = [];
  for (const command of commands) {
    const segment = segments.at(-1) as Pass[];
    const last = segment.at(-1);
    if (command.kind === 'submit') {
      segments.push([]);
    } else if (command.kind === 'clear') {
      clears.push(command.slice);
    } else if (last !== undefined && last.phase === command.phase && clears.length === 0) {
      last.dispatches.push(command);
    } else {
      segment.push({ phase: command.phase, clears, dispatches: [command] });
      clears = [];
    }
  }
  return segments;
};

/** @param times when each pass began and ended, pass by pass */
const readTimes = (segments: readonly (readonly Pass[])[], times: BigUint64Array): PassTime[] =>
  segments
    .flatMap((segment, submit) => segment.map(({ phase }) => ({ phase, submit })))
    .map((pass, i) => ({ ...pass, begin: times[2 * i] as bigint, end: times[2 * i + 1] as bigint }));

const isSlice = (groups: Dispatch['groups']): groups is Slice => 'buffer' in groups;
