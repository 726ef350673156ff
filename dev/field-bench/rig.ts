/** Checks, runs and times kernels of field-bench on a device. */
import { MsmError } from '../../src/errors.js';
import { type Modulus, mod } from '../../src/field/modulus.js';
import { pipelineFor } from '../../src/gpu/device.js';
import { bufferUsage } from '../../src/gpu/device-memory.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { Random } from '../oracle/known-bases.js';
import { CHAIN_THREADS, ChainConfig, fieldChain } from './kernels.js';
import type { FieldOperation } from './operation.js';
import { readBack, timeSubmit } from './submit.js';

/** Steps of a check. Few, because BigInts repeat them; odd, and more than one. */
const CHECKED_STEPS = 7;

/** A kernel to time, with its operands and expected results. */
export interface Subject {
  readonly variant: string;
  readonly multiplyAdds: number | null;
  readonly name: string;
  readonly threads: number;
  readonly chains: number;
  readonly perStep: number;
  readonly kernel: Kernel;
  readonly values: Uint32Array<ArrayBuffer>;
  /**
   * Returns the result of chain `at`, and its expected value after some steps by BigInts; null if
   * nothing can be compared.
   */
  readonly check: {
    got(results: Uint32Array, at: number): bigint;
    expected(at: number, steps: number): bigint;
  } | null;
}

export const fieldSubject = (m: Modulus, operation: FieldOperation, chains: number, threads: number): Subject => {
  const random = new Random(chains);
  const { variant, name, perStep = 1, draw, apply } = operation;
  const { limbs, r, encode, decode } = operation.representation(m);
  const operands = Array.from({ length: threads * chains }, () =>
    draw === undefined ? random.belowBig(m.p) : BigInt(draw(random) >>> 0),
  );
  const values = new Uint32Array(threads * chains * limbs);
  for (const [i, value] of operands.entries()) values.set(encode(value), i * limbs);
  return {
    ...{ variant, name, perStep, threads, chains, values },
    multiplyAdds: operation.multiplyAdds(m),
    kernel: fieldChain(m, operation, chains),
    check: apply && {
      got: (results, at) => mod(decode([...results.subarray(at * limbs, (at + 1) * limbs)]), m.p),
      expected(at, steps) {
        const y = operands[at - (at % chains)] as bigint;
        let x = operands[at] as bigint;
        for (let step = 0; step < steps * perStep; step++) x = apply(m, r, x, y);
        return x;
      },
    },
  };
};

/** Puts a subject on the GPU, runs chains of any number of steps, and reads their results. */
const mount = async (device: GPUDevice, subject: Subject) => {
  const begun = performance.now();
  const pipeline = await pipelineFor(device, subject.kernel);
  const compileMs = performance.now() - begun;
  let lost: string | null = null;
  void device.lost.then(({ message, reason }) => {
    lost = message || reason;
  });
  const values = device.createBuffer({
    label: subject.name,
    size: subject.values.byteLength,
    usage: bufferUsage.storage | bufferUsage.copyDst | bufferUsage.copySrc,
  });
  const config = device.createBuffer({ size: 16, usage: bufferUsage.uniform | bufferUsage.copyDst });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [config, values].map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  return {
    compileMs,
    /** @returns milliseconds of the dispatch */
    async run(steps: number): Promise<number> {
      device.queue.writeBuffer(config, 0, ChainConfig.pack({ steps }));
      device.queue.writeBuffer(values, 0, subject.values);
      const ms = await timeSubmit(device, () => {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass({ label: subject.name });
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(subject.threads / CHAIN_THREADS);
        pass.end();
        return encoder.finish();
      });
      // on a lost device all work counts as done at once
      if (lost !== null) throw new MsmError('device-lost', `the GPU device was lost (${lost})`);
      return ms;
    },
    read: () => readBack(device, values),
    destroy() {
      values.destroy();
      config.destroy();
    },
  };
};

/**
 * Compares the ends of a few threads, because BigInts are slow for each.
 *
 * @throws Error `WRONG: …`
 */
const compare = (subject: Subject, results: Uint32Array, steps: number): void => {
  const { check, name, variant, threads, chains } = subject;
  if (check === null) return;
  for (const thread of [0, CHAIN_THREADS - 1, threads - 1]) {
    for (const chain of new Set([0, chains - 1])) {
      const at = thread * chains + chain;
      const [got, expected] = [check.got(results, at), check.expected(at, steps)];
      const where = `${name}${variant && ` (${variant})`}, ${chains} chains, thread ${thread}`;
      if (got !== expected) throw new Error(`WRONG: ${where}: ${got}, expected ${expected}`);
    }
  }
};

/** A checked subject, ready to be timed. */
export interface Rig {
  readonly subject: Subject;
  readonly compileMs: number;
  /** Measures the operations a second of all threads together, in one dispatch. */
  rate(): Promise<number>;
  destroy(): void;
}

/**
 * Checks a kernel, and finds a chain length that takes at least `leastMs`.
 *
 * @throws Error `WRONG: …`
 */
export const makeRig = async (device: GPUDevice, subject: Subject, leastMs: number): Promise<Rig> => {
  const { compileMs, run, read, destroy } = await mount(device, subject);
  try {
    let steps = CHECKED_STEPS;
    await run(steps);
    compare(subject, await read(), steps);
    // one stall of a busy machine must not pass for a long chain
    const shorter = async (): Promise<number> => Math.min(await run(steps), await run(steps));
    for (let ms = await shorter(); ms < leastMs && steps < 2 ** 20; ms = await shorter()) {
      steps = Math.ceil(steps * Math.min(16, Math.max(2, (1.2 * leastMs) / Math.max(ms, 0.1))));
    }
    const operations = subject.threads * subject.chains * subject.perStep * steps;
    return { subject, compileMs, rate: async () => (1000 * operations) / (await run(steps)), destroy };
  } catch (error) {
    destroy();
    throw error;
  }
};
