import { MsmError } from '../errors.js';
import type { Binding, Kernel } from './kernel.js';

const STAGE_COMPUTE = 4;

/** How long a pipeline took to compile. */
export interface CompileTime {
  readonly name: string;
  /** Milliseconds from the request until it was there; several are compiled at a time. */
  readonly ms: number;
}

const times = new WeakMap<GPUDevice, CompileTime[]>();

/** What was compiled on a device, in the order in which it was done. */
export const compileTimes = (device: GPUDevice): readonly CompileTime[] => times.get(device) ?? [];

/** Pipelines of a device by source, shared by all engines on it; they go when the device goes. */
const cache = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>();

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
    times.set(device, [...compileTimes(device), { name, ms: performance.now() - begun }]);
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
  const pipelines = cache.get(device) ?? new Map<string, Promise<GPUComputePipeline>>();
  cache.set(device, pipelines);
  const key = `${kernel.name}\n${kernel.source}`;
  const known = pipelines.get(key);
  if (known !== undefined) return known;
  const made = compile(device, kernel);
  pipelines.set(key, made);
  made.catch(() => pipelines.delete(key));
  return made;
};
