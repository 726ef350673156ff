import fc from 'fast-check';

/** Programs of one seed of fast-check; the next ones have the next seed. */
const BATCH = 100;

/** A program that fails, and its error. */
export interface FoundProgram<Program> {
  readonly program: Program;
  readonly error: string;
}

/**
 * Runs programs until the time is over or one fails, which fast-check then shrinks.
 *
 * @param execute returns the error of a program, or null
 * @param onPassed told of each program that passed
 * @returns the smallest program that fails; null if none does
 */
export async function runPrograms<Program>(
  programs: fc.Arbitrary<Program>,
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
  execute: (program: Program) => Promise<string | null>,
  onPassed: (program: Program) => void,
): Promise<FoundProgram<Program> | null> {
  const end = performance.now() + 1000 * seconds;
  let isShrinking = false;
  const property = fc.asyncProperty(programs, async (program) => {
    if (!isShrinking && performance.now() > end) return;
    const error = await execute(program);
    isShrinking ||= error !== null;
    if (error !== null) throw new Error(error);
    if (!isShrinking) onPassed(program);
  });
  for (let batch = 0; performance.now() < end; batch++) {
    const drawn = { seed: (seed * 100_003 + batch) | 0, numRuns: BATCH };
    const { counterexample, errorInstance } = await fc.check(property, drawn);
    if (counterexample !== null) return { program: counterexample[0], error: String(errorInstance) };
  }
  return null;
}

/**
 * Caches the pipelines of a device by source, as drivers do, because every program has an engine of
 * its own.
 *
 * @returns the same device
 */
export const keepPipelines = (device: GPUDevice): GPUDevice => {
  const makeModule = device.createShaderModule.bind(device);
  const makePipeline = device.createComputePipelineAsync.bind(device);
  const sources = new WeakMap<GPUShaderModule, string>();
  const kept = new Map<string, Promise<GPUComputePipeline>>();
  return Object.assign(device, {
    createShaderModule: (descriptor: GPUShaderModuleDescriptor) => {
      const module = makeModule(descriptor);
      sources.set(module, descriptor.code);
      return module;
    },
    createComputePipelineAsync: (descriptor: GPUComputePipelineDescriptor) => {
      const source = sources.get(descriptor.compute.module) as string;
      const pipeline = kept.get(source) ?? makePipeline(descriptor);
      kept.set(source, pipeline);
      return pipeline;
    },
  });
};
