/**
 * A GPU whose devices can be tampered with, lost for real or taken away, and are used again by the
 * next test where they survived: compiling is what such tests spend their time on, and a device
 * that was made before has its pipelines already.
 *
 * A leased device stands in for one of Dawn. All calls on it go through a `tap`, which a test may
 * set.
 */
import { afterAll, onTestFinished, TestRunner } from 'vitest';
import { getDevice, getGpu, keepPipelines, retained, watchErrors } from './gpu.js';

/** A call of WebGPU, on its way. */
export interface Call {
  readonly method: string;
  /**
   * Label of the object that the call makes, or else of its receiver; without the library's prefix.
   */
  readonly label: string;
  readonly args: readonly unknown[];
  /** Carries it out. */
  proceed(args?: readonly unknown[]): unknown;
}
export type Tap = (call: Call) => unknown;

/**
 * How an injected loss comes: `lost` resolves first, or a moment after the promises that the loss
 * rejects.
 */
export type Notice = 'at once' | 'late';

const { spares } = retained;
/** Devices that become spare as soon as they have nothing to do. */
const returning = new Set<Promise<void>>();
/** Leases of the file that have not ended. */
const open = new Set<LeasedDevice>();
/** By device and source. A driver has such a cache too. */
const compiled = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>();

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

const deferred = <Value>(): Deferred<Value> => {
  let [resolve, reject]: [Deferred<Value>['resolve'], Deferred<Value>['reject']] = [() => undefined, () => undefined];
  const promise = new Promise<Value>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
};

/** Without the library's prefix. */
const plainLabel = (label = ''): string => label.replace(/^webgpu-msm /, '');

/** Whether a method takes a descriptor, which has a label. */
const makes = (method: string): boolean => method.startsWith('create') || method === 'beginComputePass';

/** Stands in for a device from when it is handed out until it is lost or destroyed. */
export class LeasedDevice {
  readonly real: GPUDevice;
  /** Device that the engine uses. */
  readonly device: GPUDevice;
  tap: Tap = (call) => call.proceed();
  /** Compiles everything itself. */
  cold = false;
  readonly #live = new Set<GPUBuffer>();
  readonly #scopes: { readonly filter: GPUErrorFilter; injected: GPUError | null }[] = [];
  readonly #sources = new WeakMap<GPUShaderModule, string>();
  readonly #gone = deferred<never>();
  readonly #lost = deferred<GPUDeviceLostInfo>();
  #isGone = false;
  #isReturned = false;
  #isReallyLost = false;

  /** @param said what the device says of itself, in place of the truth */
  constructor(real: GPUDevice, said: Partial<GPUDevice> = {}) {
    this.real = real;
    open.add(this);
    this.#gone.promise.catch(() => undefined);
    void real.lost.then((info) => {
      this.#isReallyLost = true;
      this.#lost.resolve(info);
    });
    const queue = this.#standIn(real.queue, {});
    this.device = this.#standIn(real, { ...said, queue, lost: this.#lost.promise });
  }

  /** Buffers that were made and not destroyed. */
  get live(): number {
    return this.#live.size;
  }

  /** These. */
  get buffers(): readonly GPUBuffer[] {
    return [...this.#live];
  }

  /** Error scopes that were pushed and not popped. */
  get openScopes(): number {
    return this.#scopes.length;
  }

  /**
   * Loses the device as a browser does when the driver was reset: nothing works any more, and
   * nothing says so but `lost`.
   */
  takeAway(notice: Notice): void {
    this.#isGone = true;
    const info = { reason: 'unknown', message: 'injected' } as GPUDeviceLostInfo;
    if (notice === 'at once') this.#lost.resolve(info);
    else setTimeout(() => this.#lost.resolve(info), 10);
    this.#gone.reject(new DOMException('the device is lost', 'AbortError'));
    this.#return();
  }

  /** Reports an error to the scope that would catch it, as the device does. */
  report(filter: GPUErrorFilter, message: string): void {
    const scope = this.#scopes.findLast((candidate) => candidate.filter === filter);
    if (scope === undefined) throw new Error(`uncaptured: ${message}`);
    scope.injected ??= { message } as GPUError;
  }

  /** Calls that break rules, which nobody is told. */
  unreported<Result>(calls: () => Result): Result {
    this.real.pushErrorScope('validation');
    try {
      return calls();
    } finally {
      void this.real.popErrorScope();
    }
  }

  /** Ends what a test or a file has left open: the device becomes spare. */
  close(): void {
    this.tap = (call) => call.proceed();
    for (const buffer of this.#live) buffer.destroy();
    this.#end();
  }

  /** A device whose methods go through the tap, and whose `overrides` are other than the truth. */
  #standIn<Target extends object>(target: Target, overrides: Record<string, unknown>): Target {
    return new Proxy(target, {
      get: (_, name) => {
        if (typeof name === 'string' && name in overrides) return overrides[name];
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function' || typeof name !== 'string') return value;
        return (...args: unknown[]) => this.#call(target, name, value as Method, '', args);
      },
      // what a test puts in place of the truth leaves the next lease as it is
      set: (_, name, value) => Reflect.set(overrides, name, value),
      defineProperty: (_, name, { value }) => Reflect.set(overrides, name, value),
      deleteProperty: (_, name) => Reflect.deleteProperty(overrides, name),
    });
  }

  /** The same for what has to be the real thing, because it is an argument of other calls. */
  #patch<Target extends object>(target: Target, label: string, methods: readonly (keyof Target & string)[]): Target {
    for (const name of methods) {
      const value = target[name] as Method;
      Object.defineProperty(target, name, {
        configurable: true,
        value: (...args: unknown[]) => this.#call(target, name, value, label, args),
      });
    }
    return target;
  }

  #call(target: object, method: string, real: Method, label: string, args: readonly unknown[]): unknown {
    return this.tap({
      method,
      label: makes(method) ? plainLabel((args[0] as GPUObjectDescriptorBase | undefined)?.label) : label,
      args,
      proceed: (changed = args) => this.#perform(target, method, real, changed),
    });
  }

  #perform(target: object, method: string, real: Method, args: readonly unknown[]): unknown {
    const perform = (): unknown => real.apply(target, args as unknown[]);
    const label = makes(method) ? plainLabel((args[0] as GPUObjectDescriptorBase | undefined)?.label) : '';
    switch (method) {
      case 'createBuffer': {
        const buffer = perform() as GPUBuffer;
        this.#live.add(buffer);
        return this.#patch(buffer, label, ['mapAsync', 'getMappedRange', 'destroy']);
      }
      case 'createCommandEncoder':
        return this.#patch(perform() as GPUCommandEncoder, label, [
          'beginComputePass',
          'clearBuffer',
          'copyBufferToBuffer',
          'resolveQuerySet',
          'finish',
        ]);
      case 'beginComputePass':
        return this.#patch(perform() as GPUComputePassEncoder, label, [
          'dispatchWorkgroups',
          'dispatchWorkgroupsIndirect',
        ]);
      case 'createShaderModule': {
        const module = perform() as GPUShaderModule;
        this.#sources.set(module, (args[0] as GPUShaderModuleDescriptor).code);
        return module;
      }
      case 'createComputePipelineAsync':
        return this.#compile(args[0] as GPUComputePipelineDescriptor, perform as () => Promise<GPUComputePipeline>);
      case 'pushErrorScope':
        this.#scopes.push({ filter: args[0] as GPUErrorFilter, injected: null });
        return perform();
      case 'popErrorScope': {
        const injected = this.#scopes.pop()?.injected ?? null;
        return (perform() as Promise<GPUError | null>).then((error) => (this.#isGone ? null : (error ?? injected)));
      }
      case 'mapAsync':
        return this.#isGone ? this.#gone.promise : Promise.race([perform(), this.#gone.promise]);
      case 'destroy':
        if (target === this.real) return this.#end();
        this.#live.delete(target as GPUBuffer);
        return perform();
      case 'writeBuffer':
      case 'submit':
        return this.#isGone ? undefined : perform();
      default:
        return perform();
    }
  }

  #compile(
    descriptor: GPUComputePipelineDescriptor,
    compile: () => Promise<GPUComputePipeline>,
  ): Promise<GPUComputePipeline> {
    const known = compiled.get(this.real) ?? new Map<string, Promise<GPUComputePipeline>>();
    compiled.set(this.real, known);
    const source = this.#sources.get(descriptor.compute.module) as string;
    const pipeline = (this.cold ? undefined : known.get(source)) ?? compile();
    known.set(source, pipeline);
    pipeline.catch(() => known.delete(source));
    return pipeline;
  }

  /** The engine destroys its device, or the caller. */
  #end(): void {
    this.#isGone = true;
    this.#lost.resolve({ reason: 'destroyed', message: 'destroyed by its engine' } as GPUDeviceLostInfo);
    this.#gone.reject(new DOMException('the device was destroyed', 'AbortError'));
    this.#return();
  }

  /**
   * Whoever had it has it no more, and the next one may have it. The GPU may still work for the one
   * before.
   */
  #return(): void {
    if (this.#isReturned) return;
    this.#isReturned = true;
    open.delete(this);
    const idle = this.real.queue.onSubmittedWorkDone().catch(() => undefined);
    const returned = idle.then(() => {
      returning.delete(returned);
      if (!this.#isReallyLost) spares.push(this.real);
    });
    returning.add(returned);
  }
}

type Method = (...args: unknown[]) => unknown;

const lease = async (descriptor: GPUDeviceDescriptor, said?: Partial<GPUDevice>): Promise<LeasedDevice> => {
  await Promise.all(returning);
  // the one that has compiled the most
  const kernels = (device: GPUDevice): number => retained.pipelines.get(device)?.length ?? 0;
  const spare = spares.sort((a, b) => kernels(a) - kernels(b)).pop();
  const real = spare === undefined ? await getDevice(descriptor) : watchErrors(spare);
  return new LeasedDevice(keepPipelines(real), said);
};

// those that come back become spares of the next file
afterAll(() => {
  for (const each of open) each.close();
  return Promise.all(returning);
});

/**
 * A device for a caller who brings one. It becomes spare after the test, or after the file if a hook asks for it.
 *
 * @param said what the device says of itself, in place of the truth
 */
export const leaseDevice = async (said?: Partial<GPUDevice>): Promise<LeasedDevice> => {
  const leased = await lease({ requiredFeatures: ['timestamp-query'] }, said);
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => leased.close());
  return leased;
};

/** A GPU object, and the devices that were requested from it. */
export interface LeasedGpu {
  readonly gpu: GPU;
  readonly devices: readonly LeasedDevice[];
  /** Kind of object that is not available while this is set. */
  lacks: 'adapter' | 'device' | null;
  /** Runs while a device is requested. */
  onRequest(): void;
}

/**
 * @param prepare what happens to a device before whoever requested it gets it
 * @param said what the adapter says it is, in place of the truth
 * @param saidByDevices what the devices say they are
 */
export const leaseGpu = async (
  prepare: (device: LeasedDevice) => void = () => undefined,
  said?: Partial<GPUAdapterInfo>,
  saidByDevices?: Partial<GPUDevice>,
): Promise<LeasedGpu> => {
  const real = await getGpu();
  const devices: LeasedDevice[] = [];
  const requestDevice = async (descriptor: GPUDeviceDescriptor): Promise<GPUDevice> => {
    leased.onRequest();
    if (leased.lacks === 'device') throw new DOMException('injected', 'OperationError');
    const device = await lease(descriptor, saidByDevices);
    prepare(device);
    devices.push(device);
    return device.device;
  };
  const gpu = {
    requestAdapter: async (options?: GPURequestAdapterOptions) => {
      if (leased.lacks === 'adapter') return null;
      const { features, limits, info } = (await real.requestAdapter(options)) as GPUAdapter;
      return { features, limits, info: said ?? info, requestDevice };
    },
  };
  const leased: LeasedGpu = { gpu: gpu as unknown as GPU, devices, lacks: null, onRequest: () => undefined };
  return leased;
};
