import { bufferUsage } from '../../src/gpu/device-memory.js';
import { readBack } from '../field-bench/submit.js';
import { type Counts, counted, instrument } from './instrument.js';

/** Offset alignment of storage bindings that every device supports. */
const ALIGNMENT = 256;
const MOST_PHASES = 16;
const STAGE_COMPUTE = 4;

/**
 * Instruments the library's kernels that a device compiles, so that they count their work by phase.
 * The device stays changed.
 */
export class CountingDevice {
  readonly device: GPUDevice;
  readonly #layout: GPUBindGroupLayout;
  readonly #totals: GPUBuffer;
  readonly #phases: string[] = [];

  /** @param pointWords words of a point of the curve */
  constructor(device: GPUDevice, pointWords: number) {
    this.device = device;
    this.#layout = device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: STAGE_COMPUTE, buffer: { type: 'storage' } }],
    });
    this.#totals = device.createBuffer({
      label: 'counts',
      size: MOST_PHASES * ALIGNMENT,
      usage: bufferUsage.storage | bufferUsage.copySrc | bufferUsage.copyDst,
    });
    const createShaderModule = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) =>
      createShaderModule({ ...descriptor, code: instrument(descriptor.code, pointWords) });
    const createPipelineLayout = device.createPipelineLayout.bind(device);
    device.createPipelineLayout = ({ bindGroupLayouts, ...rest }) =>
      createPipelineLayout({ ...rest, bindGroupLayouts: [...bindGroupLayouts, this.#layout] });
    const createCommandEncoder = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (descriptor) => {
      const encoder = createCommandEncoder(descriptor);
      const begin = encoder.beginComputePass.bind(encoder);
      encoder.beginComputePass = (pass) => {
        const compute = begin(pass);
        compute.setBindGroup(1, this.#groupOf((pass?.label ?? '').replace('webgpu-msm ', '')));
        return compute;
      };
      return encoder;
    };
  }

  reset(): void {
    this.device.queue.writeBuffer(this.#totals, 0, new Uint32Array(this.#totals.size / 4));
  }

  /** Returns the counts since the last reset by phase, in order of first use. */
  async read(): Promise<Map<string, Counts>> {
    const words = await readBack(this.device, this.#totals);
    return new Map(
      this.#phases.map((phase, at) => {
        const own = counted.map((what, i) => [what, words[(at * ALIGNMENT) / 4 + i] as number]);
        return [phase, Object.fromEntries(own) as unknown as Counts];
      }),
    );
  }

  #groupOf(phase: string): GPUBindGroup {
    if (!this.#phases.includes(phase)) this.#phases.push(phase);
    const offset = this.#phases.indexOf(phase) * ALIGNMENT;
    if (offset >= this.#totals.size) throw new Error(`counting supports at most ${MOST_PHASES} phases`);
    return this.device.createBindGroup({
      layout: this.#layout,
      entries: [{ binding: 0, resource: { buffer: this.#totals, offset, size: ALIGNMENT } }],
    });
  }
}
