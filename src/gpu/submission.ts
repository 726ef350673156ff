/**
 * A submission: its uploads, commands and results; how it becomes command buffers; and how its
 * results are read back.
 */
import type { HostTimes } from '../api/run-record.js';
import { GpuFault, MsmError } from '../errors.js';
import type { Ticket } from '../scheduling/edf.js';
import { absorb, CHAIN, Tail } from '../shaders/hash-chain.js';
import type { Command, Dispatch, Kernel, Slice } from '../shaders/kernel.js';
import { jobBytes, UNIFORM_ALIGNMENT } from '../shaders/limits.js';
import { mapModeRead, READ_BACK, RETURNED } from './device-memory.js';
import { type WaitRequest, waitForQueue } from './device-watch.js';

/** Bytes to upload. */
export interface Upload {
  readonly to: Slice;
  readonly data: Uint8Array | Uint32Array;
  /** Returns where the same bytes are on the device already; null if nowhere. Called once. */
  readonly from?: () => { readonly buffer: GPUBuffer; readonly offset: number } | null;
}

/**
 * Commands of one or more submits, with their inputs and outputs. `Expected` is what the host
 * computes meanwhile.
 */
export interface Submission<Expected = unknown> {
  /** Storage buffers that the commands use, by name, in bytes; pooled for the next submission. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Buffers that are not the runner's, by name. */
  readonly external?: Readonly<Record<string, GPUBuffer>>;
  readonly uploads: readonly Upload[];
  readonly commands: readonly Command[];
  /** Place in the device's queue. Default: in order, among those of normal priority. */
  readonly ticket?: Ticket | undefined;
  /** Expected milliseconds of one submit on the device. Default 0. */
  readonly expectedMs?: number;
  /** Bytes of the stages' accounts, which are zero at the beginning and come back. */
  readonly accounts?: number;
  /** Bytes of `RESULT`, which is zero at the beginning and comes back. */
  readonly result?: number;
  /** More slices to read back; in whole words. */
  readonly read?: readonly (Slice & { readonly size: number })[];
  /** Called after the last submit: what the host computes comes back with the result. */
  meanwhile?(): Promise<Expected>;
  /** Called between submits; its errors end the submission. */
  onSubmitted?(done: number, total: number): void;
}

/** Results of a submission. */
export interface SubmissionResult<Expected = unknown> {
  readonly accounts: Uint32Array;
  readonly result: Uint32Array;
  /** The words of each slice of `read`. */
  readonly data: readonly Uint32Array[];
  /** The result of `meanwhile`; undefined without it. */
  readonly expected: Expected;
  readonly dispatches: number;
  readonly submits: number;
  /** Bytes of the uploads that were not on the device already. */
  readonly uploadedBytes: number;
  /**
   * Times in the order of the commands; null without timestamps, or with more passes than a set of
   * queries holds.
   */
  readonly passes: readonly PassTime[] | null;
}

/** Times of a pass, in nanoseconds of the device's clock. */
interface PassTime {
  readonly phase: string;
  /** Submit of the submission, from 0. */
  readonly submit: number;
  readonly begin: bigint;
  readonly end: bigint;
}

/** A clock that adds time to the part that was entered last. */
export interface Stopwatch {
  /** Enters a part. @param part null: time counts to none */
  enter(part: keyof HostTimes | null): void;
}

/** Consecutive commands of one phase, whose time is taken together. */
export interface Pass {
  readonly phase: string;
  readonly clears: Slice[];
  readonly dispatches: Dispatch[];
}

/**
 * Returns the passes of each submit. Clears precede the pass of the dispatch that follows them; no
 * earlier dispatch of that pass may need the old contents.
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

/** Queries of a set, at most (WebGPU, "GPUQuerySetDescriptor"). */
const MAX_QUERIES = 4096;

/** A submission, with all sizes that are known before its lease. */
export class PlannedSubmission<Expected = unknown> {
  readonly submission: Submission<Expected>;
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
    submission: Submission<Expected>,
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

/* Encoding of submissions into command buffers. */

/** Buffers and pipelines of a submission on the GPU. */
export interface Prepared {
  readonly submission: Submission;
  readonly pipelines: ReadonlyMap<Kernel, GPUComputePipeline>;
  resolve(slice: Slice): GPUBufferBinding;
  /** The dispatch chain of this submission and what it returns. */
  readonly returned: Required<Pick<GPUBufferBinding, 'buffer' | 'size'>>;
  readonly uniforms: GPUBuffer;
  readonly staging: GPUBuffer;
  readonly timing: { readonly querySet: GPUQuerySet; readonly resolved: GPUBuffer } | null;
}

/** Dispatches and passes of the segments before. */
interface Position {
  readonly dispatch: number;
  readonly pass: number;
}

/** Returns the configs of all dispatches, each where a uniform may start. */
export const uniformContents = (configs: DispatchChain['configs']): Uint32Array<ArrayBuffer> => {
  const words = UNIFORM_ALIGNMENT / 4;
  const contents = new Uint32Array(words * Math.max(1, configs.length));
  configs.forEach((config, i) => {
    if (config !== undefined) contents.set(config, words * i);
  });
  return contents;
};

const isSlice = (groups: Dispatch['groups']): groups is Slice => 'buffer' in groups;

const encodeDispatch = (
  device: GPUDevice,
  compute: GPUComputePassEncoder,
  { pipelines, resolve, uniforms }: Prepared,
  { kernel, bindings, groups }: Dispatch,
  index: number,
): void => {
  const pipeline = pipelines.get(kernel) as GPUComputePipeline;
  const resources = kernel.bindings.map(({ name, access }) => {
    if (access === 'uniform') return { buffer: uniforms, offset: UNIFORM_ALIGNMENT * index, size: UNIFORM_ALIGNMENT };
    const slice = bindings[name] ?? (name === CHAIN ? { buffer: CHAIN } : undefined);
    if (slice === undefined) throw new MsmError('internal', `${kernel.name} lacks a buffer for '${name}'`);
    return resolve(slice);
  });
  compute.setPipeline(pipeline);
  compute.setBindGroup(0, bindGroupFor(device, kernel.name, { pipeline, resources, uniforms, index }));
  if (isSlice(groups)) {
    const { buffer, offset } = resolve(groups);
    compute.dispatchWorkgroupsIndirect(buffer, offset as number);
  } else {
    compute.dispatchWorkgroups(groups[0], groups[1]);
  }
};

/** Encodes the passes of one submit. */
export const encodeSegment = (
  device: GPUDevice,
  encoder: GPUCommandEncoder,
  prepared: Prepared,
  segment: readonly Pass[],
  first: Position,
): void => {
  const { resolve, timing } = prepared;
  let index = first.dispatch;
  segment.forEach((pass, i) => {
    for (const slice of pass.clears) {
      const { buffer, offset, size } = resolve(slice);
      encoder.clearBuffer(buffer, offset, size);
    }
    const query = 2 * (first.pass + i);
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
    for (const dispatch of pass.dispatches) encodeDispatch(device, compute, prepared, dispatch, index++);
    compute.end();
  });
};

/**
 * Encodes the copies to where the result can be mapped: the returned buffer, the slices of `read`,
 * and the times.
 */
export const encodeReadBack = (
  encoder: GPUCommandEncoder,
  { submission, resolve, returned, staging, timing }: Prepared,
  passes: number,
  timesAt: number,
): void => {
  encoder.copyBufferToBuffer(returned.buffer, 0, staging, 0, returned.size);
  let at = returned.size;
  for (const slice of submission.read ?? []) {
    const { buffer, offset = 0 } = resolve(slice);
    encoder.copyBufferToBuffer(buffer, offset, staging, at, slice.size);
    at += slice.size;
  }
  if (timing) {
    encoder.resolveQuerySet(timing.querySet, 0, 2 * passes, timing.resolved, 0);
    encoder.copyBufferToBuffer(timing.resolved, 0, staging, timesAt, 16 * passes);
  }
};

/** A dispatch, and the digest that it leaves for the next one. */
interface Link {
  readonly phase: string;
  readonly value: number;
}

const isChained = ({ kernel, bindings }: Dispatch): boolean =>
  bindings[CHAIN] === undefined && kernel.bindings.some(({ name }) => name === CHAIN);

/** Hash chain over the configs of a job's dispatches; see shaders/hash-chain.ts. */
export class DispatchChain {
  /** Configs of all dispatches, each with the digest of the one before it. */
  readonly configs: readonly (ArrayLike<number> | undefined)[];
  readonly #call: number;
  readonly #links: Link[] = [];

  /**
   * @param call number of the job: not 0, and not that of a job whose bytes may be left in the
   *   buffer
   * @param first word of the chain buffer at which the links begin
   */
  constructor(call: number, first: number, dispatches: readonly Dispatch[]) {
    this.#call = call;
    let before = call;
    this.configs = dispatches.map((dispatch) => {
      if (!isChained(dispatch)) return dispatch.config;
      const words = dispatch.config ?? [];
      const after = absorb(before, words);
      const tail = Tail.pack({ slot: first + this.#links.length, before, after });
      this.#links.push({ phase: dispatch.phase, value: after });
      before = after;
      return [...words, ...tail];
    });
  }

  /**
   * @param links words that were read back
   * @throws GpuFault that names the first dispatch that was not executed, or not correctly
   */
  assertWhole(links: Uint32Array): void {
    if (links[0] !== this.#call) {
      throw new GpuFault('read-back', 'the bytes that came back are not those of this call');
    }
    const broken = this.#links.findIndex(({ value }, i) => links[i + 1] !== value);
    if (broken < 0) return;
    const { phase } = this.#links[broken] as Link;
    const kind = links[broken + 1] === 0 ? 'was not done, or not on what this call gave it' : 'was done more than once';
    throw new GpuFault(phase, `dispatch ${broken + 1} of ${this.#links.length} ${kind}`);
  }
}

/* Bind groups that are made once and used by later submissions with the same pooled buffers. */

/** A bind group, its pipeline, and the resources of its bindings in their order. */
interface Made {
  readonly group: GPUBindGroup;
  readonly pipeline: GPUComputePipeline;
  readonly resources: readonly GPUBufferBinding[];
}

/**
 * Bind groups kept for each dispatch. A proof of PLONK has ten submissions, which share the buffer
 * with the configs, and the next proof repeats them.
 */
const KEPT = 16;

/**
 * Bind groups by the buffer with the configs and the index of the dispatch, the least recently used
 * first. They are dropped with that buffer, which is pooled scratch.
 */
const bindGroups = new WeakMap<GPUBuffer, Made[][]>();

const areSame = (some: readonly GPUBufferBinding[], others: readonly GPUBufferBinding[]): boolean =>
  some.every(({ buffer, offset, size }, i) => {
    const other = others[i] as GPUBufferBinding;
    return buffer === other.buffer && offset === other.offset && size === other.size;
  });

/** A dispatch, with what its kernel reads and writes. */
interface BoundDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly resources: readonly GPUBufferBinding[];
  /** The buffer with the configs of all dispatches. */
  readonly uniforms: GPUBuffer;
  /** Index of the dispatch in its submission. */
  readonly index: number;
}

/**
 * Returns the bind group of a dispatch. Buffers may be destroyed and never come back, so the groups
 * that were used last are kept.
 *
 * @param name of the kernel
 */
export const bindGroupFor = (
  device: GPUDevice,
  name: string,
  { pipeline, resources, uniforms, index }: BoundDispatch,
): GPUBindGroup => {
  const byDispatch = bindGroups.get(uniforms) ?? [];
  bindGroups.set(uniforms, byDispatch);
  const kept = byDispatch[index] ?? [];
  byDispatch[index] = kept;
  const at = kept.findIndex((made) => made.pipeline === pipeline && areSame(made.resources, resources));
  if (at !== -1) {
    const [found] = kept.splice(at, 1) as [Made];
    kept.push(found);
    return found.group;
  }
  const entries = resources.map((resource, binding) => ({ binding, resource }));
  const layout = pipeline.getBindGroupLayout(0);
  const group = device.createBindGroup({ label: `webgpu-msm ${name}`, layout, entries });
  if (kept.length === KEPT) kept.shift();
  kept.push({ group, pipeline, resources });
  return group;
};

/* Reading results back. */

/** Returns the bytes of a buffer, and unmaps it. */
export const readMapped = async (
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

/** Cuts words into slices that lie one behind the other. */
export const cutSlices = (
  words: Uint32Array,
  slices: readonly (Slice & { readonly size: number })[],
): Uint32Array[] => {
  let at = 0;
  return slices.map(({ size }) => {
    const first = at;
    at += size / 4;
    return words.subarray(first, at);
  });
};

/** Returns the time of each pass. @param times begin and end of each pass, pass by pass */
export const readTimes = (segments: readonly (readonly Pass[])[], times: BigUint64Array): PassTime[] =>
  segments
    .flatMap((segment, submit) => segment.map(({ phase }) => ({ phase, submit })))
    .map((pass, i) => ({ ...pass, begin: times[2 * i] as bigint, end: times[2 * i + 1] as bigint }));
