import { MsmError } from '../errors.js';
import { bufferUsage, mapModeRead } from './constants.js';
import { Ledger } from './ledger.js';
import { pipelineFor } from './pipelines.js';
import { type Command, type Dispatch, type Slice, submitBytes, UNIFORM_ALIGNMENT } from './recording.js';
import { ScratchPool } from './scratch-pool.js';

/** One submit: what goes in, what is done, what comes out. */
export interface Job {
  /** Named storage buffers that the commands use, in bytes; kept for the next job. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Buffers that are not the runner's, by name. */
  readonly external?: Readonly<Record<string, GPUBuffer>>;
  readonly uploads: readonly { readonly to: Slice; readonly data: Uint8Array | Uint32Array }[];
  readonly commands: readonly Command[];
  /** What to read back. */
  readonly read: Slice & { readonly size: number };
}

export interface JobResult {
  readonly data: Uint32Array;
  readonly dispatches: number;
  /** GPU time by phase, in the order of the commands; null without timestamps. */
  readonly phases: { name: string; ms: number }[] | null;
}

/**
 * Runs recorded commands on a device: one submit and one map a job. It knows buffers, pipelines, bind groups and time, and nothing
 * of what they compute.
 */
export class Runner {
  readonly device: GPUDevice;
  readonly ledger: Ledger;
  readonly #pool: ScratchPool;
  readonly #budget: number;
  readonly #afterLoss: string;
  readonly #querySets = new Map<number, GPUQuerySet>();
  #lost: string | null = null;
  #destroyed = false;

  /** @param afterLoss what an error says to do when the device was lost */
  constructor(device: GPUDevice, budget: number, afterLoss = 'request another') {
    this.device = device;
    this.#afterLoss = afterLoss;
    this.ledger = new Ledger(device);
    this.#pool = new ScratchPool(this.ledger);
    this.#budget = budget;
    void device.lost.then((info) => {
      this.#lost = info.message || info.reason;
    });
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** @throws MsmError `destroyed` or `device-lost` */
  assertAlive(cause?: unknown): void {
    if (this.#destroyed) throw new MsmError('destroyed', 'the engine was destroyed while it computed', { cause });
    if (this.#lost !== null) {
      throw new MsmError('device-lost', `the GPU device was lost (${this.#lost}); ${this.#afterLoss}`, {
        cause,
      });
    }
  }

  /** Compiles in parallel whatever the commands need. */
  async compile(commands: readonly Command[]): Promise<void> {
    const kernels = new Set(commands.flatMap((command) => (command.kind === 'dispatch' ? [command.kernel] : [])));
    await this.#guard(Promise.all([...kernels].map((kernel) => pipelineFor(this.device, kernel))));
  }

  async run(job: Job): Promise<JobResult> {
    this.assertAlive();
    const pipelines = new Map<Dispatch['kernel'], GPUComputePipeline>();
    const dispatches = job.commands.filter((command) => command.kind === 'dispatch');
    await this.compile(job.commands);
    for (const { kernel } of dispatches) pipelines.set(kernel, await pipelineFor(this.device, kernel));

    // compiling took a while
    this.assertAlive();
    const timing = this.device.features.has('timestamp-query');
    const passes = groupByPhase(job.commands);
    const queries = timing ? 2 * passes.length : 0;
    const sizes = submitBytes(job.read.size, dispatches.length, timing ? passes.length : 0);
    const submitted = this.#scoped(() => {
      // the small buffers below are part of the budget too
      this.#pool.provide(job.scratch, this.#budget - sizes.all);
      const temporary: GPUBuffer[] = [];
      const create = (label: string, bytes: number, usage: number): GPUBuffer => {
        const buffer = this.ledger.create('scratch', label, bytes, usage);
        temporary.push(buffer);
        return buffer;
      };
      try {
        const staging = create('read-back', sizes.staging, bufferUsage.mapRead | bufferUsage.copyDst);
        const uniforms = create('uniforms', sizes.uniforms, bufferUsage.uniform | bufferUsage.copyDst);
        const times = timing ? create('timestamps', sizes.times, bufferUsage.queryResolve | bufferUsage.copySrc) : null;
        this.#submit(job, passes, pipelines, { staging, uniforms, times, readBytes: sizes.result, queries });
        return { staging, temporary };
      } catch (error) {
        for (const buffer of temporary) this.ledger.destroy(buffer);
        throw error;
      }
    });

    const { staging, temporary } = submitted.result;
    try {
      await this.#guard(submitted.errors);
      await this.#guard(staging.mapAsync(mapModeRead));
      const bytes = staging.getMappedRange().slice(0);
      staging.unmap();
      return {
        data: new Uint32Array(bytes, 0, job.read.size / 4),
        dispatches: dispatches.length,
        phases: timing ? readTimes(passes, new BigUint64Array(bytes.slice(sizes.result), 0, queries)) : null,
      };
    } catch (error) {
      // what a failed run left in the pool may be invalid buffers
      this.#pool.clear();
      throw error;
    } finally {
      for (const buffer of temporary) this.ledger.destroy(buffer);
    }
  }

  /** Makes a buffer that outlives the job, with errors caught; the ledger destroys it. */
  async createResident(label: string, bytes: number): Promise<GPUBuffer> {
    this.assertAlive();
    const usage = bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc;
    const { result, errors } = this.#scoped(() => this.ledger.create('bases', label, bytes, usage));
    try {
      await this.#guard(errors);
      return result;
    } catch (error) {
      this.ledger.destroy(result);
      throw error;
    }
  }

  destroy(): void {
    this.#destroyed = true;
    this.#pool.clear();
    this.ledger.destroyAll();
    for (const set of this.#querySets.values()) set.destroy();
    this.#querySets.clear();
  }

  #submit(
    job: Job,
    passes: readonly Pass[],
    pipelines: ReadonlyMap<Dispatch['kernel'], GPUComputePipeline>,
    own: { staging: GPUBuffer; uniforms: GPUBuffer; times: GPUBuffer | null; readBytes: number; queries: number },
  ): void {
    const { device } = this;
    const resolve = ({ buffer, offset = 0, size }: Slice): GPUBufferBinding & { offset: number; size: number } => {
      const found = job.external?.[buffer] ?? this.#pool.get(buffer);
      if (found === undefined) throw new MsmError('internal', `no buffer is named '${buffer}'`);
      return { buffer: found, offset, size: size ?? found.size - offset };
    };

    for (const { to, data } of job.uploads) {
      const { buffer, offset } = resolve(to);
      device.queue.writeBuffer(buffer as GPUBuffer, offset, data as Uint8Array<ArrayBuffer>);
    }

    const configs = new Uint32Array((UNIFORM_ALIGNMENT / 4) * Math.max(1, own.uniforms.size / UNIFORM_ALIGNMENT));
    const encoder = device.createCommandEncoder({ label: 'webgpu-msm' });
    const querySet = own.queries > 0 ? this.#querySet(own.queries) : null;
    let uniform = 0;
    passes.forEach((pass, index) => {
      for (const slice of pass.clears) {
        const { buffer, offset, size } = resolve(slice);
        encoder.clearBuffer(buffer as GPUBuffer, offset, size);
      }
      const compute = encoder.beginComputePass({
        label: `webgpu-msm ${pass.phase}`,
        ...(querySet && {
          timestampWrites: { querySet, beginningOfPassWriteIndex: 2 * index, endOfPassWriteIndex: 2 * index + 1 },
        }),
      });
      for (const { kernel, bindings, config, groups } of pass.dispatches) {
        const pipeline = pipelines.get(kernel) as GPUComputePipeline;
        const offset = UNIFORM_ALIGNMENT * uniform++;
        if (config !== undefined) configs.set(config, offset / 4);
        const entries = kernel.bindings.map(({ name, access }, binding) => {
          if (access === 'uniform') {
            return { binding, resource: { buffer: own.uniforms, offset, size: UNIFORM_ALIGNMENT } };
          }
          const slice = bindings[name];
          if (slice === undefined) throw new MsmError('internal', `${kernel.name} lacks a buffer for '${name}'`);
          return { binding, resource: resolve(slice) };
        });
        const layout = pipeline.getBindGroupLayout(0);
        compute.setPipeline(pipeline);
        compute.setBindGroup(0, device.createBindGroup({ label: `webgpu-msm ${kernel.name}`, layout, entries }));
        if (isSlice(groups)) {
          const { buffer, offset: at } = resolve(groups);
          compute.dispatchWorkgroupsIndirect(buffer as GPUBuffer, at);
        } else {
          compute.dispatchWorkgroups(groups[0], groups[1]);
        }
      }
      compute.end();
    });

    const { buffer, offset } = resolve(job.read);
    encoder.copyBufferToBuffer(buffer as GPUBuffer, offset, own.staging, 0, job.read.size);
    if (querySet && own.times) {
      encoder.resolveQuerySet(querySet, 0, own.queries, own.times, 0);
      encoder.copyBufferToBuffer(own.times, 0, own.staging, own.readBytes, 8 * own.queries);
    }
    device.queue.writeBuffer(own.uniforms, 0, configs);
    device.queue.submit([encoder.finish()]);
  }

  #querySet(count: number): GPUQuerySet {
    const known = this.#querySets.get(count);
    if (known !== undefined) return known;
    const made = this.device.createQuerySet({ label: 'webgpu-msm', type: 'timestamp', count });
    this.#querySets.set(count, made);
    return made;
  }

  /**
   * Runs synchronous WebGPU calls inside error scopes of their own, so that neither do our errors reach the caller's scopes and
   * handlers nor the other way round.
   */
  #scoped<Result>(calls: () => Result): { result: Result; errors: Promise<void> } {
    const { device } = this;
    device.pushErrorScope('validation');
    device.pushErrorScope('internal');
    device.pushErrorScope('out-of-memory');
    const pop = async (): Promise<void> => {
      const scopes = [device.popErrorScope(), device.popErrorScope(), device.popErrorScope()];
      const [memory, internal, validation] = await Promise.all(scopes);
      if (memory) {
        throw new MsmError('out-of-memory', `the GPU is out of memory: ${memory.message}; set a memoryBudget`);
      }
      const error = validation ?? internal;
      if (error) throw new MsmError('internal', `WebGPU refused a command: ${error.message}`);
    };
    let result: Result;
    try {
      result = calls();
    } catch (error) {
      pop().catch(() => undefined);
      throw error;
    }
    return { result, errors: pop() };
  }

  /** Turns whatever a promise of WebGPU rejects with into an MsmError; a lost device explains everything else. */
  async #guard<Value>(promise: Promise<Value>): Promise<Value> {
    try {
      return await promise;
    } catch (error) {
      // `lost` may resolve a moment after what it makes fail
      await Promise.race([this.device.lost, new Promise((resolve) => setTimeout(resolve, 50))]);
      this.assertAlive(error);
      if (error instanceof MsmError) throw error;
      throw new MsmError('internal', `WebGPU failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Consecutive commands of one phase; their time is taken together. */
interface Pass {
  readonly phase: string;
  readonly clears: Slice[];
  readonly dispatches: Dispatch[];
}

/** Clears go before the pass of the dispatch that follows them, which no earlier dispatch of that pass may want otherwise. */
const groupByPhase = (commands: readonly Command[]): Pass[] => {
  const passes: Pass[] = [];
  let clears: Slice[] = [];
  for (const command of commands) {
    if (command.kind === 'clear') {
      clears.push(command.slice);
      continue;
    }
    const last = passes.at(-1);
    if (last !== undefined && last.phase === command.phase && clears.length === 0) {
      last.dispatches.push(command);
    } else {
      passes.push({ phase: command.phase, clears, dispatches: [command] });
      clears = [];
    }
  }
  return passes;
};

const readTimes = (passes: readonly Pass[], times: BigUint64Array): { name: string; ms: number }[] => {
  const phases = new Map<string, number>();
  passes.forEach(({ phase }, i) => {
    const ns = (times[2 * i + 1] as bigint) - (times[2 * i] as bigint);
    phases.set(phase, (phases.get(phase) ?? 0) + Number(ns > 0n ? ns : 0n) / 1e6);
  });
  return [...phases].map(([name, ms]) => ({ name, ms }));
};

const isSlice = (groups: Dispatch['groups']): groups is Slice => 'buffer' in groups;
