/** Contract of the public API: inputs, results, rejected arguments, and the memory of an engine. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  bn254G1,
  encodePoints,
  encodeScalars,
  expectedMsm,
  groupOrder,
  INFINITY,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import {
  type AffinePoint,
  type Bases,
  createMsmEngine,
  type MsmEngine,
  type MsmEngineOptions,
  MsmError,
  type MsmErrorCode,
  type Progress,
} from '../../src/index.js';
import { openEngine, quick } from '../support/engines.js';
import { getDevice, getGpu } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { until } from '../support/time.js';

const r = groupOrder(bn254G1);
const n = 40;
const known = makeKnownBases(bn254G1, n, 21);
const scalars = makeRandomScalars(bn254G1, n, 22);
const scalarBytes = encodeScalars(bn254G1, scalars);
const expected = expectedMsm(bn254G1, known.logs, scalars);

/**
 * Checks code and message of a rejection. The message has to name what is wrong, so it is never
 * left out.
 */
const expectRefusal = async (call: () => Promise<unknown>, code: MsmErrorCode, message: RegExp): Promise<void> => {
  const outcome = await call().then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(MsmError);
  expect(outcome).toMatchObject({ name: 'MsmError', code, message: expect.stringMatching(message) });
};

/** For the tests that need nothing special: one engine, with the bases `known`. */
let engine: MsmEngine;
let bases: Bases;
beforeAll(async () => {
  engine = await openEngine();
  bases = await engine.loadBases(known.bytes);
});

const expectRight = async (): Promise<void> => {
  expect(await engine.msm(bases, scalars)).toEqual(expected);
};

describe('results of msm', () => {
  test('n = 0 gives infinity for all bases and offsets', async () => {
    const none = await engine.loadBases(new Uint8Array(0));
    expect(none.length).toBe(0);
    for (const empty of [[], new Uint8Array(0)]) {
      expect(await engine.msm(bases, empty)).toEqual(INFINITY);
      expect(await engine.msm(bases, empty, { offset: n })).toEqual(INFINITY);
      expect(await engine.msm(none, empty)).toEqual(INFINITY);
    }
    none.destroy();
  });

  test.each([1, 2, 3, 7, n])('n = %i is right, also for fewer scalars than bases', async (count) => {
    const few = scalars.slice(0, count);
    expect(await engine.msm(bases, few)).toEqual(expectedMsm(bn254G1, known.logs, few));
  });

  test.each([0, 1, 2, 3, 4, 5, n - 1, n])('offset %i is right', async (offset) => {
    const few = scalars.slice(0, n - offset);
    const shifted = expectedMsm(bn254G1, known.logs.slice(offset), few);
    expect(await engine.msm(bases, few, { offset })).toEqual(shifted);
  });

  test('an offset in the middle is right, with bases left over on both sides', async () => {
    const few = scalars.slice(0, 5);
    expect(await engine.msm(bases, few, { offset: 13 })).toEqual(expectedMsm(bn254G1, known.logs.slice(13), few));
  });

  test('scalars from the order upwards are reduced', async () => {
    const large = [r, r + 1n, 2n * r, 2n ** 256n - 1n, 2n ** 255n, 5n * r + 4n, r - 1n];
    const reduced = expectedMsm(bn254G1, known.logs, large);
    expect(await engine.msm(bases, large)).toEqual(reduced);
    expect(await engine.msm(bases, encodeScalars(bn254G1, large))).toEqual(reduced);
    expect(await engine.msm(bases, [r, 0n, 3n * r])).toEqual(INFINITY);
  });

  test('a sum that cancels is infinity, with x and y 0', async () => {
    const pair = await engine.loadBases([known.points[0] as AffinePoint, known.points[0] as AffinePoint]);
    expect(await engine.msm(pair, [3n, r - 3n])).toEqual({ x: 0n, y: 0n, infinity: true });
    pair.destroy();
  });
});

describe('forms of the input give the same result', () => {
  test('bigints and bytes, in views of any offset and kind of buffer', async () => {
    const forms: [string, Uint8Array | readonly bigint[]][] = [
      ['bigints', scalars],
      ['frozen bigints', Object.freeze([...scalars])],
      ['bytes', scalarBytes],
      ['a Buffer', Buffer.from(scalarBytes)],
    ];
    for (const start of [1, 2, 3, 5, 31]) {
      const unaligned = new Uint8Array(new ArrayBuffer(scalarBytes.length + 64), start, scalarBytes.length);
      unaligned.set(scalarBytes);
      forms.push([`bytes from ${start} on`, unaligned]);
    }
    const shared = new Uint8Array(new SharedArrayBuffer(scalarBytes.length));
    shared.set(scalarBytes);
    forms.push(['shared bytes', shared]);
    for (const [name, form] of forms) expect(await engine.msm(bases, form), name).toEqual(expected);
  });

  test('points and their bytes, aligned or not, with infinities', async () => {
    const points = known.points.map((point, i) => (i % 3 === 1 ? INFINITY : point));
    const logs = known.logs.map((log, i) => (i % 3 === 1 ? 0n : log));
    const right = expectedMsm(bn254G1, logs, scalars);
    const bytes = encodePoints(bn254G1, points);
    const unaligned = new Uint8Array(new ArrayBuffer(bytes.length + 8), 1, bytes.length);
    unaligned.set(bytes);
    // what stands next to `infinity: true` means nothing
    const withRubbish = points.map((point) => (point.infinity ? { x: -5n, y: 2n ** 300n, infinity: true } : point));
    for (const form of [points, withRubbish, bytes, unaligned, Buffer.from(bytes)]) {
      const loaded = await engine.loadBases(form);
      expect(loaded.length).toBe(n);
      expect(await engine.msm(loaded, scalars)).toEqual(right);
      loaded.destroy();
    }
  });

  test('changes of the arrays after the call have no effect', async () => {
    const ownPoints = known.bytes.slice();
    const loading = engine.loadBases(ownPoints);
    ownPoints.fill(1);
    const loaded = await loading;
    const ownBytes = scalarBytes.slice();
    const ownBigints = [...scalars];
    const calls = [engine.msm(loaded, ownBytes), engine.msm(loaded, ownBigints)];
    ownBytes.fill(255);
    ownBigints.fill(7n);
    expect(await Promise.all(calls)).toEqual([expected, expected]);
    loaded.destroy();
  });
});

test('calls of many scalars, side by side and one after the other, each have their own copy', async () => {
  const count = 2100;
  const many = makeKnownBases(bn254G1, count, 35);
  const own = await openEngine();
  const loaded = await own.loadBases(many.bytes);
  for (let round = 0; round < 3; round++) {
    const controller = new AbortController();
    const ended = own.msm(loaded, new Uint8Array(32 * count).fill(5), { signal: controller.signal });
    const calls = [0, 1].map(async (k) => {
      // short ones, of which additions take less
      const values = makeRandomScalars(bn254G1, count, 100 + 2 * round + k).map((value) => value % 2n ** 40n);
      const bytes = encodeScalars(bn254G1, values);
      const sum = own.msm(loaded, bytes);
      bytes.fill(1);
      expect(await sum).toEqual(expectedMsm(bn254G1, many.logs, values));
    });
    controller.abort();
    await expect(ended).rejects.toMatchObject({ code: 'aborted' });
    await Promise.all(calls);
  }
});

describe('wrong arguments are rejected before any work, and leave the engine usable', () => {
  const point = known.points[0] as AffinePoint;
  const offCurve = { ...point, y: point.y + 1n };
  /** The bytes of the known points, with one coordinate replaced. */
  const withCoordinate = (i: number, coordinate: 0 | 1, value: bigint): Uint8Array => {
    const bytes = known.bytes.slice();
    bytes.set(encodeScalars(bn254G1, [value]), 64 * i + 32 * coordinate);
    return bytes;
  };
  const both = (first: [number, bigint], second: [number, bigint]): Uint8Array => {
    const bytes = withCoordinate(first[0], 0, first[1]);
    bytes.set(encodeScalars(bn254G1, [second[1]]), 64 * second[0]);
    return bytes;
  };
  const untyped = (value: unknown) => value as never;
  /** An array with a hole, which forEach and map pass over. */
  const withHole = <Item>(item: Item): Item[] => {
    const items = [item, item, item];
    delete items[1];
    return items;
  };

  test.each<[string, unknown, MsmErrorCode, RegExp]>([
    ['undefined', undefined, 'bad-argument', /^points must be .* got undefined/],
    ['null', null, 'bad-argument', /^points must be .* got null/],
    ['a string', 'points', 'bad-argument', /^points must be .* got string/],
    ['an ArrayBuffer of half a point', new ArrayBuffer(32), 'bad-argument', /^points: 32 bytes are not a whole number/],
    ['a Uint32Array of a point and a word', new Uint32Array(17), 'bad-argument', /^points: 68 bytes are not a whole/],
    ['a byte too few', known.bytes.subarray(1), 'bad-argument', /^points: 2559 bytes .* 64 bytes/],
    ['a byte too many', new Uint8Array(65), 'bad-argument', /^points: 65 bytes .* 64 bytes/],
    ['half a point', new Uint8Array(32), 'bad-argument', /^points: 32 bytes .* 64 bytes/],
    ['null as a point', [point, null], 'bad-argument', /^points\[1\] must be .* got null/],
    ['a hole', withHole(point), 'bad-argument', /^points\[1\] must be .* got undefined/],
    ['numbers as coordinates', [{ x: 1, y: 2, infinity: false }], 'bad-argument', /^points\[0\]\.x .* got number/],
    ['no y', [point, { x: 1n, infinity: false }], 'bad-argument', /^points\[1\]\.y must be a bigint, got undefined/],
    ['x = p', [point, point, { ...point, x: bn254.p }], 'bad-argument', /^points\[2\]\.x must be in \[0, p\)/],
    ['y < 0', [{ ...point, y: -1n }], 'bad-argument', /^points\[0\]\.y must be in \[0, p\)/],
    ['(0, 0) as a point', [point, { x: 0n, y: 0n, infinity: false }], 'bad-argument', /^points\[1\] is \(0, 0\)/],
    ['a point off the curve', [point, offCurve, offCurve], 'not-on-curve', /^points\[1\] is not on bn254/],
    ['(0, y)', [point, { x: 0n, y: 1n, infinity: false }], 'not-on-curve', /^points\[1\]/],
    ['(x, 0)', [{ x: 1n, y: 0n, infinity: false }], 'not-on-curve', /^points\[0\]/],
    ['bytes of (0, y)', withCoordinate(5, 0, 0n), 'not-on-curve', /^points\[5\]/],
    ['bytes of (x, 0)', withCoordinate(6, 1, 0n), 'not-on-curve', /^points\[6\]/],
    ['bytes off the curve, first', withCoordinate(0, 1, 5n), 'not-on-curve', /^points\[0\]/],
    ['bytes off the curve, last', withCoordinate(n - 1, 1, 5n), 'not-on-curve', new RegExp(`^points\\[${n - 1}\\]`)],
    ['bytes of x = p', withCoordinate(7, 0, bn254.p), 'bad-argument', /^points\[7\]: .* prime of bn254/],
    ['bytes of y = p', withCoordinate(7, 1, bn254.p), 'bad-argument', /^points\[7\]/],
    ['bytes of x + p', withCoordinate(8, 0, (known.points[8] as AffinePoint).x + bn254.p), 'bad-argument', /\[8\]/],
    ['bytes of y = 2^256 − 1', withCoordinate(9, 1, 2n ** 256n - 1n), 'bad-argument', /^points\[9\]/],
    ['bytes of x = 0, y = p', both([0, bn254.p], [0, bn254.p]), 'bad-argument', /^points\[0\]/],
    ['two off the curve', both([11, 1n], [30, 1n]), 'not-on-curve', /^points\[11\]/],
    ['off the curve before x ≥ p', both([3, 1n], [4, bn254.p]), 'not-on-curve', /^points\[3\]/],
    ['x ≥ p before off the curve', both([3, bn254.p], [4, 1n]), 'bad-argument', /^points\[3\]/],
  ])('loadBases: %s', async (_, points, code, message) => {
    const before = engine.memory;
    await expectRefusal(() => engine.loadBases(untyped(points)), code, message);
    expect(engine.memory.bases).toBe(before.bases);
    await expectRight();
  });

  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /^scalars must be .* got undefined/],
    ['null', null, /^scalars must be .* got null/],
    ['a string', '1', /^scalars must be .* got string/],
    ['an ArrayBuffer of half a scalar', new ArrayBuffer(16), /^scalars: 16 bytes are not a whole number/],
    ['a Uint32Array of a scalar and a word', new Uint32Array(9), /^scalars: 36 bytes are not a whole number/],
    ['a BigUint64Array one word short', new BigUint64Array(3), /^scalars: 24 bytes are not a whole number/],
    ['31 bytes', new Uint8Array(31), /^scalars: 31 bytes .* 32 bytes/],
    ['33 bytes', new Uint8Array(33), /^scalars: 33 bytes .* 32 bytes/],
    ['numbers', [1n, 2], /^scalars\[1\] must be a bigint, got number/],
    ['a hole', withHole(1n), /^scalars\[1\] must be a bigint, got undefined/],
    ['−1', [0n, 0n, -1n], /^scalars\[2\] must be in \[0, 2\^256\)/],
    ['2^256', [2n ** 256n], /^scalars\[0\] must be in \[0, 2\^256\)/],
    ['one more than there are bases', new Array(n + 1).fill(1n), /^scalars: 41 of them, .* only 40 bases/],
    ['one more, as bytes', new Uint8Array(32 * (n + 1)), /^scalars: 41 of them, .* only 40 bases/],
  ])('msm, scalars: %s', async (_, wrong, message) => {
    await expectRefusal(() => engine.msm(bases, untyped(wrong)), 'bad-argument', message);
    await expectRight();
  });

  test.each<[string, unknown, RegExp]>([
    ['−1', -1, /^offset must be an integer/],
    ['a half', 0.5, /^offset must be an integer/],
    ['NaN', Number.NaN, /^offset must be an integer/],
    ['infinite', Number.POSITIVE_INFINITY, /^offset must be an integer/],
    ['a string', '1', /^offset must be an integer/],
    ['a bigint', 1n, /^offset must be an integer/],
    ['beyond the bases', n + 1, /^offset must be .* 0 to bases\.length = 40, got 41/],
    ['too far for so many scalars', 39, /^scalars: 2 of them, but from offset 39 there are only 1/],
  ])('msm, offset: %s', async (_, offset, message) => {
    await expectRefusal(() => engine.msm(bases, [1n, 1n], { offset: untyped(offset) }), 'bad-argument', message);
    await expectRight();
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['bytes', known.bytes],
    ['what looks like bases', { length: 40, byteLength: 2560, destroy: () => undefined }],
  ])('msm, bases: %s', async (_, wrong) => {
    await expectRefusal(() => engine.msm(untyped(wrong), scalars), 'bad-argument', /^bases must come from loadBases/);
    await expectRight();
  });

  test('msm rejects bases of another engine on the same device, and destroyed ones', async () => {
    const other = await openEngine();
    const foreign = await other.loadBases(known.bytes);
    await expectRefusal(() => engine.msm(foreign, scalars), 'bad-argument', /loadBases of this engine/);
    await expectRefusal(() => other.msm(bases, scalars), 'bad-argument', /loadBases of this engine/);
    expect(await other.msm(foreign, scalars)).toEqual(expected);
    other.destroy();

    const destroyed = await engine.loadBases(known.bytes, { label: 'the old ones' });
    destroyed.destroy();
    destroyed.destroy();
    expect(destroyed.byteLength).toBe(0);
    await expectRefusal(() => engine.msm(destroyed, scalars), 'destroyed', /'the old ones'/);
    // not even with nothing to compute
    await expectRefusal(() => engine.msm(destroyed, []), 'destroyed', /'the old ones'/);
    await expectRight();
  });

  test('bases destroyed during a multiplication reject the call, and the engine stays usable', async () => {
    const own = await openEngine({ tuning: { windowBits: 8, additionsPerSubmit: 1024 } });
    const loaded = await own.loadBases(known.bytes, { label: 'gone' });
    for (const moment of [1, 2]) {
      const gone = await own.loadBases(known.bytes, { label: 'gone' });
      const onProgress = ({ done }: Progress): void => {
        if (done === moment) gone.destroy();
      };
      const call = () => own.msm(gone, scalars, { onProgress });
      // after the last submit nothing needs them any more
      if (moment < 2) await expectRefusal(call, 'destroyed', /'gone'/);
      else expect(await call()).toEqual(expected);
    }
    expect(gpuRunOf(own).submits).toBe(3);
    expect(await own.msm(loaded, scalars)).toEqual(expected);
    expect(own.memory.bases).toBe(64 * n);
  });

  test('a callback that throws rejects its own call and no other', async () => {
    const boom = new Error('from the callback');
    const onProgress = () => {
      throw boom;
    };
    const before = engine.memory.bases;
    const [load, first, second] = await Promise.allSettled([
      engine.loadBases(known.bytes, { onProgress }),
      engine.msm(bases, scalars, { onProgress }),
      engine.msm(bases, scalars),
    ]);
    expect(load).toEqual({ status: 'rejected', reason: boom });
    expect(first).toEqual({ status: 'rejected', reason: boom });
    expect(second).toEqual({ status: 'fulfilled', value: expected });
    expect(engine.memory.bases).toBe(before);
  });

  test('an aborted signal rejects the call, with its reason as the cause', async () => {
    const signal = AbortSignal.abort('enough');
    for (const call of [
      () => engine.msm(bases, scalars, { signal }),
      () => engine.loadBases(known.bytes, { signal }),
      () => engine.msm(bases, [], { signal }),
    ]) {
      await expectRefusal(call, 'aborted', /aborted/);
      await expect(call()).rejects.toMatchObject({ cause: 'enough' });
    }
    await expectRight();
  });
});

describe('createMsmEngine refuses', () => {
  const fails = async (options: unknown, code: MsmErrorCode, message: RegExp): Promise<void> => {
    const device = await getDevice();
    const given = typeof options === 'object' && options !== null ? { device, ...options } : options;
    await expectRefusal(() => createMsmEngine(given as MsmEngineOptions), code, message);
  };

  test.each([undefined, null, 'bn254', 7])('%s instead of options', (options) =>
    fails(options, 'bad-argument', /^options must be an object/),
  );

  test.each([undefined, null, '', 'Bn254', 'bn256', '__proto__', 'toString', 254])('curve: %s', (curve) =>
    fails({ curve }, 'bad-argument', /^curve: .* unknown; give one of bn254/),
  );

  test.each<[string, object, RegExp]>([
    ['an even p', { p: bn254.p - 1n }, /'bn254': modulus/],
    ['a p of 416 bits', { p: 2n ** 415n + 1n }, /'bn254': .*416-bit/],
    // (6k + 1)(12k + 1)(18k + 1) is one where all three are primes: Chernick (1939)
    [
      'a Carmichael number for p',
      { p: 6_000_307n * 12_000_613n * 18_000_919n },
      /'bn254': p must be a prime, but \d+ is not/,
    ],
    ['the product of two primes for p', { p: bn254.p * 65_537n }, /'bn254': p must be a prime/],
    ['a ≥ p', { a: bn254.p }, /a must be in \[0, p\)/],
    ['a < 0', { a: -3n }, /a must be in \[0, p\)/],
    ['b = 0', { b: 0n }, /b = 0/],
    ['b ≥ p', { b: bn254.p + 3n }, /b must be in \[0, p\)/],
    ['an order of 257 bits', { order: 2n ** 256n }, /order must be/],
    ['an order of 1', { order: 1n }, /order must be/],
    ['a generator off the curve', { generator: { x: 1n, y: 3n } }, /generator is not on the curve/],
    [
      'a generator that is not canonical',
      { generator: { x: 1n, y: 2n + bn254.p } },
      /generator\.y must be in \[0, p\)/,
    ],
    ['p for its order', { order: bn254.p }, /order times the generator must be infinity/],
    ['an order that is one too large', { order: bn254.order + 1n }, /order times the generator must be infinity/],
  ])('a curve with %s', (_, constants, message) =>
    fails({ curve: { ...bn254, ...constants } }, 'bad-argument', message),
  );

  // modulo both primes, which are 2 modulo 3, a curve without a has one point more than the prime:
  // all else fits
  test('a curve over a composite p with a valid order, on which square roots never end', async () => {
    const [one, other] = [2_147_483_579n, 2_147_483_549n];
    const p = one * other;
    const order = (one + 1n) * (other + 1n);
    const curve = { name: 'composite', p, order, a: 0n, b: p - 76n, generator: { x: 5n, y: 7n } };
    await fails({ curve }, 'bad-argument', /^curve 'composite': p must be a prime, but 4611685657650141871 is not$/);
    await fails({ curve, backend: 'cpu' }, 'bad-argument', /p must be a prime/);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '8e6', null, 8n])('memoryBudget: %s', (memoryBudget) =>
    fails({ curve: 'bn254', memoryBudget }, 'bad-argument', /^memoryBudget must be a positive integer/),
  );

  test.each<[object, RegExp]>([
    [{ windowBits: 1 }, /^tuning\.windowBits must be an integer from 2 to 16, got 1/],
    [{ windowBits: 17 }, /^tuning\.windowBits .* got 17/],
    [{ windowBits: 8.5 }, /^tuning\.windowBits .* got 8.5/],
    [{ windowBits: '8' }, /^tuning\.windowBits .* got '8'/],
    [{ windowBits: null }, /^tuning\.windowBits .* got null/],
    [{ walkerSlots: 0 }, /^tuning\.walkerSlots must be an integer from 1/],
    [{ walkerSlots: 65 }, /^tuning\.walkerSlots .* got 65/],
    [{ walkerThreadsPerWorkgroup: 257 }, /^tuning\.walkerThreadsPerWorkgroup .* to 256, got 257/],
    [{ walkerTasks: 0 }, /^tuning\.walkerTasks/],
    [{ walkerEntriesPerTask: 2 ** 16 + 1 }, /^tuning\.walkerEntriesPerTask/],
    [{ walkerLeastThreads: Number.NaN }, /^tuning\.walkerLeastThreads/],
    [{ sortThreadsPerWorkgroup: 129 }, /^tuning\.sortThreadsPerWorkgroup/],
    [{ sortEntriesPerThread: 257 }, /^tuning\.sortEntriesPerThread/],
    [{ cpuBelow: -1 }, /^tuning\.cpuBelow must be an integer from 0/],
    [{ cpuBelow: 2 ** 16 + 1 }, /^tuning\.cpuBelow .* got 65537/],
    [{ walkerPrefixMemory: 'shared' }, /^tuning\.walkerPrefixMemory must be 'private' or 'workgroup', got 'shared'/],
    [{ checks: true }, /^tuning\.checks is not an option of tuning; there are /],
    [{ windowbits: 8 }, /^tuning\.windowbits is not an option of tuning; did you mean windowBits\?$/],
    [{ toString: 8 }, /^tuning\.toString is not an option of tuning; there are /],
  ])('tuning %j', (wrong, message) => fails({ curve: 'bn254', tuning: wrong }, 'bad-argument', message));

  test('an environment without WebGPU, and one without an adapter', async () => {
    // Node has a navigator, which has no gpu
    await expectRefusal(
      () => createMsmEngine({ curve: 'bn254', backend: 'gpu' }),
      'no-webgpu',
      /pass Dawn.s object as `gpu`/,
    );
    const gpu = { requestAdapter: async () => null } as unknown as GPU;
    await expectRefusal(() => createMsmEngine({ curve: 'bn254', backend: 'gpu', gpu }), 'no-webgpu', /no adapter/);
  });

  test('an adapter that makes no device', async () => {
    const refusal = new Error('no device today');
    const adapter = {
      features: new Set(),
      limits: {},
      info: {},
      requestDevice: async () => {
        throw refusal;
      },
    };
    const gpu = { requestAdapter: async () => adapter } as unknown as GPU;
    await expectRefusal(
      () => createMsmEngine({ curve: 'bn254', backend: 'gpu', gpu }),
      'unsupported-device',
      /no device today/,
    );
    await expect(createMsmEngine({ curve: 'bn254', backend: 'gpu', gpu })).rejects.toMatchObject({ cause: refusal });
  });

  test('a budget below one scalar rejects when it is used, and the engine keeps rejecting', async () => {
    const tight = await openEngine({ memoryBudget: 4096 });
    const loaded = await tight.loadBases(known.bytes);
    for (let i = 0; i < 2; i++) {
      await expectRefusal(() => tight.msm(loaded, scalars), 'bad-argument', /^memoryBudget: .* raise the budget/);
    }
    expect(await tight.msm(loaded, [])).toEqual(INFINITY);
    expect(tight.memory.peak).toBeLessThanOrEqual(4096);
  });
});

describe('the memory of an engine', () => {
  test('counts bases while they exist; scratch is constant from run to run; all is 0 in the end', async () => {
    const own = await openEngine();
    expect(own.memory).toEqual({ bases: 0, scalars: 0, scratch: 0, peak: 0 });
    const [a, b] = [await own.loadBases(known.bytes), await own.loadBases(known.points.slice(0, 10))];
    expect([a.length, a.byteLength, b.length, b.byteLength]).toEqual([n, 64 * n, 10, 640]);
    expect(own.memory.bases).toBe(64 * n + 640);
    await own.msm(a, scalars);
    const { scratch, peak } = own.memory;
    expect(scratch).toBeGreaterThan(0);
    expect(peak).toBeGreaterThanOrEqual(scratch);
    // smaller calls reuse the buffers of larger ones, and larger ones are not made larger again
    for (const count of [n, 1, 7, n, 0, 2, n]) {
      await own.msm(a, scalars.slice(0, count));
    }
    const settled = own.memory;
    for (const count of [n, 1, 7, n, 0, 2, n]) {
      expect(await own.msm(a, scalars.slice(0, count))).toEqual(
        expectedMsm(bn254G1, known.logs, scalars.slice(0, count)),
      );
      expect(own.memory).toEqual(settled);
    }
    await own.loadBases(withOneWrong()).catch(() => undefined);
    expect(own.memory).toEqual(settled);
    b.destroy();
    b.destroy();
    expect(own.memory.bases).toBe(64 * n);
    own.destroy();
    expect(own.memory).toEqual({ bases: 0, scalars: 0, scratch: 0, peak: settled.peak });
    a.destroy();
    expect(own.memory.bases).toBe(0);
  });

  const withOneWrong = (): Uint8Array => {
    const bytes = known.bytes.slice();
    bytes[64 * 3] = (bytes[64 * 3] as number) ^ 1;
    return bytes;
  };

  test('equals the buffers that the device made, and every one of them is destroyed', async () => {
    const device = await getDevice();
    const alive = new Map<GPUBuffer, number>();
    const original = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const buffer = original(descriptor);
      alive.set(buffer, buffer.size);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        alive.delete(buffer);
        return destroy();
      };
      return buffer;
    };
    const bytes = (): number => [...alive.values()].reduce((sum, size) => sum + size, 0);
    const own = await openEngine({ device });
    const check = (): void => expect(own.memory.bases + own.memory.scratch).toBe(bytes());
    const loaded = await own.loadBases(known.bytes);
    check();
    await own.msm(loaded, scalars);
    check();
    const buffers = alive.size;
    await own.loadBases(withOneWrong()).catch(() => undefined);
    await own.msm(loaded, scalars.slice(3));
    await own.msm(loaded, scalars);
    check();
    expect(alive.size).toBe(buffers);
    own.destroy();
    expect(alive.size).toBe(0);
    Reflect.deleteProperty(device, 'createBuffer'); // the prototype's again
  });
});

describe('lastRun', () => {
  test('is null before the first MSM, and describes the last one', async () => {
    const own = await openEngine();
    expect(own.lastRun).toBeNull();
    const loaded = await own.loadBases(known.bytes);
    expect(await own.msm(loaded, [])).toEqual(INFINITY);
    expect(own.lastRun).toBeNull();
    const started = performance.now();
    await own.msm(loaded, scalars);
    const run = gpuRunOf(own);
    expect(run.wallMs).toBeGreaterThan(0);
    expect(run.wallMs).toBeLessThanOrEqual(performance.now() - started);
    expect(run.n).toBe(n);
    expect(run.windows).toBe(Math.ceil(255 / run.windowBits));
    expect(run.tasks).toBeGreaterThan(0);
    expect(run.dispatches).toBeLessThanOrEqual(25);
    expect(run.submits).toBe(1);
    // the device of these tests was requested without timestamps
    expect(run.phases).toBeNull();
    expect(run.tuning).toMatchObject({ ...quick, windowBits: run.windowBits });
    expect(Object.values(run.tuning)).not.toContain(undefined);
    expect(run.adapter).toEqual(own.adapter);
    expect(own.adapter.description + own.adapter.vendor + own.adapter.architecture).not.toBe('');

    // refused and failed calls leave it as it is
    await own.msm(loaded, [-1n]).catch(() => undefined);
    expect(own.lastRun).toBe(run);
    await own.msm(loaded, scalars.slice(0, 2));
    expect(own.lastRun?.n).toBe(2);
    own.destroy();
    expect(own.lastRun?.n).toBe(2);
  });

  test('has the time of every phase if the device has timestamps', { tags: 'long' }, async () => {
    // an engine that requests its own device asks for them
    const gpu = await getGpu();
    const offered = (await gpu.requestAdapter())?.features.has('timestamp-query') === true;
    const own = await openEngine({ gpu });
    const loaded = await own.loadBases(known.bytes);
    expect(await own.msm(loaded, scalars)).toEqual(expected);
    const { phases, wallMs } = gpuRunOf(own);
    expect(phases === null).toBe(!offered);
    if (phases === null) return;
    const names = ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce', 'combine windows (CPU)'];
    expect(phases.map(({ name }) => name)).toEqual(names);
    const total = phases.reduce((sum, { ms }) => sum + ms, 0);
    for (const { ms } of phases) expect(ms).toBeGreaterThanOrEqual(0);
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThanOrEqual(wallMs + 1);
  });
});

describe('chunks', () => {
  const keepsToBudget = async (count: number, megabytes: number): Promise<void> => {
    const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupStorageSize } = (await getDevice()).limits;
    expect([maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupStorageSize]).toEqual([
      2 ** 27,
      2 ** 28,
      2 ** 14,
    ]);
    const many = makeKnownBases(bn254G1, count, 31);
    const values = makeRandomScalars(bn254G1, count, 32);
    const memoryBudget = megabytes * 1_000_000;
    const own = await openEngine({ memoryBudget });
    const loaded = await own.loadBases(many.bytes);
    const progress: Progress[] = [];
    const onProgress = (p: Progress): void => void progress.push(p);
    expect(await own.msm(loaded, values, { onProgress })).toEqual(expectedMsm(bn254G1, many.logs, values));
    const chunks = gpuRunOf(own).submits;
    expect(chunks).toBeGreaterThan(1);
    expect(own.lastRun?.n).toBe(count);
    expect(gpuRunOf(own).dispatches).toBeLessThanOrEqual(25 * chunks);
    expect(progress).toEqual(Array.from({ length: chunks + 1 }, (_, done) => ({ phase: 'msm', done, total: chunks })));
    expect(own.memory.peak).toBeLessThanOrEqual(memoryBudget);

    // a call of another shape, and then from an offset: the same budget, and right
    expect(await own.msm(loaded, values.slice(0, 9), { offset: 5 })).toEqual(
      expectedMsm(bn254G1, many.logs.slice(5), values.slice(0, 9)),
    );
    const later = values.slice(count >> 1);
    expect(await own.msm(loaded, later, { offset: 1 })).toEqual(expectedMsm(bn254G1, many.logs.slice(1), later));
    expect(own.memory.peak).toBeLessThanOrEqual(memoryBudget);
  };
  const title = 'n = %i in %i MB, on a device with no more than the limits that every device has';
  test.each([[4097, 2]])(title, keepsToBudget);
  test.each([
    [8192, 4],
    [16_384, 8],
  ])(title, { tags: 'long' }, keepsToBudget);

  test('a device that binds 64 KB at a time gets slices of bases and chunks of scalars, and errors name the global index', async () => {
    const real = await getDevice();
    // no device binds so little; the engine believes what the limits say
    const small = { maxStorageBufferBindingSize: 2 ** 16, maxBufferSize: 2 ** 20 };
    const limits = new Proxy(real.limits, {
      get: (target, name) =>
        Object.hasOwn(small, name) ? small[name as keyof typeof small] : Reflect.get(target, name, target),
    });
    const bound: number[] = [];
    const device = new Proxy(real, {
      get: (target, name) => {
        if (name === 'limits') return limits;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (name === 'createBindGroup') {
            for (const { resource } of [...(given[0] as GPUBindGroupDescriptor).entries]) {
              bound.push((resource as GPUBufferBinding).size as number);
            }
          }
          return value.apply(target, given);
        };
      },
    });
    const count = 2100;
    const many = makeKnownBases(bn254G1, count, 33);
    const values = makeRandomScalars(bn254G1, count, 34);
    const own = await openEngine({ device });
    const progress: Progress[] = [];
    const loaded = await own.loadBases(many.bytes, { onProgress: (p) => void progress.push(p) });
    // 1024 points of 64 bytes
    expect(progress).toEqual([0, 1, 2, 3].map((done) => ({ phase: 'load', done, total: 3 })));
    expect(await own.msm(loaded, values)).toEqual(expectedMsm(bn254G1, many.logs, values));
    expect(await own.msm(loaded, values.slice(7), { offset: 7 })).toEqual(
      expectedMsm(bn254G1, many.logs.slice(7), values.slice(7)),
    );
    expect(Math.max(...bound)).toBeLessThanOrEqual(2 ** 16);
    for (const index of [1023, 1024, 2099]) {
      const wrong = many.bytes.slice();
      wrong[64 * index + 40] = (wrong[64 * index + 40] as number) ^ 1;
      await expectRefusal(() => own.loadBases(wrong), 'not-on-curve', new RegExp(`^points\\[${index}\\]`));
      wrong.fill(255, 64 * index, 64 * index + 32);
      await expectRefusal(() => own.loadBases(wrong), 'bad-argument', new RegExp(`^points\\[${index}\\]`));
    }
  });

  test('a budget of exactly the memory of a call is enough, and is not exceeded', async () => {
    const first = await openEngine();
    const loaded = await first.loadBases(known.bytes);
    await first.msm(loaded, scalars);
    const { peak } = first.memory;
    const { windowBits } = gpuRunOf(first);
    first.destroy();
    // 64 bytes for what the planner may round up: queries of a device that has timestamps
    for (const [memoryBudget, submits] of [
      [peak + 512, 1],
      [peak - 64, 2],
    ] as const) {
      const own = await openEngine({ memoryBudget, tuning: { windowBits } });
      const again = await own.loadBases(known.bytes);
      expect(await own.msm(again, scalars)).toEqual(expected);
      expect(gpuRunOf(own).submits).toBe(submits);
      expect(own.memory.peak).toBeLessThanOrEqual(memoryBudget);
    }
  });
});

describe('concurrent calls', () => {
  test('on one engine are each right, also beside failing ones', async () => {
    const calls = Array.from({ length: 12 }, (_, i) => {
      const few = scalars.slice(0, 1 + 3 * i).map((scalar) => scalar ^ BigInt(i));
      return { few, offset: i % 3, expected: expectedMsm(bn254G1, known.logs.slice(i % 3), few) };
    });
    const started = calls.flatMap(({ few, offset }, i) => [
      engine.msm(bases, few, { offset }),
      ...(i % 4 === 1 ? [engine.msm(bases, [-1n]), engine.loadBases(known.bytes.subarray(1))] : []),
      ...(i % 4 === 3 ? [engine.loadBases(known.bytes)] : []),
    ]);
    const outcomes = await Promise.allSettled(started);
    const fulfilled = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const results = fulfilled.filter((value): value is AffinePoint => 'infinity' in value);
    expect(results).toEqual(calls.map((call) => call.expected));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(6);
    for (const value of fulfilled) if ('destroy' in value) value.destroy();
  });

  test('of two engines on one device do not disturb each other, and one engine outlives the other', async () => {
    const [left, right] = [await openEngine(), await openEngine({ tuning: { windowBits: 7 } })];
    const [ofLeft, ofRight] = await Promise.all([left.loadBases(known.bytes), right.loadBases(known.bytes)]);
    const rounds = Array.from({ length: 4 }, () => [left.msm(ofLeft, scalars), right.msm(ofRight, scalarBytes)]).flat();
    expect(await Promise.all(rounds)).toEqual(rounds.map(() => expected));
    const pending = right.msm(ofRight, scalars);
    left.destroy();
    expect(await pending).toEqual(expected);
    expect(await right.msm(ofRight, scalars)).toEqual(expected);
    right.destroy();
    await expectRight();
  });
});

describe("the caller's device", () => {
  test('stays as it was: alive, with its own handlers and methods, its error scopes empty', async () => {
    const device = await getDevice();
    const { label } = device;
    const handler = (): void => undefined;
    device.onuncapturederror = handler;
    const seen: string[] = [];
    device.addEventListener('uncapturederror', ({ error }) => seen.push(error.message));
    const properties = Object.getOwnPropertyNames(device);
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('internal');

    const own = await openEngine({ device });
    const loaded = await own.loadBases(known.bytes);
    expect(await own.msm(loaded, scalars)).toEqual(expected);
    await own.loadBases(new Uint8Array(64).fill(1)).catch(() => undefined);
    const last = own.msm(loaded, scalars);
    await last;
    own.destroy();
    await own.msm(loaded, scalars).catch(() => undefined);

    for (let i = 0; i < 3; i++) expect(await device.popErrorScope()).toBeNull();
    expect(seen).toEqual([]);
    expect(device.onuncapturederror).toBe(handler);
    expect(device.label).toBe(label);
    expect(Object.getOwnPropertyNames(device)).toEqual(properties);
    const state = await Promise.race([device.lost.then(() => 'lost'), Promise.resolve('alive')]);
    expect(state).toBe('alive');
    // and it computes: another engine on it finds everything as it should be
    const next = await openEngine({ device });
    expect(await next.msm(await next.loadBases(known.bytes), scalars)).toEqual(expected);
    next.destroy();
    device.onuncapturederror = null;
  });

  test('reports the caller’s own errors also while the engine works', async () => {
    const device = await getDevice();
    const own = await openEngine({ device });
    const loaded = await own.loadBases(known.bytes);
    device.pushErrorScope('validation');
    const call = own.msm(loaded, scalars);
    device.createBuffer({ label: 'a mistake of the caller’s', size: 4, usage: 0x0003 });
    expect(await call).toEqual(expected);
    expect(await device.popErrorScope()).toMatchObject({ message: expect.stringContaining('a mistake of the caller') });
  });
});

describe('the end of an engine', () => {
  test('a destroyed engine rejects all calls, and a second `destroy` does nothing', async () => {
    const own = await openEngine();
    const loaded = await own.loadBases(known.bytes);
    own.destroy();
    own.destroy();
    loaded.destroy();
    await expectRefusal(() => own.msm(loaded, scalars), 'destroyed', /engine was destroyed/);
    await expectRefusal(() => own.msm(loaded, []), 'destroyed', /engine was destroyed/);
    await expectRefusal(() => own.loadBases(known.bytes), 'destroyed', /engine was destroyed/);
  });

  test('engines and bases are disposable', async () => {
    const own = await openEngine();
    const loaded = await own.loadBases(known.bytes);
    loaded[Symbol.dispose]();
    await expectRefusal(() => own.msm(loaded, scalars), 'destroyed', /bases/);
    expect(own.memory.bases).toBe(0);
    own[Symbol.dispose]();
    await expectRefusal(() => own.loadBases(known.bytes), 'destroyed', /engine/);
  });

  /** Dawn's object, and the devices that it has made. */
  const watched = async (): Promise<{ gpu: GPU; made: GPUDevice[] }> => {
    const real = await getGpu();
    const made: GPUDevice[] = [];
    const requestAdapter = async (options?: GPURequestAdapterOptions) => {
      const adapter = (await real.requestAdapter(options)) as GPUAdapter;
      const requestDevice = async (descriptor?: GPUDeviceDescriptor) => {
        const device = await adapter.requestDevice(descriptor);
        made.push(device);
        return device;
      };
      return { features: adapter.features, limits: adapter.limits, info: adapter.info, requestDevice };
    };
    return { gpu: { requestAdapter } as unknown as GPU, made };
  };

  test('destroying an engine destroys the device that it requested', async () => {
    const { gpu, made } = await watched();
    const own = await openEngine({ gpu });
    own.destroy();
    expect(made).toHaveLength(1);
    expect(await made[0]?.lost).toMatchObject({ reason: 'destroyed' });
  });

  test('bases that are destroyed while they move to a new device are freed there', { tags: 'long' }, async () => {
    const { gpu, made } = await watched();
    const own = await openEngine({ gpu });
    const loaded = await own.loadBases(known.bytes, { label: 'gone' });
    made[0]?.destroy();
    await made[0]?.lost;
    const call = expectRefusal(() => own.msm(loaded, scalars), 'destroyed', /'gone'/);
    await until(() => own.memory.scratch > 0 && made.length === 2);
    loaded.destroy();
    await call;
    expect(own.memory.bases).toBe(0);
  });
});
