import { describe, expect, it } from 'vitest';
import { quantumOf } from '../../dev/bench/bench-setup.js';
import { blocksOf } from '../../dev/bench/modes/msm-modes.js';
import { hasTrace, reportLines, toChromeTrace, toJson } from '../../dev/bench/report.js';
import type { RowOf, StampedRow } from '../../dev/bench/rows.js';
import { fastestOf, partsOfWallTime, summarise, summarisePeers, type Timed } from '../../dev/bench/summary.js';
import { browserOf, systemOf } from '../../dev/page/host.js';
import { adapterLine } from '../../scripts/adapter/adapter-line.mjs';
import { ratioOfMedians } from '../../src/calibrate/statistics.js';

const stamp = { runId: 'run-00000001', at: '2026-01-02T03:04:05.678Z' };
const at = { case: 'points=distinct,scalars=random,n=1024,seed=1', n: 1024 };
const hostTimes = { encodeMs: 1, submitToResultMs: 8, readBackMs: 3 };
const phases = [
  { name: 'walk', ms: 5 },
  { name: 'reduce', ms: 2 },
  { name: 'combine windows (CPU)', ms: 2.5 },
];

const adapter = { vendor: '', architecture: '', device: '', description: '', software: true };
const environment = { runtime: 'Node', os: 'Linux', timestamps: false };
const init = { ...stamp, event: 'init', mode: 'msm-bench', adapter, environment } as unknown as StampedRow;

const repetition = (wallMs: number | null, changes: Partial<RowOf<'repetition'>> = {}): StampedRow => ({
  ...stamp,
  ...at,
  event: 'repetition',
  setting: 'defaults',
  on: 'gpu',
  placement: 'private',
  repetition: 1,
  agrees: wallMs !== null,
  wallMs,
  gpuMs: wallMs === null ? null : 7,
  hostTimes: wallMs === null ? null : hostTimes,
  phases: wallMs === null ? null : phases,
  ...changes,
});

const trace = (repetitionNumber: number): StampedRow & RowOf<'trace'> => ({
  ...stamp,
  ...at,
  event: 'trace',
  setting: 'defaults',
  on: 'gpu',
  placement: 'private',
  repetition: repetitionNumber,
  agrees: true,
  wallMs: 12,
  gpuMs: 7,
  hostTimes,
  phases,
  timeline: [
    { name: 'walk', startMs: 0, ms: 5, submit: 0 },
    { name: 'reduce', startMs: 5.5, ms: 2, submit: 0 },
  ],
});

describe('the summary of a run', () => {
  it('has the median by case and setting', () => {
    const rows = [12, 10, 14].map((wallMs) => repetition(wallMs));
    const other = [20, 30].map((wallMs) => repetition(wallMs, { setting: 'c=8' }));
    expect(summarise([...rows, ...other])).toMatchObject([
      { setting: 'defaults', repetitions: 3, wrong: false, medianMs: 12, lowMs: 10, highMs: 14, gpuMs: 7, hostTimes },
      { setting: 'c=8', repetitions: 2, medianMs: 25 },
    ]);
  });

  it('shows the phases of the median repetition, which add up to its wall time, as medians of phases do not', () => {
    const parts = [
      { wallMs: 100, walk: 90 },
      { wallMs: 60, walk: 20 },
      { wallMs: 70, walk: 60 },
    ].map(({ wallMs, walk }) => repetition(wallMs, { phases: [{ name: 'walk', ms: walk }] }));
    const [timed] = summarise(parts) as [Timed];
    expect(timed).toMatchObject({ medianMs: 70, typicalMs: 70, phases: [{ name: 'walk', ms: 60 }] });
    expect(partsOfWallTime(timed)).toEqual([
      { name: 'walk', ms: 60 },
      { name: 'host, waiting', ms: 10 },
    ]);
    // of an even number none has the median: it is that of the faster of the two in the middle
    const [even] = summarise(parts.slice(1)) as [Timed];
    expect(even).toMatchObject({ medianMs: 65, typicalMs: 60, phases: [{ name: 'walk', ms: 20 }] });
    expect(partsOfWallTime({ phases: null, typicalMs: 60 })).toBeNull();
  });

  it('shows no bound that was exceeded, and says so', () => {
    const bound = (ms: number): StampedRow => ({
      ...{ ...stamp, ...at, event: 'bound', setting: 'defaults' },
      ...{ additions: 1, products: 6, productsPerSecond: 1, ms },
    });
    expect(summarise([repetition(10), bound(8)])).toMatchObject([{ ofBound: 0.8, boundExceeded: false }]);
    const exceeded = [init, repetition(10), bound(12)];
    expect(summarise(exceeded)).toMatchObject([{ bound: null, ofBound: null, boundExceeded: true }]);
    const text = reportLines(exceeded).join('\n');
    expect(text).toContain('faster than its products alone');
    expect(text).not.toContain('120 %');
    expect(reportLines([init, repetition(10), bound(8)]).join('\n')).toContain('80 %');
  });

  it('compares with a peer by a factor only where their times tell them apart', () => {
    const report = (own: readonly number[], theirs: readonly number[]): string => {
      const rows = [
        ...own.map((ms, i) => repetition(ms, { repetition: i + 1 })),
        ...theirs.map(
          (wallMs, i): StampedRow => ({
            ...{ ...stamp, ...at, event: 'peer', peer: 'noble', repetition: i + 1, agrees: true, wallMs },
          }),
        ),
      ];
      return reportLines([init, ...rows]).join('\n');
    };
    // five against three, apart: by chance in 2 of 56 orders
    expect(report([10, 11, 10, 12, 11], [22, 21, 23])).toContain(': 2.0 × faster than noble on the CPU.');
    expect(report([30, 31, 33, 32, 31], [22, 21, 23])).toContain(': 1.41 × slower than noble on the CPU.');
    // a median of 20 beside one of 12, and ranges that overlap
    const overlapping = report([20, 21, 11, 22, 15], [12, 11, 18]);
    expect(overlapping).toContain(': no significant difference to noble on the CPU.');
    expect(overlapping).toContain('Beside noble: no difference (noble on the CPU: 12.0 ms)');
    expect(overlapping).not.toMatch(/\d × (faster|slower)/);
    // two against two are apart by chance in 2 of 6 orders
    expect(report([10, 11], [22, 21])).toContain(': too few repetitions to compare it with noble on the CPU.');
    // from six pairs on their interval decides: ranges may overlap where pairs do not
    const pairs = [10, 20, 30, 40, 50, 60];
    expect(
      report(
        pairs,
        pairs.map((ms) => 1.5 * ms),
      ),
    ).toContain(': 1.50 × faster than noble on the CPU.');
  });

  it('has no time where one answer was wrong', () => {
    const [timed] = summarise([repetition(10), repetition(null), repetition(12)]);
    expect(timed).toMatchObject({
      wrong: true,
      medianMs: null,
      lowMs: null,
      gpuMs: null,
      phases: null,
      hostTimes: null,
    });
    expect(timed?.wallTimesMs).toEqual([]);
    expect(reportLines([init, repetition(10), repetition(null)]).join('\n')).toMatch(/\n2¹⁰ +WRONG\n/);
  });

  it('names the fastest setting only where the repetitions tell it apart', () => {
    const timed = (setting: string, hostTimes: readonly number[]) =>
      hostTimes.map((wallMs, i) => repetition(wallMs, { setting, repetition: i + 1 }));
    const noise = [10, 12, 11, 10.5, 11.5, 12, 10, 11];
    const slower = noise.map((ms) => 1.5 * ms);
    const same = noise.map((ms, i) => ms + (i % 2 === 0 ? 0.4 : -0.3));
    const told = fastestOf(summarise([...timed('a', noise), ...timed('b', slower)]));
    expect([told?.best.setting, told?.notToldApartFrom]).toEqual(['a', null]);
    const close = fastestOf(summarise([...timed('a', noise), ...timed('b', same), ...timed('c', slower)]));
    expect(close?.notToldApartFrom?.map(({ setting }) => setting)).toEqual([close?.best.setting === 'a' ? 'b' : 'a']);
    // too few to say anything
    const few = fastestOf(summarise([...timed('a', [1, 1]), ...timed('b', [9, 9])]));
    expect(few?.notToldApartFrom).toHaveLength(1);
  });

  it('keeps peers apart', () => {
    const peer = (wallMs: number): StampedRow => ({
      ...stamp,
      ...at,
      event: 'peer',
      peer: 'noble',
      repetition: 1,
      agrees: true,
      wallMs,
    });
    expect(summarisePeers([peer(3), repetition(1), peer(5)])).toMatchObject([
      { peer: 'noble', repetitions: 2, medianMs: 4, lowMs: 3, highMs: 5 },
    ]);
  });
});

describe('the text of a run', () => {
  const cpu = {
    vendor: 'cpu',
    architecture: '',
    device: '',
    description: 'no GPU: computed on the CPU',
    software: true,
  };
  const beginning = (changes: object) => ({ ...init, ...changes }) as StampedRow;
  const caseOf = (n: number) => `points=distinct,scalars=random,n=${n},seed=1`;
  const compared = (n: number, ratio: number): StampedRow[] => {
    const spread = (factor: number) => Array.from({ length: 8 }, (_, i) => factor * (10 + 0.01 * i));
    const [a, b] = [spread(1), spread(ratio)];
    const told = { case: caseOf(n), n };
    const pairs = a.flatMap((wallMs, i) => [
      repetition(wallMs, { ...told, setting: 'A', repetition: i + 1 }),
      repetition(b[i] as number, { ...told, setting: 'B', repetition: i + 1 }),
    ]);
    const comparison: StampedRow = {
      ...{ ...stamp, ...told, event: 'comparison', a: 'c=4', b: 'c=8', pairs: 8, aMs: 10, bMs: 10 * ratio },
      wallTimes: ratioOfMedians(a, b),
    };
    return [...pairs, comparison];
  };
  const ofAb = (...rows: StampedRow[][]): string =>
    reportLines([beginning({ mode: 'accum-ab', settings: ['c=4', 'c=8'] }), ...rows.flat()]).join('\n');
  const faster = /[AB] (\(c=\d\) is [\d.]+ × faster than|is faster)|[Nn]o significant difference/g;

  it('has one verdict for an A/B of one size', () => {
    const text = ofAb(compared(16, 0.8));
    expect(text).toContain('\nB (c=8) is 1.25 × faster than A (c=4) (B/A 0.80, 95 % CI 0.80 to 0.80).\n');
    expect(text.match(faster)).toHaveLength(1);
  });

  it('has one verdict for an A/B of several sizes, with a ratio at each', () => {
    const alike = ofAb(compared(16, 0.8), compared(32, 0.7));
    expect(alike.match(faster)).toHaveLength(1);
    expect(alike).toContain('\nB is faster at 2⁴, 2⁵.\n');
    expect(alike).toMatch(/\n2⁵ = 32 points\n\nA: .*\nB: .*\nB\/A: 0\.700 \(95 % CI 0\.700 to 0\.700, 8 pairs\)\n/);
    const mixed = ofAb(compared(16, 0.8), compared(32, 1));
    expect(mixed).toContain('It depends on the size: B is faster at 2⁴; no significant difference at 2⁵.');
  });

  it('shows each setting of a calibration beside the defaults of its own turns', () => {
    const trial = (tuning: object, ms: number | null, beside?: number): StampedRow => ({
      ...{ ...stamp, event: 'trial', tuning, ms },
      ...(ms !== null && beside && { defaults: { ms: beside, ratio: ms / beside, low: 0.4, high: 1.2 } }),
    });
    const text = reportLines([
      beginning({ mode: 'calibrate', query: '' }),
      trial({}, 100, 100),
      // in a slower minute: half of what the defaults took over all, and slower than they were then
      trial({ walkerSlots: 4 }, 50, 40),
      trial({ fieldProduct: 'dot4' }, null),
      {
        ...{ ...stamp, event: 'calibrated', tuning: {}, query: '', tookMs: 1000, compileMs: 100, remembered: false },
      } as StampedRow,
    ]).join('\n');
    expect(text).toMatch(/\nSetting +ms +Defaults in these rounds, ms +÷ defaults +95 % CI +Chosen\n/);
    expect(text).toMatch(/\nwalkers=4 +50\.0 +40\.0 +1\.250 +0\.400 to 1\.200\n/);
    expect(text).toMatch(/\nfieldproduct=dot4 +wrong or not supported +– +– +–\n/);
  });

  it('calls a run on the CPU a CPU run, not a software adapter', () => {
    const onCpu = { adapter: cpu, environment: { ...environment, cores: 8 } };
    const [first] = reportLines([beginning(onCpu), repetition(10, { on: 'cpu', gpuMs: null })]);
    expect(first).toBe('adapter: CPU, 8 logical cores, no GPU opened; Node, Linux');
    expect(adapterLine(cpu)).toBe('CPU, no GPU opened');
  });
});

describe('the files of a run', () => {
  it('are JSON with every row', () => {
    const rows = [repetition(10), trace(1)];
    expect(JSON.parse(toJson(rows))).toEqual(rows);
  });

  it('have no time of a case with a wrong result, also not of its right repetitions', () => {
    const other = repetition(9, { setting: 'c=8' });
    const kept = JSON.parse(toJson([repetition(10), other, repetition(null)])) as RowOf<'repetition'>[];
    expect(kept.map(({ wallMs, gpuMs, hostTimes: byHost }) => [wallMs, gpuMs, byHost])).toEqual([
      [null, null, null],
      [9, 7, hostTimes],
      [null, null, null],
    ]);
    const wrong = { ...trace(2), agrees: false };
    expect(JSON.parse(toChromeTrace([trace(1), wrong])).traceEvents).toEqual([]);
  });

  it('are a trace with host and GPU of every repetition in sequence, without overlaps in a lane', () => {
    const rows = [trace(1), trace(2)];
    expect(hasTrace(rows)).toBe(true);
    expect(hasTrace([repetition(1)])).toBe(false);
    const { traceEvents } = JSON.parse(toChromeTrace(rows)) as {
      traceEvents: { ph: string; name: string; tid: number; ts: number; dur: number; pid: number }[];
    };
    const blocks = traceEvents.filter(({ ph }) => ph === 'X');
    expect(blocks.map(({ name }) => name).slice(0, 6)).toEqual([
      'encode',
      'submit to result',
      'read back',
      'combine windows (CPU)',
      'walk',
      'reduce',
    ]);
    expect(blocks).toHaveLength(12);
    for (const lane of [1, 2]) {
      const own = blocks.filter(({ tid }) => tid === lane);
      for (const [i, { ts }] of own.entries()) {
        const before = own[i - 1];
        if (before !== undefined) expect(ts).toBeGreaterThanOrEqual(before.ts + before.dur);
      }
    }
    // microseconds
    expect(blocks.find(({ name }) => name === 'walk')).toMatchObject({ ts: 1000, dur: 5000 });
  });

  it('have only the host’s lane where the adapter has no timestamps', () => {
    const lanes = blocksOf({ hostTimes, phases: null, timeline: null }).map(({ lane }) => lane);
    expect(new Set(lanes)).toEqual(new Set(['host']));
  });
});

it('the quantum of timestamps is the largest step of which all are multiples', () => {
  expect(quantumOf([1000n, 1000n])).toBeNull();
  expect(quantumOf([])).toBeNull();
  expect(quantumOf([5n, 65_541n, 196_613n])).toBe(65_536);
  expect(quantumOf([900n, 500n, 100n, 1000n])).toBe(100);
});

it('browsers and systems are named by their user agents', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36';
  expect([browserOf(chrome), systemOf(chrome)]).toEqual(['Chrome 147.0.0.0', 'Linux']);
  expect(browserOf(`${chrome} Edg/147.0.1.2`)).toBe('Edge 147.0.1.2');
  const safari =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1';
  expect([browserOf(safari), systemOf(safari)]).toEqual(['Safari 26.1', 'iPhone OS 26.1']);
  const firefox = 'Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0';
  expect([browserOf(firefox), systemOf(firefox)]).toEqual(['Firefox 145.0', 'Android 15']);
});
