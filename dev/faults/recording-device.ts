/**
 * Stands in for a device: it notes what it is told, and tells the real one when commands are submitted, so that an injection may have
 * something else done in the place of any command.
 */
import { bufferUsage } from '../../src/gpu/constants.js';
import { type Command, type Dispatch, type Mapped, plainLabel, type Step, type Trace } from './commands.js';
import type { Awaited } from './promises.js';

/** What goes wrong in a call; `at` is the place of a command in the call's trace. */
export interface Injection {
  /** What is done in the place of a command. */
  instead?(command: Command, at: number): readonly Command[];
  /** What the host reads in the place of bytes. */
  mapped?(mapped: Mapped, at: number): Uint8Array<ArrayBuffer>;
  /** What is only done when the call is over. */
  rest?(): readonly Command[];
  /** Milliseconds that a wait takes in the place of so many. */
  slowed?(ms: number): number;
  /** Replaces a promise that a method gave. */
  answered?(method: Awaited, promise: Promise<unknown>): PromiseLike<unknown>;
}

/** The one buffer that every call has anew. */
const isResult = ({ label }: GPUBuffer): boolean => plainLabel(label) === 'result';

/** A pipeline, and what it was made of. */
interface Made {
  readonly descriptor: GPUComputePipelineDescriptor;
  readonly source: string;
}

interface FakeCommandBuffer {
  readonly steps: readonly Step[];
}

export class RecordingDevice {
  readonly real: GPUDevice;
  #device: GPUDevice;
  /** Hands out the device to engines that request one; it outlives them. */
  readonly gpu: GPU;
  readonly #destroyed = new WeakSet<GPUBuffer>();
  /** Buffers that were destroyed, whose memory is to be had again. */
  readonly #spare: GPUBuffer[] = [];
  readonly #groups = new WeakMap<GPUBindGroup, readonly GPUBindGroupEntry[]>();
  readonly #sources = new WeakMap<GPUShaderModule, string>();
  readonly #made = new WeakMap<GPUComputePipeline, Made>();
  /** By source, as in a driver's cache: each trial has an engine of its own. */
  readonly #compiled = new Map<string, Promise<GPUComputePipeline>>();
  readonly #temporary: GPUBuffer[] = [];
  #trace: (Command | Mapped)[] = [];
  #injection: Injection = {};
  readonly #asked = new Map<string, number>();

  constructor(real: GPUDevice) {
    this.real = real;
    this.#device = this.#standIn();
    const adapter = {
      features: real.features,
      limits: real.limits,
      info: real.adapterInfo,
      // one that was lost is no device any more
      requestDevice: async () => this.renew(),
    };
    this.gpu = { requestAdapter: async () => adapter } as unknown as GPU;
  }

  /** The device that an engine sees. */
  get device(): GPUDevice {
    return this.#device;
  }

  /** Promises that the last call waited for, by method. */
  get asked(): ReadonlyMap<string, number> {
    return new Map(this.#asked);
  }

  /** Another device of the same kind, for those who lost the one of before. */
  renew(): GPUDevice {
    this.#device = this.#standIn();
    return this.#device;
  }

  #standIn(): GPUDevice {
    const { real } = this;
    const queue = standIn(real.queue, {
      submit: (buffers: Iterable<FakeCommandBuffer>) => this.#submit([...buffers]),
      writeBuffer: (...args: Parameters<GPUQueue['writeBuffer']>) => this.#write(...args),
      onSubmittedWorkDone: () => this.#wait('onSubmittedWorkDone', real.queue.onSubmittedWorkDone()),
    });
    return standIn(real, {
      queue,
      destroy: () => undefined,
      createBuffer: (descriptor: GPUBufferDescriptor) =>
        this.#recycled(descriptor) ?? this.#watched(real.createBuffer(descriptor)),
      createBindGroup: (descriptor: GPUBindGroupDescriptor) => {
        const group = real.createBindGroup(descriptor);
        this.#groups.set(group, [...descriptor.entries]);
        return group;
      },
      createCommandEncoder: () => this.#encoder(),
      createShaderModule: (descriptor: GPUShaderModuleDescriptor) => {
        const module = real.createShaderModule(descriptor);
        this.#sources.set(module, descriptor.code);
        return module;
      },
      createComputePipelineAsync: (descriptor: GPUComputePipelineDescriptor) => this.#compile(descriptor),
      popErrorScope: () => this.#wait('popErrorScope', real.popErrorScope()),
    });
  }

  /** A new call begins. */
  begin(injection: Injection = {}): void {
    this.#trace = [];
    this.#asked.clear();
    this.#injection = injection;
  }

  /** The call is over, and what goes wrong with it. */
  async end(): Promise<Trace> {
    const late = this.#injection.rest?.() ?? [];
    this.#injection = {};
    if (late.length > 0) {
      // what is late may come to buffers that are gone
      this.real.pushErrorScope('validation');
      for (const command of late) this.#perform(command);
      await this.real.popErrorScope();
    }
    for (const buffer of this.#temporary.splice(0)) buffer.destroy();
    return this.#trace.splice(0);
  }

  isGone(buffer: GPUBuffer): boolean {
    return this.#destroyed.has(buffer);
  }

  /** A uniform buffer that is there until the call ends. */
  uniform(contents: Uint8Array<ArrayBuffer>): GPUBuffer {
    const usage = bufferUsage.uniform | bufferUsage.copyDst;
    const buffer = this.real.createBuffer({ label: 'fault', size: contents.length, usage });
    this.real.queue.writeBuffer(buffer, 0, contents);
    this.#temporary.push(buffer);
    return buffer;
  }

  /** @throws TypeError for a pipeline that is not of this device */
  madeOf(pipeline: GPUComputePipeline): Made {
    const made = this.#made.get(pipeline);
    if (made === undefined) throw new TypeError('the pipeline is of another device');
    return made;
  }

  /** As a driver does, so that a command of an earlier call finds its memory, with something else in it: that of a buffer that was alike. */
  #recycled({ label, size, usage }: GPUBufferDescriptor): GPUBuffer | null {
    const at = this.#spare.findIndex(
      (buffer) => buffer.label === label && buffer.size === size && buffer.usage === usage,
    );
    const [buffer] = at < 0 ? [] : this.#spare.splice(at, 1);
    if (buffer === undefined) return null;
    const encoder = this.real.createCommandEncoder();
    encoder.clearBuffer(buffer);
    this.real.queue.submit([encoder.finish()]);
    return buffer;
  }

  #watched(buffer: GPUBuffer): GPUBuffer {
    const real = {
      destroy: buffer.destroy.bind(buffer),
      mapAsync: buffer.mapAsync.bind(buffer),
      getMappedRange: buffer.getMappedRange.bind(buffer),
    };
    const own: typeof real = {
      destroy: () => {
        if (isResult(buffer)) {
          this.#spare.push(buffer);
        } else {
          this.#destroyed.add(buffer);
          real.destroy();
        }
      },
      mapAsync: (...args) => this.#wait('mapAsync', real.mapAsync(...args)) as Promise<undefined>,
      getMappedRange: (...args) => this.#read(buffer, real.getMappedRange(...args)),
    };
    return Object.assign(buffer, own);
  }

  #read(buffer: GPUBuffer, range: ArrayBuffer): ArrayBuffer {
    const mapped: Mapped = {
      kind: 'map',
      label: plainLabel(buffer.label),
      buffer,
      data: new Uint8Array(range.slice(0)),
    };
    const at = this.#trace.push(mapped) - 1;
    const { buffer: bytes } = this.#injection.mapped?.(mapped, at) ?? mapped.data;
    return bytes.slice(0);
  }

  #write(...[buffer, offset, data, ...rest]: Parameters<GPUQueue['writeBuffer']>): void {
    if (rest.length > 0) throw new TypeError('writes of a part are not recorded');
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    this.#note({ kind: 'write', label: plainLabel(buffer.label), buffer, offset, data: bytes.slice() });
  }

  #submit(buffers: readonly FakeCommandBuffer[]): void {
    // an empty one is a look at the clock
    if (buffers.length === 0) this.real.queue.submit([]);
    else this.#note({ kind: 'submit', label: 'submit', steps: buffers.flatMap(({ steps }) => steps) });
  }

  #note(command: Command): void {
    const at = this.#trace.push(command) - 1;
    for (const each of this.#injection.instead?.(command, at) ?? [command]) this.#perform(each);
  }

  #perform(command: Command): void {
    const { queue } = this.real;
    if (command.kind === 'write') queue.writeBuffer(command.buffer, command.offset, command.data);
    else queue.submit([this.#encode(command.steps)]);
  }

  #encode(steps: readonly Step[]): GPUCommandBuffer {
    const encoder = this.real.createCommandEncoder({ label: 'webgpu-msm' });
    let open: { readonly of: GPUComputePassDescriptor; readonly pass: GPUComputePassEncoder } | null = null;
    for (const step of steps) {
      if (open !== null && (step.kind !== 'dispatch' || step.pass !== open.of)) {
        open.pass.end();
        open = null;
      }
      if (step.kind !== 'dispatch') step.encode(encoder);
      else {
        open ??= { of: step.pass, pass: encoder.beginComputePass(step.pass) };
        encodeDispatch(open.pass, step);
      }
    }
    open?.pass.end();
    return encoder.finish();
  }

  #encoder(): GPUCommandEncoder {
    const steps: Step[] = [];
    const encoder: Partial<GPUCommandEncoder> = {
      beginComputePass: (pass = {}) => this.#pass(steps, pass),
      clearBuffer: (buffer: GPUBuffer, ...range: [number?, number?]) => {
        const encode = (to: GPUCommandEncoder): void => to.clearBuffer(buffer, ...range);
        steps.push({ kind: 'clear', label: plainLabel(buffer.label), buffers: [buffer], encode });
      },
      copyBufferToBuffer: (...args: unknown[]) => {
        const [from, , to] = args as [GPUBuffer, number, GPUBuffer];
        const encode = (on: GPUCommandEncoder): void => on.copyBufferToBuffer(...(args as CopyArguments));
        steps.push({ kind: 'copy', label: plainLabel(from.label), buffers: [from, to], encode });
      },
      resolveQuerySet: (...args) => {
        const encode = (to: GPUCommandEncoder): void => to.resolveQuerySet(...args);
        steps.push({ kind: 'resolve', label: 'timestamps', buffers: [args[3]], encode });
      },
      finish: () => ({ steps }) as unknown as GPUCommandBuffer,
    };
    return encoder as GPUCommandEncoder;
  }

  #pass(steps: Step[], pass: GPUComputePassDescriptor): GPUComputePassEncoder {
    let pipeline: GPUComputePipeline;
    let group: GPUBindGroup;
    const dispatch = (groups: Dispatch['groups']): void => {
      const [label, entries] = [plainLabel(pipeline.label), this.#groups.get(group) ?? []];
      steps.push({ kind: 'dispatch', label, pass, pipeline, group, entries, groups });
    };
    const encoder = {
      setPipeline: (set: GPUComputePipeline) => {
        pipeline = set;
      },
      setBindGroup: (_: number, set: GPUBindGroup) => {
        group = set;
      },
      dispatchWorkgroups: (x: number, y = 1, z = 1) => dispatch([x, y, z]),
      dispatchWorkgroupsIndirect: (buffer: GPUBuffer, offset: number) => dispatch({ buffer, offset }),
      end: () => undefined,
    };
    return encoder as unknown as GPUComputePassEncoder;
  }

  #compile(descriptor: GPUComputePipelineDescriptor): Promise<GPUComputePipeline> {
    const source = this.#sources.get(descriptor.compute.module) as string;
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const compiling = this.real.createComputePipelineAsync(descriptor).then((pipeline) => {
      this.#made.set(pipeline, { descriptor, source });
      return pipeline;
    });
    this.#compiled.set(source, compiling);
    compiling.catch(() => this.#compiled.delete(source));
    return compiling;
  }

  #wait<Value>(method: Awaited, wait: Promise<Value>): PromiseLike<Value> {
    this.#asked.set(method, (this.#asked.get(method) ?? 0) + 1);
    const { answered } = this.#injection;
    return answered === undefined ? this.#slowed(wait) : (answered(method, wait) as PromiseLike<Value>);
  }

  async #slowed<Value>(wait: Promise<Value>): Promise<Value> {
    const { slowed } = this.#injection;
    const begun = performance.now();
    const value = await wait;
    const took = performance.now() - begun;
    if (slowed !== undefined) await new Promise((resolve) => setTimeout(resolve, slowed(took) - took));
    return value;
  }
}

type CopyArguments = [GPUBuffer, number, GPUBuffer, number, number];

const encodeDispatch = (pass: GPUComputePassEncoder, { pipeline, group, groups }: Dispatch): void => {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  if ('buffer' in groups) pass.dispatchWorkgroupsIndirect(groups.buffer, groups.offset);
  else pass.dispatchWorkgroups(...groups);
};

/** An object that has some properties of its own, and of others those of the truth. */
const standIn = <Target extends object>(target: Target, own: Readonly<Record<string, unknown>>): Target =>
  new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
