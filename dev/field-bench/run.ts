/** field-bench: what the operations of the field cost on a device, beside what the device can do at all, in one interleaved run. */
import { type Modulus, mod } from '../../src/field/modulus.js';
import { bufferUsage, mapModeRead } from '../../src/gpu/constants.js';
import type { Kernel } from '../../src/gpu/kernel.js';
import { pipelineFor } from '../../src/gpu/pipelines.js';
import { Random } from '../oracle/known-bases.mjs';
import { median } from '../page/statistics.js';
import {
  CHAIN_THREADS,
  ChainConfig,
  type FieldOperation,
  fieldChain,
  fieldOperations,
  type PeakOperation,
  peakChain,
  peakOperations,
} from './kernels.js';

export interface FieldBenchOptions {
  /** Threads of a dispatch; rounded up to whole workgroups. */
  readonly threads: number;
  /** Numbers of independent chains a thread. */
  readonly chains: readonly number[];
  /** Repetitions, of which the median counts; all kernels take turns in each. */
  readonly reps: number;
  /** How long one dispatch should take at least, in milliseconds. */
  readonly leastMs: number;
  /** What to measure beside the peaks. Default: all that the device can do. */
  readonly operations?: readonly FieldOperation[];
  /** WGSL language features that the device's WebGPU has. */
  readonly features: ReadonlySet<string>;
  onProgress?(text: string): void;
}

export interface FieldBenchRow {
  /** How it is done: limbs and carries. */
  readonly variant: string;
  readonly operation: string;
  readonly chains: number;
  /** Operations a second, of all threads together. */
  readonly perSecond: number;
  /** Of the peak of u32 multiply-adds, by the multiply-adds that the operation takes; null where that says nothing. */
  readonly ofPeak: number | null;
  /** Milliseconds until its pipeline was there. */
  readonly compileMs: number;
}

export interface FieldBenchResult {
  readonly rows: readonly FieldBenchRow[];
  readonly peaks: readonly { readonly operation: string; readonly perSecond: number }[];
  /** Bytes read and written a second by copies from buffer to buffer. */
  readonly copyBytesPerSecond: number;
}

/** A kernel that is timed, with its operands and what must come of them. */
interface Subject {
  readonly variant: string;
  readonly multiplyAdds: number | null;
  readonly name: string;
  readonly threads: number;
  readonly chains: number;
  readonly perStep: number;
  readonly kernel: Kernel;
  readonly values: Uint32Array<ArrayBuffer>;
  /** Throws if a chain of so many steps did not come to what it should. */
  check(results: Uint32Array, steps: number): void;
}

const fieldSubject = (m: Modulus, operation: FieldOperation, chains: number, threads: number): Subject => {
  const random = new Random(chains);
  const { element, limbs, r, encode, decode } = operation.representation(m);
  const operands = Array.from({ length: threads * chains }, () => random.belowBig(m.p));
  const values = new Uint32Array(threads * chains * limbs);
  const views = { u32: values, i32: new Int32Array(values.buffer), f32: new Float32Array(values.buffer) };
  for (const [i, value] of operands.entries()) views[element].set(encode(value), i * limbs);
  return {
    variant: operation.variant,
    multiplyAdds: operation.multiplyAdds(m),
    name: operation.name,
    threads,
    chains,
    perStep: 1,
    kernel: fieldChain(m, operation, chains),
    values,
    check: (results, steps) => {
      const typed = { u32: results, i32: new Int32Array(results.buffer), f32: new Float32Array(results.buffer) };
      for (const thread of [0, threads - 1]) {
        const y = operands[thread * chains] as bigint;
        for (const chain of [0, chains - 1]) {
          const at = thread * chains + chain;
          let x = operands[at] as bigint;
          for (let step = 0; step < steps; step++) x = operation.apply(m, r, x, y, step);
          const got = mod(decode([...typed[element].subarray(at * limbs, (at + 1) * limbs)]), m.p);
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

const peakSubject = (operation: PeakOperation, chains: number, threads: number): Subject => {
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
class Rig {
  readonly subject: Subject;
  readonly compileMs: number;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #values: GPUBuffer;
  readonly #config: GPUBuffer;
  readonly #group: GPUBindGroup;

  private constructor(device: GPUDevice, subject: Subject, pipeline: GPUComputePipeline, compileMs: number) {
    this.#device = device;
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

  /** @returns milliseconds from the submit until it was done */
  async run(steps: number): Promise<number> {
    const { queue } = this.#device;
    queue.writeBuffer(this.#config, 0, ChainConfig.pack({ steps }));
    queue.writeBuffer(this.#values, 0, this.subject.values);
    await queue.onSubmittedWorkDone();
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass({ label: this.subject.name });
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#group);
    pass.dispatchWorkgroups(this.subject.threads / CHAIN_THREADS);
    pass.end();
    const begun = performance.now();
    queue.submit([encoder.finish()]);
    await queue.onSubmittedWorkDone();
    return performance.now() - begun;
  }

  async read(): Promise<Uint32Array> {
    const staging = this.#device.createBuffer({
      size: this.#values.size,
      usage: bufferUsage.mapRead | bufferUsage.copyDst,
    });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#values, 0, staging, 0, staging.size);
    this.#device.queue.submit([encoder.finish()]);
    await staging.mapAsync(mapModeRead);
    const words = new Uint32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return words;
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

/** Bytes of the buffers that are copied: more than the caches of most devices hold. */
const COPY_BYTES = 2 ** 26;

/** Milliseconds of one copy of COPY_BYTES. */
const copyOnce = async (device: GPUDevice, from: GPUBuffer, to: GPUBuffer): Promise<number> => {
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(from, 0, to, 0, COPY_BYTES);
  const begun = performance.now();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  return performance.now() - begun;
};

/** Steps of a check: few, as BigInts repeat them; an odd number, and more than one. */
const CHECKED_STEPS = 7;

/**
 * Checks every kernel against BigInts, finds how long a chain it needs, and times all of them in turn.
 *
 * @param m the field
 * @throws Error `WRONG: …` if a kernel computes anything else than its definition says
 */
export const fieldBench = async (
  device: GPUDevice,
  m: Modulus,
  { threads: wanted, chains, reps, leastMs, operations = fieldOperations, features, onProgress }: FieldBenchOptions,
): Promise<FieldBenchResult> => {
  const threads = CHAIN_THREADS * Math.ceil(wanted / CHAIN_THREADS);
  const possible = ({ feature }: { feature?: string }): boolean => feature === undefined || features.has(feature);
  const peaks = (peakOperations as readonly PeakOperation[]).filter(possible);
  const subjects = [
    ...peaks.map((operation) => peakSubject(operation, 8, threads)),
    ...operations
      .filter(possible)
      .flatMap((operation) =>
        (operation.alone ? [1] : chains).map((count) => fieldSubject(m, operation, count, threads)),
      ),
  ];
  const rigs: { readonly rig: Rig; readonly steps: number; readonly times: number[] }[] = [];
  const buffers = [0, 1].map(() =>
    device.createBuffer({ size: COPY_BYTES, usage: bufferUsage.copySrc | bufferUsage.copyDst }),
  ) as [GPUBuffer, GPUBuffer];
  try {
    for (const subject of subjects) {
      onProgress?.(`${subject.name} (${subject.variant}), ${subject.chains} chains: compiling, checking`);
      const rig = await Rig.make(device, subject);
      let steps = CHECKED_STEPS;
      await rig.run(steps);
      subject.check(await rig.read(), steps);
      for (let ms = await rig.run(steps); ms < leastMs && steps < 2 ** 20; ms = await rig.run(steps)) {
        steps = Math.ceil(steps * Math.min(16, Math.max(2, (1.2 * leastMs) / Math.max(ms, 0.1))));
      }
      rigs.push({ rig, steps, times: [] });
    }
    const copies: number[] = [];
    await copyOnce(device, ...buffers);
    for (let rep = 0; rep < reps; rep++) {
      onProgress?.(`repetition ${rep + 1} of ${reps}`);
      for (const { rig, steps, times } of rigs) times.push(rig.rate(steps, await rig.run(steps)));
      copies.push((2 * COPY_BYTES) / ((await copyOnce(device, ...buffers)) / 1000));
    }
    const rates = rigs.map(({ rig, times }) => ({
      ...rig.subject,
      compileMs: rig.compileMs,
      perSecond: median(times) as number,
    }));
    const multiplyAddsPerSecond = rates[0]?.perSecond as number;
    return {
      peaks: rates.slice(0, peaks.length).map(({ name, perSecond }) => ({ operation: name, perSecond })),
      rows: rates
        .slice(peaks.length)
        .map(({ variant, name, chains: count, perSecond, multiplyAdds: each, compileMs }) => ({
          variant,
          operation: name,
          chains: count,
          perSecond,
          ofPeak: each === null ? null : (each * perSecond) / multiplyAddsPerSecond,
          compileMs,
        })),
      copyBytesPerSecond: median(copies) as number,
    };
  } finally {
    for (const { rig } of rigs) rig.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
};
