/**
 * Dispatch chain: every result belongs to its call and is complete, or the call rejects. These
 * tests cover its parts; `npm run stress -- faults` injects random faults.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GpuFault, MsmError } from '../../src/errors.js';
import { Runner } from '../../src/gpu/runner.js';
import { DispatchChain } from '../../src/gpu/submission.js';
import { scalarsDigest } from '../../src/msm/stages/decompose.js';
import {
  DIGEST_THREADS,
  DigestConfig,
  digestKernel,
  digestOfItems,
  Level,
  packLevel,
} from '../../src/msm/stages/entry.js';
import { absorb, digestOf, LANES, sumOfLanes } from '../../src/shaders/hash-chain.js';
import type { Dispatch } from '../../src/shaders/kernel.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { digest, digestOfEntries, digestOfScalars } from '../reference/digest.js';
import { Bench, large, small, strikeAt } from '../support/failure-bench.js';
import { getDevice } from '../support/gpu.js';
import type { Call, Tap } from '../support/leased-gpu.js';
import { smallCase } from '../support/small-curve.js';

const words = (most: number) => fc.uint32Array({ minLength: 1, maxLength: most });

describe('digests of the dispatch chain', () => {
  test('of items and of scalars equal their definitions', () => {
    fc.assert(
      fc.property(words(64), fc.integer({ min: 1, max: 16 }), fc.nat(100), (drawn, size, first) => {
        const whole = drawn.subarray(0, drawn.length - (drawn.length % size));
        expect(digestOfItems(whole, size)).toBe(digest(whole, size));
        const half = size * Math.floor(whole.length / size / 2);
        const parts = [
          digestOfItems(whole.subarray(0, half), size),
          digestOfItems(whole.subarray(half), size, half / size),
        ];
        expect(((parts[0] as number) + (parts[1] as number)) >>> 0).toBe(digest(whole, size));
        const consecutive = (i: number): number => 11 + i - first;
        expect(scalarsDigest(whole, size, { vector: 5, first, firstBase: 11, picks: null })).toBe(
          digestOfScalars(whole, size, 5, first, consecutive),
        );
        const picks = Uint32Array.from({ length: whole.length / size }, (_, i) => (i * 7 + 3) % 1000);
        const picked = (i: number): number => (picks[i - first] as number) - 3;
        expect(scalarsDigest(whole, size, { vector: 5, first, firstBase: -3, picks })).toBe(
          digestOfScalars(whole, size, 5, first, picked),
        );
      }),
    );
  });

  test('differ if any word differs', () => {
    fc.assert(
      fc.property(words(48), fc.nat(), fc.integer({ min: 1, max: 0xffffffff }), (drawn, at, change) => {
        const changed = drawn.slice();
        const index = at % changed.length;
        changed[index] = ((changed[index] as number) ^ change) >>> 0;
        expect(digestOfItems(changed, changed.length)).not.toBe(digestOfItems(drawn, drawn.length));
        expect(absorb(7, changed)).not.toBe(absorb(7, drawn));
        expect(absorb(8, drawn)).not.toBe(absorb(7, drawn));
      }),
    );
  });

  test('depend on words that were never written', () => {
    expect(digestOfEntries([[0, 0]])).not.toBe(0);
    expect(digestOf(0, 0)).toBe(digestOfEntries([[0, 0]]));
  });

  test('a level that differs anywhere has another digest', () => {
    const level = Level.unpack(packLevel({ ...levelOfTen }), 0);
    for (const field of Level.fields) {
      if (field === 'digest') continue;
      const { digest: other } = Level.unpack(packLevel({ ...levelOfTen, [field]: level[field] + 1 }), 0);
      expect(other, field).not.toBe(level.digest);
    }
  });

  describe('on the GPU equal those of the host', () => {
    let runner: Runner;
    beforeAll(async () => {
      runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
    });
    afterAll(() => runner.destroy());

    test.each([
      [1, 1],
      [64, 16],
      [65, 16],
      [1000, 3],
    ])('%i items of %i words', async (items, itemWords) => {
      const contents = Uint32Array.from({ length: items * itemWords }, (_, i) => Math.imul(i + 1, 0x9e3779b9) >>> 0);
      const { accounts } = await runner.run({
        scratch: { words: contents.byteLength },
        uploads: [{ to: { buffer: 'words' }, data: contents }],
        commands: [
          {
            kind: 'dispatch',
            phase: 'digest',
            kernel: digestKernel(),
            config: DigestConfig.pack({ items, item_words: itemWords, account: 1 }),
            bindings: { words: { buffer: 'words' } },
            groups: groupsFor(items, DIGEST_THREADS),
          },
        ],
        accounts: 4 * (1 + LANES),
      });
      expect(sumOfLanes(accounts, 1)).toBe(digest(contents, itemWords));
    });
  });
});

const levelOfTen = {
  entries: 10,
  tasks: 3,
  quotient: 3,
  remainder: 1,
  threads: 3,
};

describe('the chain of links', () => {
  const kernel = digestKernel();
  const dispatch = (phase: string, account: number): Dispatch => ({
    phase,
    kernel,
    config: DigestConfig.pack({ items: 1, item_words: 1, account }),
    bindings: {},
    groups: [1, 1],
  });
  const dispatches = [dispatch('first', 1), dispatch('second', 2), dispatch('third', 3)];
  const chain = new DispatchChain(99, 4, dispatches);
  /** Links that the dispatches leave: the last word of each config, after `slot` and `before`. */
  const stamps = Uint32Array.from([99, ...chain.configs.map((config) => (config as number[]).at(-1) as number)]);
  const said = (change: (stamps: Uint32Array) => void): string => {
    const changed = stamps.slice();
    change(changed);
    try {
      chain.assertWhole(changed);
    } catch (error) {
      expect(error).toBeInstanceOf(GpuFault);
      return (error as Error).message;
    }
    return 'whole';
  };

  test('names in each config the address and value of the link before', () => {
    chain.configs.forEach((config, i) => {
      expect([...(config as number[])].slice(-3)).toEqual([4 + i, stamps[i], stamps[i + 1]]);
    });
  });
  test('is complete if every dispatch wrote its link', () => expect(said(() => undefined)).toBe('whole'));
  test('names the stage of a missing link', () =>
    expect(said((all) => all.fill(0, 2))).toMatch(/in second: dispatch 2 of 3 was not done/));
  test('names the stage of a repeated link', () =>
    expect(said((all) => all.set([2 * (all[3] as number)], 3))).toMatch(/in third: .*more than once/));
  test('rejects links of another call', () =>
    expect(said((all) => all.set([98]))).toMatch(/in read-back: .*not those of this call/));
});

/** Does the first call that matches differently, in every attempt, or in the first only. */
const always =
  (matches: (call: Call) => boolean, instead: (call: Call) => unknown): Tap =>
  (call) =>
    matches(call) ? instead(call) : call.proceed();
const isSubmit = ({ method }: Call): boolean => method === 'submit';
const isUploadOf =
  (name: string) =>
  ({ method, args }: Call): boolean =>
    method === 'writeBuffer' && (args[0] as GPUBuffer).label.endsWith(name);
const isClearOf =
  (name: string, fromStart = true) =>
  ({ method, args: [buffer, offset] }: Call): boolean =>
    method === 'clearBuffer' && (buffer as GPUBuffer).label.endsWith(name) && (offset === 0) === fromStart;
const nothing = (): undefined => undefined;

const flipped = (call: Call): unknown => {
  const [buffer, offset, data] = call.args as [GPUBuffer, number, Uint8Array | Uint32Array];
  const copy = data.slice();
  copy[0] = (copy[0] as number) ^ 4;
  return call.proceed([buffer, offset, copy]);
};

/** On the same bases; the longest scalar is as long. */
const other = smallCase(100, (i) => (2n ** 199n + BigInt(i) ** 7n) ^ (2n ** 120n * BigInt(i)));

describe('a single fault on the GPU', () => {
  const withBases = async (options?: Parameters<typeof Bench.open>[0]) => {
    const bench = await Bench.open(options);
    const bases = await bench.load(large);
    // what is stale is as good as any
    expect(await bench.msm(bases, other)).toEqual(other.expected);
    return { bench, bases };
  };
  const faults: [string, (call: Call) => boolean, (call: Call) => unknown, RegExp][] = [
    ['a submit is lost', isSubmit, nothing, /was not done|not those of this call/],
    [
      'the copy of the result is lost',
      ({ method }) => method === 'copyBufferToBuffer',
      nothing,
      /not those of this call/,
    ],
    ['the configs are lost', isUploadOf('uniforms'), nothing, /was not done/],
    ['the scalars are lost', isUploadOf('scalars'), nothing, /in decompose: it read other scalars/],
    ['a bit of a scalar flips', isUploadOf('scalars'), flipped, /in decompose: it read other scalars/],
    ['a bit of the place of the bases flips', isUploadOf('vectors'), flipped, /in decompose: it read other scalars/],
    [
      'a dispatch is lost',
      ({ method }) => method === 'dispatchWorkgroups',
      nothing,
      /in decompose: dispatch 1 of \d+ was not done/,
    ],
    ['the clearing of the buckets is lost', isClearOf('buckets'), nothing, /in walk or reduce/],
    ['the clearing of the accounts is lost', isClearOf('result'), nothing, /in decompose: it read other scalars/],
    ['the clearing of the links is lost', isClearOf('result', false), nothing, /in decompose: .*more than once/],
  ];

  test.each(faults)('%s: the call is repeated, and reports the reason', async (_, matches, instead, why) => {
    const { bench, bases } = await withBases();
    const strikes = strikeAt(bench.lease, matches, instead);
    expect(await bench.msm(bases)).toEqual(small.expected);
    expect(strikes.count).toBe(1);
    expect(bench.engine.lastRun?.retried).toMatch(why);
    expect(await bench.msm(bases)).toEqual(small.expected);
    expect(bench.engine.lastRun?.retried).toBeNull();
    bench.close();
  });

  test.each(faults)('%s, each time: the call rejects', async (_, matches, instead, why) => {
    const { bench, bases } = await withBases({ retries: 0 });
    bench.lease.tap = always(matches, instead);
    const error = await bench.msm(bases).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MsmError);
    expect(error).toMatchObject({ code: 'internal', message: expect.stringMatching(why) });
    expect(bench.alive.scratch).toBe(0);
    bench.lease.tap = (call) => call.proceed();
    expect(await bench.msm(bases)).toEqual(small.expected);
    bench.close();
  });

  test('points off the curve are rejected though the submit that checks them is lost, and the last load was as long', async () => {
    const { bench } = await withBases();
    const [point, ...rest] = large.points;
    const spoiled = {
      ...large,
      points: [{ ...point, x: point?.y ?? 0n, y: point?.x ?? 0n, infinity: false }, ...rest],
    };
    const strikes = strikeAt(bench.lease, isSubmit, nothing);
    await expect(bench.load(spoiled as typeof large)).rejects.toMatchObject({ code: 'not-on-curve' });
    expect(strikes.count).toBe(1);
    bench.close();
  });

  test('points that arrive changed are sent again', async () => {
    const { bench } = await withBases();
    const strikes = strikeAt(bench.lease, isUploadOf('bases'), (call) => {
      // another point of the curve
      const [buffer, offset, data] = call.args as [GPUBuffer, number, Uint8Array];
      const swapped = data.slice();
      const size = swapped.length / large.points.length;
      swapped.copyWithin(0, size, 2 * size);
      return call.proceed([buffer, offset, swapped]);
    });
    const bases = await bench.load();
    expect(strikes.count).toBe(1);
    expect(await bench.msm(bases)).toEqual(small.expected);
    bench.close();
  });

  test.each([
    [true, 'they are loaded again'],
    [false, 'the error says to load them again'],
  ])('bases that were written over (retainBases: %s): %s', async (retainBases) => {
    const { bench, bases } = await withBases({ retainBases });
    const strikes = strikeAt(bench.lease, isSubmit, () => {
      const target = bench.lease.buffers.find(({ label }) => label.endsWith('bases')) as GPUBuffer;
      // the second base is the first one now: on the curve, and wrong
      const { real } = bench.lease;
      const encoder = real.createCommandEncoder();
      const aside = real.createBuffer({ size: 256, usage: target.usage });
      const size = bases.byteLength / large.points.length;
      encoder.copyBufferToBuffer(target, 0, aside, 0, size);
      encoder.copyBufferToBuffer(aside, 0, target, size, size);
      real.queue.submit([encoder.finish()]);
    });
    const call = bench.msm(bases, large);
    if (retainBases) {
      expect(await call).toEqual(large.expected);
    } else {
      await expect(call).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringMatching(/no longer what was loaded, and retainBases is false; load them again/),
      });
    }
    expect(strikes.count).toBe(1);
    bench.close();
  });
});
