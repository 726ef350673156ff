/** Bench targets: verdicts on measured values, and the mode on a build of its own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cold } from '../../dev/bench/modes/targets/cold.js';
import { type Finding, failureOf, middleOf, verdictOf } from '../../dev/bench/modes/targets/findings.js';
import { targetParts } from '../../dev/bench/modes/targets/index.js';
import { batch, distributions } from '../../dev/bench/modes/targets/inputs.js';
import { cost, gpuTime, memory, small } from '../../dev/bench/modes/targets/warm.js';
import { efficiency, efficiencyOf, work, workOf } from '../../dev/bench/modes/targets/work.js';
import { fieldCosts, summariseRuns } from '../../dev/bench/modes/targets/workbench.js';
import { textOf } from '../../dev/bench/report.js';
import type { StampedRow } from '../../dev/bench/rows.js';
import type { MsmCounts } from '../../dev/count/count-msm.js';
import type { Counts } from '../../dev/count/instrument.js';
import { inProject, runScript } from '../support/run-script.js';

const software = { software: true, logn: 16 };
const hardware = { software: false, logn: 20 };
const found = (value: number | null, target: Finding['target'] = null, more: Partial<Finding> = {}): Finding => ({
  what: 'it',
  target,
  value,
  ...more,
});
const told = (findings: readonly Finding[]): unknown[] =>
  findings.map((finding) => [finding.what, finding.value, verdictOf(finding)]);

describe('a verdict on a target', () => {
  it.each([
    [found(1.25, { most: 1.25 }), 'met'],
    [found(1.2501, { most: 1.25 }), 'MISSED'],
    [found(0, { most: 0 }), 'met'],
    [found(0.7, { least: 0.7 }), 'met'],
    [found(0.69, { least: 0.7 }), 'MISSED'],
    [found(3), 'no verdict'],
    [found(null, { most: 1 }), 'not measured'],
    [found(null), 'not measured'],
    [found(Number.NaN, { most: 1 }), 'FAILED'],
    [found(Number.POSITIVE_INFINITY, { least: 1 }), 'FAILED'],
    [found(0, { most: 1 }, { failure: 'WRONG' }), 'FAILED'],
    // the interval says it, not the median
    [found(1, { most: 2 }, { interval: [0.9, 2] }), 'met'],
    [found(1, { most: 2 }, { interval: [0.9, 2.1] }), 'no verdict'],
    [found(3, { most: 2 }, { interval: [1.9, 4] }), 'no verdict'],
    [found(3, { most: 2 }, { interval: [2.1, 4] }), 'MISSED'],
    [found(1, { least: 0.8 }, { interval: [0.8, 2] }), 'met'],
    [found(1, { least: 0.8 }, { interval: [0.7, 2] }), 'no verdict'],
    [found(0.5, { least: 0.8 }, { interval: [0.4, 0.7] }), 'MISSED'],
    // timed once: that tells nothing
    [found(1, { most: 2 }, { interval: null }), 'no verdict'],
  ])('%j is %s', (finding, verdict) => {
    expect(verdictOf(finding)).toBe(verdict);
  });

  it('rests on an interval that holds the median 95 times in 100', () => {
    const times = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1).reverse();
    expect(middleOf([])).toMatchObject({ value: Number.NaN, interval: null });
    expect(middleOf([5])).toEqual({ value: 5, interval: null });
    // of fewer than six even the ends are no 95 %
    expect(middleOf(times(5))).toEqual({ value: 3, interval: [1, 5] });
    // tables of the sign test: for n = 6, 9, 12, 20 the 1st, 2nd, 3rd, 6th from either end
    const known = [
      [6, 1],
      [8, 1],
      [9, 2],
      [12, 3],
      [20, 6],
    ] as const;
    for (const [n, k] of known) expect(middleOf(times(n)).interval).toEqual([k, n + 1 - k]);
    expect(middleOf([2e6, 4e6], 1e6)).toEqual({ value: 3, interval: [2, 4] });
  });

  it('sets the exit code: failures always, missed targets only on request', () => {
    const met = [found(1, { most: 1 }), found(2), found(null, { most: 1 })];
    const missed = [...met, found(2, { most: 1 })];
    const failed = [...met, found(null, null, { failure: 'WRONG' })];
    const [lenient, strict] = [false, true].map((how) => [met, missed, failed].map((all) => failureOf(all, how)));
    expect(lenient).toEqual([null, null, '1 failed']);
    expect(strict).toEqual([null, '0 failed, 1 missed', '1 failed, 0 missed']);
  });

  it('is a line of the table', () => {
    const told = [
      {
        name: 'one',
        findings: [found(1.23456, { most: 1 }, { unit: 'ms', note: 'why', interval: [1.1, 1.4] }), found(12345.6)],
      },
      { name: 'two', findings: [found(null, { least: 2 }, { failure: 'WRONG: it' })] },
    ];
    expect(textOf(targetParts(told)).slice(2, 8)).toEqual([
      'Group   Quantity   Target   Measured               Verdict',
      'one     it         ≤ 1      1.23 ms (1.1 to 1.4)   MISSED: why',
      '        it                  12300                  no verdict',
      'two     it         ≥ 2                             FAILED: WRONG: it',
      '',
      '0 met, 1 MISSED, 1 FAILED, 1 no verdict, 0 not measured',
    ]);
  });
});

describe('a measurement for several rows', () => {
  const phases = [
    { name: 'sort', ms: 2 },
    { name: 'walk', ms: 5 },
    { name: 'reduce', ms: 1 },
    { name: 'combine windows (CPU)', ms: 1 },
  ];

  it('knows every run, and the combining of windows as arithmetic of the host', () => {
    const runs = [10, 14, 12].map((wallMs) => ({ wallMs, productEquivalents: 1e6 * wallMs, phases }));
    expect(summariseRuns(runs)).toMatchObject({
      wallTimesMs: [10, 14, 12],
      productEquivalents: [10e6, 14e6, 12e6],
      gpuMs: [8, 8, 8],
      aboveGpuMs: [2, 6, 4],
      notArithmetic: [3 / 10, 7 / 14, 5 / 12],
    });
    const untimed = [...runs, { wallMs: 12, productEquivalents: 12e6, phases: null }];
    expect(summariseRuns(untimed)).toMatchObject({ gpuMs: null, aboveGpuMs: null, notArithmetic: null });
  });

  it('has each operation at its best, and the plain product in one chain', () => {
    const row = (variant: string, operation: string, chains: number, perSecond: number) => ({
      ...{ variant, operation, chains, perSecond },
      ...{ rates: [perSecond], ofPeak: null, compileMs: 1 },
    });
    const own = [row('own', 'product', 1, 15), row('own', 'product', 2, 20), row('own', 'square', 2, 25)];
    const plain = [row('plain', 'product', 1, 10), row('plain', 'product', 2, 12)];
    const costs = fieldCosts([...plain, ...own, row('own', 'inverse', 1, 2)], 'own', 'plain');
    expect(costs).toEqual({ variant: 'own', inversion: 10, square: 0.8, ownToPlain: 2 });
  });
});

describe('the row of a target', () => {
  const counts = (JSON.parse(readFileSync(inProject('dev/count/counts.json'), 'utf8')) as MsmCounts[])[0] as MsmCounts;

  it('work: a square counts 0.8, an inversion its cost, and combining windows is included', () => {
    const { all, afterWalk, inversions, additions, irreducible } = workOf(counts, { inversion: 10 });
    const { walk, combine, reduce } = counts.phases as Record<'walk' | 'combine' | 'reduce', Counts>;
    const inWalk = walk.products + 0.8 * walk.squares + 10 * walk.inversions;
    expect(all - afterWalk).toBeCloseTo(inWalk, 6);
    const onGpu = [combine, reduce].reduce(
      (sum, own) => sum + own.products + 0.8 * own.squares + 10 * own.inversions,
      0,
    );
    const sums = counts.windows * counts.windowBits;
    expect((afterWalk - onGpu) / sums).toBeCloseTo(23, 6);
    expect(inversions).toBe(10 * (walk.inversions + combine.inversions + reduce.inversions));
    expect(additions).toBe((walk.products + combine.products + reduce.products) / 6);
    expect(irreducible).toBe(6 * counts.n * counts.windows);
  });

  it('work: has targets at 2^16 and 2^18', () => {
    const of = { all: 125, afterWalk: 10, inversions: 21, additions: 20, irreducible: 100 };
    const field = fieldCosts([], 'own', 'plain');
    expect(told(work.judge({ field, sizes: [{ logn: 16, work: of }] }, hardware))).toEqual([
      ['2^16: counted products ÷ 6·n·T', 1.25, 'met'],
      ['2^16: cost of inversions, products per addition', 1.05, 'MISSED'],
      ['2^16: share of combine, reduce and combining the windows', 0.08, 'met'],
      ...[
        'counted products ÷ 6·n·T',
        'cost of inversions, products per addition',
        'share of combine, reduce and combining the windows',
      ].map((what) => [`2^18: ${what}`, null, 'not measured']),
    ]);
    const verdicts = work.judge({ field, sizes: [{ logn: 18, work: of }] }, hardware).map(verdictOf);
    expect(verdicts.slice(3)).toEqual(['met', 'MISSED', 'MISSED']);
  });

  it('efficiency: equals in own products its value in plain ones', () => {
    // 600 own products at 2 a plain one, in a wall of 400 plain ones
    expect(efficiencyOf(600, 400, 2)).toBe(0.75);
    const measured = { logn: 18, efficiency: [0.6, 0.61], notArithmetic: [0.2, 0.21] };
    expect(efficiency.judge(measured, { software: true, logn: 18 }).map(verdictOf)).toEqual(['met', 'MISSED']);
    expect(efficiency.judge(measured, hardware).map(verdictOf)).toEqual(['MISSED', 'MISSED']);
    const [smaller, untimed] = efficiency.judge({ ...measured, logn: 14, notArithmetic: null }, software);
    expect(smaller?.note).toBe('the target is for 2^18');
    expect(untimed?.note).toBe('no timestamp-query here');
    const [, tooSmall] = efficiency.judge({ ...measured, logn: 14, notArithmetic: null }, { ...software, logn: 14 });
    expect(tooSmall?.note).toBe('needs --logn 16');
  });

  it('cost: applies to software adapters', () => {
    const sizes = [
      { logn: 10, wallTimesMs: [100, 110], productEquivalents: [0.9e6, 0.95e6] },
      { logn: 12, wallTimesMs: [200, 220], productEquivalents: [1.8e6, 1.9e6] },
    ];
    const none = ['not measured', 'not measured', 'not measured'];
    expect(cost.judge({ sizes }, software).map(verdictOf)).toEqual(['met', 'MISSED', ...none]);
    const [first] = cost.judge({ sizes: [] }, hardware);
    expect(first).toMatchObject({ value: null, note: 'software adapters only' });
  });

  it('gpu-time: applies to real GPUs', () => {
    const sizes = [
      { logn: 16, gpuMs: [2.8, 2.9], aboveGpuMs: [1.6, 1.7] },
      { logn: 18, gpuMs: null, aboveGpuMs: null },
      { logn: 20, gpuMs: [16.5, 16.5], aboveGpuMs: [1, 1.5] },
    ];
    const findings = gpuTime.judge({ sizes }, hardware);
    const none = 'not measured';
    expect(findings.map(verdictOf)).toEqual(['met', 'MISSED', none, none, 'MISSED', 'met', none]);
    expect(findings.map(({ note }) => note).filter(Boolean)).toEqual([
      'no timestamp-query here',
      'no timestamp-query here',
      'needs --logn 22',
    ]);
    const growth = gpuTime
      .judge({ sizes: [...sizes, { logn: 22, gpuMs: [66, 66], aboveGpuMs: [1, 1] }] }, hardware)
      .at(-1);
    expect([growth?.value, growth && verdictOf(growth)]).toEqual([4, 'met']);
    expect(new Set(gpuTime.judge({ sizes: [] }, software).map(({ note }) => note))).toEqual(
      new Set(['real GPUs only']),
    );
  });

  it('distributions: are ratios of medians, for one scalar distribution at a time', () => {
    const inputs = [
      ['all scalars equal', 13],
      ['all points equal', 13.1],
      ['one bucket and noise', 9],
      ['90 % zeros', 2],
      ['32-bit scalars', 2.6],
      ['scalars 0 and 1', 1.5],
      ['one scalar not zero', 5],
    ].map(([what, ms]) => ({ what: what as string, wallTimesMs: [0.5, 1, 2].map((noise) => noise * (ms as number)) }));
    // noise that both have cancels in the ratio of a pair
    const sizes = [{ logn: 14, randomMs: [5, 10, 20], inputs }];
    const verdicts = ['met', 'MISSED', 'met', 'met', 'MISSED', 'met'];
    expect(distributions.judge({ sizes }, hardware).map(verdictOf)).toEqual([...verdicts, 'MISSED']);
    expect(distributions.judge({ sizes }, software).map(verdictOf)).toEqual([...verdicts, 'no verdict']);
    // what has no time did not pass
    expect(
      verdictOf(distributions.judge({ sizes: [{ logn: 14, randomMs: [1], inputs: [] }] }, software)[0] as Finding),
    ).toBe('FAILED');
  });

  it('small, batch: have the target of software adapters or that of GPUs', () => {
    const measured = { wallTimesMs: [4, 4.1], productEquivalents: [0.25e6, 0.5e6] };
    expect(told(small.judge(measured, software))).toEqual([['n = 256: product equivalents, millions', 0.375, 'met']]);
    expect(told(small.judge(measured, hardware))).toEqual([['n = 256: total time', 4.05, 'MISSED']]);
    const hostTimes = { singleMs: [10, 20, 30], batchMs: [4.5, 9, 13.5] };
    const what = '10 vectors of 2^12: one batch ÷ 10 calls';
    expect(told(batch.judge(hostTimes, hardware))).toEqual([[what, 0.45, 'met']]);
    expect(told(batch.judge(hostTimes, software))).toEqual([[what, 0.45, 'no verdict']]);
    expect(told(batch.judge(null, hardware))).toEqual([[what, null, 'not measured']]);
  });

  it('memory: counts millions of bytes', () => {
    const sizes = [
      { logn: 16, peakBytes: 48e6 },
      { logn: 18, peakBytes: 64 * 2 ** 20 },
    ];
    const none = 'not measured';
    expect(memory.judge({ sizes, tight: null }, hardware).map(verdictOf)).toEqual(['met', 'MISSED', none, none]);
    const tight = (tightMs: readonly number[]) =>
      told(memory.judge({ sizes, tight: { defaultMs: [2, 2], tightMs } }, hardware).slice(-1));
    const what = '2^20 in 32 MiB: total time ÷ total time with the default budget';
    expect(tight([3, 3])).toEqual([[what, 1.5, 'met']]);
    expect(tight([2.8, 3.2])).toEqual([[what, 1.5, 'no verdict']]);
  });

  it('cold: is CPU time on software adapters, where nothing compiles twice', () => {
    const starts = [3, 3.1].map((cpuSeconds) => ({ cpuSeconds, wallSeconds: 2 }));
    const measured = { starts, afterWarmup: 0, bySecondEngine: 1 };
    expect(cold.judge(measured, software).map(verdictOf)).toEqual(['met', 'met', 'MISSED']);
    expect(cold.judge(measured, hardware).map(verdictOf)).toEqual(['MISSED', 'met', 'MISSED']);
  });
});

describe('the targets mode', () => {
  // A build of its own, as `npm test` must neither need dist/ nor change it; and where its imports
  // find the packages.
  const built = inProject('node_modules/.cache/webgpu-msm/built-for-targets');
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-targets-'));
    const outDir = join(built, 'dist');
    await build({ configFile: inProject('vite.lib.config.ts'), build: { outDir }, logLevel: 'error' });
    await build({ configFile: inProject('vite.bench.config.ts'), root: inProject('.') });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]) => runScript('scripts/bench.mjs', ['targets', ...args], 100_000);

  it('measures, prints and writes rows', { tags: 'long' }, async () => {
    const json = join(folder, 'targets.json');
    const options = ['--rows', 'small,cold,memory', '--logn', '10', '--reps', '1', '--json', json, '--build', built];
    const { code, stdout, stderr } = await run(...options);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^adapter: .+; Node v.+\n/);
    // one repetition is no verdict
    expect(stdout).toMatch(/\nsmall +n = 256: .+ no verdict: .+\nmemory +2\^16: .+ not measured: needs --logn 16\n/);
    expect(stdout).toMatch(/\ncold +2\^10: .+\n +pipelines .+ ≤ 0 +0 +met\n +pipelines .+ ≤ 0 +0 +met\n/);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    expect(rows[0]).toMatchObject({
      event: 'init',
      mode: 'targets',
      environment: { runtime: `Node ${process.version}` },
    });
    const told = rows.filter((row) => row.event === 'target');
    expect(told.map(({ name, findings }) => [name, findings.length])).toEqual([
      ['small', 1],
      ['memory', 4],
      ['cold', 3],
    ]);
    for (const { measured } of told) expect(measured).toBeTruthy();
  });

  it('fails a row whose results are wrong, and goes on with the others', { tags: 'long' }, async () => {
    mkdirSync(join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(folder, 'dist/index.js'),
      `export const createMsmEngine = async () => ({
        lastRun: null,
        memory: { peak: 0 },
        loadBases: async () => ({ destroy() {} }),
        msm: async () => ({ x: 1n, y: 2n, infinity: false }),
        destroy() {},
      });`,
    );
    const { code, stdout } = await run(...'--rows small,memory,cold --logn 10 --reps 1 --build'.split(' '), folder);
    expect(stdout).toMatch(
      /\nsmall +the whole row +FAILED: wrong result at .*n=256,.*: got \(0x1, 0x2\), expected \(0x/,
    );
    expect(stdout).toMatch(/\nmemory +2\^16: .+ not measured/);
    expect(stdout).toMatch(/\ncold +the whole row +FAILED: wrong result of MSM 0 of a cold start\n/);
    expect(code).toBe(1);
  });
});
