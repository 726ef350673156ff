/** A device: the adapter it comes from, its request, and the pipelines that are compiled on it. */
import type { AdapterDescription, CompileTime } from '../api/device.js';
import { badArgument, MsmError } from '../errors.js';
import type { Binding, Kernel } from '../shaders/kernel.js';
import { Stuck, waitForRequest, watchOf } from './device-watch.js';

/** A device, and true in `owned` if the engine destroys it. */
export interface OpenDevice {
  readonly device: GPUDevice;
  readonly owned: boolean;
  readonly adapter: AdapterDescription;
  /** True if shaders may use dot4U8Packed; false if unknown. */
  readonly hasDot4: boolean;
}

/** Describes an adapter. */
export const describeAdapter = (info: GPUAdapterInfo | undefined, isFallback = false): AdapterDescription => {
  const { vendor = '', architecture = '', device = '', description = '' } = info ?? {};
  const text = `${vendor} ${architecture} ${device} ${description}`;
  return {
    vendor,
    architecture,
    device,
    description,
    software:
      isFallback || info?.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(text),
  };
};

/** Language feature of dot4U8Packed. */
const DOT4 = 'packed_4x8_integer_dot_product';

const gpuHere = (): GPU | undefined => (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;

const hasDot4 = (gpu: GPU | undefined): boolean => (gpu ?? gpuHere())?.wgslLanguageFeatures?.has(DOT4) === true;

/** Returns WebGPU of the caller or of the page. @throws MsmError `no-webgpu` */
const findGpu = (gpu: GPU | undefined): GPU => {
  const found = gpu ?? gpuHere();
  if (found) return found;
  throw new MsmError(
    'no-webgpu',
    'there is no WebGPU here: use a browser that has it (in a secure context), or in Node pass Dawn’s object as `gpu`; without `backend` the CPU computes',
  );
};

/** Refuses a software adapter: the CPU computes on the same cores, and faster. */
class SoftwareAdapterError extends MsmError {
  constructor() {
    super('no-webgpu', "the only adapter is software; take backend 'gpu' or 'both' to compute on it all the same");
  }
}

/** Limits to raise to those of the adapter; all others stay at the portable minimum. */
const wanted = ['maxStorageBufferBindingSize', 'maxBufferSize'] as const;

/**
 * Requests the best device first and then simpler ones, because bun-webgpu refuses
 * `requiredLimits`. An adapter can be asked again after a refusal (WebGPU, "requestDevice").
 */
const requestDevice = async (adapter: GPUAdapter): Promise<GPUDevice> => {
  const { limits, features } = adapter;
  const label = 'webgpu-msm';
  const requiredFeatures: GPUFeatureName[] = features.has('timestamp-query') ? ['timestamp-query'] : [];
  const requiredLimits = Object.fromEntries(wanted.map((limit) => [limit, limits[limit]]));
  let refusal: unknown;
  for (const descriptor of [{ label, requiredFeatures, requiredLimits }, { label, requiredFeatures }, { label }]) {
    try {
      return await waitForRequest(adapter.requestDevice(descriptor), 'a device', (late) => late.destroy());
    } catch (error) {
      // the first refusal says most, because later requests ask for less
      refusal ??= error;
      if (error instanceof Stuck) break;
    }
  }
  throw new MsmError('unsupported-device', `the adapter makes no device: ${(refusal as Error).message}`, {
    cause: refusal,
  });
};

/**
 * Takes the caller's device, or requests one with the adapter's largest buffers, and with
 * timestamps if the adapter has them.
 *
 * @param again true after a loss: browsers switch the GPU off for a page after a few losses in a
 *   row
 * @throws MsmError `bad-argument` for a wrong device or GPU, `no-webgpu` without WebGPU or adapter,
 *   `unsupported-device` if the adapter makes no device
 * @throws SoftwareAdapterError with `hardwareOnly`
 */
export const openDevice = async (
  options: {
    device?: GPUDevice | undefined;
    gpu?: GPU | undefined;
    powerPreference?: GPUPowerPreference | undefined;
    /** True where no device is to be made on a software adapter. */
    hardwareOnly?: boolean;
  },
  again = false,
): Promise<OpenDevice> => {
  const { hardwareOnly = false } = options;
  const assertWanted = (adapter: AdapterDescription): AdapterDescription => {
    if (hardwareOnly && adapter.software) throw new SoftwareAdapterError();
    return adapter;
  };
  if (options.device !== undefined) {
    if (typeof options.device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
    return {
      device: options.device,
      owned: false,
      adapter: assertWanted(describeAdapter(options.device.adapterInfo)),
      hasDot4: hasDot4(options.gpu),
    };
  }
  const { powerPreference = 'high-performance' } = options;
  const gpu = findGpu(options.gpu);
  if (typeof gpu.requestAdapter !== 'function') {
    throw badArgument('gpu must be a GPU object: navigator.gpu, or what Dawn’s create returned');
  }
  let adapter: GPUAdapter | null;
  try {
    adapter = await waitForRequest(gpu.requestAdapter({ powerPreference }), 'an adapter');
  } catch (error) {
    throw new MsmError('no-webgpu', `WebGPU refused an adapter: ${(error as Error).message}`, { cause: error });
  }
  if (!adapter) {
    throw new MsmError(
      'no-webgpu',
      again
        ? 'WebGPU has no adapter any more: the device was lost, and the browser has switched the GPU off for this page; reload the page (in Node, check the GPU driver)'
        : 'WebGPU has no adapter here: check the GPU driver (Dawn in Node needs Vulkan, Metal or Direct3D 12) and the browser’s GPU settings',
    );
  }
  // older browsers have the flag on the adapter and not in `info`
  const isFallback = (adapter as { readonly isFallbackAdapter?: unknown }).isFallbackAdapter === true;
  const description = assertWanted(describeAdapter(adapter.info, isFallback));
  return { device: await requestDevice(adapter), owned: true, adapter: description, hasDot4: hasDot4(gpu) };
};

const STAGE_COMPUTE = 4;

type Growing = { -readonly [Field in keyof CompileTime]: CompileTime[Field] };

const times = new WeakMap<GPUDevice, Growing[]>();
const timeOf = new WeakMap<GPUComputePipeline, Growing>();

/** Returns the compile times of a device, in order of completion. */
export const compileTimes = (device: GPUDevice): readonly CompileTime[] =>
  (times.get(device) ?? []).map((time) => ({ ...time }));

/** Adds time to a pipeline: drivers may compile at its first dispatch. */
export const addCompileTime = (pipeline: GPUComputePipeline, ms: number): void => {
  const time = timeOf.get(pipeline);
  if (time !== undefined) time.ms += ms;
};

/** A pipeline and its users, held weakly: an engine may be collected without being destroyed. */
interface Shared {
  readonly made: Promise<GPUComputePipeline>;
  readonly users: WeakSet<object>;
  count: number;
}

/**
 * Pipelines by name and source. Engines on a device share them, though each renders its kernels.
 */
const shared = new WeakMap<GPUDevice, Map<string, Shared>>();

/** Pipelines by user and kernel, since comparing sources of 100 kB in every run would be slow. */
const known = new WeakMap<object, WeakMap<Kernel, Promise<GPUComputePipeline>>>();

const layoutEntry = ({ access }: Binding, binding: number): GPUBindGroupLayoutEntry => ({
  binding,
  visibility: STAGE_COMPUTE,
  buffer: { type: access === 'uniform' ? 'uniform' : access === 'read' ? 'read-only-storage' : 'storage' },
});

/** Returns the compiler's errors for a shader, each with its line. */
const compilerMessages = async (device: GPUDevice, module: GPUShaderModule, source: string): Promise<string> => {
  const { messages } = await watchOf(device).wait(module.getCompilationInfo(), {
    what: 'reading compiler messages',
    kind: 'compiler',
  });
  const lines = source.split('\n');
  return messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, message }) => `line ${lineNum}: ${message}\n  ${(lines[lineNum - 1] ?? '').trim()}`)
    .join('\n');
};

const compile = async (device: GPUDevice, { name, source, bindings }: Kernel): Promise<GPUComputePipeline> => {
  const label = `webgpu-msm ${name}`;
  const begun = performance.now();
  // making the pipeline reports these errors again; the scope keeps them from the caller's handlers
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code: source });
  const group = device.createBindGroupLayout({ label, entries: bindings.map(layoutEntry) });
  const layout = device.createPipelineLayout({ label, bindGroupLayouts: [group] });
  const request = { what: `compiling ${name}`, kind: 'compiler' } as const;
  const watch = watchOf(device);
  const scope = watch.wait(device.popErrorScope(), request);
  const pipeline = watch.wait(
    device.createComputePipelineAsync({ label, layout, compute: { module, entryPoint: name } }),
    request,
  );
  try {
    const [made, error] = await Promise.all([pipeline, scope]);
    if (error !== null) throw new Error(error.message);
    const time = { name, ms: performance.now() - begun };
    times.set(device, [...(times.get(device) ?? []), time]);
    timeOf.set(made, time);
    return made;
  } catch (error) {
    pipeline.catch(() => undefined);
    const details = await compilerMessages(device, module, source).catch(() => '');
    throw new MsmError('internal', `the pipeline of ${name} does not compile: ${details || (error as Error).message}`, {
      cause: error,
    });
  }
};

/**
 * Returns the pipeline of a kernel, compiled at the first call. A failure is not cached.
 *
 * @param user keeps the pipeline until it is released or collected. Default: the device
 */
export const pipelineFor = (device: GPUDevice, kernel: Kernel, user: object = device): Promise<GPUComputePipeline> => {
  const byKernel = known.get(user) ?? new WeakMap();
  known.set(user, byKernel);
  const found = byKernel.get(kernel);
  if (found !== undefined) return found;
  const bySource = shared.get(device) ?? new Map();
  shared.set(device, bySource);
  const key = `${kernel.name}\n${kernel.source}`;
  const entry: Shared = bySource.get(key) ?? { made: compile(device, kernel), users: new WeakSet(), count: 0 };
  const { made, users } = entry;
  bySource.set(key, entry);
  byKernel.set(kernel, made);
  if (!users.has(user)) entry.count++;
  users.add(user);
  made.catch(() => {
    bySource.delete(key);
    byKernel.delete(kernel);
  });
  return made;
};

/** Releases a user's pipelines, and drops those without other users. */
export const releasePipelines = (device: GPUDevice, user: object): void => {
  known.delete(user);
  const bySource = shared.get(device);
  for (const [key, entry] of bySource ?? []) {
    if (entry.users.delete(user) && --entry.count === 0) bySource?.delete(key);
  }
};
