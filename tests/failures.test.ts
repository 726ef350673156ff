/**
 * Failures that the library must survive: caused for real where the API lets us, else injected where the library calls the API.
 * After each of them: the right code, nothing leaked, and the next call on the engine is right.
 */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import { createMsmEngine, type MsmEngine, type MsmErrorCode } from '../src/index.js';
import { captureGpu } from './support/captured-gpu.js';
import { getDevice, getGpu } from './support/gpu.js';

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 100, seed: 9 });
const small = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 0 } as const;

const expectCode = async (promise: Promise<unknown>, code: MsmErrorCode, text: RegExp): Promise<void> => {
  await expect(promise).rejects.toMatchObject({ name: 'MsmError', code, message: expect.stringMatching(text) });
};

const expectRight = async (engine: MsmEngine): Promise<void> => {
  const bases = await engine.loadBases(points.bytes);
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  bases.destroy();
};

/** Does something at the next call of a method, before the call itself. */
const onCall = <Target extends object>(target: Target, method: keyof Target, then: () => void): void => {
  const original = (target[method] as (...args: unknown[]) => unknown).bind(target);
  Object.defineProperty(target, method, {
    configurable: true,
    value: (...args: unknown[]) => {
      Object.defineProperty(target, method, { configurable: true, value: original });
      then();
      return original(...args);
    },
  });
};

describe('the device of the engine is lost', () => {
  const moments: Record<string, (device: GPUDevice) => void> = {
    'before the call': (device) => device.destroy(),
    'during upload': (device) => onCall(device.queue, 'writeBuffer', () => device.destroy()),
    'while encoding': (device) => onCall(device, 'createCommandEncoder', () => device.destroy()),
    'at submit': (device) => onCall(device.queue, 'submit', () => device.destroy()),
    'while it computes': (device) => onCall(device.queue, 'submit', () => void setTimeout(() => device.destroy(), 5)),
    'while it compiles': (device) => onCall(device, 'createComputePipelineAsync', () => device.destroy()),
  };

  test.each(Object.entries(moments))('%s', async (moment, lose) => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    // one MSM first where the loss is meant to hit later than the compiler
    if (moment !== 'while it compiles') expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    lose(devices[0] as GPUDevice);
    if (moment === 'before the call') {
      // nothing was in flight: the engine helps itself, and nobody notices
      await devices[0]?.lost;
    } else {
      await expectCode(engine.msm(bases, scalars.bytes), 'device-lost', /call again/);
    }
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(devices).toHaveLength(2);
    expect(engine.memory.bases).toBe(bases.byteLength);
    engine.destroy();
    expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
  });

  test('every call in flight is rejected, and none hangs', async () => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    await engine.msm(bases, scalars.bytes);
    onCall((devices[0] as GPUDevice).queue, 'submit', () => devices[0]?.destroy());
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => engine.msm(bases, scalars.bytes)));
    expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: { code: 'device-lost' } });
    // the ones behind it had not begun, and get the new device
    expect(outcomes.slice(1)).toEqual([1, 2].map(() => ({ status: 'fulfilled', value: expected })));
    engine.destroy();
  });

  test('without retained bases the error says so, and bases loaded again work', async () => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small, retainBases: false });
    const bases = await engine.loadBases(points.bytes, { label: 'the SRS' });
    devices[0]?.destroy();
    await devices[0]?.lost;
    await expectCode(
      engine.msm(bases, scalars.bytes),
      'device-lost',
      /'the SRS'.*retainBases is false; load them again/,
    );
    await expectRight(engine);
    engine.destroy();
  });

  test("the caller's device is not replaced", async () => {
    const device = await getDevice({ label: 'to be lost' });
    const engine = await createMsmEngine({ curve: 'bn254', device, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    device.destroy();
    await device.lost;
    await expectCode(engine.msm(bases, scalars.bytes), 'device-lost', /it was yours/);
    await expectCode(engine.loadBases(points.bytes), 'device-lost', /it was yours/);
    engine.destroy();
  });
});

describe('injected errors', () => {
  /** Makes one call of `createBuffer` hand out a buffer that the device then reports as `error`. */
  const failOnce = (device: GPUDevice, which: (label: string) => boolean, size: number | null): void => {
    const original = device.createBuffer.bind(device);
    let done = false;
    device.createBuffer = (descriptor) => {
      if (done || !which(descriptor.label ?? '')) return original(descriptor);
      done = true;
      // too large for any device, or a usage that no buffer may have
      return original(size === null ? { ...descriptor, usage: 0x0003 } : { ...descriptor, size });
    };
  };

  test.each(['scalars', 'buckets', 'entriesA', 'bases'])('the buffer %s is invalid', async (name) => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    await expectRight(engine);
    const before = engine.memory;
    failOnce(devices[0] as GPUDevice, (label) => label.endsWith(` ${name}`), null);
    const larger = makeCase({ points: 'distinct', scalars: 'random', n: 600, seed: 10 });
    const attempt = async () => {
      const bases = await engine.loadBases(larger.points.bytes);
      try {
        return await engine.msm(bases, larger.scalars.bytes);
      } finally {
        bases.destroy();
      }
    };
    await expectCode(attempt(), 'internal', /WebGPU refused a command/);
    expect(engine.memory.bases).toBe(before.bases);
    expect(await attempt()).toEqual(larger.expected);
    engine.destroy();
    expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
  });

  test('a device that is out of memory', async () => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    await expectRight(engine);
    const device = devices[0] as GPUDevice;
    const pop = device.popErrorScope.bind(device);
    let first = true;
    device.popErrorScope = async () => {
      const error = await pop();
      if (!first) return error;
      first = false;
      return { message: 'injected' } as GPUError;
    };
    const bases = engine.loadBases(points.bytes);
    await expectCode(bases, 'out-of-memory', /out of memory.*memoryBudget/);
    expect(engine.memory.bases).toBe(0);
    await expectRight(engine);
    engine.destroy();
  });

  test('a shader that does not compile: the error names the stage and the line', async () => {
    const { gpu } = await captureGpu((device) => {
      const original = device.createShaderModule.bind(device);
      let done = false;
      device.createShaderModule = (descriptor) => {
        if (done || !descriptor.label?.endsWith('walk')) return original(descriptor);
        done = true;
        return original({ ...descriptor, code: descriptor.code.replace('var running', 'var running garbage') });
      };
    });
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    await expectCode(engine.msm(bases, scalars.bytes), 'internal', /pipeline of walk.*line \d+:/s);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    engine.destroy();
  });

  test('a GPU that computes wrongly is found out before its result is returned', async () => {
    const { gpu } = await captureGpu((device) => {
      const original = device.createShaderModule.bind(device);
      device.createShaderModule = (descriptor) =>
        original({
          ...descriptor,
          code: descriptor.code.replace('let x3 = field_sub(', 'let x3 = field_add('),
        });
    });
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    await expectCode(engine.msm(bases, scalars.bytes), 'internal', /not on bn254/);
    engine.destroy();
  });
});

describe('a GPU that does nothing at all', () => {
  /** From the moment that `idle` is called on, no dispatch of the device is carried out. */
  const idle = (device: GPUDevice): void => {
    const create = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (descriptor) => {
      const encoder = create(descriptor);
      const begin = encoder.beginComputePass.bind(encoder);
      encoder.beginComputePass = (pass) => {
        const compute = begin(pass);
        compute.dispatchWorkgroups = () => undefined;
        compute.dispatchWorkgroupsIndirect = () => undefined;
        return compute;
      };
      return encoder;
    };
  };

  test('neither a stale result nor infinity passes for an answer', async () => {
    const { gpu, devices } = await captureGpu();
    const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: small });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    idle(devices[0] as GPUDevice);
    await expectCode(engine.msm(bases, scalars.bytes), 'internal', /not on bn254/);
    await expectCode(engine.loadBases(points.bytes), 'internal', /looked at 0 of 100 points/);
    engine.destroy();
  });
});

describe('abort and destroy', () => {
  test('abort before, during and after', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', gpu: await getGpu(), tuning: small });
    const bases = await engine.loadBases(points.bytes);
    await expectCode(engine.msm(bases, scalars.bytes, { signal: AbortSignal.abort() }), 'aborted', /aborted/);
    const during = new AbortController();
    const call = engine.msm(bases, scalars.bytes, { signal: during.signal, onProgress: () => during.abort() });
    await expectCode(call, 'aborted', /aborted/);
    const queued = new AbortController();
    const [ahead, behind] = [
      engine.msm(bases, scalars.bytes),
      engine.msm(bases, scalars.bytes, { signal: queued.signal }),
    ];
    queued.abort();
    await expectCode(behind, 'aborted', /aborted/);
    expect(await ahead).toEqual(expected);
    const after = new AbortController();
    expect(await engine.msm(bases, scalars.bytes, { signal: after.signal })).toEqual(expected);
    after.abort();
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    engine.destroy();
  });

  test('destroy with calls in flight rejects them, and leaves nothing behind', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', gpu: await getGpu(), tuning: small });
    const bases = await engine.loadBases(points.bytes);
    await engine.msm(bases, scalars.bytes);
    const calls = [1, 2].map(() => engine.msm(bases, scalars.bytes));
    const codes = Promise.allSettled(calls);
    await new Promise((resolve) => setTimeout(resolve, 10));
    engine.destroy();
    for (const outcome of await codes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'destroyed' } });
    expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
    engine.destroy();
    await expectCode(engine.msm(bases, scalars.bytes), 'destroyed', /create a new one/);
  });

  test('bases destroyed while a call waits for its turn', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', gpu: await getGpu(), tuning: small });
    const bases = await engine.loadBases(points.bytes, { label: 'gone' });
    const [ahead, behind] = [engine.msm(bases, scalars.bytes), engine.msm(bases, scalars.bytes)];
    const outcomes = Promise.allSettled([ahead, behind]);
    await Promise.resolve();
    bases.destroy();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'destroyed' } });
    }
    await expectRight(engine);
    engine.destroy();
  });
});
