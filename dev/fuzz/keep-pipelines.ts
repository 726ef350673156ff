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
