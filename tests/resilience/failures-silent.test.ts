/**
 * A GPU that stops answering: promises of WebGPU that never settle, settle late, twice, or out of
 * their order.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AffinePoint, type Bases, createMsmEngine, type MsmEngineOptions, MsmError } from '../../src/index.js';
import { Bench, large, small, tuning } from '../support/failure-bench.js';
import { type Call, leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';
import { sleep } from '../support/time.js';
import { stopWatchClock, type WatchClock } from '../support/watch-clock.js';

let clock: WatchClock;
beforeEach(() => {
  clock = stopWatchClock();
});
afterEach(async () => {
  // the watch lets go of its waits a moment after the device
  for (let left = 40; clock.timers > 0 && left > 0; left--) await sleep(50);
  const { timers } = clock;
  clock.restore();
  // no wait is looked after that nobody waits for
  expect(timers).toBe(0);
});

const never = (): Promise<never> => new Promise(() => undefined);

/** A call of WebGPU is carried out, and its promise never settles. */
const silently = ({ proceed }: Call): Promise<never> => {
  (proceed() as Promise<unknown>).catch(() => undefined);
  return never();
};

/**
 * The least limit of a wait, and the one of those while something may be compiled:
 * docs/reference/failures.md.
 */
const LEAST_LIMIT_MS = 10_000;
const COMPILING_LIMIT_MS = 120_000;
/** So long no wait goes on. */
const PAST_LIMITS_MS = COMPILING_LIMIT_MS + 1000;

const methods = ['mapAsync', 'popErrorScope', 'onSubmittedWorkDone', 'createComputePipelineAsync'] as const;
type Method = (typeof methods)[number];

const calls = ['loadBases', 'msm', 'verify', 'warmup', 'loadScalars'] as const;
type Kind = (typeof calls)[number];

/** Promises of WebGPU that a call waits for; of `warmup`, whose kernels are compiled, those. */
const waits: Readonly<Record<Kind, readonly Method[]>> = {
  loadBases: ['mapAsync', 'popErrorScope', 'createComputePipelineAsync'],
  msm: methods,
  verify: methods,
  warmup: methods.filter((method) => method !== 'onSubmittedWorkDone'),
  loadScalars: ['popErrorScope'],
};

/** Small submits, so that one is waited for before the next. */
const inSubmits = { ...tuning, additionsPerSubmit: 1024 };

/** An engine with bases, and a call of it, of which a promise does not settle. */
const open = async (kind: Kind, options: Partial<MsmEngineOptions> = {}) => {
  const bench = await Bench.open({ ...options, tuning: { ...inSubmits, ...options.tuning } });
  const bases = await bench.load(large);
  const { engine } = bench;
  const call = async (aborted?: AbortSignal): Promise<unknown> => {
    const signal = aborted ?? new AbortController().signal;
    switch (kind) {
      case 'loadBases':
        return engine.loadBases(large.points, { signal });
      case 'msm':
        return engine.msm(bases, large.scalars, { signal });
      case 'verify':
        return engine.msm(bases, large.scalars, { signal, verify: true });
      case 'loadScalars':
        return engine.loadScalars(large.scalars, { signal });
      case 'warmup':
        return engine.warmup(large.scalars.length);
    }
  };
  return { bench, engine, bases, call };
};

/** From now on, one promise of a method does as `instead` says; returns when that was asked for. */
const strike = (bench: Bench, method: Method, instead: (call: Call) => unknown = silently): Promise<void> => {
  const { lease } = bench;
  lease.cold = method === 'createComputePipelineAsync';
  let struck = false;
  return new Promise((resolve) => {
    lease.tap = (call) => {
      if (struck || call.method !== method) return call.proceed();
      struck = true;
      resolve();
      return instead(call);
    };
  });
};

const outcomeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => value,
    (error: unknown) => error,
  );

/**
 * Returns the outcome of a promise after a few turns of the event loop, which no other work of the
 * machine delays.
 */
const atOnce = async (promise: Promise<unknown>): Promise<unknown> => {
  const turns = async (): Promise<string> => {
    for (let left = 5; left > 0; left--) await new Promise(setImmediate);
    return 'not settled';
  };
  return Promise.race([promise, turns()]);
};

/** The answer that a call should give. */
const expectAnswer = async (bench: Bench, kind: Kind, bases: Bases, answer: unknown): Promise<void> => {
  if (kind === 'msm' || kind === 'verify') expect(answer).toEqual(large.expected);
  if (kind === 'loadBases') expect(await bench.msm(answer as Bases, large)).toEqual(large.expected);
  expect(await bench.msm(bases, large)).toEqual(large.expected);
};

/** Kernels that a device has not compiled. */
const forget = (bench: Bench, method: Method): void => {
  // another engine on the device has other kernels
  if (method === 'createComputePipelineAsync') bench.lease.cold = true;
};

const cases = calls.flatMap((kind) => waits[kind].map((method) => [kind, method] as const));

/** The first tier has one call of each kind of work; the others are of the second. */
const isFirst = (kind: Kind): boolean => kind === 'msm' || kind === 'loadBases';

describe.each(cases)('%s, and %s never settles', (kind, method) => {
  const tier = isFirst(kind) ? {} : { tags: 'long' };
  // what an engine compiled is not compiled again: other curves' constants, other kernels
  const options = method === 'createComputePipelineAsync' ? { tuning: { ...inSubmits, walkerSlots: 2 } } : {};
  const isCompiled = method === 'createComputePipelineAsync';
  const begin = async (more: Partial<MsmEngineOptions>) => {
    const opened = await open(kind, { ...options, ...more });
    forget(opened.bench, method);
    return opened;
  };
  // loading compiles its kernels at first, and the rest is compiled by the first sum
  const isThere = isCompiled && kind === 'loadBases';

  test.skipIf(isThere)(
    'on `gpu` it ends as a lost device does, and the next call is right, on a new one',
    tier,
    async () => {
      const { bench, bases, call, engine } = await begin({ backend: 'gpu' });
      const struck = strike(bench, method);
      const ended = outcomeOf(call());
      await struck;
      await sleep(20);
      await clock.advance(LEAST_LIMIT_MS - 1000);
      expect(await Promise.race([ended, sleep(20)])).toBeUndefined();
      await clock.advanceUntil(ended, PAST_LIMITS_MS);
      const error = await ended;
      expect(error).toBeInstanceOf(MsmError);
      expect(error).toMatchObject({ code: 'device-lost', message: expect.stringContaining('it did not answer: ') });
      expect((error as MsmError).message).toContain('call again');
      expect(await bench.msm(bases, large)).toEqual(large.expected);
      expect(bench.gpu.devices).toHaveLength(2);
      expect(engine.memory.bases).toBe(bases.byteLength);
      bench.close();
    },
  );

  test.skipIf(isThere)('on `auto` it ends on the CPU, and the next call runs on a new device', tier, async () => {
    const { bench, bases, call, engine } = await begin({ tuning: { ...inSubmits, ...options.tuning, cpuBelow: 1 } });
    const struck = strike(bench, method);
    const ended = outcomeOf(call());
    await struck;
    await sleep(20);
    await clock.advanceUntil(ended, PAST_LIMITS_MS);
    if (kind === 'warmup') expect(await ended).toMatchObject({ code: 'device-lost' });
    else {
      const answer = await ended;
      if (kind === 'msm' || kind === 'verify') {
        expect(engine.lastRun).toMatchObject({ on: 'cpu', retried: expect.stringContaining('it did not answer: ') });
      }
      await expectAnswer(bench, kind, bases, answer);
    }
    expect(await bench.msm(bases, large)).toEqual(large.expected);
    expect(engine.lastRun).toMatchObject({ on: 'gpu', retried: null });
    bench.close();
  });

  test.skipIf(isThere || kind === 'warmup')(
    'an abort ends it within 50 ms, and the next call is right',
    tier,
    async () => {
      const { bench, bases, call } = await begin({ backend: 'gpu' });
      const controller = new AbortController();
      const struck = strike(bench, method);
      const ended = outcomeOf(call(controller.signal));
      await struck;
      await sleep(20);
      controller.abort();
      expect(await atOnce(ended)).toMatchObject({ code: 'aborted' });
      const next = outcomeOf(bench.msm(bases, large));
      await sleep(20);
      await clock.advanceUntil(next, PAST_LIMITS_MS);
      // it began on the device that is lost, or waited for it
      const answer = await next;
      if (answer instanceof MsmError) expect(answer.code).toBe('device-lost');
      else expect(answer).toEqual(large.expected);
      expect(await bench.msm(bases, large)).toEqual(large.expected);
      bench.close();
    },
  );

  test.skipIf(isThere)('destroying the engine ends the call at once, and nothing remains', tier, async () => {
    const { bench, call } = await begin({ backend: 'gpu' });
    const struck = strike(bench, method);
    const ended = outcomeOf(call());
    await struck;
    await sleep(20);
    bench.close();
    expect(await atOnce(ended)).toMatchObject({ code: 'destroyed' });
  });
});

test('calls behind a stuck one run on the next device', async () => {
  const { bench, bases, call } = await open('msm', { backend: 'gpu', sharing: { merge: false } });
  const struck = strike(bench, 'mapAsync');
  const first = outcomeOf(call());
  await struck;
  const behind = Array.from({ length: 3 }, () => outcomeOf(bench.msm(bases, small)));
  await sleep(20);
  await clock.advanceUntil(first, PAST_LIMITS_MS);
  expect(await first).toMatchObject({ code: 'device-lost' });
  // small multiplies the first bases alone
  for (const each of behind) expect(await each).toEqual(small.expected);
  bench.close();
});

test('on `both` a call ends on the CPU, and so does a two-scalar call behind it', async () => {
  const TIMES = 800;
  const points = Array.from({ length: TIMES }, () => large.points).flat();
  const scalars = Array.from({ length: TIMES }, () => large.scalars).flat();
  const textbook = new TextbookCurve(smallCurve);
  const expected = textbook.multiply(large.expected, BigInt(TIMES));
  const [[P, Q], [k, l]] = [points, scalars] as unknown as [[AffinePoint, AffinePoint], [bigint, bigint]];
  const bench = await Bench.open({
    backend: 'both',
    maxWorkers: 0,
    sharing: { merge: false },
    tuning: { ...tuning, windowBits: 8 },
  });
  const bases = await bench.engine.loadBases(points);
  const struck = strike(bench, 'mapAsync');
  const first = outcomeOf(bench.engine.msm(bases, scalars));
  await struck;
  const second = outcomeOf(bench.engine.msm(bases, [k, l]));
  await sleep(50);
  await clock.advanceUntil(first, PAST_LIMITS_MS);
  expect(await first).toEqual(expected);
  expect(await second).toEqual(textbook.add(textbook.multiply(P, k), textbook.multiply(Q, l)));
  bench.close();
});

test('trim ends when the device counts as lost, and when the engine is destroyed', async () => {
  for (const end of ['limit', 'destroy'] as const) {
    const { bench, call } = await open('msm', { backend: 'gpu' });
    const struck = strike(bench, 'mapAsync');
    const ended = outcomeOf(call());
    await struck;
    const trimmed = outcomeOf(bench.engine.trim());
    await sleep(20);
    if (end === 'limit') await clock.advanceUntil(ended, PAST_LIMITS_MS);
    else bench.close();
    expect(await trimmed).toBeUndefined();
    expect(await ended).toMatchObject({ code: end === 'limit' ? 'device-lost' : 'destroyed' });
    if (end === 'limit') bench.close();
  }
});

describe('a device of the caller that stops answering', () => {
  const onLeased = async (options: Partial<MsmEngineOptions>) => {
    const lease = await leaseDevice();
    const engine = await createMsmEngine({
      curve: smallCurve,
      device: lease.device,
      selfTest: false,
      ...options,
      tuning: { ...tuning, ...options.tuning },
    });
    const bases = await engine.loadBases(large.points);
    let struck = false;
    const asked = new Promise<void>((resolve) => {
      lease.tap = (call) => {
        if (call.method === 'destroy' && call.label === '') throw new Error('destroyed by the engine');
        if (struck || call.method !== 'mapAsync') return call.proceed();
        struck = true;
        resolve();
        return silently(call);
      };
    });
    return { lease, engine, bases, asked };
  };

  test('is released, and not destroyed', async () => {
    const { lease, engine, bases, asked } = await onLeased({ backend: 'gpu' });
    const ended = outcomeOf(engine.msm(bases, large.scalars));
    await asked;
    await clock.advanceUntil(ended, PAST_LIMITS_MS);
    const says = 'reading back the result';
    expect(await ended).toMatchObject({ code: 'device-lost', message: expect.stringContaining(says) });
    await expect(engine.msm(bases, large.scalars)).rejects.toMatchObject({ code: 'device-lost' });
    await expect(engine.loadBases(large.points)).rejects.toMatchObject({ code: 'device-lost' });
    engine.destroy();
    expect(lease.live).toBe(0);
    lease.tap = (call) => call.proceed();
    lease.device.destroy();
  });

  test('is not used again on `auto`', async () => {
    const { lease, engine, bases, asked } = await onLeased({ tuning: { cpuBelow: 1 } });
    const ended = outcomeOf(engine.msm(bases, large.scalars));
    await asked;
    await clock.advanceUntil(ended, PAST_LIMITS_MS);
    expect(await ended).toEqual(large.expected);
    expect(engine.backends).toEqual(['cpu']);
    const more = await engine.loadBases(large.points);
    const scalars = await engine.loadScalars(large.scalars);
    expect(await engine.msm(more, scalars)).toEqual(large.expected);
    expect(engine.lastRun).toMatchObject({ on: 'cpu', retried: null });
    await engine.warmup(100);
    await engine.trim();
    const off = large.points.map((point) => ({ ...point }));
    (off[7] as { x: bigint }).x += 1n;
    await expect(engine.loadBases(off)).rejects.toMatchObject({
      code: 'not-on-curve',
      message: expect.stringContaining('points[7]'),
    });
    engine.destroy();
    expect(lease.live).toBe(0);
    lease.tap = (call) => call.proceed();
    lease.device.destroy();
  });
});

test('an `auto` engine computes on the CPU alone after two devices in a row that do not answer', async () => {
  const { bench, bases } = await open('msm', { tuning: { ...inSubmits, cpuBelow: 1 } });
  for (const devices of [1, 2]) {
    const struck = strike(bench, 'mapAsync');
    // the second device is requested by the call
    bench.gpu.onRequest = () => undefined;
    const ended = outcomeOf(bench.msm(bases, large));
    if (devices === 1) await struck;
    else {
      while (bench.gpu.devices.length < 2) await sleep(1);
      await strike(bench, 'mapAsync');
    }
    await sleep(20);
    await clock.advanceUntil(ended, PAST_LIMITS_MS);
    expect(await ended).toEqual(large.expected);
    expect(bench.engine.lastRun?.on).toBe('cpu');
  }
  expect(bench.engine.backends).toEqual(['cpu']);
  expect(await bench.msm(bases, large)).toEqual(large.expected);
  expect(bench.gpu.devices).toHaveLength(2);
  bench.close();
});

describe('a promise that settles unusually', () => {
  test.each(['mapAsync', 'popErrorScope', 'onSubmittedWorkDone'] as const)(
    'has no effect if it settles late: %s',
    async (method) => {
      const { bench, bases, call } = await open('msm', { backend: 'gpu' });
      let settle: () => void = () => undefined;
      const struck = strike(bench, method, ({ proceed }) => {
        const result = proceed() as Promise<unknown>;
        return new Promise((resolve) => {
          settle = () => resolve(result.catch(() => undefined));
        });
      });
      const ended = outcomeOf(call());
      await struck;
      await sleep(20);
      await clock.advanceUntil(ended, PAST_LIMITS_MS);
      expect(await ended).toMatchObject({ code: 'device-lost' });
      expect(await bench.msm(bases, large)).toEqual(large.expected);
      settle();
      await sleep(20);
      expect(await bench.msm(bases, large)).toEqual(large.expected);
      bench.close();
    },
  );

  test.each(methods.slice(0, 3))('is waited for if it settles before its limit: %s', async (method) => {
    const { bench, call } = await open('msm', { backend: 'gpu' });
    let settle: () => void = () => undefined;
    const struck = strike(bench, method, ({ proceed }) => {
      const result = proceed() as Promise<unknown>;
      return new Promise((resolve) => {
        settle = () => resolve(result);
      });
    });
    const ended = outcomeOf(call());
    await struck;
    await sleep(20);
    await clock.advance(LEAST_LIMIT_MS - 1000);
    settle();
    expect(await ended).toEqual(large.expected);
    bench.close();
  });

  test.each(methods.slice(0, 3))('counts once if it settles twice: %s', async (method) => {
    const { bench, bases, call } = await open('msm', { backend: 'gpu' });
    const struck = strike(bench, method, ({ proceed }) => {
      const result = proceed() as Promise<unknown>;
      return {
        // biome-ignore lint/suspicious/noThenProperty: a promise that breaks the rules of promises
        then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
          void result.then((value) => {
            resolve(value);
            reject(new Error('settled again'));
            resolve(7);
          }, reject);
        },
      };
    });
    const ended = outcomeOf(call());
    await struck;
    expect(await ended).toEqual(large.expected);
    expect(await bench.msm(bases, large)).toEqual(large.expected);
    bench.close();
  });

  test('is right out of order: the map of the second call before that of the first', async () => {
    const { bench, bases } = await open('msm', { backend: 'gpu', sharing: { merge: false } });
    let release: () => void = () => undefined;
    const struck = strike(bench, 'mapAsync', ({ proceed }) => {
      const result = proceed() as Promise<unknown>;
      return new Promise((resolve) => {
        release = () => resolve(result);
      });
    });
    const first = bench.msm(bases, large);
    await struck;
    expect(await bench.msm(bases, small)).toEqual(small.expected);
    release();
    expect(await first).toEqual(large.expected);
    bench.close();
  });
});

test('time does not count while the page is hidden', async () => {
  const { bench, call } = await open('msm', { backend: 'gpu' });
  const page = { visibilityState: 'hidden' };
  const struck = strike(bench, 'mapAsync');
  const ended = outcomeOf(call());
  await struck;
  await sleep(20);
  Object.assign(globalThis, { document: page });
  try {
    await clock.advance(10 * PAST_LIMITS_MS);
    expect(await Promise.race([ended, sleep(20)])).toBeUndefined();
    page.visibilityState = 'visible';
    await clock.advanceUntil(ended, PAST_LIMITS_MS);
    expect(await ended).toMatchObject({ code: 'device-lost' });
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
  bench.close();
});

describe('an adapter or a device that never comes rejects, or leaves the CPU', () => {
  const REQUEST_LIMIT_MS = 30_000;

  test.each(['requestAdapter', 'requestDevice'] as const)('%s', async (method) => {
    const { gpu, devices } = await leaseGpu();
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let give: () => void = () => undefined;
    const stuck = {
      requestAdapter: async (options?: GPURequestAdapterOptions) => {
        const adapter = (await gpu.requestAdapter(options)) as GPUAdapter;
        if (method === 'requestAdapter') {
          asked();
          return never();
        }
        const requestDevice = async (descriptor: GPUDeviceDescriptor): Promise<GPUDevice> => {
          asked();
          await new Promise<void>((resolve) => {
            give = resolve;
          });
          return adapter.requestDevice(descriptor);
        };
        return { ...adapter, requestDevice };
      },
    } as unknown as GPU;
    for (const backend of ['both', 'gpu'] as const) {
      const made = outcomeOf(createMsmEngine({ curve: smallCurve, gpu: stuck, backend }));
      await isAsked;
      await sleep(20);
      await clock.advance(REQUEST_LIMIT_MS + 1000);
      const engine = await made;
      if (backend === 'gpu') {
        const code = method === 'requestAdapter' ? 'no-webgpu' : 'unsupported-device';
        expect(engine).toMatchObject({ code, message: expect.stringContaining('did not come within 30 s') });
      } else {
        expect(engine).toMatchObject({ backends: ['cpu'] });
        (engine as { destroy(): void }).destroy();
      }
      if (method === 'requestAdapter') continue;
      // an adapter or device that comes too late is not used
      const before = devices.length;
      give();
      await sleep(20);
      expect(devices).toHaveLength(before + 1);
      expect(await devices.at(-1)?.device.lost).toMatchObject({ reason: 'destroyed' });
    }
  });
});

// bases without a copy are loaded after the self-test, which meets the silence first
test('a first load without a copy ends on the CPU, and its bases are right', { tags: 'long' }, async () => {
  const bench = await Bench.open({ retainBases: false, selfTest: true, tuning: { ...inSubmits, cpuBelow: 1 } });
  const struck = strike(bench, 'mapAsync');
  const ended = outcomeOf(bench.engine.loadBases(large.points));
  await struck;
  await sleep(20);
  await clock.advanceUntil(ended, PAST_LIMITS_MS);
  const bases = (await ended) as Bases;
  expect(await bench.msm(bases, large)).toEqual(large.expected);
  bench.close();
});
