/** Cache of points that are found again by their bytes: comparison, loading and eviction. */
import { describe, expect, test } from 'vitest';
import type { LoadBasesOptions } from '../../src/api/calls.js';
import type { Bases, MsmEngine } from '../../src/api/engine.js';
import type { Coordinate } from '../../src/api/values.js';
import { badArgument, UNVERIFIED } from '../../src/errors.js';
import { noCounts } from '../../src/provers/accelerate-options.js';
import { BasesCache, beginsWith, type CacheBudget, KeyCache } from '../../src/provers/caches.js';
import { sleep } from '../support/time.js';

const bytesOf = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 7 + seed * 31 + (i >> 8)) & 0xff);

/** The same bytes at an odd address. */
const shifted = (bytes: Uint8Array): Uint8Array => {
  const room = new Uint8Array(bytes.length + 1);
  room.set(bytes, 1);
  return room.subarray(1);
};

const paged = (bytes: Uint8Array) => ({
  byteLength: bytes.length,
  slice: (from: number, to: number) => bytes.slice(from, to),
});

describe('cached points serve a request that has the same first bytes', () => {
  const held = bytesOf(1003);

  test('equal bytes match in any buffer and at any length', () => {
    for (const length of [0, 1, 4, 500, 1000, 1001, 1003]) {
      const same = held.slice(0, length);
      for (const given of [same, shifted(same), paged(same)]) expect(beginsWith(held, given), `${length}`).toBe(true);
      expect(beginsWith(shifted(held), same)).toBe(true);
    }
    expect(beginsWith(held, bytesOf(1004))).toBe(false);
  });

  test('one different bit anywhere is no match', () => {
    for (const length of [1, 4, 7, 1003]) {
      for (const at of [0, length >> 1, length - 1]) {
        const other = held.slice(0, length);
        other[at] = (other[at] as number) ^ 0x10;
        for (const given of [other, shifted(other), paged(other)]) expect(beginsWith(held, given)).toBe(false);
      }
    }
  });

  test('pages are compared one by one', () => {
    const large = new Uint8Array(9 * 2 ** 20);
    expect(beginsWith(large, paged(large.slice()))).toBe(true);
    const other = large.slice();
    other[2 ** 23 + 5] = 1;
    expect(beginsWith(large, paged(other))).toBe(false);
  });
});

/** An engine that loads, and does nothing else. */
class Loader {
  readonly loaded: number[] = [];
  readonly destroyed: number[] = [];
  /** Loads that wait. */
  readonly gates: (() => void)[] = [];
  isGated = false;

  readonly engine = Promise.resolve({
    loadBases: async (given: Uint8Array, { signal }: LoadBasesOptions = {}) => {
      signal?.throwIfAborted();
      const bytes = given.slice();
      this.loaded.push(bytes.length);
      if (this.isGated) await new Promise<void>((resolve) => this.gates.push(resolve));
      return { source: { bytes }, destroy: () => this.destroyed.push(bytes.length) };
    },
  } as unknown as MsmEngine<Coordinate>);
}

const counts = () => ({ hits: 0, loads: 0, evictions: 0, bytes: 0 });
const budgetOf = (bytes: number, tight: number[] = []): CacheBudget => ({
  bytes: () => bytes,
  onTight: (wanted) => void tight.push(wanted),
});
const nothing = async (): Promise<void> => undefined;

describe('the bases cache', () => {
  test('loads equal points once, also for concurrent calls, and separately for each engine', async () => {
    const stats = counts();
    const cache = new BasesCache(budgetOf(1e6), stats);
    const [loader, other] = [new Loader(), new Loader()];
    const seen = new Set<Bases>();
    const note = async (bases: Bases) => void seen.add(bases);
    await Promise.all([1, 2, 3].map(() => cache.with(loader.engine, bytesOf(640), note)));
    expect(seen.size).toBe(1);
    await cache.with(other.engine, bytesOf(640), note);
    expect(seen.size).toBe(2);
    expect([loader.loaded, other.loaded]).toEqual([[640], [640]]);
    expect(stats).toEqual({ hits: 2, loads: 2, evictions: 0, bytes: 1280 });
  });

  test('serves a prefix from longer points, and drops the shorter ones', async () => {
    const stats = counts();
    const cache = new BasesCache(budgetOf(1e6), stats);
    const { engine, loaded, destroyed } = new Loader();
    for (const length of [128, 640, 64, 640, 128]) await cache.with(engine, bytesOf(length), nothing);
    expect(loaded).toEqual([128, 640]);
    expect(destroyed).toEqual([128]);
    expect(stats).toEqual({ hits: 3, loads: 2, evictions: 0, bytes: 640 });
  });

  test('keeps within its budget: it drops the least recently used points, and none in use', async () => {
    const stats = counts();
    const cache = new BasesCache(budgetOf(1000), stats);
    const { engine, destroyed } = new Loader();
    await cache.with(engine, bytesOf(400, 1), nothing);
    await cache.with(engine, bytesOf(401, 2), nothing);
    await cache.with(engine, bytesOf(400, 1), nothing);
    await cache.with(engine, bytesOf(300, 3), nothing);
    expect(destroyed).toEqual([401]);
    expect(stats).toMatchObject({ evictions: 1, bytes: 700 });
    // more than the budget stays for as long as it is used
    await cache.with(engine, bytesOf(2000, 4), async () => {
      expect(destroyed).toEqual([401]);
    });
    expect(destroyed).toEqual([401, 400, 300, 2000]);
    expect(stats.bytes).toBe(0);
  });

  test('destroys dropped points once their last use ends', async () => {
    const cache = new BasesCache(budgetOf(1e6), counts());
    const { engine, destroyed } = new Loader();
    let release: () => void = () => undefined;
    const inUse = cache.with(engine, bytesOf(64), () => new Promise<void>((resolve) => (release = resolve)));
    await cache.with(engine, bytesOf(128), async () => expect(destroyed).toEqual([]));
    expect(destroyed).toEqual([]);
    release();
    await inUse;
    expect(destroyed).toEqual([64]);
  });

  test('never hands out destroyed points, whenever another call makes room', async () => {
    for (let ticks = 0; ticks < 20; ticks++) {
      const cache = new BasesCache(budgetOf(100), counts());
      const [loader, other] = [new Loader(), new Loader()];
      await cache.with(loader.engine, bytesOf(64), nothing);
      let release: () => void = () => undefined;
      const larger = cache.with(other.engine, bytesOf(128), () => new Promise<void>((resolve) => (release = resolve)));
      await sleep();
      const hit = cache.with(loader.engine, bytesOf(64), async () => {
        await nothing();
        expect(loader.destroyed, `after ${ticks}`).toEqual([]);
      });
      for (let i = 0; i < ticks; i++) await nothing();
      release();
      await Promise.all([hit, larger]);
    }
  });

  test('keeps the points that fit if those in turn exceed the budget a little, and reports a sufficient budget', async () => {
    const [stats, tight]: [ReturnType<typeof counts>, number[]] = [counts(), []];
    const cache = new BasesCache(budgetOf(1000, tight), stats);
    const { engine, loaded, destroyed } = new Loader();
    const key = [300, 200, 250, 200, 150];
    const prove = async (first: number): Promise<void> => {
      for (const [i, length] of key.entries()) await cache.with(engine, bytesOf(length, first + i), nothing);
    };
    await prove(1);
    expect([stats.hits, destroyed]).toEqual([0, [300]]);
    for (let i = 1; i <= 3; i++) {
      await prove(1);
      expect(stats.hits).toBe(4 * i);
    }
    expect(stats.bytes).toBe(800);
    expect(new Set(tight)).toEqual(new Set([1100]));
    // another key takes their place
    loaded.length = 0;
    for (let i = 0; i < 3; i++) await prove(11);
    expect(loaded).toEqual([...key, 300, 300]);
    // and two in turn: of these what fits, too
    const { hits } = stats;
    for (let i = 0; i < 4; i++) {
      await prove(1);
      await prove(11);
    }
    expect(stats.hits - hits).toBeGreaterThanOrEqual(3 * 4);
    expect(tight.at(-1)).toBe(2200);
  });

  test('compares points of a file as they are read, and takes points in memory without a copy', async () => {
    const stats = counts();
    const cache = new BasesCache(budgetOf(1e9), stats);
    const taken: Uint8Array[] = [];
    const given: Uint8Array[] = [];
    const engine = Promise.resolve({
      loadBases: async (bytes: Uint8Array) => {
        given.push(bytes);
        return { source: { bytes }, destroy: () => undefined };
      },
    } as unknown as MsmEngine<Coordinate>);
    const random = (length: number, seed: number): Uint8Array => {
      const bytes = new Uint8Array(length);
      for (let i = 0; i < length; i++) bytes[i] = Math.imul(i + seed, 0x9e3779b1) >>> 24;
      return bytes;
    };
    const points = random(9 * 2 ** 20, 1);
    const fileOf = (bytes: Uint8Array) => {
      const reads: number[] = [];
      const read = async (from: number, length: number): Promise<Uint8Array> => {
        reads.push(length);
        return bytes.slice(from, from + length);
      };
      return { reads, byteLength: bytes.length, pointBytes: 96, read };
    };
    const take = async (bases: Bases) =>
      void taken.push((bases as unknown as { source: { bytes: Uint8Array } }).source.bytes);
    const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
    const first = fileOf(points);
    await cache.withFile(engine, first, take);
    expect([sum(first.reads), given[0] === taken[0]]).toEqual([points.length, true]);
    expect(Math.max(...first.reads)).toBeLessThanOrEqual(2 ** 22);
    expect(first.reads.every((each, i) => each % 96 === 0 || i === first.reads.length - 1)).toBe(true);
    // found, whoever gives them
    const second = fileOf(points);
    await cache.withFile(engine, second, take);
    await cache.with(engine, points, take);
    expect([sum(second.reads), given.length, stats.hits, stats.loads]).toEqual([points.length, 1, 2, 1]);
    // one other bit, at the very end
    const other = points.slice();
    other[other.length - 1] = (other.at(-1) as number) ^ 1;
    await cache.withFile(engine, fileOf(other), take);
    expect([given.length, stats.loads, beginsWith(taken.at(-1) as Uint8Array, other)]).toEqual([2, 2, true]);
    // and others in the first bytes are told apart by the first chunk
    const different = fileOf(random(points.length, 5));
    await cache.withFile(engine, different, take);
    expect(sum(different.reads)).toBeLessThan(points.length + 2 ** 18);
  });

  test('reads points before it waits, because the caller may change them', async () => {
    const { engine, loaded } = new Loader();
    const cache = new BasesCache(budgetOf(1e6), counts());
    const taken: Uint8Array[] = [];
    const take = async (bases: Bases) =>
      void taken.push((bases as unknown as { source: { bytes: Uint8Array } }).source.bytes);
    // loaded, waiting for a turn, and there
    for (const calls of [2, 1]) {
      const made = Array.from({ length: calls }, () => {
        const points = bytesOf(64);
        const call = cache.with(engine, points, take);
        points.fill(0);
        return call;
      });
      await Promise.all(made);
    }
    expect(taken).toEqual([bytesOf(64), bytesOf(64), bytesOf(64)]);
    expect(loaded).toEqual([64]);
  });

  test('loads nothing once its signal is aborted, and returns cached points', async () => {
    const controller = new AbortController();
    const cache = new BasesCache(budgetOf(1e6), counts(), controller.signal);
    const { engine, loaded } = new Loader();
    await cache.with(engine, bytesOf(64), nothing);
    controller.abort();
    await expect(cache.with(engine, bytesOf(64, 2), nothing)).rejects.toBe(controller.signal.reason);
    await cache.with(engine, bytesOf(64), nothing);
    expect(loaded).toEqual([64]);
  });

  test('works after a load or a use that failed', async () => {
    const stats = counts();
    const cache = new BasesCache(budgetOf(1e6), stats);
    const { engine } = new Loader();
    const broken = Promise.resolve({
      loadBases: () => Promise.reject(new Error('no')),
    } as unknown as MsmEngine<Coordinate>);
    await expect(cache.with(broken, bytesOf(64), nothing)).rejects.toThrow('no');
    await expect(cache.with(broken, bytesOf(64), nothing)).rejects.toThrow('no');
    await expect(cache.with(engine, bytesOf(64), () => Promise.reject(new Error('neither')))).rejects.toThrow(
      'neither',
    );
    await cache.with(engine, bytesOf(64), nothing);
    expect(stats).toMatchObject({ loads: 1, hits: 1, bytes: 64 });
  });
});

test('a key whose proof does not verify is freed by its last user, and loaded again', async () => {
  for (const budget of [100, 1]) {
    const freed: number[] = [];
    let loads = 0;
    const cache = new KeyCache<{ readonly id: number; destroy(): void }>(budgetOf(budget), noCounts());
    const request = {
      kind: 'groth16',
      file: { source: new Uint8Array(), byteLength: 0, identify: async () => 'a key' },
      bytes: async () => 10,
      open: async () => {
        const id = loads++;
        return { id, destroy: () => void freed.push(id) };
      },
    };
    let end = (): void => undefined;
    const other = cache.with(request, () => new Promise<void>((resolve) => (end = resolve)));
    await sleep(0);
    await expect(cache.with(request, () => Promise.reject(badArgument('another error')))).rejects.toThrow('another');
    expect(await cache.with(request, async ({ id }) => id)).toBe(0);
    const refused = cache.with(request, () => Promise.reject(badArgument(`${UNVERIFIED}, so`)));
    await expect(refused).rejects.toThrow(UNVERIFIED);
    expect(freed).toEqual([]);
    expect(await cache.with(request, async ({ id }) => id)).toBe(1);
    end();
    await other;
    await sleep(0);
    expect(freed.sort()).toEqual(budget === 1 ? [0, 1] : [0]);
  }
});
