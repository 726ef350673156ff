/** Times in `lastRun`: on the host (`hostTimes`), and on the GPU (`timeline`, `phases`). */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { Runner } from '../../src/gpu/runner.js';
import type { SubmissionResult } from '../../src/gpu/submission.js';
import type { GpuRun, HostTimes, MsmEngine, TimelineEntry } from '../../src/index.js';
import { CallClock } from '../../src/session/call.js';
import { phasesOf, timelineOf } from '../../src/session/run-steps.js';
import { openEngine } from '../support/engines.js';
import { getDevice, getGpu } from '../support/gpu.js';
import { cpuRunOf, gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { stopClock } from '../support/time.js';

/** Sums of doubles may be off by their last bits. */
const EPSILON = 1e-6;

const sumOf = ({ encodeMs, submitToResultMs, readBackMs }: HostTimes): number =>
  encodeMs + submitToResultMs + readBackMs;

afterEach(() => void vi.restoreAllMocks());

/** The record of a call on the GPU, and its walls. */
const recordOf = (engine: MsmEngine): { run: GpuRun; hostTimes: HostTimes } => {
  const run = gpuRunOf(engine);
  if (run.hostTimes === null) throw new Error('the call was divided');
  return { run, hostTimes: run.hostTimes };
};

const expectWithin = (hostTimes: HostTimes, wallMs: number): void => {
  for (const ms of Object.values(hostTimes)) expect(ms).toBeGreaterThanOrEqual(0);
  expect(sumOf(hostTimes)).toBeLessThanOrEqual(wallMs + EPSILON);
};

test('a clock counts every moment to one phase, or to none', () => {
  const { spend } = stopClock();
  const clock = new CallClock();
  spend(1);
  clock.enter(null);
  spend(10);
  clock.enter('submitToResultMs');
  spend(2);
  clock.leaveOut(() => spend(100));
  spend(4);
  expect(() =>
    clock.leaveOut(() => {
      spend(1000);
      throw new Error('of the caller');
    }),
  ).toThrow('of the caller');
  spend(8);
  clock.enter('readBackMs');
  spend(16);
  clock.enter('encodeMs');
  spend(32);
  const hostTimes = { encodeMs: 33, submitToResultMs: 14, readBackMs: 16 };
  expect(clock.read()).toEqual({ wallMs: 1173, hostTimes });
  // reading does not stop it, nor count anything twice
  spend(1);
  expect(clock.read()).toEqual({ wallMs: 1174, hostTimes: { ...hostTimes, encodeMs: 34 } });
});

describe('hostTimes', () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 2000, seed: 5 });

  test('cover nearly all of the wall time of a warm run of one submit, also without timestamps', {
    tags: 'long',
  }, async () => {
    const engine = await openEngine();
    const bases = await engine.loadBases(points.bytes);
    for (let i = 0; i < 3; i++) expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    const { run, hostTimes } = recordOf(engine);
    expect([run.submits, run.phases, run.timeline]).toEqual([1, null, null]);
    expectWithin(hostTimes, run.wallMs);
    expect(sumOf(hostTimes)).toBeGreaterThan(0.9 * run.wallMs);
    for (const ms of Object.values(hostTimes)) expect(ms).toBeGreaterThan(0);
  });

  test('count compiling before the first submit', { tags: 'long' }, async () => {
    const engine = await openEngine({ device: await getDevice({ label: 'one that has compiled nothing' }) });
    const bases = await engine.loadBases(points.bytes);
    const before = engine.pipelines.length;
    await engine.msm(bases, scalars.bytes);
    const compiled = engine.pipelines.slice(before);
    expect(compiled.length).toBeGreaterThan(0);
    const first = recordOf(engine);
    expectWithin(first.hostTimes, first.run.wallMs);
    expect(first.hostTimes.encodeMs).toBeGreaterThanOrEqual(Math.max(...compiled.map(({ ms }) => ms)) - EPSILON);
    await engine.msm(bases, scalars.bytes);
    expect(engine.pipelines.slice(before)).toEqual(compiled);
  });

  test('count the preparation of every job and every submit in encode', { tags: 'long' }, async () => {
    const device = await getDevice();
    const engine = await openEngine({ device, memoryBudget: 300_000, tuning: { windowBits: 5 } });
    const bases = await engine.loadBases(points.bytes);
    await engine.msm(bases, scalars.bytes); // compiles
    const { spend } = stopClock();
    const { run } = Runner.prototype;
    const jobs = vi.spyOn(Runner.prototype, 'run').mockImplementation(function (this: Runner, ...given) {
      spend(400);
      return run.apply(this, given);
    });
    const createCommandEncoder = device.createCommandEncoder.bind(device);
    const encoders = vi.spyOn(device, 'createCommandEncoder').mockImplementation((descriptor) => {
      spend(15);
      return createCommandEncoder(descriptor);
    });
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    const { run: record, hostTimes } = recordOf(engine);
    expect(jobs.mock.calls.length).toBeGreaterThan(1);
    expect(encoders).toHaveBeenCalledTimes(record.submits);
    expectWithin(hostTimes, record.wallMs);
    expect(hostTimes.encodeMs).toBeCloseTo(400 * jobs.mock.calls.length + 15 * record.submits);
    // the second job's preparation comes right behind what is read back of the first
    expect(hostTimes.readBackMs).toBeCloseTo(0);
  });

  test('leave out time of the caller in onProgress, over several submits and jobs', { tags: 'long' }, async () => {
    const engine = await openEngine({ memoryBudget: 300_000, tuning: { windowBits: 5 } });
    const bases = await engine.loadBases(points.bytes);
    const jobs = vi.spyOn(Runner.prototype, 'run');
    const { spend } = stopClock();
    let ticks = 0;
    const onProgress = (): void => {
      ticks++;
      spend(10);
    };
    expect(await engine.msm(bases, scalars.bytes, { onProgress })).toEqual(expected);
    const { run, hostTimes } = recordOf(engine);
    expect(jobs.mock.calls.length).toBeGreaterThan(1);
    expect(run.submits).toBeGreaterThan(jobs.mock.calls.length);
    expect(ticks).toBe(run.submits + 1);
    expect(sumOf(hostTimes)).toBeCloseTo(0);
    expect(run.wallMs).toBeCloseTo(10 * ticks);
  });

  test('leave out time of the GPU for other calls, which is in the wall time', { tags: 'long' }, async () => {
    const engine = await openEngine();
    const bases = await engine.loadBases(points.bytes);
    const [first, second] = await Promise.all(
      [1, 2].map(() => engine.msm(bases, scalars.bytes).then(() => recordOf(engine))),
    );
    if (first === undefined || second === undefined) throw new Error('two calls');
    expect(second.run).not.toBe(first.run);
    expectWithin(second.hostTimes, second.run.wallMs);
    // it was made ready meanwhile, and the GPU did one thing after the other
    expect(first.hostTimes.submitToResultMs + second.hostTimes.submitToResultMs).toBeLessThanOrEqual(
      second.run.wallMs + EPSILON,
    );
  });

  test('are those of the GPU: a run on the CPU has one time, less than the wall time', async () => {
    const engine = await openEngine({ tuning: { cpuBelow: 10 } });
    const bases = await engine.loadBases(points.bytes);
    await engine.msm(bases, scalars.values.slice(0, 10));
    const { cpuMs, wallMs } = cpuRunOf(engine);
    expect(cpuMs).toBeGreaterThan(0);
    expect(cpuMs).toBeLessThanOrEqual(wallMs);
  });
});

test('a timeline has one clock for all jobs, and phases are its sums', () => {
  // the clock of a GPU that was on for long, in nanoseconds: doubles of this size are 2048 apart
  const since = 2n ** 63n;
  const pass = (phase: string, submit: number, begin: bigint, end: bigint) => ({
    ...{ phase, submit },
    ...{ begin: since + begin, end: since + end },
  });
  const jobs: Pick<SubmissionResult, 'passes' | 'submits'>[] = [
    { submits: 2, passes: [pass('sort', 0, 0n, 1_500_001n), pass('walk', 1, 2_000_000n, 3_000_000n)] },
    // a clock that goes back
    { submits: 1, passes: [pass('sort', 0, 5_000_000n, 4_000_000n), pass('walk', 0, -1n, 250_000n)] },
    { submits: 1, passes: [pass('walk', 0, 7_000_000n, 7_000_000n)] },
  ];
  const timeline: TimelineEntry[] = [
    { name: 'sort', startMs: 0, ms: 1.500001, submit: 0 },
    { name: 'walk', startMs: 2, ms: 1, submit: 1 },
    { name: 'sort', startMs: 5, ms: 0, submit: 2 },
    { name: 'walk', startMs: 0, ms: 0.250001, submit: 2 },
    { name: 'walk', startMs: 7, ms: 0, submit: 3 },
  ];
  expect(timelineOf(jobs, 3)).toEqual(timeline);
  expect(phasesOf(timeline, 8)).toEqual([
    { name: 'sort', ms: 1.500001 },
    { name: 'walk', ms: 1.250001 },
    { name: 'combine windows (CPU)', ms: 8 },
  ]);
  expect(timelineOf([...jobs, { submits: 1, passes: null }], 3)).toBeNull();
});

test('times of a GPU are used if they fit into the host’s, plus a quarter and 20 ms', () => {
  const passes = [0n, 60n].map((begin) => ({
    ...{ phase: 'walk', submit: 0 },
    ...{ begin: begin * 1_000_000n, end: (begin + 60n) * 1_000_000n },
  }));
  const jobs = [{ submits: 1, passes }];
  expect(timelineOf(jobs, 80)?.map(({ ms }) => ms)).toEqual([60, 60]);
  expect(timelineOf(jobs, 79.9)).toBeNull();
});

describe('the timeline of a call', () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 2000, seed: 6 });

  /** The timeline of a call, with what holds of each; null where the adapter has no timestamps. */
  const checkedTimeline = async (engine: MsmEngine): Promise<readonly TimelineEntry[] | null> => {
    const { run, hostTimes } = recordOf(engine);
    expectWithin(hostTimes, run.wallMs);
    const offered = (await (await getGpu()).requestAdapter())?.features.has('timestamp-query') === true;
    expect([run.timeline !== null, run.phases !== null]).toEqual([offered, offered]);
    if (run.timeline === null || run.phases === null) return null;
    const { timeline } = run;
    expect(timeline[0]?.startMs).toBe(0);
    timeline.forEach(({ startMs, ms, submit }, i) => {
      const { startMs: before, submit: last } = timeline[i - 1] ?? { startMs: 0, submit: 0 };
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(startMs).toBeGreaterThanOrEqual(before);
      expect([last, last + 1]).toContain(submit);
    });
    expect(timeline.at(-1)?.submit).toBe(run.submits - 1);
    const combineMs = run.phases.at(-1)?.ms as number;
    expect(run.phases).toEqual(phasesOf(timeline, combineMs));
    expect(combineMs).toBeLessThanOrEqual(hostTimes.readBackMs + EPSILON);
    // Dawn rounds each time to 0.1 ms
    const { startMs, ms } = timeline.at(-1) as TimelineEntry;
    expect(startMs + ms).toBeLessThanOrEqual(run.wallMs + 0.2);
    return timeline;
  };

  test('has the stages of one submit in their order, between the call and the result', async () => {
    const engine = await openEngine({ curve: smallCurve, gpu: await getGpu() });
    const small = smallCase(400);
    const bases = await engine.loadBases(small.points);
    expect(await engine.msm(bases, small.scalars)).toEqual(small.expected);
    const timeline = await checkedTimeline(engine);
    if (timeline === null) return;
    expect(recordOf(engine).run.submits).toBe(1);
    const stages = timeline.map(({ name }) => name).filter((name, i, names) => name !== names[i - 1]);
    expect(stages).toEqual(['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce']);
    const { hostTimes } = recordOf(engine);
    const onGpu = timeline.reduce((sum, { ms }) => sum + ms, 0);
    expect(onGpu).toBeGreaterThan(0);
    // a GPU may begin before submit() returns
    expect(onGpu).toBeLessThanOrEqual(hostTimes.encodeMs + hostTimes.submitToResultMs + 0.2);
  });

  test('has a decompose for each group of windows of several submits', { tags: 'long' }, async () => {
    const engine = await openEngine({ gpu: await getGpu(), tuning: { windowBits: 10, additionsPerSubmit: 4_000 } });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    const timeline = await checkedTimeline(engine);
    if (timeline === null) return;
    // 26 windows, two a submit, and the reduction in its own
    const { submits } = recordOf(engine).run;
    expect(submits).toBe(14);
    const decomposed = timeline.filter(({ name }) => name === 'decompose').map(({ submit }) => submit);
    expect(decomposed).toEqual(Array.from({ length: 13 }, (_, i) => i));
    expect(timeline.filter(({ name }) => name === 'reduce').every(({ submit }) => submit === 13)).toBe(true);
  });

  test('continues from job to job of a batch', { tags: 'long' }, async () => {
    const engine = await openEngine({ gpu: await getGpu(), memoryBudget: 600_000, tuning: { windowBits: 5 } });
    const bases = await engine.loadBases(points.bytes);
    const jobs = vi.spyOn(Runner.prototype, 'run');
    expect(await engine.msmBatch(bases, [scalars.bytes, scalars.bytes, []])).toEqual([
      expected,
      expected,
      expect.objectContaining({ infinity: true }),
    ]);
    const count = jobs.mock.calls.length;
    expect(count).toBeGreaterThan(1);
    const timeline = await checkedTimeline(engine);
    if (timeline === null) return;
    // a job is at least one submit, and begins where the one before ended
    const { run } = recordOf(engine);
    expect(run.submits).toBeGreaterThanOrEqual(count);
    expect(new Set(timeline.map(({ submit }) => submit)).size).toBe(run.submits);
    expect(timeline.at(-1)?.startMs).toBeGreaterThan(0);
  });
});
