import type { CompileTime } from '../api/device.js';
import { MsmError } from '../errors.js';
import type { Binding, Kernel } from '../shaders/kernel.js';
import { watchOf } from './device-watch.js';

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
