/** Work that is left to snarkjs, on a clock that the test controls. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Contest, type LeftWork, type Side, type Work } from '../../src/provers/contest.js';
import { stopClock } from '../support/time.js';

afterEach(() => vi.restoreAllMocks());

const work: Work = { key: 'a', label: 'a proof', curve: 'bn254' };

/** A contest of two sides whose times can be changed. */
const makeContest = (isWorthwhile: () => boolean = () => true) => {
  const clock = stopClock();
  const ms: Record<Side, number> = { own: 100, snarkjs: 100 };
  let left: readonly LeftWork[] = [];
  const contest = new Contest(isWorthwhile, (all) => {
    left = all;
  });
  const call = async (of = work): Promise<Side> => {
    const side = contest.leaves(of) ? 'snarkjs' : 'own';
    await contest.timed(of, side, async () => clock.spend(ms[side]));
    return side;
  };
  /** Returns a letter for each of some calls: `o` or `s`. */
  const calls = async (count: number, of = work): Promise<string> => {
    let sides = '';
    for (let i = 0; i < count; i++) sides += (await call(of))[0];
    return sides;
  };
  return { contest, clock, ms, calls, left: () => left };
};

describe('work', () => {
  test('is left to snarkjs once it was clearly faster twice', async () => {
    const { ms, calls, left } = makeContest();
    ms.snarkjs = 80;
    expect(await calls(6)).toBe('ooosos');
    expect(left()).toEqual([{ work: 'a proof', ownMs: 100, snarkjsMs: 80 }]);
    expect(await calls(20)).toBe('s'.repeat(20));
  });

  test('stays where snarkjs is slower, or hardly faster', async () => {
    for (const snarkjs of [200, 100, 91]) {
      const { ms, calls, left } = makeContest();
      ms.snarkjs = snarkjs;
      expect(await calls(40)).toBe(`ooosos${'o'.repeat(34)}`);
      expect(left()).toEqual([]);
    }
  });

  test('is left to a snarkjs whose first call was slow', async () => {
    const { ms, calls, left } = makeContest();
    ms.snarkjs = 300;
    expect(await calls(4)).toBe('ooos');
    ms.snarkjs = 50;
    expect(await calls(6)).toBe('ososss');
    expect(left()).toEqual([{ work: 'a proof', ownMs: 100, snarkjsMs: 50 }]);
  });

  test('stays where snarkjs was faster once', async () => {
    const { ms, calls, left } = makeContest();
    ms.snarkjs = 50;
    expect(await calls(4)).toBe('ooos');
    ms.snarkjs = 150;
    expect(await calls(20)).toBe(`os${'o'.repeat(18)}`);
    expect(left()).toEqual([]);
  });

  test('comes back when snarkjs is not faster any more', async () => {
    const { ms, calls, left } = makeContest();
    ms.snarkjs = 80;
    await calls(6);
    // two calls of 32 are own ones; the times stay as they were
    expect(await calls(32)).toBe(`${'s'.repeat(29)}oos`);
    expect(left()).toHaveLength(1);
    ms.own = 50;
    expect(await calls(31)).toBe(`${'s'.repeat(29)}oo`);
    expect(left()).toEqual([]);
    // both are compared again
    expect(await calls(20)).toBe(`sos${'o'.repeat(17)}`);
    expect(left()).toEqual([]);
  });

  test('that snarkjs cannot compute faster, or that takes few milliseconds, is never tried', async () => {
    const certain = makeContest(() => false);
    certain.ms.snarkjs = 1;
    expect(await certain.calls(20)).toBe('o'.repeat(20));
    const isWorthwhile = vi.fn(() => true);
    const small = makeContest(isWorthwhile);
    Object.assign(small.ms, { own: 7, snarkjs: 1 });
    expect(await small.calls(20)).toBe('o'.repeat(20));
    expect(isWorthwhile).not.toHaveBeenCalled();
  });

  test('of another kind has a standing of its own', async () => {
    const { ms, calls, left } = makeContest();
    const other: Work = { key: 'b', label: 'another proof', curve: 'bn254' };
    ms.snarkjs = 80;
    await calls(6);
    expect(await calls(6, other)).toBe('ooosos');
    expect(left().map((each) => each.work)).toEqual(['a proof', 'another proof']);
  });
});

test('calls that run at a time are neither tried nor recorded', async () => {
  const { contest, ms, calls, clock, left } = makeContest();
  ms.snarkjs = 1;
  let end = (): void => undefined;
  const running = contest.timed(
    { ...work, key: 'long' },
    'own',
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  expect(contest.isIdle).toBe(false);
  expect(await calls(20)).toBe('o'.repeat(20));
  end();
  await running;
  expect(contest.isIdle).toBe(true);
  // nothing was recorded, so the first own call is the cold one
  expect(await calls(4)).toBe('ooos');
  expect(await contest.alone(async () => clock.spend(1))).toMatchObject({ isAlone: true });
  expect(left()).toEqual([]);
});

test('a call that fails is not recorded, and its error is passed on', async () => {
  const { contest, calls } = makeContest();
  for (let i = 0; i < 5; i++) {
    expect(contest.leaves(work)).toBe(false);
    await expect(contest.timed(work, 'own', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  expect(contest.isIdle).toBe(true);
  expect(await calls(4)).toBe('ooos');
});
