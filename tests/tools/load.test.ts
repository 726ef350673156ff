/** Bench of many concurrent calls: its jobs, its statistics and its verdicts. */
import { describe, expect, it } from 'vitest';
import { parseKnobs } from '../../dev/bench/knobs.js';
import { drawJobs, makeProblem, mixes, rangeOfSet } from '../../dev/bench/modes/load/jobs.js';
import { judgeLoad } from '../../dev/bench/modes/load/judge.js';
import { AGAIN, ALL_ON, type LoadKnobs, sharingOf, variantsOf } from '../../dev/bench/modes/load/knobs.js';
import { callInLoops, idleShareOf, quantile, spansOf } from '../../dev/bench/modes/load/measure.js';
import { loadResult } from '../../dev/bench/modes/load/result.js';
import { verdictOf } from '../../dev/bench/modes/targets/findings.js';
import type { RowOf, StampedRow } from '../../dev/bench/rows.js';
import { bn254G1, expectedMsm } from '../../dev/oracle/known-bases.js';
import type { EngineEvent } from '../../src/api/calls.js';
import { sleep } from '../support/time.js';

describe('the jobs of a mix', () => {
  it('are those of proof after proof, in an order that the seed decides', () => {
    const jobs = drawJobs('prover', 100, 12, 1);
    expect(jobs).toHaveLength(12);
    const spelled = (some: typeof jobs): string[] => some.map(({ set, n }) => `${set} ${n}`).sort();
    for (const first of [0, 5]) {
      expect(spelled(jobs.slice(first, first + 5))).toEqual(['a 100', 'a 100', 'b 100', 'b 100', 'c 200']);
    }
    expect(drawJobs('prover', 100, 12, 1)).toEqual(jobs);
    expect(drawJobs('prover', 100, 12, 2)).not.toEqual(jobs);
  });

  it('are small ones over the same points, of all magnitudes', () => {
    const jobs = drawJobs('small', 1024, 400, 3);
    expect(new Set(jobs.map(({ set }) => set))).toEqual(new Set(['all']));
    const sizes = jobs.map(({ n }) => n);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(128);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4096);
    // as many in each of the five octaves
    const octaves = sizes.map((n) => Math.min(4, Math.floor(Math.log2(n / 128))));
    for (let octave = 0; octave < 5; octave++) {
      expect(octaves.filter((each) => each === octave).length).toBeGreaterThan(50);
    }
    expect(drawJobs('small', 1, 50, 1).every(({ n }) => n >= 1 && n <= 4)).toBe(true);
  });

  it('have points, and distinct known answers', () => {
    const problem = makeProblem({ curve: 'bn254', group: 'g1' }, 4, 1);
    for (const mix of mixes) {
      for (const { set, n } of drawJobs(mix, 4, 10, 1)) expect(n).toBeLessThanOrEqual(rangeOfSet(set, 4).length);
    }
    expect(problem.pointsOf('all')).toEqual(
      Uint8Array.from((['a', 'b', 'c'] as const).flatMap((set) => [...problem.pointsOf(set)])),
    );
    const [one, other] = [problem.jobOf({ set: 'b', n: 4 }), problem.jobOf({ set: 'b', n: 4 })];
    expect(one.expected).not.toEqual(other.expected);
    expect(one.scalars).toHaveLength(4 * 32);
    expect(one.expected).not.toEqual(expectedMsm(bn254G1, [1n], [0n]));
  });
});

describe('callers in a loop', () => {
  const later = (ms: number): Promise<void> => sleep(ms);

  it('keep a fixed number of jobs under way, and take every job once', async () => {
    let [running, most] = [0, 0];
    const taken: number[] = [];
    const { times, wallMs } = await callInLoops([0, 1, 2, 3, 4, 5, 6], 3, async (job) => {
      taken.push(job);
      most = Math.max(most, ++running);
      await later(job === 0 ? 30 : 5);
      running--;
    });
    expect({ most, taken }).toEqual({ most: 3, taken: [0, 1, 2, 3, 4, 5, 6] });
    expect(times).toHaveLength(7);
    // the first is slow, and the others did not wait for it
    expect(times[0]?.ms).toBeGreaterThan(times[1]?.ms ?? Number.NaN);
    expect(wallMs).toBeGreaterThanOrEqual(times[0]?.ms ?? Number.NaN);
  });

  it('take no more jobs once one has failed', async () => {
    const taken: number[] = [];
    const failed = callInLoops([0, 1, 2, 3, 4], 2, async (job) => {
      taken.push(job);
      await later(5);
      if (job === 1) throw new Error('wrong');
    });
    await expect(failed).rejects.toThrow('wrong');
    await later(20);
    expect(taken.length).toBeLessThan(4);
  });
});

/** Three calls, the last two computed together: [call, event, at]. */
const told: readonly (readonly [number, EngineEvent['event'], number])[] = [
  [7, 'started', 101],
  [7, 'submitted', 110],
  [8, 'queued', 102],
  [9, 'queued', 103],
  [8, 'started', 111],
  [9, 'started', 111],
  [8, 'submitted', 120],
  [9, 'submitted', 120.01],
  [7, 'computed', 150],
  [7, 'ended', 155],
  [8, 'computed', 180],
  [9, 'computed', 180.01],
  [8, 'ended', 184],
  [9, 'ended', 184],
];
const events = told.map(([call, event, at]) => ({ call, event, at }) as EngineEvent);
const times = [
  { calledAt: 100, ms: 55 },
  { calledAt: 101, ms: 84 },
  { calledAt: 102, ms: 83 },
];

describe('the statistics of jobs', () => {
  it('have quantiles that were measured', () => {
    const values = Array.from({ length: 20 }, (_, i) => 20 - i);
    expect([quantile(values, 0.5), quantile(values, 0.95), quantile([3], 0.95)]).toEqual([10, 19, 3]);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('give the phases of each job: on the GPU once earlier jobs are off it, without jobs that share the device', () => {
    const spans = spansOf(times, events, 100);
    expect(spans[0]).toEqual({ calledAt: 0, startedAt: 1, onGpuAt: 10, computedAt: 50, endedAt: 55 });
    expect(spans[1]).toEqual({ calledAt: 1, startedAt: 11, onGpuAt: 50, computedAt: 80, endedAt: 85 });
    expect(spans[2]?.onGpuAt).toBe(50);
    expect(spans[2]?.computedAt).toBeCloseTo(80.01);
    // one of them was not the GPU's
    const without = events.filter(({ call, event }) => call !== 9 || event !== 'computed');
    expect(spansOf(times, without, 100)).toEqual([]);
  });

  it('have the share of time in which the GPU was idle', () => {
    const spans = spansOf(times, events, 100);
    expect(idleShareOf(72, spans)).toBeCloseTo(1 - 72 / 80.01);
    expect(idleShareOf(90, spans)).toBe(0);
    expect(idleShareOf(90, [])).toBeNull();
  });
});

const pass = (concurrency: number, repetition: number, more: Partial<RowOf<'load'>> = {}): RowOf<'load'> => ({
  ...{ event: 'load', mix: 'prover', concurrency, sharing: ALL_ON, repetition, jobs: 60 },
  ...{ wallMs: 1000, jobsPerSecond: 60, p50Ms: 10, p95Ms: 20, merged: 3, gpuMs: 980, waitedMs: 5, idleShare: 0.02 },
  ...{ peakBytes: 2 ** 20, scratchBytes: 2 ** 20, promisedBytes: 2 ** 19, budgetBytes: 2 ** 28, freesPerSecond: 1.5 },
  ...more,
});
const together = (togetherMs: number): RowOf<'together'> => ({
  ...{ event: 'together', repetition: 1, jobs: 64, singleMs: 1000, togetherMs, merged: 60 },
});
const interactive = (busyP95Ms: number): RowOf<'interactive'> => ({
  ...{ event: 'interactive', n: 1024, calls: 20, backgroundN: 2 ** 14, backgroundDone: 9, submitMs: 400 },
  ...{ aloneP50Ms: 40, aloneP95Ms: 50, busyP50Ms: 300, busyP95Ms },
});
/** At 1 and at 20 callers, twice. */
const passes = (more: Partial<RowOf<'load'>> = {}): RowOf<'load'>[] =>
  [1, 2].flatMap((repetition) => [pass(1, repetition, { wallMs: 1100 }), pass(20, repetition, more)]);

describe('the bench of many calls', () => {
  it('has targets for a software adapter', () => {
    const verdicts = (rows: RowOf<'load'>[], small: number, urgent: number, isSoftware = true) =>
      judgeLoad(rows, [together(small), together(small)], interactive(urgent), isSoftware).map(verdictOf);
    expect(verdicts(passes(), 590, 499)).toEqual(['met', 'met', 'met', 'met', 'met']);
    const bad = passes({ wallMs: 1200, idleShare: 0.04, peakBytes: 2 ** 29 });
    expect(verdicts(bad, 610, 501)).toEqual(['MISSED', 'MISSED', 'MISSED', 'MISSED', 'MISSED']);
    // of a GPU nothing but the budget
    const none = 'no verdict';
    expect(verdicts(bad, 610, 501, false)).toEqual([none, none, 'MISSED', none, none]);
    expect(verdicts(passes({ idleShare: null }), 590, 499)[1]).toBe('not measured');
  });

  it('is judged by the most callers with everything on, and by all passes for the budget', () => {
    const off = pass(20, 1, { sharing: 'no overlap', wallMs: 9000, idleShare: 0.5, peakBytes: 2 ** 29 });
    const [throughput, idle, over] = judgeLoad([...passes(), off], [together(1)], interactive(1), true);
    expect(throughput).toMatchObject({ value: 1 });
    expect(idle).toMatchObject({ value: 0.02 });
    expect(over).toMatchObject({ value: 1 });
  });

  it('reports level by level, with the gain of each way of sharing, and draws a chart', () => {
    const ratio = { ratio: 1.25, low: 1.2, high: 1.31, verdict: 'A is faster' } as const;
    const spans = spansOf(times, events, 100).map((each) => ({ ...each, n: 4096 }));
    const rows = [
      ...passes(),
      pass(20, 1, { sharing: 'no overlap', idleShare: null }),
      { event: 'inflation', concurrency: 20, ratio: { ...ratio, ratio: 0.83 } },
      { event: 'gain', concurrency: 20, without: 'no overlap', ratio },
      together(500),
      interactive(450),
      { event: 'waterfall', concurrency: 20, jobs: spans },
    ] as unknown as StampedRow[];
    const parts = loadResult(rows);
    const text = JSON.stringify(parts);
    for (const said of [
      '60 jobs (mix: prover)',
      '0.83 (1.2 to 1.3)',
      'no overlap',
      '1.3 (1.2 to 1.3)',
      '64 small sums',
    ])
      expect(text).toContain(said);
    const drawn = parts.find((part) => part?.kind === 'waterfall');
    expect(drawn).toMatchObject({ summary: expect.stringContaining('3 jobs'), data: { lines: [{}, {}, {}] } });
    const [line] = drawn?.kind === 'waterfall' ? drawn.data.lines : [];
    expect(line?.spans.map(({ name, ms }) => [name, ms])).toEqual([
      ['queued', 1],
      ['staged', 9],
      ['on the GPU', 40],
      ['windows combined', 5],
    ]);
    expect(loadResult([])).toEqual([]);
  });

  it('has knobs, and by default runs a prover’s calls on the GPU', () => {
    const parse = (query: string) => parseKnobs(new URLSearchParams(query));
    expect(parse('autorun=load')).toMatchObject({
      ...{ concurrency: [1, 2, 5, 10, 15, 20], jobs: 60, mix: 'prover', reps: 3 },
      cases: [{ address: { n: 1024 } }],
    });
    expect(parse('autorun=load&concurrency=1..3&jobs=9&mix=small&backend=auto&budget=8')).toMatchObject({
      ...{ concurrency: [1, 2, 3], jobs: 9, mix: 'small' },
      settings: [{ backend: 'auto', memoryBudget: 2 ** 23 }],
    });
    expect(() => parse('autorun=load&mix=verifier')).toThrow('mix: "verifier" is not prover or small');
    expect(() => parse('autorun=load&concurrency=0')).toThrow('concurrency: "0"');
    expect(() => parse('autorun=msm-bench&jobs=3')).toThrow('jobs: not used by autorun=msm-bench');
  });

  it('says where passes are too few, and in a terminal what the waterfall shows', () => {
    const ratio = { ratio: 0.98, low: 0.9, high: 1.1, verdict: 'too few pairs' } as const;
    const spans = spansOf(times, events, 100).map((each) => ({ ...each, n: 4096 }));
    const text = JSON.stringify(
      loadResult([
        ...passes({ scratchBytes: 2 ** 21 }),
        pass(20, 1, { sharing: AGAIN }),
        { event: 'gain', concurrency: 20, without: AGAIN, ratio },
        { event: 'waterfall', concurrency: 20, jobs: spans },
      ] as unknown as StampedRow[]),
    );
    for (const said of ['0.98 (too few pairs)', AGAIN, 'GPU ms per job', '16.3', '2.0 MiB', 'on the GPU 30.0 ms'])
      expect(text).toContain(said);
  });

  it('takes kinds of sharing from knobs', () => {
    const parse = (query: string) =>
      sharingOf(parseKnobs(new URLSearchParams(`autorun=load${query}`)) as unknown as LoadKnobs);
    expect(parse('')).toEqual({});
    expect(parse('&sidepool=2&throttle=on')).toEqual({ sidePool: 2, throttle: true });
  });

  it('omits a cap on workers only where workers compute', () => {
    const labels = (backend: 'gpu' | 'auto' | 'cpu' | null) => variantsOf({ backend }).map(({ label }) => label);
    expect(labels(null)).toEqual([ALL_ON, AGAIN, 'no overlap', 'no merging', 'nothing kept']);
    expect(labels('gpu')).toEqual(labels(null));
    // the CPU alone shares no device
    expect(labels('cpu')).toEqual([ALL_ON, AGAIN]);
    expect(labels('auto').slice(labels('gpu').length)).toEqual([
      'no cap on workers',
      'workers that wait',
      'no workers meanwhile',
    ]);
  });
});
