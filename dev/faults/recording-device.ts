/**
 * A proxy of a device. It records the commands of each call, and forwards them to the real device on
 * submit, so that an injection can drop, repeat, delay or replace any command.
 */
import { bufferUsage } from '../../src/gpu/device-memory.js';
import type { Random } from '../oracle/known-bases.js';

export interface Dispatch {
  readonly kind: 'dispatch';
  readonly label: string;
  /** Descriptor of the pass, the same object for all its dispatches. */
  readonly pass: GPUComputePassDescriptor;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly entries: readonly GPUBindGroupEntry[];
  readonly groups: readonly [number, number, number] | { readonly buffer: GPUBuffer; readonly offset: number };
}

export interface Plain {
  readonly kind: 'clear' | 'copy' | 'resolve';
  /** Label of the buffer that is cleared or copied from. */
  readonly label: string;
  readonly buffers: readonly GPUBuffer[];
  encode(encoder: GPUCommandEncoder): void;
}

export type Step = Dispatch | Plain;

/** The commands of all command buffers of a submit, in order. */
interface Submit {
  readonly kind: 'submit';
  readonly label: string;
  readonly steps: readonly Step[];
}

interface Write {
  readonly kind: 'write';
  readonly label: string;
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Bytes that the host read. */
export interface Mapped {
  readonly kind: 'map';
  readonly label: string;
  readonly buffer: GPUBuffer;
  readonly data: Uint8Array<ArrayBuffer>;
}

export type Command = Submit | Write;

/**
 * Methods whose promises every call awaits. Those of compilers occur only in the first call of a
 * device (tests/resilience/failures-silent.test.ts).
 */
export const awaited = ['mapAsync', 'popErrorScope', 'onSubmittedWorkDone'] as const;
export type Awaited = (typeof awaited)[number];

/** All commands of a call of the engine, in order. */
export type Trace = readonly (Command | Mapped)[];

/** Removes the library's prefix. */
const plainLabel = (label = ''): string => label.replace(/^webgpu-msm /, '');

/** Returns the buffer of a binding; the library binds nothing else. */
export const bound = ({ resource }: GPUBindGroupEntry): Required<GPUBufferBinding> => {
  const { buffer, offset = 0, size = buffer.size - offset } = resource as GPUBufferBinding;
  return { buffer, offset, size };
};

export const isStorage = ({ usage }: GPUBuffer): boolean => (usage & bufferUsage.storage) !== 0;
export const isUniform = ({ usage }: GPUBuffer): boolean => (usage & bufferUsage.uniform) !== 0;

/** Returns the buffers that must exist for a command to execute. */
export const buffersOf = (command: Command | Mapped | Step): readonly GPUBuffer[] => {
  switch (command.kind) {
    case 'submit':
      return command.steps.flatMap(buffersOf);
    case 'write':
      return [command.buffer];
    case 'map':
      return [];
    case 'dispatch':
      return [
        ...command.entries.map((entry) => bound(entry).buffer),
        ...('buffer' in command.groups ? [command.groups.buffer] : []),
      ];
    default:
      return command.buffers;
  }
};

/** Kinds of commands that a fault can strike. */
export type Target = 'submit' | 'pass' | 'dispatch' | 'copy' | 'clear' | 'write' | 'map';

/** A command of a call: its index in the trace, and its step in the submit if it is part of one. */
export interface Site {
  readonly at: number;
  readonly step: number | null;
  readonly label: string;
}

const isFirstOfPass = (steps: readonly Step[], i: number): boolean => {
  const [step, last] = [steps[i], steps[i - 1]];
  return step?.kind === 'dispatch' && !(last?.kind === 'dispatch' && last.pass === step.pass);
};

export const sitesOf = (trace: Trace, target: Target): Site[] =>
  trace.flatMap((command, at): Site[] => {
    if (command.kind === target) return [{ at, step: null, label: command.label }];
    if (command.kind !== 'submit') return [];
    return command.steps.flatMap((step, i) =>
      (target === 'pass' ? isFirstOfPass(command.steps, i) : step.kind === target)
        ? [{ at, step: i, label: step.label }]
        : [],
    );
  });

export const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

/** @param label of the command to strike; any command if absent */
export const drawSite = (
  { random, before, label }: { readonly random: Random; readonly before: Trace; readonly label?: string | undefined },
  target: Target,
): Site | undefined =>
  pick(
    random,
    sitesOf(before, target).filter((site) => label === undefined || site.label === label),
  );

export const stepAt = (trace: Trace, { at, step }: Site): Step | undefined => {
  const command = trace[at];
  return command?.kind === 'submit' && step !== null ? command.steps[step] : undefined;
};

export const nameOf = ({ at, step, label }: Site): string =>
  `${label} (command ${at}${step === null ? '' : `, step ${step}`})`;

/** Entries of bind groups. */
type BindingsOf = Pick<WeakMap<GPUBindGroup, readonly GPUBindGroupEntry[]>, 'get'>;

interface RecordedCommandBuffer {
  readonly steps: readonly Step[];
}

type CopyArguments = [GPUBuffer, number, GPUBuffer, number, number];

const encodeDispatch = (pass: GPUComputePassEncoder, { pipeline, group, groups }: Dispatch): void => {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  if ('buffer' in groups) pass.dispatchWorkgroupsIndirect(groups.buffer, groups.offset);
  else pass.dispatchWorkgroups(...groups);
};

/** Encodes recorded steps on a real device. */
function encodeSteps(device: GPUDevice, steps: readonly Step[]): GPUCommandBuffer {
  const encoder = device.createCommandEncoder({ label: 'webgpu-msm' });
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

/** Returns an encoder that records its commands as steps. */
function recordingEncoder(groups: BindingsOf): GPUCommandEncoder {
  const steps: Step[] = [];
  const encoder: Partial<GPUCommandEncoder> = {
    beginComputePass: (pass = {}) => recordingPass(steps, pass, groups),
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

function recordingPass(steps: Step[], pass: GPUComputePassDescriptor, bindings: BindingsOf): GPUComputePassEncoder {
  let pipeline: GPUComputePipeline;
  let group: GPUBindGroup;
  const dispatch = (groups: Dispatch['groups']): void => {
    const [label, entries] = [plainLabel(pipeline.label), bindings.get(group) ?? []];
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
