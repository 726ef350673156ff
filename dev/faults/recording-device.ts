/**
 * A proxy of a device. It records commands, and forwards them to the real device on submit, so that
 * an injection can replace any command.
 */
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { type Awaited, type Command, type Mapped, plainLabel, type Trace } from './commands.js';
import { encodeSteps, type RecordedCommandBuffer, recordingEncoder } from './recorded-steps.js';

/** Changes to the commands of a call; `at` is the index of a command in the trace of the call. */
export interface Injection {
  /** Returns the commands to execute in place of a command. */
  instead?(command: Command, at: number): readonly Command[];
  /** Returns the bytes that the host reads in place of the mapped ones. */
  mapped?(mapped: Mapped, at: number): Uint8Array<ArrayBuffer>;
  /** Returns commands to execute when the call is over. */
  rest?(): readonly Command[];
  /** Returns the duration of a wait in place of the real one, in milliseconds. */
  slowed?(ms: number): number;
  /** Replaces a promise of a method. */
  answered?(method: Awaited, promise: Promise<unknown>): PromiseLike<unknown>;
}

/** Returns a proxy with some properties of its own; all others come from the target. */
const proxyOf = <Target extends object>(target: Target, own: Readonly<Record<string, unknown>>): Target =>
  new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** Returns whether a buffer is the result buffer, the only one that each call creates anew. */
const isResult = ({ label }: GPUBuffer): boolean => plainLabel(label) === 'result';

/** Descriptor and source of a pipeline. */
interface Made {
  readonly descriptor: GPUComputePipelineDescriptor;
  readonly source: string;
}

export class RecordingDevice {
  readonly real: GPUDevice;
  #device: GPUDevice;
  /** Hands out the device to engines that request one. The device outlives them. */
  readonly gpu: GPU;
  readonly #destroyed = new WeakSet<GPUBuffer>();
  /** Destroyed buffers whose memory can be reused. */
  readonly #spare: GPUBuffer[] = [];
  readonly #groups = new WeakMap<GPUBindGroup, readonly GPUBindGroupEntry[]>();
  readonly #sources = new WeakMap<GPUShaderModule, string>();
  readonly #made = new WeakMap<GPUComputePipeline, Made>();
  /**
   * Pipelines by source, like the cache of a driver, because each trial has an engine of its own.
   */
  readonly #compiled = new Map<string, Promise<GPUComputePipeline>>();
  readonly #temporary: GPUBuffer[] = [];
  #trace: (Command | Mapped)[] = [];
  #injection: Injection = {};
  readonly #asked = new Map<string, number>();

  constructor(real: GPUDevice) {
    this.real = real;
    this.#device = this.#proxy();
    const adapter = {
      features: real.features,
      limits: real.limits,
      info: real.adapterInfo,
      // a lost device cannot be reused, so each request gets a new proxy
      requestDevice: async () => this.renew(),
    };
    this.gpu = { requestAdapter: async () => adapter } as unknown as GPU;
  }

  /** Returns the device that an engine sees. */
  get device(): GPUDevice {
    return this.#device;
  }

  /** Returns the number of promises that the last call awaited, by method. */
  get asked(): ReadonlyMap<string, number> {
    return new Map(this.#asked);
  }

  /** Replaces the proxy by a new one, for engines that lost the previous device. */
  renew(): GPUDevice {
    this.#device = this.#proxy();
    return this.#device;
  }

  #proxy(): GPUDevice {
    const { real } = this;
    const queue = proxyOf(real.queue, {
      submit: (buffers: Iterable<RecordedCommandBuffer>) => this.#submit([...buffers]),
      writeBuffer: (...args: Parameters<GPUQueue['writeBuffer']>) => this.#write(...args),
      onSubmittedWorkDone: () => this.#wait('onSubmittedWorkDone', real.queue.onSubmittedWorkDone()),
    });
    return proxyOf(real, {
      queue,
      destroy: () => undefined,
      createBuffer: (descriptor: GPUBufferDescriptor) => this.#create(descriptor),
      createBindGroup: (descriptor: GPUBindGroupDescriptor) => {
        const group = real.createBindGroup(descriptor);
        this.#groups.set(group, [...descriptor.entries]);
        return group;
      },
      createCommandEncoder: () => recordingEncoder(this.#groups),
      createShaderModule: (descriptor: GPUShaderModuleDescriptor) => {
        const module = real.createShaderModule(descriptor);
        this.#sources.set(module, descriptor.code);
        return module;
      },
      createComputePipelineAsync: (descriptor: GPUComputePipelineDescriptor) => this.#compile(descriptor),
      popErrorScope: () => this.#wait('popErrorScope', real.popErrorScope()),
    });
  }

  #create(descriptor: GPUBufferDescriptor): GPUBuffer {
    // the library writes by the queue in place of a buffer that is refused
    if ((descriptor.usage & bufferUsage.mapWrite) !== 0)
      throw new RangeError('writes to mapped bytes are not recorded');
    return this.#recycled(descriptor) ?? this.#watched(this.real.createBuffer(descriptor));
  }

  begin(injection: Injection = {}): void {
    this.#trace = [];
    this.#asked.clear();
    this.#injection = injection;
  }

  /** Ends the call and its injection. */
  async end(): Promise<Trace> {
    const late = this.#injection.rest?.() ?? [];
    this.#injection = {};
    if (late.length > 0) {
      // delayed commands may use destroyed buffers
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

  /** Creates a uniform buffer that lives until the call ends. */
  uniform(contents: Uint8Array<ArrayBuffer>): GPUBuffer {
    const usage = bufferUsage.uniform | bufferUsage.copyDst;
    const buffer = this.real.createBuffer({ label: 'fault', size: contents.length, usage });
    this.real.queue.writeBuffer(buffer, 0, contents);
    this.#temporary.push(buffer);
    return buffer;
  }

  /** @throws TypeError for a pipeline of another device */
  madeOf(pipeline: GPUComputePipeline): Made {
    const made = this.#made.get(pipeline);
    if (made === undefined) throw new TypeError('the pipeline belongs to another device');
    return made;
  }

  /**
   * Reuses a destroyed buffer of the same kind, cleared, as a driver may. So a command of an
   * earlier call finds its memory, with other content.
   */
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
    if (rest.length > 0) throw new TypeError('writeBuffer with a range is not recorded; write the whole data');
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    this.#note({ kind: 'write', label: plainLabel(buffer.label), buffer, offset, data: bytes.slice() });
  }

  #submit(buffers: readonly RecordedCommandBuffer[]): void {
    // the library makes an empty submit to read the clock
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
    else queue.submit([encodeSteps(this.real, command.steps)]);
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
