import type { Chip } from './chips.js';

/** A kernel that a device was asked to compile. */
export interface Asked {
  /** Name of the kernel and its entry point. */
  readonly name: string;
  readonly source: string;
  /** Binding types by binding number. */
  readonly bindings: readonly GPUBufferBindingType[];
}

/** Limits: those that WebGPU guarantees, and buffers as large as any device has. */
const limits = {
  maxBufferSize: 2 ** 32,
  maxStorageBufferBindingSize: 2 ** 32 - 4,
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
};

const buffer = ({ size, usage }: GPUBufferDescriptor) => ({
  size,
  usage,
  mapAsync: async () => undefined,
  getMappedRange: () => new ArrayBuffer(size),
  unmap: () => undefined,
  destroy: () => undefined,
});

/**
 * A fake device that poses as a chip, records what it is asked to compile, and builds no pipeline.
 * The caller gets an error after everything it asked for is known. It needs no WebGPU.
 */
export class UnbuiltDevice {
  readonly asked: Asked[] = [];
  readonly device: GPUDevice;
  /** WebGPU entry point with the language features of the chip. */
  readonly gpu = { wgslLanguageFeatures: new Set(['packed_4x8_integer_dot_product']) } as unknown as GPU;

  constructor({ maker, architecture }: Chip) {
    this.device = {
      adapterInfo: { vendor: maker, architecture, device: '', description: '', isFallbackAdapter: false },
      limits,
      features: new Set(),
      lost: new Promise(() => undefined),
      queue: {
        submit: () => undefined,
        writeBuffer: () => undefined,
        onSubmittedWorkDone: async () => undefined,
      },
      pushErrorScope: () => undefined,
      popErrorScope: async () => null,
      createBuffer: buffer,
      createShaderModule: ({ code }: GPUShaderModuleDescriptor) => ({
        code,
        getCompilationInfo: async () => ({ messages: [] }),
      }),
      createBindGroupLayout: ({ entries }: GPUBindGroupLayoutDescriptor) =>
        [...entries].map(({ buffer }) => buffer?.type ?? 'uniform'),
      createPipelineLayout: ({ bindGroupLayouts: [group] }: GPUPipelineLayoutDescriptor) => group,
      createComputePipelineAsync: async ({ layout, compute }: GPUComputePipelineDescriptor) => {
        const { code } = compute.module as unknown as { code: string };
        const bindings = layout as unknown as readonly GPUBufferBindingType[];
        this.asked.push({ name: compute.entryPoint as string, source: code, bindings });
        throw new Error('this device builds no pipelines');
      },
    } as unknown as GPUDevice;
  }
}
