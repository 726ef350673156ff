/** Cache of scalars that MSMs share: how long they stay. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { MsmEngine, Scalars } from '../../src/api/engine.js';
import type { Coordinate } from '../../src/api/values.js';
import { ScalarsCache } from '../../src/provers/caches.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An engine that loads scalars, and does nothing else. */
class Loader {
  loads = 0;
  destroyed = 0;

  readonly engine = {
    loadScalars: async (bytes: Uint8Array) => {
      this.loads++;
      const scalars = {
        bytes,
        length: bytes.length / 32,
        subarray: () => scalars,
        destroy: () => void this.destroyed++,
      };
      return scalars;
    },
  } as unknown as MsmEngine<Coordinate>;
}

const scalars = new Uint8Array(64).fill(7);
const nothing = async (_: Scalars): Promise<void> => undefined;

test('scalars stay from one MSM to the next, and are freed ten seconds after the last one', async () => {
  const counts = { sharedScalars: 0 };
  const cache = new ScalarsCache(counts, undefined);
  const loader = new Loader();
  for (let i = 0; i < 3; i++) {
    await cache.with(loader.engine, 'bn254', scalars, nothing);
    vi.advanceTimersByTime(9_999);
  }
  expect([loader.loads, loader.destroyed, counts.sharedScalars]).toEqual([1, 0, 2]);
  vi.advanceTimersByTime(1);
  expect(loader.destroyed).toBe(1);
  await cache.with(loader.engine, 'bn254', scalars, nothing);
  expect([loader.loads, counts.sharedScalars]).toEqual([2, 2]);
});

test('scalars in use by an MSM stay, however long that takes', async () => {
  const cache = new ScalarsCache({ sharedScalars: 0 }, undefined);
  const loader = new Loader();
  let release: () => void = () => undefined;
  const long = cache.with(loader.engine, 'bn254', scalars, () => new Promise<void>((resolve) => (release = resolve)));
  await cache.with(loader.engine, 'bn254', scalars.slice(32), nothing);
  vi.advanceTimersByTime(60_000);
  expect(loader.destroyed).toBe(0);
  release();
  await long;
  vi.advanceTimersByTime(10_000);
  expect(loader.destroyed).toBe(loader.loads);
});
