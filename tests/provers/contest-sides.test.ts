/** Work that `accelerate` leaves to snarkjs, with a snarkjs that is fast, slow or not there. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Contest, contestIn, type Sides } from '../../src/provers/contest.js';
import type { FfGroup } from '../../src/provers/ffjavascript.js';
import { stopClock, until } from '../support/time.js';

afterEach(() => vi.restoreAllMocks());

const work = { key: 'a', label: 'a proof', curve: 'bn254' } as const;

interface Machine {
  readonly arithmetic: string;
  readonly software: boolean;
  readonly ownMs: number;
  readonly snarkjsMs: number;
}

/** Makes both sides of a machine, with a clock that their small MSMs move. */
const makeSides = ({ arithmetic, software, ownMs, snarkjsMs }: Machine) => {
  const clock = stopClock();
  const calls = { own: 0, snarkjs: 0, freed: 0 };
  const engine = {
    adapter: { software },
    lastRun: { on: 'cpu', arithmetic },
    loadBases: async (points: Uint8Array) => {
      expect(points).toHaveLength(512 * 64);
      return { destroy: () => calls.freed++ };
    },
    msm: async () => {
      calls.own++;
      clock.spend(ownMs);
    },
  };
  const group = {
    g: new Uint8Array(96),
    F: { n8: 32 },
    add: (left: Uint8Array) => left,
    batchToAffine: (points: Uint8Array) => points.slice(0, (points.length * 2) / 3),
  } as unknown as FfGroup;
  const multiExpAffine = async (_: unknown, scalars: unknown) => {
    const bytes = scalars as Uint8Array;
    // below the order of the group
    for (let i = 31; i < bytes.length; i += 32) expect(bytes[i]).toBe(0);
    calls.snarkjs++;
    clock.spend(snarkjsMs);
    return new Uint8Array();
  };
  const sides = { engine: async () => engine, original: () => ({ group, multiExpAffine }) } as unknown as Sides;
  return { clock, sides, calls };
};

/** Makes own calls until the contest has measured both sides or will not. */
const callsUntil = async (contest: Contest, clock: { spend(ms: number): void }, isDone: (() => boolean) | null) => {
  const own = () => contest.timed(work, 'own', async () => clock.spend(100));
  for (let i = 0; i < 3; i++) {
    expect(contest.leaves(work)).toBe(false);
    await own();
  }
  expect(contest.leaves(work)).toBe(false);
  if (isDone !== null) await until(isDone);
};

const always = (): boolean => true;
const ignore = (): void => undefined;

describe('a proof', () => {
  test('is tried in snarkjs where its small MSM is nearly as fast or faster', async () => {
    const { clock, sides, calls } = makeSides({ arithmetic: 'wasm', software: true, ownMs: 5, snarkjsMs: 7 });
    const contest = contestIn(sides, always, ignore);
    await callsUntil(contest, clock, () => calls.snarkjs === 3 && contest.isIdle);
    expect(contest.leaves(work)).toBe(true);
    expect(calls).toEqual({ own: 3, snarkjs: 3, freed: 1 });
  });

  test.each([
    ['the small MSM of snarkjs is slow', { arithmetic: 'wasm', software: true, ownMs: 5, snarkjsMs: 8 }, 3, 3],
    ['multiply-adds compute', { arithmetic: 'wasm-fma', software: true, ownMs: 5, snarkjsMs: 1 }, 3, 0],
    ['a GPU computes', { arithmetic: 'wasm', software: false, ownMs: 10, snarkjsMs: 1 }, 0, 0],
  ])('is not tried where %s', async (_, machine, own, snarkjs) => {
    const { clock, sides, calls } = makeSides(machine);
    const engine = vi.spyOn(sides, 'engine');
    const contest = contestIn(sides, always, ignore);
    await callsUntil(contest, clock, () => engine.mock.calls.length === 1 && contest.isIdle);
    for (let i = 0; i < 10; i++) {
      expect(contest.leaves(work)).toBe(false);
      await contest.timed(work, 'own', async () => clock.spend(100));
    }
    expect(calls).toEqual({ own, snarkjs, freed: Number(own > 0) });
    expect(engine).toHaveBeenCalledTimes(1);
  });

  test('is not tried where a side fails, where snarkjs has no threads, and without `measure`', async () => {
    const machine = { arithmetic: 'wasm', software: true, ownMs: 10, snarkjsMs: 1 };
    const { clock, sides } = makeSides(machine);
    const failing = vi.fn(async () => Promise.reject(new Error('no engine')));
    const contest = contestIn({ ...sides, engine: failing }, always, ignore);
    await callsUntil(contest, clock, () => failing.mock.calls.length === 1 && contest.isIdle);
    expect(contest.leaves(work)).toBe(false);
    const original = vi.fn(() => null);
    const engine = vi.fn(sides.engine);
    for (const [given, mayLeave] of [
      [{ engine, original }, always],
      [{ ...sides, engine }, () => false],
    ] as const) {
      const other = contestIn(given, mayLeave, ignore);
      await callsUntil(other, clock, null);
    }
    expect(original).toHaveBeenCalledOnce();
    expect(engine).not.toHaveBeenCalled();
  });

  test('is not tried while other calls run, and both sides are measured later', async () => {
    const { clock, sides, calls } = makeSides({ arithmetic: 'wasm', software: true, ownMs: 5, snarkjsMs: 5 });
    const contest = contestIn(sides, always, ignore);
    const due: (() => void)[] = [];
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation((measure) => {
      due.push(measure as () => void);
      return 0 as never;
    });
    await callsUntil(contest, clock, null);
    expect(due).toHaveLength(1);
    await contest.timed({ ...work, key: 'other' }, 'own', async () => due[0]?.());
    expect(calls.own).toBe(0);
    expect(due).toHaveLength(2);
    timers.mockRestore();
    due[1]?.();
    await until(() => calls.snarkjs === 3 && contest.isIdle);
    expect(contest.leaves(work)).toBe(true);
  });
});
