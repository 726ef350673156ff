/** A second operation runs on a session, which knows neither it nor multi-scalar multiplication. */
import { afterEach, describe, expect, test } from 'vitest';
import { openDevice } from '../../src/gpu/device.js';
import { Runner } from '../../src/gpu/runner.js';
import { CallQueue } from '../../src/scheduling/call-queue.js';
import { DeviceSource } from '../../src/session/current-device.js';
import { type Executed, Session } from '../../src/session/session.js';
import { strikeAt } from '../support/failure-bench.js';
import { type LeasedDevice, type LeasedGpu, leaseGpu } from '../support/leased-gpu.js';
import { sleep } from '../support/time.js';
import { type VectorSetup, VectorSum, vectorSetup } from '../support/vector-sum.js';
import { stopWatchClock } from '../support/watch-clock.js';

const words = Uint32Array.from({ length: 1000 }, (_, i) => Math.imul(i + 1, 0x9e3779b9));
/** The sum by BigInt. */
const right = Number([...words].reduce((sum, word) => (sum + BigInt(word)) & 0xffffffffn, 0n));

const sessions: Session<VectorSetup>[] = [];
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy();
});

/** A session on a GPU that can be tampered with, and calls on it. */
const openSession = async (prepare?: (device: LeasedDevice) => void) => {
  const gpu: LeasedGpu = await leaseGpu(prepare);
  const source = new DeviceSource((again) => openDevice({ gpu: gpu.gpu }, again));
  const session = new Session<VectorSetup>(await source.join(), {
    source,
    configure: { make: vectorSetup, simpler: vectorSetup, nameOf: () => 'word' },
    runnerFor: (device, afterLoss) => new Runner(device, 2 ** 20, { afterLoss }),
    selfTests: true,
    retries: 1,
    adviceAfterLoss: 'call again',
    hasAlternative: true,
  });
  sessions.push(session);
  const unlimited = { calls: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  const queue = new CallQueue(unlimited, undefined, 2);
  const progress: string[] = [];
  const call = (signal?: AbortSignal): Promise<Executed<number, VectorSetup>> =>
    queue.run((own) => session.execute(new VectorSum(), words, own), {
      ...{ kind: 'msm', priority: 'normal', deadline: null, bytes: 0, signal },
      onProgress: ({ phase, done, total }) => progress.push(`${phase} ${done}/${total}`),
      assertUsable: () => session.assertUsable(),
    });
  return { gpu, session, call, progress };
};

describe('a vector sum as an operation', () => {
  test('computes on the GPU, after one self-test, and tells of its progress', async () => {
    const { session, call, progress } = await openSession();
    for (let i = 0; i < 2; i++) {
      const { result, report, retried } = await call();
      expect(result).toBe(right);
      expect(report).toMatchObject({ dispatches: 1, submits: 1 });
      expect(retried).toBeNull();
    }
    expect(session.testReport).toMatchObject({ passed: 'word', failed: null });
    expect(progress).toEqual(['vector sum 0/1', 'vector sum 1/1', 'vector sum 0/1', 'vector sum 1/1']);
  });

  test('goes on on the next device when its device is lost', async () => {
    const { gpu, call } = await openSession();
    expect((await call()).result).toBe(right);
    gpu.devices[0]?.takeAway('at once');
    await sleep();
    expect((await call()).result).toBe(right);
    expect(gpu.devices).toHaveLength(2);
    expect(gpu.devices[0]?.live).toBe(0);
  });

  test('is done again when a dispatch is lost', async () => {
    const { gpu, call } = await openSession();
    expect((await call()).result).toBe(right);
    const lease = gpu.devices[0] as LeasedDevice;
    const strikes = strikeAt(
      lease,
      ({ method }) => method === 'dispatchWorkgroups',
      () => undefined,
    );
    const { result, retried } = await call();
    expect(strikes.count).toBe(1);
    expect(result).toBe(right);
    expect(retried).toContain('vector sum');
  });

  test('an abort ends it at once and leaves no buffer behind', async () => {
    const { gpu, session, call } = await openSession();
    expect((await call()).result).toBe(right);
    const controller = new AbortController();
    const lease = gpu.devices[0] as LeasedDevice;
    strikeAt(
      lease,
      ({ method }) => method === 'mapAsync',
      ({ proceed }) => {
        controller.abort();
        return proceed();
      },
    );
    await expect(call(controller.signal)).rejects.toMatchObject({ code: 'aborted' });
    expect((await call()).result).toBe(right);
    await session.trim();
    await expect.poll(() => session.bytesOf('scratch')).toBe(0);
  });

  test('is computed on the CPU when the GPU stops answering', async () => {
    const clock = stopWatchClock();
    try {
      const { gpu, call } = await openSession();
      expect((await call()).result).toBe(right);
      const lease = gpu.devices[0] as LeasedDevice;
      strikeAt(
        lease,
        ({ method }) => method === 'mapAsync',
        ({ proceed }) => {
          (proceed() as Promise<unknown>).catch(() => undefined);
          return new Promise(() => undefined);
        },
      );
      const ended = call();
      await sleep(20);
      await clock.advanceUntil(
        ended.then(() => undefined),
        121_000,
      );
      const { result, report, retried } = await ended;
      expect([result, report]).toEqual([right, null]);
      expect(retried).toContain('did not answer');
    } finally {
      clock.restore();
    }
  });

  test('a device that computes it wrongly is refused', async () => {
    const { call } = await openSession((lease) => {
      lease.cold = true;
      lease.tap = ({ method, args, proceed }) => {
        if (method !== 'createShaderModule') return proceed();
        const [{ code, ...rest }] = args as [GPUShaderModuleDescriptor];
        return proceed([{ ...rest, code: code.replace('words[id.x])', 'words[id.x] + 1u)') }]);
      };
    });
    await expect(call()).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('self-test') });
  });
});
