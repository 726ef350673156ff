/**
 * Large uploads through a kept buffer: the same bytes on the device, whatever the buffer does, and
 * no buffer that stays.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { DeviceWatch } from '../../src/gpu/device-watch.js';
import { Runner, type RunnerOptions } from '../../src/gpu/runner.js';
import type { SubmissionResult, Upload } from '../../src/gpu/submission.js';
import { LEAST_UPLOAD_BYTES, MOST_BUFFER_BYTES } from '../../src/gpu/upload-buffer.js';
import { type Ticket, ticketOf } from '../../src/scheduling/edf.js';
import { openEngine } from '../support/engines.js';
import { type Call, type LeasedDevice, leaseDevice, type Tap } from '../support/leased-gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep, until } from '../support/time.js';
import { stopWatchClock } from '../support/watch-clock.js';

const MIB = 2 ** 20;

/** Words that differ from place to place and from seed to seed. */
const makeWords = (bytes: number, seed: number): Uint32Array<ArrayBuffer> =>
  Uint32Array.from({ length: bytes / 4 }, (_, i) => Math.imul(i + 1, 0x9e3779b9) ^ seed);

/** Equality of long vectors, of which a difference would take minutes to print. */
const areSame = (some: Uint32Array | undefined, others: Uint32Array): boolean =>
  some?.length === others.length && some.every((word, i) => word === others[i]);

const isOfBuffer = ({ method, label }: Call, name: string): boolean => method === name && label === 'uploads';

/** A runner whose calls of WebGPU are seen. */
class UploadBench {
  readonly lease: LeasedDevice;
  readonly device: GPUDevice;
  readonly runner: Runner;
  /** Goes before the device. */
  tap: Tap = (call) => call.proceed();
  /** Bytes that went through `writeBuffer` to the buffers of the tests. */
  written = 0;
  /** Buffers for uploads that were asked for. */
  made = 0;
  #waits: Promise<unknown>[] = [];

  private constructor(lease: LeasedDevice, options: RunnerOptions) {
    this.lease = lease;
    lease.tap = (call) => this.#see(call);
    // submissions without passes have no times
    this.device = new Proxy(lease.device, {
      get: (target, name) => (name === 'features' ? new Set() : Reflect.get(target, name)),
    });
    this.runner = new Runner(this.device, Number.POSITIVE_INFINITY, options);
  }

  static async open(options: RunnerOptions = {}): Promise<UploadBench> {
    return new UploadBench(await leaseDevice(), options);
  }

  #see(call: Call): unknown {
    const [buffer, , data] = call.args as [GPUBuffer, number, Uint8Array];
    if (call.method === 'writeBuffer' && buffer.label === 'webgpu-msm words') this.written += data.byteLength;
    if (isOfBuffer(call, 'createBuffer')) this.made++;
    const result = this.tap(call);
    if (call.method === 'popErrorScope' || isOfBuffer(call, 'mapAsync')) this.#waits.push(result as Promise<unknown>);
    return result;
  }

  /** Resolves when the buffer for uploads is mapped, or gone. */
  async settle(): Promise<void> {
    while (this.#waits.length > 0) {
      await Promise.allSettled(this.#waits.splice(0));
      await sleep();
    }
  }

  upload(uploads: readonly Upload[], bytes: number, ticket?: Ticket): Promise<SubmissionResult> {
    const read = [{ buffer: 'words', size: bytes }];
    return this.runner.run({ scratch: { words: bytes }, uploads, commands: [], read, ticket });
  }

  /**
   * Uploads words and reads them back. @returns the bytes that `writeBuffer` wrote
   */
  async send(words: Uint32Array, offset = 0): Promise<number> {
    const before = this.written;
    const to = { buffer: 'words', offset };
    const { data, uploadedBytes } = await this.upload([{ to, data: words }], offset + words.byteLength);
    expect(areSame(data[0]?.subarray(offset / 4), words)).toBe(true);
    expect(uploadedBytes).toBe(words.byteLength);
    await this.settle();
    return this.written - before;
  }

  /** Sends so much that a kept buffer of its size is there. */
  async warm(bytes: number): Promise<void> {
    expect(await this.send(makeWords(bytes, 1))).toBe(bytes);
    expect(this.buffer?.size).toBe(bytes);
  }

  /** The buffer for uploads. */
  get buffer(): GPUBuffer | undefined {
    return this.lease.buffers.find(({ label }) => label === 'webgpu-msm uploads');
  }
}

const benches: UploadBench[] = [];
const open = async (options?: RunnerOptions): Promise<UploadBench> => {
  const bench = await UploadBench.open(options);
  benches.push(bench);
  return bench;
};

afterEach(async () => {
  for (const bench of benches.splice(0)) {
    bench.runner.destroy();
    await bench.settle();
    expect([bench.lease.live, bench.lease.openScopes]).toEqual([0, 0]);
    bench.lease.device.destroy();
  }
});

test('an MSM of many scalars is right, before there is a buffer and with it', { tags: 'long' }, async () => {
  const lease = await leaseDevice();
  const engine = await openEngine({ curve: smallCurve, device: lease.device, backend: 'gpu', selfTest: false });
  // points of 16 bytes
  const { points, scalars, expected } = smallCase(LEAST_UPLOAD_BYTES / 16 + 5);
  const written: number[] = [];
  const maps: unknown[] = [];
  lease.tap = (call) => {
    const [buffer, , data] = call.args as [GPUBuffer, number, Uint8Array];
    if (call.method === 'writeBuffer' && buffer.label === 'webgpu-msm scalars') written.push(data.byteLength);
    const result = call.proceed();
    if (isOfBuffer(call, 'mapAsync')) maps.push(result);
    return result;
  };
  const bases = await engine.loadBases(points);
  for (let run = 1; run <= 2; run++) {
    await until(() => maps.length === run);
    await Promise.all(maps);
    await sleep(20);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
  }
  // the load of the bases made the buffer
  expect([written, maps.length]).toEqual([[], 3]);
  engine.destroy();
  expect(lease.live).toBe(0);
});

describe('every byte arrives, and only a rest goes through the queue', () => {
  const LARGEST = MOST_BUFFER_BYTES;
  test.each([
    [LEAST_UPLOAD_BYTES - 4, LEAST_UPLOAD_BYTES - 4],
    [LEAST_UPLOAD_BYTES, 0],
    [LEAST_UPLOAD_BYTES + 4, 0],
    [3 * MIB, 0],
    [4 * MIB, 0],
    [4 * MIB + 4, 0],
  ])('of %i bytes', async (bytes, rest) => {
    const bench = await open();
    expect(await bench.send(makeWords(bytes, 2))).toBe(bytes);
    for (const offset of [0, 8, 4]) expect(await bench.send(makeWords(bytes, offset), offset)).toBe(rest);
    expect(bench.made).toBe(rest > 0 ? 0 : 1);
  });

  test.each([
    [LARGEST, 0],
    [LARGEST + 4, 4],
    [LARGEST + 5 * MIB, 5 * MIB],
  ])('of %i bytes', { tags: 'long' }, async (bytes, rest) => {
    const bench = await open();
    expect(await bench.send(makeWords(bytes, 2))).toBe(bytes);
    for (const seed of [3, 4]) expect(await bench.send(makeWords(bytes, seed))).toBe(rest);
    expect([bench.made, bench.buffer?.size]).toEqual([1, LARGEST]);
  });

  test('of views that begin anywhere', async () => {
    const bench = await open();
    const bytes = new Uint8Array(makeWords(3 * MIB, 5).buffer);
    for (const begin of [0, 1, 7]) {
      const data = bytes.subarray(begin, begin + 2 * MIB);
      const sent = await bench.upload([{ to: { buffer: 'words' }, data }], data.byteLength);
      expect(areSame(sent.data[0], new Uint32Array(data.slice().buffer))).toBe(true);
      await bench.settle();
    }
    expect(bench.written).toBe(2 * MIB);
  });
});

test('the buffer grows, and uploads much smaller than it go through the queue', async () => {
  const bench = await open();
  await bench.warm(2 * MIB);
  // its first bytes go through the smaller buffer
  expect(await bench.send(makeWords(16 * MIB, 2))).toBe(14 * MIB);
  expect(bench.buffer?.size).toBe(16 * MIB);
  expect(await bench.send(makeWords(16 * MIB, 3))).toBe(0);
  expect(await bench.send(makeWords(4 * MIB, 4))).toBe(0);
  expect(await bench.send(makeWords(4 * MIB - 4, 5))).toBe(4 * MIB - 4);
  expect(bench.made).toBe(2);
});

test('an upload that finds the buffer in use goes through the queue', async () => {
  const bench = await open();
  await bench.warm(2 * MIB);
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const words = [2, 3, 4].map((seed) => makeWords(2 * MIB, seed));
  bench.tap = (call) => {
    const result = call.proceed();
    return isOfBuffer(call, 'mapAsync') ? (result as Promise<void>).then(() => gate) : result;
  };
  const before = bench.written;
  const to = { buffer: 'words' };
  const sent = await Promise.all(words.map((data) => bench.upload([{ to, data }], data.byteLength)));
  words.forEach((data, i) => void expect(areSame(sent[i]?.data[0], data)).toBe(true));
  expect(bench.written - before).toBe(4 * MIB);
  letGo();
  await bench.settle();
  expect(await bench.send(makeWords(2 * MIB, 5))).toBe(0);
  expect(bench.made).toBe(1);
});

test('uploads of one submission keep their order', async () => {
  const bench = await open();
  await bench.warm(2 * MIB);
  const [first, second, small] = [makeWords(2 * MIB, 2), makeWords(2 * MIB, 3), makeWords(64, 4)];
  const at = (offset: number, data: Uint32Array): Upload => ({ to: { buffer: 'words', offset }, data });
  const both = await bench.upload([at(0, first), at(2 * MIB, second), at(MIB, small)], 4 * MIB);
  const expected = new Uint32Array(MIB);
  expected.set(first);
  expected.set(second, MIB / 2);
  expected.set(small, MIB / 4);
  expect(areSame(both.data[0], expected)).toBe(true);
  await bench.settle();
  const over = await bench.upload([at(MIB, small), at(0, first)], 2 * MIB);
  expect(areSame(over.data[0], first)).toBe(true);
  await bench.settle();
  // the largest of them is the size of the next buffer
  await bench.runner.trim();
  await bench.upload([at(0, makeWords(4 * MIB, 5)), at(4 * MIB, first)], 6 * MIB);
  await bench.settle();
  expect(bench.buffer?.size).toBe(4 * MIB);
});

test('contents of residents go through it', async () => {
  const bench = await open();
  const { runner } = bench;
  for (const [seed, written] of [
    [2, 2 * MIB],
    [3, 0],
  ] as const) {
    bench.written = 0;
    const words = makeWords(2 * MIB, seed);
    const request = { checkpoint: () => undefined };
    const contents = new Uint8Array(words.buffer);
    const resident = await runner.createResident('words', 'words', words.byteLength, request, contents);
    const read = [{ buffer: 'resident', size: words.byteLength }];
    const { data } = await runner.run({ scratch: {}, external: { resident }, uploads: [], commands: [], read });
    expect(areSame(data[0], words)).toBe(true);
    expect(bench.written).toBe(written);
    runner.ledger.destroy(resident);
    await bench.settle();
  }
});

test('a runner that keeps nothing makes none', async () => {
  const bench = await open({ keeps: false });
  for (const seed of [2, 3]) expect(await bench.send(makeWords(2 * MIB, seed))).toBe(2 * MIB);
  expect(bench.made).toBe(0);
});

describe('it is freed', () => {
  test.each(['trim', 'discard', 'destroy'] as const)('by %s, with zeros in it', async (method) => {
    const bench = await open();
    await bench.warm(2 * MIB);
    const range = new ArrayBuffer(2 * MIB);
    bench.tap = (call) => (isOfBuffer(call, 'getMappedRange') ? range : call.proceed());
    new Uint8Array(range).fill(7);
    await bench.runner[method]();
    expect([bench.buffer, new Uint8Array(range).some((byte) => byte !== 0)]).toEqual([undefined, false]);
    bench.tap = (call) => call.proceed();
    if (method !== 'destroy') await bench.warm(2 * MIB);
  });

  test('when another runner leaves, and made again', async () => {
    const bench = await open();
    await bench.warm(2 * MIB);
    new Runner(bench.device, Number.POSITIVE_INFINITY).destroy();
    expect(bench.buffer).toBeUndefined();
    await bench.warm(2 * MIB);
  });

  test.each([
    ['trim', 'in use'],
    ['trim', 'to be made'],
    ['discard', 'to be made'],
  ] as const)('by %s while it is %s', async (method, state) => {
    const bench = await open();
    if (state === 'in use') await bench.warm(2 * MIB);
    bench.tap = (call) => {
      const result = call.proceed();
      // the first of two submits where it is in use
      if (call.method !== 'submit' || (call.args[0] as readonly unknown[]).length === 0) return result;
      bench.tap = (next) => next.proceed();
      void bench.runner[method]();
      return result;
    };
    expect(await bench.send(makeWords(2 * MIB, 2))).toBe(state === 'in use' ? 0 : 2 * MIB);
    expect(bench.buffer).toBeUndefined();
    await bench.warm(2 * MIB);
  });

  test.each(['createBuffer', 'mapAsync'])('while the scopes of its %s are open', async (method) => {
    const bench = await open();
    let [pops, maps] = [0, 0];
    bench.tap = (call) => {
      const result = call.proceed();
      if (isOfBuffer(call, 'mapAsync')) maps++;
      if (isOfBuffer(call, method)) pops = 3;
      if (call.method !== 'popErrorScope' || pops === 0) return result;
      return --pops > 0 ? result : (result as Promise<unknown>).then(() => sleep(50)).then(() => bench.runner.trim());
    };
    expect(await bench.send(makeWords(2 * MIB, 2))).toBe(2 * MIB);
    expect([bench.buffer, maps]).toEqual([undefined, method === 'createBuffer' ? 0 : 1]);
    bench.tap = (call) => call.proceed();
    await bench.warm(2 * MIB);
  });

  test.each(['taken away', 'destroyed'] as const)('when the device is %s', async (how) => {
    const bench = await open();
    await bench.warm(2 * MIB);
    if (how === 'destroyed') bench.lease.device.destroy();
    else bench.lease.takeAway('at once');
    await bench.lease.device.lost;
    await sleep();
    expect(bench.buffer).toBeUndefined();
  });

  test.each(['createBuffer', 'mapAsync', 'getMappedRange'])('when the device is lost at %s of it', async (method) => {
    const bench = await open();
    if (method !== 'createBuffer') await bench.warm(2 * MIB);
    bench.tap = (call) => {
      const result = call.proceed();
      if (isOfBuffer(call, method)) bench.lease.takeAway('late');
      return result;
    };
    await expect(bench.send(makeWords(2 * MIB, 2))).rejects.toMatchObject({ code: 'device-lost' });
    expect(bench.buffer).toBeUndefined();
  });
});

test('an aborted call frees it, and the next one is right', async () => {
  const bench = await open();
  await bench.warm(2 * MIB);
  const controller = new AbortController();
  bench.tap = (call) => {
    const result = call.proceed();
    if (isOfBuffer(call, 'mapAsync')) controller.abort();
    return result;
  };
  const data = makeWords(2 * MIB, 2);
  const ticket = { ...ticketOf(undefined), signal: controller.signal };
  const aborted = bench.upload([{ to: { buffer: 'words' }, data }], data.byteLength, ticket);
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  expect(bench.buffer).toBeUndefined();
  bench.tap = (call) => call.proceed();
  await bench.settle();
  await bench.warm(2 * MIB);
  expect(await bench.send(makeWords(2 * MIB, 3))).toBe(0);
});

describe('no call fails with it', () => {
  /** Where the device has no memory: an error and an invalid buffer, or an exception. */
  const refusals: Readonly<Record<string, (call: Call, lease: LeasedDevice) => unknown>> = {
    'a report': (call, lease) => {
      lease.report('out-of-memory', 'injected');
      return lease.unreported(() => call.proceed([{ ...(call.args[0] as GPUBufferDescriptor), usage: 3 }]));
    },
    'an exception': () => {
      throw new RangeError('injected');
    },
  };
  test.each(Object.entries(refusals))('where there is no memory for it, by %s', async (_, refuse) => {
    const bench = await open();
    bench.tap = (call) => (isOfBuffer(call, 'createBuffer') ? refuse(call, bench.lease) : call.proceed());
    for (const seed of [2, 3, 4]) expect(await bench.send(makeWords(2 * MIB, seed))).toBe(2 * MIB);
    expect([bench.made, bench.buffer]).toEqual([1, undefined]);
  });

  const strikes: Readonly<Record<string, (call: Call) => unknown>> = {
    mapAsync: () => Promise.reject(new DOMException('injected', 'OperationError')),
    getMappedRange: () => {
      throw new DOMException('injected', 'OperationError');
    },
    'mapAsync, at once': () => {
      throw new TypeError('injected');
    },
  };
  test.each(Object.entries(strikes))('where %s fails, and the next buffer is used', async (name, strike) => {
    const bench = await open();
    await bench.warm(2 * MIB);
    const method = name.split(',')[0] as string;
    bench.tap = (call) => (isOfBuffer(call, method) ? strike(call) : call.proceed());
    expect(await bench.send(makeWords(2 * MIB, 2))).toBe(method === 'mapAsync' ? 0 : 2 * MIB);
    expect(bench.buffer).toBeUndefined();
    bench.tap = (call) => call.proceed();
    await bench.warm(2 * MIB);
    expect(await bench.send(makeWords(2 * MIB, 3))).toBe(0);
    expect(bench.made).toBe(2);
  });

  test('where it is never mapped again: the device does not count as lost', async () => {
    const bench = await open();
    await bench.warm(2 * MIB);
    const clock = stopWatchClock();
    try {
      bench.tap = (call) => {
        const result = call.proceed();
        return isOfBuffer(call, 'mapAsync') ? new Promise(() => undefined) : result;
      };
      const to = { buffer: 'words' };
      for (const seed of [2, 3]) {
        const data = makeWords(2 * MIB, seed);
        const sent = await bench.upload([{ to, data }], data.byteLength);
        expect(areSame(sent.data[0], data)).toBe(true);
        await sleep(20);
        expect(clock.timers).toBe(0);
        await clock.advance(1_000_000);
      }
      expect([bench.runner.isLost, bench.written]).toEqual([false, 4 * MIB]);
    } finally {
      clock.restore();
    }
    // the wait is over with the runner
    bench.runner.destroy();
    benches.splice(0);
    expect(bench.lease.live).toBe(0);
    bench.lease.device.destroy();
  });
});

test('an idle wait fails with the device, and takes no time of other waits', async () => {
  const clock = stopWatchClock();
  try {
    const watch = new DeviceWatch(new Promise(() => undefined));
    const never = new Promise<never>(() => undefined);
    const idle = watch.wait(never, { what: 'nothing', kind: 'idle' }).catch(({ message }: Error) => message);
    expect(clock.timers).toBe(0);
    const late = watch.wait(never, { what: 'the work' }).catch(({ message }: Error) => message);
    expect(clock.timers).toBe(1);
    await clock.advance(20_000);
    expect(await Promise.all([idle, late])).toEqual(Array(2).fill(expect.stringContaining('the work took more')));
    expect(clock.timers).toBe(0);
  } finally {
    clock.restore();
  }
});
