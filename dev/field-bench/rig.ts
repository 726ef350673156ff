/** Kernels of field-bench on a device: checked, run, timed. */
import { MsmError } from '../../src/errors.js';
import { type Modulus, mod } from '../../src/field/modulus.js';
import { bufferUsage, mapModeRead } from '../../src/gpu/constants.js';
import { pipelineFor } from '../../src/gpu/pipelines.js';
import { waitFor } from '../../src/gpu/wait.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { Random } from '../oracle/known-bases.js';
import {
  CHAIN_THREADS,
  ChainConfig,
  type FieldOperation,
  fieldChain,
  type PeakOperation,
  peakChain,
  probeChain,
} from './kernels.js';
import type { Probe, Representation } from './representation.js';
import { timeSubmit } from './submit-time.js';

/** Steps of a check: few, as BigInts repeat them; an odd number, and more than one. */
const CHECKED_STEPS = 7;

/** A kernel that is timed, with its operands and what must come of them. */
export interface Subject {
  readonly variant: string;
  readonly multiplyAdds: number | null;
  readonly name: string;
  readonly threads: number;
  /** Those of a workgroup. */
  readonly groupThreads: number;
  readonly chains: number;
  readonly perStep: number;
  readonly kernel: Kernel;
  readonly values: Uint32Array<ArrayBuffer>;
  /** Throws if a chain of so many steps did not come to what it should. */
  check(results: Uint32Array, steps: number): void;
}

/** Words as what a kernel takes them for. */
const typed = (words: Uint32Array, element: Representation['element']): Uint32Array | Int32Array | Float32Array => {
  const { buffer, byteOffset, length } = words;
  switch (element) {
    case 'u32':
      return words;
    case 'i32':
      return new Int32Array(buffer, byteOffset, length);
    case 'f32':
      return new Float32Array(buffer, byteOffset, length);
  }
};

export const fieldSubject = (m: Modulus, operation: FieldOperation, chains: number, threads: number): Subject => {
  const random = new Random(chains);
  const { element, limbs, r, encode, decode } = operation.representation(m);
  const operands = Array.from({ length: threads * chains }, () => random.belowBig(m.p));
  const values = new Uint32Array(threads * chains * limbs);
  const view = typed(values, element);
  for (const [i, value] of operands.entries()) view.set(encode(value), i * limbs);
  return {
    variant: operation.variant,
    multiplyAdds: operation.multiplyAdds(m),
    name: operation.name,
    threads,
    groupThreads: CHAIN_THREADS,
    chains,
    perStep: 1,
    kernel: fieldChain(m, operation, chains),
    values,
    check: (results, steps) => {
      const elements = typed(results, element);
      for (const thread of [0, threads - 1]) {
        const y = operands[thread * chains] as bigint;
        for (const chain of [0, chains - 1]) {
          const at = thread * chains + chain;
          let x = operands[at] as bigint;
          for (let step = 0; step < steps; step++) x = operation.apply(m, r, x, y, step);
          const got = mod(decode([...elements.subarray(at * limbs, (at + 1) * limbs)]), m.p);
          if (got !== x) {
            throw new Error(
              `WRONG: ${operation.name} (${operation.variant}), ${chains} chains, thread ${thread}: ${got} for ${x}`,
            );
          }
        }
      }
    },
  };
};

export const peakSubject = (operation: PeakOperation, chains: number, threads: number): Subject => {
  const random = new Random(chains);
  const values = Uint32Array.from({ length: threads * chains }, () =>
    // floats between 0.5 and 1, of which fma makes no others
    operation.apply === null ? 0x3f000000 + random.below(2 ** 23) : random.u32() | 1,
  );
  const operands = values.slice();
  return {
    variant: '',
    multiplyAdds: null,
    name: operation.name,
    threads,
    groupThreads: CHAIN_THREADS,
    chains,
    perStep: operation.perStep,
    kernel: peakChain(operation, chains),
    values,
    check: (results, steps) => {
      const { apply } = operation;
      for (const i of [0, chains - 1]) {
        let x = operands[i] as number;
        if (apply !== null)
          for (let step = 0; step < steps * operation.perStep; step++) x = apply(x, operands[0] as number);
        else x = results[i] as number;
        if (results[i] !== x) throw new Error(`WRONG: ${operation.name}: ${results[i]} for ${x}`);
      }
    },
  };
};

/** A subject on the GPU: runs chains of so many steps, and reads what they came to. */
export class Rig {
  readonly subject: Subject;
  readonly compileMs: number;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #values: GPUBuffer;
  readonly #config: GPUBuffer;
  readonly #group: GPUBindGroup;
  #lost: string | null = null;

  private constructor(device: GPUDevice, subject: Subject, pipeline: GPUComputePipeline, compileMs: number) {
    this.#device = device;
    void device.lost.then(({ message, reason }) => {
      this.#lost = message || reason;
    });
    this.compileMs = compileMs;
    this.subject = subject;
    this.#pipeline = pipeline;
    this.#values = device.createBuffer({
      label: subject.name,
      size: subject.values.byteLength,
      usage: bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc,
    });
    this.#config = device.createBuffer({ size: 16, usage: bufferUsage.uniform | bufferUsage.copyDst });
    this.#group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [this.#config, this.#values].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
  }

  static async make(device: GPUDevice, subject: Subject): Promise<Rig> {
    const begun = performance.now();
    const pipeline = await pipelineFor(device, subject.kernel);
    return new Rig(device, subject, pipeline, performance.now() - begun);
  }

  /** @returns milliseconds of the dispatch */
  async run(steps: number): Promise<number> {
    const { queue } = this.#device;
    queue.writeBuffer(this.#config, 0, ChainConfig.pack({ steps }));
    queue.writeBuffer(this.#values, 0, this.subject.values);
    const ms = await timeSubmit(this.#device, () => {
      const encoder = this.#device.createCommandEncoder();
      const pass = encoder.beginComputePass({ label: this.subject.name });
      pass.setPipeline(this.#pipeline);
      pass.setBindGroup(0, this.#group);
      pass.dispatchWorkgroups(this.subject.threads / this.subject.groupThreads);
      pass.end();
      return encoder.finish();
    });
    // on a lost device all work is done at once
    if (this.#lost !== null) throw new MsmError('device-lost', `the GPU device was lost (${this.#lost})`);
    return ms;
  }

  async read(): Promise<Uint32Array> {
    const staging = this.#device.createBuffer({
      size: this.#values.size,
      usage: bufferUsage.mapRead | bufferUsage.copyDst,
    });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#values, 0, staging, 0, staging.size);
    this.#device.queue.submit([encoder.finish()]);
    await waitFor(this.#device, staging.mapAsync(mapModeRead));
    const words = new Uint32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return words;
  }

  /**
   * Checks the kernel, and finds a length of its chains that takes `leastMs` or more.
   *
   * @returns the steps
   * @throws Error `WRONG: …`
   */
  async calibrate(leastMs: number): Promise<number> {
    let steps = CHECKED_STEPS;
    await this.run(steps);
    this.subject.check(await this.read(), steps);
    for (let ms = await this.run(steps); ms < leastMs && steps < 2 ** 20; ms = await this.run(steps)) {
      steps = Math.ceil(steps * Math.min(16, Math.max(2, (1.2 * leastMs) / Math.max(ms, 0.1))));
    }
    return steps;
  }

  /** Operations a second if one dispatch of so many steps takes `ms`. */
  rate(steps: number, ms: number): number {
    return (this.subject.threads * this.subject.chains * this.subject.perStep * steps) / (ms / 1000);
  }

  destroy(): void {
    this.#values.destroy();
    this.#config.destroy();
  }
}

/** Whether a probe comes to what it should on a device. */
export const passes = async (device: GPUDevice, variant: string, probe: Probe): Promise<boolean> => {
  const { element, limbs, operands, exact } = probe;
  const threads = CHAIN_THREADS * Math.ceil(operands.length / CHAIN_THREADS);
  const values = new Uint32Array(threads * limbs);
  typed(values, element).set(operands.flat());
  const rig = await Rig.make(device, {
    variant,
    multiplyAdds: null,
    name: 'probe',
    threads,
    groupThreads: CHAIN_THREADS,
    chains: 1,
    perStep: 1,
    kernel: probeChain(probe),
    values,
    check: () => undefined,
  });
  try {
    await rig.run(1);
    const results = typed(await rig.read(), element);
    return operands.every((operand, i) => exact(operand, [...results.subarray(i * limbs, (i + 1) * limbs)]));
  } finally {
    rig.destroy();
  }
};
