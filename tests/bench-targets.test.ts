/** `npm run bench:targets`: what is met and what is missed, and the script itself on builds of its own. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MsmCounts } from '../dev/count/count-msm.js';
import type { Counts } from '../dev/count/instrument.js';
import { UsageError } from '../scripts/command-line.mjs';
import { summariseRuns } from '../scripts/targets/baseline.mjs';
import { fieldCosts } from '../scripts/targets/field.mjs';
import { exitCodeOf, type Finding, verdictOf } from '../scripts/targets/findings.mjs';
import { parseOptions } from '../scripts/targets/options.mjs';
import { summary, table } from '../scripts/targets/report.mjs';
import { rows } from '../scripts/targets/rows/all.mjs';
import { batch } from '../scripts/targets/rows/batch.mjs';
import { cold } from '../scripts/targets/rows/cold.mjs';
import { cost } from '../scripts/targets/rows/cost.mjs';
import { distributions } from '../scripts/targets/rows/distributions.mjs';
import { efficiency, efficiencyOf } from '../scripts/targets/rows/efficiency.mjs';
import { gpuTime } from '../scripts/targets/rows/gpu-time.mjs';
import { memory } from '../scripts/targets/rows/memory.mjs';
import { small } from '../scripts/targets/rows/small.mjs';
import { work, workOf } from '../scripts/targets/rows/work.mjs';
import { inProject, runScript } from './support/run-script.js';

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

describe('a verdict', () => {
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
  ])('%j is %s', (finding, verdict) => {
    expect(verdictOf(finding)).toBe(verdict);
  });

  it('makes the exit code where something failed, and where it is missed only if asked to', () => {
    const met = [found(1, { most: 1 }), found(2), found(null, { most: 1 })];
    const missed = [...met, found(2, { most: 1 })];
    const failed = [...met, found(null, null, { failure: 'WRONG' })];
    expect([met, missed, failed].map((findings) => exitCodeOf(findings, false))).toEqual([0, 0, 1]);
    expect([met, missed, failed].map((findings) => exitCodeOf(findings, true))).toEqual([0, 1, 1]);
  });

  it('is a line of the table', () => {
    const lines = [
      { row: 'one', ...found(1.23456, { most: 1 }, { unit: 'ms', note: 'why' }) },
      { row: 'one', ...found(12345.6) },
      { row: 'two', ...found(null, { least: 2 }, { failure: 'WRONG: it' }) },
    ];
    expect(table(lines).split('\n')).toEqual([
      'row  what  target  measured  verdict',
      'one  it    ≤ 1     1.23 ms   MISSED: why',
      '     it            12300     no verdict',
      'two  it    ≥ 2               FAILED: WRONG: it',
    ]);
    expect(summary(lines)).toBe('0 met, 1 MISSED, 1 FAILED, 1 no verdict, 0 not measured');
  });
});

describe('what is measured once for several rows', () => {
  const phases = [
    { name: 'sort', ms: 2 },
    { name: 'walk', ms: 5 },
    { name: 'reduce', ms: 1 },
    { name: 'fold (CPU)', ms: 1 },
  ];

  it('is the median over the runs, with the fold as arithmetic that is not the GPU’s', () => {
    const runs = [10, 14, 12].map((wallMs) => ({ wallMs, productEquivalents: 1e6 * wallMs, phases }));
    expect(summariseRuns(runs)).toMatchObject({
      wallMs: 12,
      productEquivalents: 12e6,
      gpuMs: 8,
      aboveGpuMs: 4,
      notArithmetic: 5 / 12,
    });
    const untimed = [...runs, { wallMs: 12, productEquivalents: 12e6, phases: null }];
    expect(summariseRuns(untimed)).toMatchObject({ wallMs: 12, gpuMs: null, aboveGpuMs: null, notArithmetic: null });
  });

  it('is each operation at its best, beside the plain product in one chain', () => {
    const row = (variant: string, operation: string, chains: number, perSecond: number) => ({
      ...{ variant, operation, chains, perSecond },
      ...{ rates: [perSecond], ofPeak: null, compileMs: 1 },
    });
    const own = [row('own', 'product', 1, 15), row('own', 'product', 2, 20), row('own', 'square', 2, 25)];
    const plain = [row('plain', 'product', 1, 10), row('plain', 'product', 2, 12)];
    const costs = fieldCosts([...plain, ...own, row('own', 'inverse', 1, 2)], 'own', 'plain');
    expect(costs).toEqual({ variant: 'own', productsPerSecond: 20, inversion: 10, square: 0.8, ownToPlain: 2 });
  });
});

describe('the row', () => {
  const counts = (JSON.parse(readFileSync(inProject('dev/count/counts.json'), 'utf8')) as MsmCounts[])[0] as MsmCounts;

  it('work: squares are 0.8, inversions what they cost, and the fold is in it', () => {
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
    expect(additions).toBe(walk.squares + combine.squares + reduce.squares);
    expect(irreducible).toBe(6 * counts.n * counts.windows);
  });

  it('work: has targets at 2^16 and 2^18', () => {
    const of = { all: 125, afterWalk: 10, inversions: 21, additions: 20, irreducible: 100 };
    const field = fieldCosts([], 'own', 'plain');
    expect(told(work.judge({ field, sizes: [{ logn: 16, work: of }] }))).toEqual([
      ['2^16: counted products ÷ 6·n·T', 1.25, 'met'],
      ['2^16: inversions, products an addition', 1.05, 'MISSED'],
      ['2^16: share of combine, reduce, fold', 0.08, 'met'],
      ...['counted products ÷ 6·n·T', 'inversions, products an addition', 'share of combine, reduce, fold'].map(
        (what) => [`2^18: ${what}`, null, 'not measured'],
      ),
    ]);
    const verdicts = work.judge({ field, sizes: [{ logn: 18, work: of }] }).map(verdictOf);
    expect(verdicts.slice(3)).toEqual(['met', 'MISSED', 'MISSED']);
  });

  it('efficiency: is the same in own products as in plain ones', () => {
    // 600 own products at 2 a plain one, in a wall of 400 plain ones
    expect(efficiencyOf(600, 400, 2)).toBe(0.75);
    const measured = { logn: 18, efficiency: 0.6, notArithmetic: 0.2 };
    expect(efficiency.judge(measured, { software: true, logn: 18 }).map(verdictOf)).toEqual(['met', 'MISSED']);
    expect(efficiency.judge(measured, hardware).map(verdictOf)).toEqual(['MISSED', 'MISSED']);
    const [smaller, untimed] = efficiency.judge({ ...measured, logn: 14, notArithmetic: null }, software);
    expect(smaller?.note).toBe('the target is for 2^18');
    expect(untimed?.note).toBe('no timestamp-query here');
    const [, tooSmall] = efficiency.judge({ ...measured, logn: 14, notArithmetic: null }, { ...software, logn: 14 });
    expect(tooSmall?.note).toBe('needs --logn 16');
  });

  it('cost: is for software adapters', () => {
    const sizes = [
      { logn: 10, wallMs: 100, productEquivalents: 0.9e6, runs: [{ productEquivalents: 0.9e6 }] },
      { logn: 12, wallMs: 200, productEquivalents: 1.8e6, runs: [{ productEquivalents: 1.8e6 }] },
    ];
    const none = ['not measured', 'not measured', 'not measured'];
    expect(cost.judge({ sizes }, software).map(verdictOf)).toEqual(['met', 'MISSED', ...none]);
    const [first] = cost.judge({ sizes: [] }, hardware);
    expect(first).toMatchObject({ value: null, note: 'software adapters only' });
  });

  it('gpu-time: is for real GPUs', () => {
    const sizes = [
      { logn: 16, gpuMs: 2.9, aboveGpuMs: 1.6 },
      { logn: 18, gpuMs: null, aboveGpuMs: null },
      { logn: 20, gpuMs: 16.5, aboveGpuMs: 1 },
    ];
    const findings = gpuTime.judge({ sizes }, hardware);
    const none = 'not measured';
    expect(findings.map(verdictOf)).toEqual(['met', 'MISSED', none, none, 'MISSED', 'met', none]);
    expect(findings.map(({ note }) => note).filter(Boolean)).toEqual([
      'no timestamp-query here',
      'no timestamp-query here',
      'needs --logn 22',
    ]);
    const growth = gpuTime.judge({ sizes: [...sizes, { logn: 22, gpuMs: 66, aboveGpuMs: 1 }] }, hardware).at(-1);
    expect([growth?.value, growth && verdictOf(growth)]).toEqual([4, 'met']);
    expect(new Set(gpuTime.judge({ sizes: [] }, software).map(({ note }) => note))).toEqual(
      new Set(['real GPUs only']),
    );
  });

  it('distributions: are ratios of medians, and one scalar a time', () => {
    const inputs = [
      ['all scalars equal', 13],
      ['all points equal', 13.1],
      ['one bucket and noise', 9],
      ['90 % zeros', 2],
      ['32-bit scalars', 2.6],
      ['scalars 0 and 1', 1.5],
      ['one scalar not zero', 2.5],
    ].map(([what, ms]) => ({ what: what as string, wallsMs: [ms as number, 1000, 0] }));
    const sizes = [{ logn: 14, randomMs: [9, 10, 11], inputs }];
    const verdicts = ['met', 'MISSED', 'met', 'met', 'MISSED', 'met'];
    expect(distributions.judge({ sizes }, hardware).map(verdictOf)).toEqual([...verdicts, 'MISSED']);
    expect(distributions.judge({ sizes }, software).map(verdictOf)).toEqual([...verdicts, 'no verdict']);
    // what has no time did not pass
    expect(
      verdictOf(distributions.judge({ sizes: [{ logn: 14, randomMs: [1], inputs: [] }] }, software)[0] as Finding),
    ).toBe('FAILED');
  });

  it('small, batch: have one target or the other', () => {
    const measured = { wallMs: 4, productEquivalents: 0.4e6 };
    expect(told(small.judge(measured, software))).toEqual([['n = 256: million product equivalents', 0.4, 'met']]);
    expect(told(small.judge(measured, hardware))).toEqual([['n = 256: wall', 4, 'MISSED']]);
    const walls = { singleMs: [10, 20, 30], batchMs: [8, 9, 40] };
    const what = '10 vectors of 2^12: one batch ÷ 10 calls';
    expect(told(batch.judge(walls, hardware))).toEqual([[what, 0.45, 'met']]);
    expect(told(batch.judge(walls, software))).toEqual([[what, 0.45, 'no verdict']]);
    expect(told(batch.judge(null, hardware))).toEqual([[what, null, 'not measured']]);
  });

  it('memory: is in millions of bytes', () => {
    const sizes = [
      { logn: 16, peakBytes: 48e6 },
      { logn: 18, peakBytes: 64 * 2 ** 20 },
    ];
    const none = 'not measured';
    expect(memory.judge({ sizes, tight: null }).map(verdictOf)).toEqual(['met', 'MISSED', none, none]);
    const tight = memory.judge({ sizes, tight: { defaultMs: [2], tightMs: [3] } }).at(-1) as Finding;
    expect(told([tight])).toEqual([["2^20 in 32 MiB: wall ÷ the default's", 1.5, 'met']]);
  });

  it('cold: is CPU time on software, and nothing is compiled twice', () => {
    const starts = [{ cpuSeconds: 3, wallSeconds: 2 }];
    const measured = { starts, afterWarmup: 0, bySecondEngine: 1 };
    expect(cold.judge(measured, software).map(verdictOf)).toEqual(['met', 'met', 'MISSED']);
    expect(cold.judge(measured, hardware).map(verdictOf)).toEqual(['MISSED', 'met', 'MISSED']);
  });
});

it.each([
  ['--rows work,nonsense', /^--rows: 'nonsense' is none; there are work, efficiency, /],
  ['--rows ,', /^--rows: '' is none/],
  ['--logn 9', /^--logn: '9' is not an integer from 10 to 22/],
  ['--logn 23', /^--logn: /],
  ['--reps 0', /^--reps: /],
  ['--nonsense', /--nonsense/],
  ['--build /nowhere', /\/nowhere.dist.index\.js is not there: `npm run build` makes it/],
])('%s is a mistake on the command line', (args, message) => {
  expect(() => parseOptions(args.split(' '))).toThrow(UsageError);
  expect(() => parseOptions(args.split(' '))).toThrow(message);
});

it('all rows are measured unless some are named', () => {
  expect(parseOptions(['--help']).rows).toEqual(rows.map(({ name }) => name));
  expect(parseOptions(['--help', '--rows', 'cold, work']).rows).toEqual(['cold', 'work']);
});

describe('the script', () => {
  // Builds of its own, as `npm test` must neither need dist/ nor change it; and where their imports find the packages.
  const built = inProject('node_modules/.cache/webgpu-msm/built-for-targets');
  const wrong = inProject('node_modules/.cache/webgpu-msm/built-wrong-for-targets');
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-targets-'));
    for (const [config, outDir] of [
      ['vite.lib.config.ts', 'dist'],
      ['vite.bench.config.ts', 'dist-bench'],
    ] as const) {
      await build({ configFile: inProject(config), build: { outDir: join(built, outDir) }, logLevel: 'error' });
    }
  });
  afterAll(() => {
    for (const each of [folder, wrong]) rmSync(each, { recursive: true, force: true });
  });

  const run = (...args: string[]) => runScript('scripts/bench-targets.mjs', args, 100_000);

  it('says what a mistake on the command line is', async () => {
    const { code, stdout, stderr } = await run('--rows', 'nonsense');
    expect(stderr).toContain('usage: npm run bench:targets');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('measures, prints and writes rows', async () => {
    const json = join(folder, 'targets.json');
    const options = ['--rows', 'small,cold,memory', '--logn', '10', '--reps', '1', '--json', json, '--build', built];
    const { code, stdout, stderr } = await run(...options);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^adapter: .+; node v.+; commit .+\nBN254 G1, n up to 2\^10, medians of 1; /);
    expect(stdout).toMatch(/\nsmall +n = 256: .+\nmemory +2\^16: .+ not measured: needs --logn 16\n/);
    expect(stdout).toMatch(/\ncold +2\^10: .+\n +pipelines .+ ≤ 0 +0 +met\n +pipelines .+ ≤ 0 +0 +met\n/);
    const record = JSON.parse(readFileSync(json, 'utf8'));
    expect(record).toMatchObject({ node: process.version, logn: 10, reps: 1 });
    expect(record.adapter).toHaveProperty('software');
    expect(record.lines.map(({ row }: { row: string }) => row)).toEqual([
      ...['small', ...Array(4).fill('memory'), ...Array(3).fill('cold')],
    ]);
    expect(Object.keys(record.measured).toSorted()).toEqual(['cold', 'memory', 'small']);
  });

  it('fails a row whose results are wrong, and goes on with the others', async () => {
    mkdirSync(join(wrong, 'dist'), { recursive: true });
    cpSync(join(built, 'dist-bench'), join(wrong, 'dist-bench'), { recursive: true });
    writeFileSync(
      join(wrong, 'dist/index.js'),
      `export const createMsmEngine = async () => ({
        lastRun: null,
        loadBases: async () => ({}),
        msm: async () => ({ x: 1n, y: 2n, infinity: false }),
        destroy() {},
      });`,
    );
    const options = ['--rows', 'small,memory,cold', '--logn', '10', '--reps', '1', '--build', wrong];
    const { code, stdout } = await run(...options);
    expect(stdout).toMatch(/\nsmall +all of it +FAILED: WRONG: n = 256, random scalars 1: \(0x1, 0x2\) for /);
    expect(stdout).toMatch(/\nmemory +2\^16: .+ not measured/);
    expect(stdout).toMatch(/\ncold +all of it +FAILED: WRONG: MSM 0 of a cold start\n/);
    expect(code).toBe(1);
  });
});
