/**
 * Engines that share a device, and calls that share an engine: overlap, merging, budgets and
 * `trim`. Every result is compared with a known one.
 */
import { describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import { watchBytes } from '../../dev/soak/soak.js';
import { createMsmEngine, type EngineEvent, type MsmEngineOptions, MsmError, type Sharing } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { getDevice } from '../support/gpu.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { sleep, until } from '../support/time.js';

const n = 200;
const known = makeKnownBases(bn254G1, n, 61);
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, windowBits: 5, cpuBelow: 0 } as const;

const open = async (more: Omit<MsmEngineOptions, 'curve'> = {}) => {
  const engine = await openEngine({ tuning, selfTest: false, ...more });
  return { engine, bases: await engine.loadBases(known.bytes) };
};
const vector = (seed: number, length = n) => {
  const scalars = makeRandomScalars(bn254G1, length, seed);
  return { scalars, sum: expectedMsm(bn254G1, known.logs, scalars) };
};

/** Logs the calls of WebGPU in their order. */
const watchSubmits = (device: GPUDevice) => {
  const log: string[] = [];
  const submit = device.queue.submit.bind(device.queue);
  device.queue.submit = (buffers) => {
    log.push('submit');
    return submit(buffers);
  };
  const workDone = device.queue.onSubmittedWorkDone.bind(device.queue);
  // an aborted call ends with its submit, and reads nothing
  device.queue.onSubmittedWorkDone = async () => {
    await workDone();
    log.push('read');
    return undefined;
  };
  const original = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = original(descriptor);
    const mapAsync = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = async (...args) => {
      await mapAsync(...args);
      log.push('read');
    };
    return buffer;
  };
  return {
    log,
    end: () => {
      Reflect.deleteProperty(device, 'createBuffer');
      Reflect.deleteProperty(device.queue, 'submit');
      Reflect.deleteProperty(device.queue, 'onSubmittedWorkDone');
    },
  };
};

describe('concurrent calls', () => {
  const order = async (sharing: Sharing): Promise<string> => {
    const device = await getDevice();
    const { engine, bases } = await open({ sharing: { merge: false, ...sharing } });
    const vectors = [1, 2, 3, 4].map((seed) => vector(seed));
    await engine.msm(bases, vectors[0]?.scalars ?? []);
    const watched = watchSubmits(device);
    // the read-back of the first is made anew, to be watched
    await engine.trim();
    try {
      const sums = await Promise.all(vectors.map(({ scalars }) => engine.msm(bases, scalars)));
      expect(sums).toEqual(vectors.map(({ sum }) => sum));
    } finally {
      watched.end();
      // its pooled read-backs are watched, and would serve the next engine of the device
      engine.destroy();
    }
    return watched.log.join(' ');
  };

  test('are submitted while the device computes the one before, and only one ahead', async () => {
    expect(await order({})).toBe('submit submit read submit read submit read read');
    expect(await order({ overlap: false })).toBe('submit read submit read submit read submit read');
  });

  test('do not take the place of an aborted one before the device has finished it', async () => {
    const device = await getDevice();
    const { engine, bases } = await open({ sharing: { merge: false } });
    const vectors = [1, 2, 3, 4].map((seed) => vector(seed));
    await engine.msm(bases, vectors[0]?.scalars ?? []);
    const watched = watchSubmits(device);
    await engine.trim();
    try {
      const controllers = vectors.map(() => new AbortController());
      const calls = vectors.map(({ scalars }, i) =>
        engine.msm(bases, scalars, { signal: (controllers[i] as AbortController).signal }),
      );
      const settled = Promise.allSettled(calls);
      await until(() => watched.log.length >= 2);
      for (const each of controllers.slice(0, 2)) each.abort();
      const [first, second, third, fourth] = await settled;
      for (const each of [first, second]) expect(each).toMatchObject({ reason: { code: 'aborted' } });
      expect([third, fourth]).toEqual(vectors.slice(2).map(({ sum }) => ({ status: 'fulfilled', value: sum })));
    } finally {
      watched.end();
    }
    const inFlight = watched.log.map((_, i) => {
      const before = watched.log.slice(0, i + 1);
      return before.filter((each) => each === 'submit').length - before.filter((each) => each === 'read').length;
    });
    // never more than one that runs, and one behind it
    expect(Math.max(...inFlight)).toBe(2);
    expect([...watched.log].sort()).toEqual([...Array(4).fill('read'), ...Array(4).fill('submit')]);
  });

  test('use the scratch of one', async () => {
    const { engine, bases } = await open({ sharing: { merge: false } });
    const vectors = [5, 6, 7, 8, 9, 10].map((seed) => vector(seed));
    await engine.msm(bases, vectors[0]?.scalars ?? []);
    const alone = engine.memory.peak;
    const sums = await Promise.all(vectors.map(({ scalars }) => engine.msm(bases, scalars)));
    expect(sums).toEqual(vectors.map(({ sum }) => sum));
    // beside what is read back of each
    expect(engine.memory.peak).toBeLessThanOrEqual(alone * 1.1);
    expect(engine.stats.merged).toBe(0);
  });

  test('of high priority run between the submits of another call, and both are right', async () => {
    const { engine, bases } = await open({ tuning: { ...tuning, additionsPerSubmit: 2 ** 10 } });
    const [long, short] = [vector(11), vector(12, 10)];
    await engine.msm(bases, long.scalars);
    expect(gpuRunOf(engine).submits).toBeGreaterThan(4);
    const ended: string[] = [];
    let hasBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    const behind = engine
      .msm(bases, long.scalars, { priority: 'background', onProgress: ({ done }) => done > 0 && hasBegun() })
      .then((sum) => {
        ended.push('background');
        return sum;
      });
    await begun;
    const ahead = engine.msm(bases, short.scalars, { priority: 'interactive' }).then((sum) => {
      ended.push('interactive');
      return sum;
    });
    expect(await Promise.all([behind, ahead])).toEqual([long.sum, short.sum]);
    expect(ended).toEqual(['interactive', 'background']);
  });

  test('end at once if aborted while they wait for the device', async () => {
    const { engine, bases } = await open({ sharing: { merge: false } });
    const vectors = [13, 14, 15].map((seed) => vector(seed));
    const controller = new AbortController();
    const signals = [undefined, undefined, controller.signal];
    const calls = vectors.map(({ scalars }, i) => {
      const signal = signals[i];
      return engine.msm(bases, scalars, signal === undefined ? {} : { signal });
    });
    const aborted = expect(calls[2]).rejects.toMatchObject({ code: 'aborted' });
    controller.abort();
    await aborted;
    expect(await Promise.all(calls.slice(0, 2))).toEqual(vectors.slice(0, 2).map(({ sum }) => sum));
  });
});

test('many calls that share a signal give it one listener, and it aborts them all', async () => {
  const { engine, bases } = await open({ sharing: { merge: false } });
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  const { scalars } = vector(16);
  const settled = Promise.allSettled(Array.from({ length: 30 }, () => engine.msm(bases, scalars, { signal })));
  controller.abort();
  for (const each of await settled) expect(each).toMatchObject({ reason: { code: 'aborted' } });
  expect(listeners).toBe(1);
});

describe('merged calls', () => {
  /** An engine that has computed, and one that computes: what is called next waits together. */
  const openBusy = async () => {
    const { engine, bases } = await open();
    const first = vector(20);
    await engine.msm(bases, first.scalars);
    const isBusy = [engine.msm(bases, first.scalars), engine.msm(bases, first.scalars)];
    return { engine, bases, isBusy };
  };

  test('are each right, in every encoding, with offsets, batches and zeros among them', async () => {
    const { engine, bases, isBusy } = await openBusy();
    const [a, b, c] = [vector(21, 9), vector(22, 12), vector(23, 3)];
    const shifted = makeRandomScalars(bn254G1, 5, 24);
    const calls = [
      engine.msm(bases, a.scalars),
      engine.msm(bases, shifted, { offset: 7 }),
      engine.msmBatch(bases, [b.scalars, [], c.scalars]),
      engine.msm(bases, []),
      engine.msm(bases, c.scalars, { result: 'le' }).then((bytes) => bytes.length),
      engine.msm(
        bases,
        c.scalars.map((scalar) => 1n + scalar),
      ),
    ];
    const infinity = { x: 0n, y: 0n, infinity: true };
    expect(await Promise.all(calls)).toEqual([
      a.sum,
      expectedMsm(bn254G1, known.logs.slice(7), shifted),
      [b.sum, infinity, c.sum],
      infinity,
      64,
      expectedMsm(
        bn254G1,
        known.logs,
        c.scalars.map((scalar) => 1n + scalar),
      ),
    ]);
    await Promise.all(isBusy);
    expect(engine.stats.merged).toBe(5);
    expect(engine.stats.done).toBe(1 + 1 + 2 + 6);
    expect(engine.lastRun?.vectors).toBeGreaterThan(5);
  });

  test.each([0, 1, 2])('continue if one is aborted, which rejects at once: call %i', async (which) => {
    const { engine, bases, isBusy } = await openBusy();
    const controller = new AbortController();
    const vectors = [25, 26, 27].map((seed) => vector(seed, 10));
    const calls = vectors.map(({ scalars }, i) =>
      engine.msm(bases, scalars, i === which ? { signal: controller.signal } : {}),
    );
    // they are under way together by then
    const aborting = Promise.all(isBusy).then(() => controller.abort());
    const settled = await Promise.allSettled(calls);
    await aborting;
    for (const [i, outcome] of settled.entries()) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(vectors[i]?.sum);
      else expect([i, outcome.reason]).toMatchObject([which, { code: 'aborted' }]);
    }
    expect(settled.map(({ status }) => status).indexOf('rejected')).toBe(which);
    expect(engine.stats.merged).toBe(2);
  });

  test('fail alone if an argument of one is wrong', async () => {
    const { engine, bases, isBusy } = await openBusy();
    const [a, b] = [vector(28, 10), vector(29, 10)];
    const calls = [
      engine.msm(bases, a.scalars, { result: 'eip2537' }),
      engine.msm(bases, a.scalars),
      engine.msm(bases, a.scalars, { result: 'eip2537' }),
      engine.msm(bases, b.scalars),
    ];
    const [first, second, third, fourth] = await Promise.allSettled(calls);
    expect([second, fourth]).toEqual([a, b].map(({ sum }) => ({ status: 'fulfilled', value: sum })));
    for (const wrong of [first, third]) {
      expect(wrong).toMatchObject({ status: 'rejected', reason: { code: 'bad-argument' } });
    }
    await Promise.all(isBusy);
  });

  test('each report when the device got their work, and when the result was read', async () => {
    const events: EngineEvent[] = [];
    const aborted = new AbortController();
    const { engine, bases } = await open({
      onEvent: (event) => {
        events.push(event);
        if (event.call === 6 && event.event === 'submitted') aborted.abort();
      },
    });
    const first = vector(20);
    const small = [31, 32].map((seed) => vector(seed, 10));
    await engine.msm(bases, first.scalars);
    const calls = [first, first, ...small].map(({ scalars }) => engine.msm(bases, scalars));
    const gone = engine.msm(bases, small[0]?.scalars ?? [], { signal: aborted.signal });
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
    await Promise.all(calls);
    expect(engine.stats.merged).toBe(3);
    const told = (call: number): string => events.flatMap((each) => (each.call === call ? [each.event] : [])).join(' ');
    // the points were the first call
    expect(told(1)).toBe('started submitted computed ended');
    expect(told(3)).toBe('started submitted computed ended');
    for (const call of [4, 5]) expect(told(call)).toBe('queued started submitted computed ended');
    // nothing comes after the end
    expect(told(6)).toBe('queued started submitted ended');
    const atOf = (call: number, event: EngineEvent['event']): number =>
      events.find((each) => each.call === call && each.event === event)?.at ?? Number.NaN;
    // the device has the next one before the one before was read
    expect(atOf(3, 'submitted')).toBeLessThan(atOf(2, 'computed'));
  });

  test('have no options of their own, and merging can be switched off', async () => {
    const { engine, bases, isBusy } = await openBusy();
    const a = vector(30, 10);
    const told: number[] = [];
    const calls = [
      engine.msm(bases, a.scalars, { onProgress: ({ done }) => told.push(done) }),
      engine.msm(bases, a.scalars, { verify: true }),
      engine.msm(bases, a.scalars, { priority: 'background' }),
    ];
    expect(await Promise.all(calls)).toEqual([a.sum, a.sum, a.sum]);
    await Promise.all(isBusy);
    expect(told.length).toBeGreaterThan(0);
    expect(engine.stats.merged).toBe(0);
    const off = await open({ sharing: { merge: false } });
    await Promise.all([1, 2, 3, 4].map(() => off.engine.msm(off.bases, a.scalars)));
    expect(off.engine.stats.merged).toBe(0);
  });
});

describe('the memory of a device', () => {
  test('is shared as scratch by engines of both groups, and its budget is never exceeded', async () => {
    const device = await getDevice();
    const watched = watchBytes(device);
    try {
      const others = watched.bytes;
      const first = await open();
      await first.engine.msm(first.bases, vector(40).scalars);
      const ofOne = first.engine.memory.scratch;
      const second = await open();
      const made = watched.made;
      expect(await second.engine.msm(second.bases, vector(40).scalars)).toEqual(vector(40).sum);
      expect(watched.made - made).toBe(0);
      expect(first.engine.memory.scratch + second.engine.memory.scratch).toBe(ofOne);
      for (const { engine } of [first, second]) engine.destroy();
      expect(watched.bytes).toBe(others);

      // room for the bases of three, and for the scratch of two
      const deviceBudget = 3 * 64 * n + 2 * ofOne;
      const tight = [await open({ deviceBudget }), await open(), await open()];
      const calls = Array.from({ length: 24 }, (_, i) => {
        const { engine, bases } = tight[i % 3] as (typeof tight)[number];
        const { scalars, sum } = vector(41 + i, 1 + ((i * 53) % n));
        const priority = (['normal', 'interactive', 'background'] as const)[i % 3] as 'normal';
        return engine.msm(bases, scalars, { priority }).then((got) => expect(got).toEqual(sum));
      });
      await Promise.all(calls);
      expect(watched.peak - others).toBeLessThanOrEqual(deviceBudget);
      expect(tight.map(({ engine }) => engine.stats.done)).toEqual([9, 9, 9]);
    } finally {
      Reflect.deleteProperty(device, 'createBuffer');
    }
  });

  test('rejects buffers that will never fit its budget, and the engine stays usable', async () => {
    const { engine, bases } = await open({ deviceBudget: 64 * n + 600_000 });
    const { scalars, sum } = vector(70);
    expect(await engine.msm(bases, scalars)).toEqual(sum);
    const many = makeKnownBases(bn254G1, 20_000, 71);
    await expect(engine.loadBases(many.bytes)).rejects.toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(/^1280000 bytes more than the .+ deviceBudget of 612800; /),
    });
    expect(await engine.msm(bases, scalars)).toEqual(sum);
    expect(engine.memory.bases).toBe(64 * n);
  });

  test('has an error with advice if the device’s budget leaves no room for an MSM', async () => {
    const { engine, bases } = await open({ deviceBudget: 64 * n + 600_000 });
    const { scalars, sum } = vector(70);
    const others = await engine.loadBases(makeKnownBases(bn254G1, 9000, 73).bytes);
    await expect(engine.msm(bases, scalars)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(
        /^deviceBudget: not even one scalar .+; destroy what is not needed of its bases and scalars, or raise the budget$/,
      ),
    });
    await expect(engine.plan(bases, n)).rejects.toThrow(/^deviceBudget: /);
    others.destroy();
    expect(await engine.msm(bases, scalars)).toEqual(sum);
    engine.destroy();
  });

  test('with room for one call, loads bases after running calls, and plans waiting calls for the rest', async () => {
    const device = await getDevice();
    const { scalars, sum } = vector(76);
    const alone = await open({ sharing: { merge: false } });
    await alone.engine.msm(alone.bases, scalars);
    // and what two give back
    const deviceBudget = 64 * n + alone.engine.memory.scratch + 60_000;
    alone.engine.destroy();
    const more = makeKnownBases(bn254G1, 2000, 77);
    const watched = watchBytes(device);
    try {
      const others = watched.bytes;
      const busy = await open({ deviceBudget, sharing: { merge: false } });
      const second = await open();
      second.bases.destroy();
      let [isOver, sums] = [false, 0];
      const callers = [1, 2, 3, 4].map(async () => {
        while (!isOver) {
          expect(await busy.engine.msm(busy.bases, scalars)).toEqual(sum);
          sums++;
        }
      });
      const pass = (some: number): Promise<unknown> => {
        const enough = sums + some;
        return until(() => sums >= enough);
      };
      const load = async () => {
        await pass(2);
        const before = sums;
        const loaded = await second.engine.loadBases(more.bytes);
        // two that the device had, and those that are read meanwhile
        expect(sums - before).toBeLessThanOrEqual(4);
        await pass(4);
        isOver = true;
        return loaded;
      };
      const [bases] = await Promise.all([load(), ...callers]);
      const longer = makeRandomScalars(bn254G1, 2000, 78);
      expect(await second.engine.msm(bases, longer)).toEqual(expectedMsm(bn254G1, more.logs, longer));
      expect(watched.peak - others).toBeLessThanOrEqual(deviceBudget);
    } finally {
      Reflect.deleteProperty(device, 'createBuffer');
    }
  });

  test('is returned by trim if it is pooled, and running calls are right', async () => {
    const { engine, bases } = await open();
    const { scalars, sum } = vector(72);
    const call = engine.msm(bases, scalars);
    await engine.trim();
    expect(await call).toEqual(sum);
    expect(engine.memory.scratch).toBeGreaterThan(0);
    const { frees } = engine.stats;
    await engine.trim();
    expect(engine.memory.scratch).toBe(0);
    expect(engine.stats.frees).toBeGreaterThan(frees);
    expect(await engine.msm(bases, scalars)).toEqual(sum);
    engine.destroy();
    await expect(engine.trim()).rejects.toMatchObject({ code: 'destroyed' });
    const onCpu = await openEngine({ backend: 'cpu' });
    const theirs = await onCpu.loadBases(known.bytes);
    expect(await onCpu.msm(theirs, scalars)).toEqual(sum);
    await onCpu.trim();
    expect(await onCpu.msm(theirs, scalars)).toEqual(sum);
  });

  test('is not pooled if pooling is off', async () => {
    const { engine, bases } = await open({ sharing: { keep: false } });
    const vectors = [73, 74, 75].map((seed) => vector(seed));
    const sums = await Promise.all(vectors.map(({ scalars }) => engine.msm(bases, scalars)));
    expect(sums).toEqual(vectors.map(({ sum }) => sum));
    expect(engine.memory.scratch).toBe(0);
  });
});

describe('engines of one device', () => {
  /** Two engines on the device that the first one requested, on a GPU that lends devices. */
  const openTwo = async () => {
    const gpu = await leaseGpu();
    const own = { tuning, selfTest: false } as const;
    const first = await openEngine({ ...own, gpu: gpu.gpu });
    const second = await openEngine({ ...own, deviceOf: first });
    const bases = [await first.loadBases(known.bytes), await second.loadBases(known.bytes)] as const;
    return { gpu, first, second, bases };
  };

  test('share the scalars that one of them loaded', { tags: 'long' }, async () => {
    const { gpu, first, second, bases } = await openTwo();
    expect(gpu.devices).toHaveLength(1);
    const { scalars, sum } = vector(80);
    const loaded = await first.loadScalars(scalars);
    let uploaded = 0;
    (gpu.devices[0] as LeasedDevice).tap = (call) => {
      if (call.method === 'writeBuffer') uploaded += (call.args[2] as Uint8Array).byteLength;
      return call.proceed();
    };
    const calls = [first.msm(bases[0], loaded), second.msm(bases[1], loaded)];
    expect(await Promise.all(calls)).toEqual([sum, sum]);
    const ofLoaded = uploaded;
    await Promise.all([first.msm(bases[0], scalars), second.msm(bases[1], scalars)]);
    expect(uploaded - ofLoaded).toBe(ofLoaded + 2 * 32 * n);
  });

  test('move together to the next device after a loss, and the last engine destroys it', async () => {
    const { gpu, first, second, bases } = await openTwo();
    const { scalars, sum } = vector(81);
    expect(await first.msm(bases[0], scalars)).toEqual(sum);
    const [lost] = gpu.devices as [LeasedDevice];
    lost.takeAway('at once');
    await lost.device.lost;
    expect(await Promise.all([second.msm(bases[1], scalars), first.msm(bases[0], scalars)])).toEqual([sum, sum]);
    expect(gpu.devices).toHaveLength(2);
    const next = gpu.devices[1] as LeasedDevice;
    first.destroy();
    expect(await second.msm(bases[1], scalars)).toEqual(sum);
    let isLost = false;
    void next.device.lost.then(() => {
      isLost = true;
    });
    await sleep(20);
    expect(isLost).toBe(false);
    second.destroy();
    expect(await next.device.lost).toMatchObject({ reason: 'destroyed' });
    // one that comes afterwards has another one
    const third = await openEngine({ tuning, selfTest: false, deviceOf: first });
    expect(await third.msm(await third.loadBases(known.bytes), scalars)).toEqual(sum);
    expect(gpu.devices).toHaveLength(3);
  });

  describe('the loss of a shared device', () => {
    const lose = async (gpu: Awaited<ReturnType<typeof leaseGpu>>): Promise<void> => {
      const lost = gpu.devices.at(-1) as LeasedDevice;
      lost.takeAway('at once');
      await lost.device.lost;
    };

    test('an abort of a call ends no other merged call while they wait for the next device', async () => {
      const { gpu, first, bases } = await openTwo();
      const { scalars, sum } = vector(82, 10);
      expect(await first.msm(bases[0], scalars)).toEqual(sum);
      await lose(gpu);
      const controller = new AbortController();
      const before = vector(20);
      const all = [first.msm(bases[0], before.scalars), first.msm(bases[0], before.scalars)];
      const aborted = first.msm(bases[0], scalars, { signal: controller.signal });
      all.push(first.msm(bases[0], scalars), first.msm(bases[0], scalars));
      const ended = expect(aborted).rejects.toMatchObject({ code: 'aborted' });
      await sleep();
      controller.abort();
      await ended;
      expect(await Promise.all(all)).toEqual([before.sum, before.sum, sum, sum]);
    });

    test('one call can fail of many that were merged', async () => {
      const { gpu, first, second, bases } = await openTwo();
      const small = vector(83, 10);
      const before = vector(20);
      for (let i = 0; i < 3; i++) await first.msm(bases[0], before.scalars);
      const submitted = new Promise<void>((resolve) => {
        (gpu.devices[0] as LeasedDevice).tap = (call) => {
          const result = call.proceed();
          if (call.method === 'submit') resolve();
          return result;
        };
      });
      const calls = [before, ...Array<typeof small>(10).fill(small)].map(async ({ scalars, sum }) => {
        expect(await first.msm(bases[0], scalars)).toEqual(sum);
      });
      const settled = Promise.allSettled(calls);
      await submitted;
      expect(first.stats.merged).toBeGreaterThan(1);
      await lose(gpu);
      const failed = (await settled).filter(({ status }) => status === 'rejected');
      expect(failed).toMatchObject([{ reason: { code: 'device-lost' } }]);
      // and the points were loaded
      expect(first.stats).toMatchObject({ done: 1 + 3 + 10, failed: 1 });
      expect(await second.msm(bases[1], small.scalars)).toEqual(small.sum);
    });

    test('an engine that is destroyed while it waits for the next device requests none', async () => {
      const gpu = await leaseGpu();
      const engine = await openEngine({ tuning, selfTest: false, gpu: gpu.gpu });
      const bases = await engine.loadBases(known.bytes);
      const { scalars, sum } = vector(84);
      expect(await engine.msm(bases, scalars)).toEqual(sum);
      const { frees } = engine.stats;
      await lose(gpu);
      const calls = [engine.msm(bases, scalars), engine.msm(bases, scalars)];
      const settled = Promise.allSettled(calls);
      engine.destroy();
      for (const each of await settled) expect(each).toMatchObject({ reason: { code: 'destroyed' } });
      expect(engine.stats.frees).toBeGreaterThanOrEqual(frees);
      await sleep(20);
      for (const each of gpu.devices.slice(1)) expect(await each.device.lost).toMatchObject({ reason: 'destroyed' });
    });
  });

  test('an engine without a GPU has no device to share', async () => {
    const onCpu = await openEngine({ backend: 'cpu' });
    const { gpu } = await leaseGpu();
    const engine = await openEngine({ gpu, deviceOf: onCpu, selfTest: false });
    expect(engine.backends).toContain('gpu');
    const wrong = createMsmEngine({ curve: 'bn254', deviceOf: {} as never });
    await expect(wrong).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'deviceOf must be an engine of createMsmEngine, got Object',
    });
  });
});

test.each([
  [{ deviceBudget: 0 }, 'deviceBudget must be a positive number of bytes, got 0'],
  [{ deviceBudget: '1' }, "deviceBudget must be a positive number of bytes, got '1'"],
  [{ sharing: 5 }, 'sharing must be { overlap, merge, keep, sidePool, throttle, yieldWhile }, got 5'],
  [{ sharing: { merge: 1 } }, 'sharing.merge must be true or false, got 1'],
  [{ sharing: { sidePool: -1 } }, 'sharing.sidePool must be an integer from 0, got -1'],
])('%j is refused', async (options, message) => {
  const made = createMsmEngine({ curve: 'bn254', backend: 'cpu', ...options } as never);
  await expect(made).rejects.toThrow(MsmError);
  await expect(made).rejects.toMatchObject({ code: 'bad-argument', message });
});
