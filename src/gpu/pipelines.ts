import type { CompileTime } from '../api.js';
import { MsmError } from '../errors.js';
import type { Binding, Kernel } from '../shaders/kernel.js';

const STAGE_COMPUTE = 4;

type Growing = { -readonly [Field in keyof CompileTime]: CompileTime[Field] };

const times = new WeakMap<GPUDevice, Growing[]>();
const timeOf = new WeakMap<GPUComputePipeline, Growing>();

/** What was compiled on a device, in the order in which it was done. */
export const compileTimes = (device: GPUDevice): readonly CompileTime[] =>
  (times.get(device) ?? []).map((time) => ({ ...time }));

/** A pipeline took longer to compile than making it did. */
export const addCompileTime = (pipeline: GPUComputePipeline, ms: number): void => {
  const time = timeOf.get(pipeline);
  if (time !== undefined) time.ms += ms;
};

/** Pipelines of a device; they go when the device goes. */
interface Pipelines {
  /** Shared by all engines on it, each of which renders kernels of its own. */
  readonly bySource: Map<string, Promise<GPUComputePipeline>>;
  /** The same by the object: a source has a hundred kilobytes, which are not to be compared in every run. */
  readonly byKernel: WeakMap<Kernel, Promise<GPUComputePipeline>>;
}

const cache = new WeakMap<GPUDevice, Pipelines>();

const layoutEntry = ({ access }: Binding, binding: number): GPUBindGroupLayoutEntry => ({
  binding,
  visibility: STAGE_COMPUTE,
  buffer: { type: access === 'uniform' ? 'uniform' : access === 'read' ? 'read-only-storage' : 'storage' },
});

/** What the compiler says about a shader, each message with the line it points at. */
const compilerMessages = async (module: GPUShaderModule, source: string): Promise<string> => {
  const { messages } = await module.getCompilationInfo();
  const lines = source.split('\n');
  return messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, message }) => `line ${lineNum}: ${message}\n  ${(lines[lineNum - 1] ?? '').trim()}`)
    .join('\n');
};

const compile = async (device: GPUDevice, { name, source, bindings }: Kernel): Promise<GPUComputePipeline> => {
  const label = `webgpu-msm ${name}`;
  const begun = performance.now();
  // Errors of these calls show again when the pipeline is made; without a scope they would reach the caller's handlers.
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code: source });
  const group = device.createBindGroupLayout({ label, entries: bindings.map(layoutEntry) });
  const layout = device.createPipelineLayout({ label, bindGroupLayouts: [group] });
  const scope = device.popErrorScope();
  const pipeline = device.createComputePipelineAsync({ label, layout, compute: { module, entryPoint: name } });
  try {
    const [made, error] = await Promise.all([pipeline, scope]);
    if (error !== null) throw new Error(error.message);
    const time = { name, ms: performance.now() - begun };
    times.set(device, [...(times.get(device) ?? []), time]);
    timeOf.set(made, time);
    return made;
  } catch (error) {
    pipeline.catch(() => undefined);
    const details = await compilerMessages(module, source).catch(() => '');
    throw new MsmError('internal', `the pipeline of ${name} does not compile: ${details || (error as Error).message}`, {
      cause: error,
    });
  }
};

/** The pipeline of a kernel; compiled when first asked for. A failure is not remembered. */
export const pipelineFor = (device: GPUDevice, kernel: Kernel): Promise<GPUComputePipeline> => {
  const { bySource, byKernel } = cache.get(device) ?? { bySource: new Map(), byKernel: new WeakMap() };
  cache.set(device, { bySource, byKernel });
  const known = byKernel.get(kernel);
  if (known !== undefined) return known;
  const key = `${kernel.name}\n${kernel.source}`;
  const made = bySource.get(key) ?? compile(device, kernel);
  bySource.set(key, made);
  byKernel.set(kernel, made);
  made.catch(() => {
    bySource.delete(key);
    byKernel.delete(kernel);
  });
  return made;
};
