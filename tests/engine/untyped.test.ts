/**
 * Arguments that untyped JavaScript may pass: errors name the argument, and the engine stays
 * usable.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { pointsIn, scalarsIn } from '../../dev/oracle/encodings.js';
import { bn254G1 } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Bases, createMsmEngine, type MsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { openEngine, quick } from '../support/engines.js';
import { getDevice } from '../support/gpu.js';

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 9, seed: 3 });
/** Sums of a few points are computed on the CPU. */
const tuning = { windowBits: 8, cpuBelow: 64 } as const;
let engine: MsmEngine;
let bases: Bases;

beforeAll(async () => {
  engine = await openEngine({ tuning });
  bases = await engine.loadBases(points.bytes);
});

const detached = (bytes: Uint8Array<ArrayBuffer>): Uint8Array => {
  const copy = bytes.slice();
  structuredClone(copy.buffer, { transfer: [copy.buffer] });
  return copy;
};

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['msm options null', () => engine.msm(bases, scalars.bytes, null as never), /options must be an object, got null/],
  ['msm options 5', () => engine.msm(bases, scalars.bytes, 5 as never), /options must be an object, got number/],
  ['msm signal {}', () => engine.msm(bases, scalars.bytes, { signal: {} as never }), /options\.signal/],
  ['msm onProgress 1', () => engine.msm(bases, scalars.bytes, { onProgress: 1 as never }), /options\.onProgress/],
  ['msm detached scalars', () => engine.msm(bases, detached(scalars.bytes)), /scalars.*transferred/],
  ['load options null', () => engine.loadBases(points.bytes, null as never), /options must be an object, got null/],
  ['load signal true', () => engine.loadBases(points.bytes, { signal: true as never }), /options\.signal/],
  ['load detached points', () => engine.loadBases(detached(points.bytes)), /points.*transferred/],
])('%s', async (_, call, message) => {
  await expect(call()).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
});

test.each<[string, object, string, RegExp]>([
  ['tuning null', { tuning: null }, 'bad-argument', /tuning must be an object/],
  ['tuning 5', { tuning: 5 }, 'bad-argument', /tuning must be an object/],
  ['retainBases yes', { retainBases: 'yes' }, 'bad-argument', /retainBases must be true or false/],
  ['device {}', { device: {} }, 'bad-argument', /device must be a GPUDevice/],
  ['device null', { device: null }, 'bad-argument', /device must be a GPUDevice/],
  ['gpu {}', { gpu: {} }, 'bad-argument', /gpu must be a GPU object/],
  [
    'gpu that refuses',
    { backend: 'gpu', gpu: { requestAdapter: () => Promise.reject(new Error('blocked by policy')) } },
    'no-webgpu',
    /blocked by policy/,
  ],
])('createMsmEngine: %s', async (_, options, code, message) => {
  await expect(createMsmEngine({ curve: 'bn254', ...options } as MsmEngineOptions)).rejects.toMatchObject({
    name: 'MsmError',
    code,
    message: expect.stringMatching(message),
  });
});

test('a view of a SharedArrayBuffer is accepted', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(scalars.bytes.length));
  shared.set(scalars.bytes);
  expect(await engine.msm(bases, shared)).toEqual(expected);
});

test.each<[string, object, RegExp]>([
  ['powerPreference', { powerPreference: 'turbo' }, /^powerPreference must be .* got 'turbo'/],
  ['memoryBudget', { memoryBudget: Symbol('much') }, /^memoryBudget .* got Symbol\(much\)/],
  ['retainBases', { retainBases: Object.create(null) }, /^retainBases .* got object/],
  ['tuning as a bigint', { tuning: { walkerPrefixMemory: 5n } }, /^tuning\.walkerPrefixMemory .* got 5/],
  ['tuning as a symbol', { tuning: { walkerSlots: Symbol('a few') } }, /^tuning\.walkerSlots .* got Symbol\(a few\)/],
  ['tuning as nothing', { tuning: { walkerSlots: Object.create(null) } }, /^tuning\.walkerSlots .* got object/],
  ['curve', { curve: Symbol('bn254') }, /^curve: Symbol\(bn254\) is unknown/],
])('createMsmEngine({ %s }) that cannot be spelt', async (_, options, message) => {
  const given = { curve: 'bn254', ...options } as unknown as MsmEngineOptions;
  await expect(createMsmEngine(given)).rejects.toMatchObject({
    code: 'bad-argument',
    message: expect.stringMatching(message),
  });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['more scalars than memory', () => engine.msm(bases, new Array(2 ** 32 - 1)), /^scalars: 4294967295 of them/],
  ['a proxy of bytes', () => engine.msm(bases, new Proxy(new Uint8Array(32), {})), /^scalars: .* cannot be read/],
  ['a symbol as offset', () => engine.msm(bases, [1n], { offset: Symbol('x') as never }), /^offset .* got Symbol\(x\)/],
  ['a symbol as label', () => engine.loadBases(points.bytes, { label: Symbol('x') as never }), /^options\.label/],
])('%s', async (_, call, message) => {
  await expect(call()).rejects.toMatchObject({
    name: 'MsmError',
    code: 'bad-argument',
    message: expect.stringMatching(message),
  });
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
});

class Odd<Item> extends Array<Item> {
  override *[Symbol.iterator](): ArrayIterator<Item> {}
  override entries = (): ArrayIterator<[number, Item]> => [][Symbol.iterator]();
  override map = (): never[] => [];
}
const odd = <Item>(items: readonly Item[]): Item[] => {
  const own = new Odd<Item>();
  for (const [i, item] of items.entries()) own[i] = item;
  return own;
};

test('arrays of a class with its own iterator are read by index', async () => {
  const loaded = await engine.loadBases(odd(points.points));
  expect(loaded.length).toBe(9);
  expect(await engine.msm(loaded, odd(scalars.values))).toEqual(expected);
  expect(await engine.msmBatch(loaded, odd([odd(scalars.values)]), { offsets: odd([0]) })).toEqual([expected]);
  const kept = await engine.loadScalars(odd(scalars.values));
  expect(await engine.msm(loaded, kept)).toEqual(expected);
  expect((await engine.plan(loaded, odd([9]))).bytes).toBeGreaterThan(0);
});

describe.each<[string, <Given extends object>(given: Given) => Given]>([
  ['a proxy', (given) => new Proxy(given, {})],
  ['an heir', (given) => Object.create(given)],
])('%s of a handle', (_, of) => {
  const refused = (message: RegExp) => ({
    name: 'MsmError',
    code: 'bad-argument',
    message: expect.stringMatching(message),
  });

  test('an invalid array of scalars is rejected', async () => {
    const kept = await engine.loadScalars(scalars.bytes);
    const other = of(kept);
    const rule = /^scalars must be what loadScalars returned, and not a proxy or a copy of it/;
    await expect(engine.msm(bases, other)).rejects.toMatchObject(refused(rule));
    const second = /^scalars\[1\] must be what loadScalars returned/;
    await expect(engine.msmBatch(bases, [kept, other])).rejects.toMatchObject(refused(second));
    await expect(engine.loadScalars(other as never)).rejects.toMatchObject(refused(/^scalars must be bytes/));
    await expect(engine.loadBases(other as never)).rejects.toMatchObject(refused(/^points must be bytes/));
    const own = refused(/^this is a proxy or a copy of a handle; call it on the handle itself/);
    for (const use of [() => other.byteLength, () => other.subarray(0, 1), () => other.destroy()])
      expect(use).toThrow(expect.objectContaining(own));
    expect(await engine.msm(bases, kept)).toEqual(expected);
  });

  test('an invalid array of bases is rejected', async () => {
    const onCpu = await openEngine({ backend: 'cpu', maxWorkers: 0 });
    for (const [each, kept] of [
      [engine, bases],
      [onCpu, await onCpu.loadBases(points.bytes)],
    ] as const) {
      const other = of(kept);
      const rule = /^bases must come from loadBases of this engine/;
      await expect(each.msm(other, scalars.bytes)).rejects.toMatchObject(refused(rule));
      await expect(each.msmBatch(other, [scalars.bytes])).rejects.toMatchObject(refused(rule));
      await expect(each.plan(other, 1)).rejects.toMatchObject(refused(rule));
      await expect(each.loadBases(other as never)).rejects.toMatchObject(refused(/^points must be bytes/));
      const own = refused(/^this is a proxy or a copy of a handle; call it on the handle itself/);
      expect(() => other.destroy()).toThrow(expect.objectContaining(own));
      expect(await each.msm(kept, scalars.bytes)).toEqual(expected);
    }
  });
});

test('an unknown encoding of scalars is rejected, also for loaded scalars, which need none', async () => {
  const kept = await engine.loadScalars(scalars.bytes);
  for (const scalarEncoding of ['nonsense', '', null, 5, Symbol('le'), 'constructor'] as never[]) {
    const refused = {
      code: 'bad-argument',
      message: expect.stringMatching(/^options\.scalarEncoding must be 'le' or 'be' or 'le-montgomery', got /),
    };
    await expect(engine.msm(bases, kept, { scalarEncoding })).rejects.toMatchObject(refused);
    await expect(engine.msmBatch(bases, [kept], { scalarEncoding })).rejects.toMatchObject(refused);
    await expect(engine.msm(bases, [], { scalarEncoding })).rejects.toMatchObject(refused);
    await expect(engine.loadScalars([], { scalarEncoding })).rejects.toMatchObject(refused);
  }
  // they were read when they were loaded
  expect(await engine.msm(bases, kept, { scalarEncoding: 'be' })).toEqual(expected);
});

test('changes of the caller’s objects after a call have no effect', async () => {
  const knobs: { cpuBelow: number; walkerTasks?: number } = { ...quick };
  const own = await createMsmEngine({ curve: 'bn254', device: await getDevice(), tuning: knobs });
  knobs.walkerTasks = 0;
  knobs.cpuBelow = 100;
  const loaded = await own.loadBases(points.bytes);
  const [first, second] = [new AbortController(), new AbortController()];
  const options = { signal: first.signal };
  const calls = [own.msm(loaded, scalars.bytes, options)];
  options.signal = second.signal;
  calls.push(own.msm(loaded, scalars.bytes, options));
  second.abort();
  const [mine, other] = await Promise.allSettled(calls);
  expect(mine).toEqual({ status: 'fulfilled', value: expected });
  expect(other).toMatchObject({ status: 'rejected', reason: { code: 'aborted' } });
  expect(own.lastRun).toMatchObject({ on: 'gpu', tuning: { cpuBelow: 0 } });
  own.destroy();
});

test.each(['bn254', { ...bn254 }] as const)(
  'changes before a call ends have no effect, also while a module loads: %o',
  async (curve) => {
    const given = { curve, device: await getDevice(), tuning: { ...tuning }, retries: 0, memoryBudget: 2 ** 26 };
    const creating = createMsmEngine(given);
    Object.assign(given, { curve: 'none', retries: -1, memoryBudget: 0 });
    Object.assign(given.tuning, { walkerSlots: 0 });
    if (typeof curve !== 'string') Object.assign(curve, { order: 7n });
    const own = await creating;
    const bytes = pointsIn(bn254G1, points.points, 'be');
    const loading = own.loadBases(bytes, { encoding: 'be' });
    bytes.fill(1);
    const factors = scalarsIn(bn254G1, scalars.values, 'le-montgomery');
    const bases = await loading;
    const computing = own.msm(bases, factors, { scalarEncoding: 'le-montgomery' });
    factors.fill(1);
    expect(await computing).toEqual(expected);
    own.destroy();
  },
);

test('options and curves may be objects of a class, with getters and methods', async () => {
  const ticks: string[] = [];
  class Progress {
    // private: a member with another name is no option of the call
    readonly #call: string;
    constructor(call: string) {
      this.#call = call;
    }
    onProgress(): void {
      ticks.push(this.#call);
    }
  }
  const curve = Object.create(bn254) as typeof bn254;
  const own = await openEngine({ curve, tuning });
  const loaded = await own.loadBases(points.bytes, new Progress('load'));
  expect(await own.msm(loaded, scalars.bytes, new Progress('sum'))).toEqual(expected);
  expect(new Set(ticks)).toEqual(new Set(['load', 'sum']));
});

test('an engine destroyed at the last tick of a load returns no bases', async () => {
  const own = await openEngine({ tuning });
  const load = own.loadBases(points.bytes, { onProgress: ({ done, total }) => done === total && own.destroy() });
  await expect(load).rejects.toMatchObject({ code: 'destroyed' });
  expect(own.memory).toMatchObject({ bases: 0, scratch: 0 });
});
