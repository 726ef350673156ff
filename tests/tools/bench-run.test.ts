/** Progress of a bench run: its share done, and the time left. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatProgress } from '../../dev/bench/format.js';
import { type MsmBench, Run } from '../../dev/bench/run.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const started = (onProgress: (bench: Readonly<MsmBench>) => void = () => undefined): Run => {
  const run = new Run({ onProgress, onRow() {} });
  run.start();
  return run;
};

describe('the estimate of the time left', () => {
  it('comes from measured times, and not from a warm-up, which compiles', () => {
    const run = started();
    run.plan([1, 1, 1, 1, 1]);
    vi.advanceTimersByTime(30_000);
    run.advance(1, 'warm-up');
    expect(run.bench.secondsLeft).toBeNull();
    vi.advanceTimersByTime(2000);
    run.advance(1);
    expect(run.bench.secondsLeft).toBeCloseTo(6);
    // the warm-up of another size takes no part in the rate
    vi.advanceTimersByTime(60_000);
    run.advance(1, 'warm-up');
    expect(run.bench.secondsLeft).toBeCloseTo(4);
    vi.advanceTimersByTime(4000);
    run.advance(1);
    expect(run.bench.secondsLeft).toBeCloseTo(3);
  });

  it('weighs steps', () => {
    const run = started();
    run.plan([1, 10]);
    vi.advanceTimersByTime(1000);
    run.advance(1);
    expect(run.bench.secondsLeft).toBeCloseTo(10);
  });

  it('leaves out steps that prepare, if the mode counts its own steps', () => {
    const run = started();
    for (let done = 0; done < 3; done++) {
      run.progress('compiling', done, 5, 3);
      vi.advanceTimersByTime(9000);
    }
    run.progress('repetition 1', 3, 5, 3);
    expect(run.bench.secondsLeft).toBeNull();
    vi.advanceTimersByTime(2000);
    run.progress('repetition 2', 4, 5, 3);
    expect(run.bench.secondsLeft).toBeCloseTo(2);
  });
});

it('a run says how much is done in the first columns of a terminal, however long the step is called', () => {
  const bench = { doing: 'a step with a long name, '.repeat(5), done: 3, total: 12, stepSeconds: 2, secondsLeft: 70 };
  const text = formatProgress({ ...started(() => {}).bench, ...bench });
  expect(text.slice(0, 79)).toMatch(/^3 of 12 done, about 70 s left: a step/);
});

it('a run shows passing time while shaders compile, without ticks of progress', async () => {
  const said: string[] = [];
  const run = started((bench) => said.push(formatProgress(bench)));
  const next = run.next('compiling');
  const { ticks } = run.bench;
  await vi.advanceTimersByTimeAsync(3500);
  await next;
  expect(said.slice(-3)).toEqual([1, 2, 3].map((s) => `0 of 0 done: compiling … (${s} s)`));
  expect(run.bench.ticks).toBe(ticks);
  const ending = run.end('stopped');
  await vi.advanceTimersByTimeAsync(100);
  await ending;
  const lines = said.length;
  await vi.advanceTimersByTimeAsync(5000);
  expect(said).toHaveLength(lines);
});
