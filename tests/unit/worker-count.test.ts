/** The number of workers of a pool, on simulated machines whose speed-ups are known. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { WorkerCount } from '../../src/threads/worker-count.js';

/** Speed-up over the own thread alone, by number of workers and round. */
type Machine = (workers: number, round: number) => number;

/** Cores that threads share: each further thread costs some of what it brings. */
const cores =
  (count: number, costs = 0.05): Machine =>
  (workers) =>
    Math.min(count, 1 + workers) / (1 + costs * workers);

/** Workers that wait for messages so long that a round takes the longer the more there are. */
const slowMessages: Machine = (workers) => 1 / (1 + 0.5 * workers);

/** Rounds among which one has a part that something else slows down. */
const MISHAP = { oneOf: 40, times: 3 };

/** Part of a round that is computed alone, if it measures (`cutRows`). */
const ALONE = 1 / 28;

/** Runs rounds on a machine. @returns the numbers of workers, and times relative to none */
const simulate = (machine: Machine, most: number, rounds: number, seed: number) => {
  const random = new Random(seed);
  const count = new WorkerCount();
  const slowed = () => (random.below(MISHAP.oneOf) === 0 ? MISHAP.times : 1);
  const workers: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const chosen = count.choose(most);
    const speedup = chosen.workers === 0 ? 1 : machine(chosen.workers, round);
    const noise = 0.95 + random.below(101) / 1000;
    // a part of a round that measures is computed alone
    times.push(chosen.measures ? ALONE + (1 - ALONE) / speedup : 1 / speedup);
    workers.push(chosen.workers);
    // drawn in each round, so that all machines have the same mishaps
    const [alone, together] = [slowed(), slowed()];
    if (chosen.measures) count.note(chosen.workers, (noise * alone * speedup) / together);
  }
  return { workers, times };
};

const mean = (all: readonly number[]): number => all.reduce((sum, each) => sum + each, 0) / all.length;

const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

describe('workers that do not pay', () => {
  test.each<[string, Machine, number]>([
    ['3 of which each makes a round longer', slowMessages, 3],
    ['1 that makes a round longer', slowMessages, 1],
    ['3 on one core', cores(1), 3],
    ['7 on one core', cores(1), 7],
    ['1 that brings nothing', () => 1, 1],
  ])('%s: none is used after a few rounds', (_name, machine, most) => {
    for (const seed of seeds) {
      const { workers, times } = simulate(machine, most, 400, seed);
      const settled = workers.slice(20);
      expect(settled.filter((each) => each === 0).length / settled.length, `seed ${seed}`).toBeGreaterThan(0.75);
      expect(mean(times.slice(20)), `seed ${seed}`).toBeLessThan(1.05);
    }
  });
});

describe('workers that pay', () => {
  test.each<[string, Machine, number]>([
    ['1 on two cores', cores(2), 1],
    ['3 on four cores', cores(4), 3],
    ['15 on sixteen cores', cores(16, 0.03), 15],
    ['1 that brings a third', () => 1.33, 1],
    [
      '15 on eight cores with two threads each',
      (k: number) => 1 + 0.85 * Math.min(k, 7) + 0.25 * Math.max(0, k - 7),
      15,
    ],
  ])('%s: all are used, for some per cent more time at most', (_, machine, most) => {
    for (const seed of seeds) {
      const { times } = simulate(machine, most, 400, seed);
      expect(mean(times) * machine(most, 0), `seed ${seed}`).toBeLessThan(1.05);
    }
  });
});

test('of 3 workers on two cores one is kept', () => {
  for (const seed of seeds) {
    const { workers, times } = simulate(cores(2, 0.25), 3, 400, seed);
    expect(workers.slice(20).filter((each) => each === 1).length, `seed ${seed}`).toBeGreaterThan(300);
    expect(mean(times.slice(20)) * cores(2, 0.25)(1, 0), `seed ${seed}`).toBeLessThan(1.05);
  }
});

test('workers that brought nothing while the machine was loaded are used again afterwards', () => {
  const loaded: Machine = (workers, round) => (round >= 100 && round < 200 ? slowMessages : cores(4))(workers, round);
  for (const seed of seeds) {
    const { workers, times } = simulate(loaded, 3, 500, seed);
    expect(mean(times.slice(0, 100)), `seed ${seed}`).toBeLessThan(0.4);
    expect(workers.slice(150, 200).filter((each) => each > 1).length, `seed ${seed}`).toBeLessThan(8);
    expect(mean(times.slice(130, 200)), `seed ${seed}`).toBeLessThan(1.15);
    expect(mean(times.slice(350)), `seed ${seed}`).toBeLessThan(0.4);
  }
});

test('rounds too small for workers have none, and change nothing', () => {
  const count = new WorkerCount();
  expect(count.choose(0)).toEqual({ workers: 0, measures: false });
  expect(count.choose(3)).toEqual({ workers: 3, measures: true });
});

test('workers that are never ready to be measured are used as permitted', () => {
  const count = new WorkerCount();
  for (let round = 0; round < 50; round++) expect(count.choose(3).workers).toBe(3);
});
