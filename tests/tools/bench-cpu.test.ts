/**
 * Bench modes for CPU threads: the settings they compare, the verdicts on measured times, and
 * slowed threads.
 */
import { describe, expect, it } from 'vitest';
import { parseKnobs } from '../../dev/bench/knobs.js';
import { simulatedMs } from '../../dev/bench/modes/cpu-distribution/simulation.js';
import { addressOf, STATIC, WORKS, waysOf, workerCountsOf } from '../../dev/bench/modes/cpu-distribution/works.js';
import { judgeFewPoints } from '../../dev/bench/modes/cpu-pool/few-points.js';
import { judgeResident } from '../../dev/bench/modes/cpu-pool/resident.js';
import { workerCounts } from '../../dev/bench/modes/cpu-pool/starts.js';
import { verdictOf } from '../../dev/bench/modes/targets/findings.js';
import { reportLines } from '../../dev/bench/report.js';
import type { RowOf, StampedRow } from '../../dev/bench/rows.js';
import { worthwhileWorkers } from '../../dev/bench/threads/engine-with-workers.js';
import { slowedDown } from '../../dev/bench/threads/slow-down.js';
import { ratioOfMedians } from '../../src/calibrate/statistics.js';
import { openCurve } from '../../src/curves/open-curve.js';

const parse = (query: string, place: 'page' | 'terminal' = 'terminal') => parseKnobs(new URLSearchParams(query), place);

const stamp = { runId: 'run-00000001', at: '2026-01-02T03:04:05.678Z' };
const initOf = (mode: string) =>
  ({
    ...{ ...stamp, event: 'init', mode },
    adapter: { vendor: '', architecture: '', device: '', description: 'CPU', software: true },
    environment: { runtime: 'Node', os: 'Linux', timestamps: false },
  }) as unknown as StampedRow;
const end = { ...stamp, event: 'end', status: 'done', error: null, seconds: 1 } as unknown as StampedRow;

describe('the knobs of CPU modes', () => {
  it.each(['cpu-distribution', 'cpu-pool'])('the defaults of %s are 2^14 points and 7 repetitions', (mode) => {
    for (const place of ['page', 'terminal'] as const) {
      const { cases, reps } = parse(`autorun=${mode}`, place);
      expect([cases.map(({ address }) => address.n), reps]).toEqual([[2 ** 14], 7]);
    }
    expect(parse(`autorun=${mode}&workers=3&n=100`).settings.map(({ workers }) => workers)).toEqual([3]);
    expect(() => parse(`autorun=${mode}&workers=0`)).toThrow('workers: "0" leaves nothing to compare; use 1 or more');
    expect(() => parse(`autorun=${mode}&walkers=8`)).toThrow('walkers: not used by');
  });
});

describe('cpu-distribution', () => {
  it('compares equal shares with chunks of every size, and with the default of the library', () => {
    const ways = waysOf(3);
    expect(ways.map(({ setting: { tuning } }) => [tuning.cpuDistribution, tuning.cpuChunk])).toEqual([
      ['static', undefined],
      ...[2, 8, 16].map((rows) => ['static', rows]),
      ...[2, 4, 8, 16, 32, 64, 128, 256, 0].map((rows) => ['dynamic', rows]),
    ]);
    for (const { setting } of ways) expect(setting).toMatchObject({ backend: 'cpu', workers: 3 });
    expect(new Set(ways.map(({ name }) => name)).size).toBe(ways.length);
  });

  it('compares on even and on uneven work, with a point for each scalar', () => {
    const address = parse('autorun=cpu-distribution&n=100').cases[0]?.address;
    if (address === undefined) throw new Error('there is no case');
    const addresses = WORKS.map((work) => addressOf(address, work));
    expect(addresses.map(({ scalars, n }) => [scalars, n])).toEqual([
      ['random', 100],
      ['mostly-zero', 1000],
      ['one-bucket-and-noise', 100],
      ['all-equal', 100],
      ['random', 100],
    ]);
    expect(WORKS.filter(({ isOneSlowed }) => isOneSlowed)).toHaveLength(1);
  });
});

describe('the workers of cpu-distribution', () => {
  it('are 3, 7 and 15 where there are cores, and all cores but one', () => {
    expect([1, 2, 4, 6, 16, 64].map(workerCountsOf)).toEqual([[1], [1], [3], [3, 5], [3, 7, 15], [3, 7, 15, 63]]);
  });

  /** Chunks of ten rows, of which the first takes long. */
  const costsOf = (cuts: readonly number[]) => {
    const rows = [8, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    return cuts.slice(1).map((end, chunk) => rows.slice(cuts[chunk], end).reduce((sum, ms) => sum + ms, 0));
  };

  it.each([
    // five rows each, of which one takes long
    [{ distribution: 'static', chunk: null }, false, 12],
    // rows 0, 2, 4, 6, 8 and 1, 3, 5, 7, 9
    [{ distribution: 'static', chunk: 1 }, false, 12],
    // the second thread draws the other nine
    [{ distribution: 'dynamic', chunk: 1 }, false, 9],
    // rows 0 and 1, and then the rest to the other thread
    [{ distribution: 'dynamic', chunk: 2 }, false, 9],
    // the second thread takes thrice as long
    [{ distribution: 'static', chunk: null }, true, 15],
    [{ distribution: 'dynamic', chunk: 1 }, true, 13],
  ] as const)('are simulated: %j, one slowed: %s, on two threads', (cutting, isOneSlowed, ms) => {
    expect(simulatedMs(costsOf, 10, 2, cutting, isOneSlowed)).toBe(ms);
  });
});

describe('a call in a CPU mode counts as complete', () => {
  const record = (entries: number, chunkRows: number) => ({ entries, windows: 26, windowBits: 10, chunkRows });

  it('if all the workers that are worthwhile and permitted took part', async () => {
    const curve = await openCurve('bn254', 'g1');
    expect(worthwhileWorkers(curve, record(100, 0), 4)).toBe(0);
    expect(worthwhileWorkers(curve, record(1e9, 8), 4)).toBe(4);
    // 26 windows of 2^9 buckets, 64 of them a row, are 208 rows: two chunks of 128, one of them the
    // own thread's
    expect(worthwhileWorkers(curve, record(1e9, 128), 4)).toBe(1);
    expect(worthwhileWorkers(curve, record(1e9, 256), 4)).toBe(0);
  });
});

it('a slowed function takes a multiple of the time, and gets its own arguments', () => {
  const given: (readonly number[])[] = [];
  let ownMs = 0;
  const call = slowedDown((...values) => {
    const begun = performance.now();
    given.push(values);
    while (performance.now() < begun + 5);
    ownMs = performance.now() - begun;
  }, 3);
  const begun = performance.now();
  call(1, 2);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(3 * ownMs);
  expect(given).toEqual([[1, 2]]);
});

describe('the report of cpu-distribution', () => {
  const repetitions = [1, 1.02, 0.99, 1.01, 1, 0.98, 1.03];
  const wayOf = (work: string, setting: string, ms: number, workers: number, reps = repetitions.length) => {
    const at = { case: `scalars=${work}`, n: 1024, work, setting, permitted: 3 };
    const wallTimes = repetitions.slice(0, reps).map((factor) => ms * factor);
    const first = repetitions.slice(0, reps).map((factor) => 100 * factor);
    const shares = wallTimes.map((wallMs, i) => ({
      ...{ ...stamp, ...at, event: 'share' as const },
      ...{ repetition: i + 1, wallMs, workers, chunk: 8 },
    }));
    const shared: StampedRow & RowOf<'shared'> = {
      ...{ ...stamp, ...at, event: 'shared', medianMs: ms, ratio: ratioOfMedians(first, wallTimes) },
      ...{ leastWorkers: workers, mostWorkers: workers, chunk: 8 },
    };
    return [...shares, shared];
  };
  const report = (...ways: StampedRow[][]): string =>
    reportLines([initOf('cpu-distribution'), ...ways.flat(), end]).join('\n');

  it('has a table for each work, and names the fastest way over all', () => {
    const text = report(
      ...[wayOf('even', STATIC, 100, 2), wayOf('even', 'dynamic, 2 rows', 110, 2)],
      ...[wayOf('even', 'dynamic, 8 rows', 90, 2), wayOf('sparse', STATIC, 100, 2)],
      ...[wayOf('sparse', 'dynamic, 2 rows', 50, 2), wayOf('sparse', 'dynamic, 8 rows', 40, 2)],
    );
    // √(0.9 · 0.4)
    expect(text).toContain(
      '\nFastest overall: dynamic, 8 rows, 1.67 × faster than static (geometric mean of 2 inputs; in the worst case 1.11 × faster).\n',
    );
    expect(text).toMatch(/\nDistribution +even, 2¹⁰ +sparse, 2¹⁰ +Geometric mean\nstatic +1\.000 +1\.000 +1\.000\n/);
    expect(text).toMatch(/\ndynamic, 2 rows +1\.100 +0\.500 +0\.742\n/);
    expect(text).toMatch(/\neven, 2¹⁰ = 1,024 points, up to 3 workers\n\nTotal times; every result was checked\n/);
    expect(text).toMatch(/\ndynamic, 8 rows +40\.0 +39\.2 – 41\.2 +0\.400 +0\.\d{3} to 0\.\d{3} +8 +2\n/);
    expect(text).toContain('\ndynamic, 8 rows: the fastest of 3.');
  });

  it('names the ways that the repetitions cannot tell from the fastest, and has no interval of few repetitions', () => {
    const text = report(
      ...[wayOf('even', STATIC, 100, 2, 5), wayOf('even', 'dynamic, 2 rows', 50, 2, 5)],
      wayOf('even', 'by size', 50.1, 2, 5),
    );
    expect(text).toMatch(/\. For no input is it significantly faster than by size; static\.\n/);
    expect(text).toMatch(/\nby size +50\.1 +49\.6 – 51\.1 +0\.501 +8 +2\n/);
    expect(text).toContain('2 rows: the lowest median of 3, from too few repetitions for a verdict.');
  });

  it('is won by no distribution in which no worker took part', () => {
    const text = report(wayOf('even', STATIC, 100, 2), wayOf('even', 'dynamic, 256 rows', 50, 0));
    expect(text).toContain('Fastest overall: static (geometric mean of 1 inputs).');
    expect(text).not.toMatch(/256 rows: /);
  });

  it('has no verdict where no worker took part', () => {
    const text = report(wayOf('even', STATIC, 100, 0), wayOf('even', 'dynamic, 2 rows', 50, 0));
    expect(text).toContain('No worker took part, because the sum is too small for workers; use more points.');
    expect(text).not.toMatch(/Fastest overall|the fastest/);
  });
});

describe('the targets for the cost of workers', () => {
  it('are measured for numbers of workers in powers of two, with none and with the most', () => {
    expect([1, 2, 6, 8].map(workerCounts)).toEqual([
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 4, 6],
      [0, 1, 2, 4, 8],
    ]);
  });

  const fewPoints = (permitted: number, factor: number, mostWorkers = 0): RowOf<'few-points'> => {
    const one = [3, 3.1, 2.9, 3, 3.05, 2.95, 3];
    const ratio = ratioOfMedians(
      one,
      one.map((ms) => ms * factor),
    );
    return { event: 'few-points', n: 66, permitted, calls: one.length, medianMs: 3 * factor, ratio, mostWorkers };
  };

  it('demand that few points take no longer with many permitted workers, and start none', () => {
    const verdictsOf = (...rows: RowOf<'few-points'>[]) => judgeFewPoints(rows).map(verdictOf);
    expect(verdictsOf(fewPoints(1, 1), fewPoints(8, 1.01), fewPoints(64, 1))).toEqual(['met', 'met', 'met']);
    expect(verdictsOf(fewPoints(1, 1), fewPoints(8, 1.2), fewPoints(64, 1, 1))).toEqual(['MISSED', 'met', 'MISSED']);
  });

  const resident = (of: RowOf<'resident'>['of'], round: number, millions: number): RowOf<'resident'> => ({
    event: 'resident',
    of,
    threads: 4,
    round,
    bytesEach: millions * 1e6,
  });
  const bare = [1, 2, 3].flatMap((round) => [
    resident('empty', round, 8 + round),
    resident('worker', round, 9 + round),
  ]);

  it('demand at most 5 MB a worker, compared with an empty thread of the same round', () => {
    const [alone, idle] = judgeResident([...bare, resident('worker idle again', 1, 16)]);
    expect(alone).toMatchObject({ value: 1, interval: [1, 1], unit: 'MB' });
    expect(idle).toMatchObject({ value: 6 });
    expect([alone, idle].map((finding) => finding && verdictOf(finding))).toEqual(['met', 'MISSED']);
  });

  it('have no verdict where the process freed memory meanwhile', () => {
    const found = judgeResident([...bare, resident('worker idle again', 1, 2)]);
    expect(found.map((finding) => [verdictOf(finding), finding.note])).toEqual([
      ['met', undefined],
      ['no verdict', 'the process freed memory meanwhile'],
    ]);
  });

  it('are not measured where no worker took part, nor where memory cannot be read', () => {
    const told = (rows: RowOf<'resident'>[]) => judgeResident(rows).map(({ value, note }) => [value, note]);
    expect(told(bare)).toEqual([
      [1, undefined],
      [null, 'no worker took part; take more points'],
    ]);
    const unknown = [null, 'a page cannot measure its memory'];
    expect(told([])).toEqual([unknown, unknown]);
  });
});
