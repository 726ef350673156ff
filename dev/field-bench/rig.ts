/** Checks, runs and times kernels of field-bench on a device, as seen by the host. */
import { median } from '../../src/calibrate/statistics.js';
import { MsmError } from '../../src/errors.js';
import { type FieldProduct, type Modulus, mod, modulus } from '../../src/field/modulus.js';
import { openDevice, pipelineFor } from '../../src/gpu/device.js';
import { bufferUsage, mapModeRead } from '../../src/gpu/device-memory.js';
import { measureWaits, waitForQueue } from '../../src/gpu/device-watch.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { Random } from '../oracle/known-bases.js';
import { CHAIN_THREADS, ChainConfig, type FieldOperation, fieldChain, libraryProduct, threadsFor } from './kernels.js';

const EMPTY_SUBMITS = 5;

const emptyMs = new WeakMap<GPUDevice, Promise<number>>();

const timeWhole = async (device: GPUDevice, commands: GPUCommandBuffer[]): Promise<number> => {
  const begun = performance.now();
  device.queue.submit(commands);
  await waitForQueue(device, device.queue.onSubmittedWorkDone());
  return performance.now() - begun;
};

/** Measures an empty submit: from a few to a hundred milliseconds of overhead in a browser. */
const measureEmpty = async (device: GPUDevice): Promise<number> => {
  await measureWaits(device);
  const times: number[] = [];
  for (let i = 0; i < EMPTY_SUBMITS; i++) times.push(await timeWhole(device, []));
  return median(times) as number;
};

/**
 * Returns the milliseconds from a submit until it is done, less those of an empty submit.
 *
 * @param encode encodes the commands, called when the device is idle
 * @returns at least a tenth of the whole time, because less cannot be told from an empty submit
 */
export const timeSubmit = async (device: GPUDevice, encode: () => GPUCommandBuffer): Promise<number> => {
  const empty = emptyMs.get(device) ?? measureEmpty(device);
  emptyMs.set(device, empty);
  const nothing = await empty;
  await waitForQueue(device, device.queue.onSubmittedWorkDone());
  const whole = await timeWhole(device, [encode()]);
  return Math.max(whole - nothing, whole / 10);
};

export const readBack = async (device: GPUDevice, buffer: GPUBuffer): Promise<Uint32Array> => {
  const staging = device.createBuffer({ size: buffer.size, usage: bufferUsage.mapRead | bufferUsage.copyDst });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, staging.size);
  device.queue.submit([encoder.finish()]);
  await waitForQueue(device, staging.mapAsync(mapModeRead));
  const words = new Uint32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return words;
};

/** Steps of a check. Few, because BigInts repeat them; odd, and more than one. */
const CHECKED_STEPS = 7;

/** A kernel to time, with its operands and expected results. */
interface Subject {
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

/** Chains a thread at which the library's product was fastest on the measured devices. */
const LIBRARY_CHAINS = 2;

/** A kind of the library's product, modulo a prime. */
interface LibraryProduct {
  readonly product: FieldProduct;
  readonly p: bigint;
}

/** Measures how many products of the library a device computes a second, just now. */
export interface ProductMeter {
  /** @returns products a second */
  measure(): Promise<number>;
  destroy(): void;
}

/**
 * Compiles the product, and checks it against BigInts.
 *
 * @param leastMs shortest duration of a dispatch
 * @throws Error `WRONG: …`
 */
export async function makeMeter(
  device: GPUDevice,
  software: boolean,
  { product, p }: LibraryProduct,
  leastMs = 50,
): Promise<ProductMeter> {
  const subject = fieldSubject(modulus(p), libraryProduct(product), LIBRARY_CHAINS, threadsFor(software));
  const { rate, destroy } = await makeRig(device, subject, leastMs);
  return { measure: rate, destroy };
}

/**
 * Opens a meter on a device of its own, so that no other measurement waits in its queue.
 *
 * @param onLost called when the device is lost, unless the meter was destroyed
 * @throws Error `WRONG: …`, or if there is no adapter
 */
export async function openMeter(
  gpu: GPU,
  onLost: (why: string) => void,
  library: LibraryProduct,
): Promise<ProductMeter> {
  const { device, adapter } = await openDevice({ gpu });
  let destroyed = false;
  void device.lost.then(({ message, reason }) => {
    if (!destroyed) onLost(message || reason);
  });
  const destroy = (): void => {
    destroyed = true;
    device.destroy();
  };
  try {
    const { measure } = await makeMeter(device, adapter.software, library);
    return { measure, destroy };
  } catch (error) {
    destroy();
    throw error;
  }
}
