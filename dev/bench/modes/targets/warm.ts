/** Rows about warm MSMs of random scalars: cost, times and memory by size. */
import { interleave } from '../../interleave.js';
import { type Finding, middleOf, needs, notMeasured, ratioFinding, round, type Target } from './findings.js';
import type { Baseline, Row, Workbench } from './workbench.js';

interface Sizes<Size> {
  readonly sizes: readonly (Size & { readonly logn: number })[];
}

const measureSizes = async <Size>(
  logns: readonly number[],
  bench: Workbench,
  measure: (n: number) => Promise<Size>,
): Promise<Sizes<Size>> => {
  const sizes = [];
  for (const logn of logns) if (logn <= bench.logn) sizes.push({ logn, ...(await measure(2 ** logn)) });
  return { sizes };
};

/**
 * Millions of product equivalents of a warm MSM, by log n. The unit is used because times of a
 * software adapter vary with the load of the machine.
 */
const COSTS = [
  [10, 1.0],
  [12, 1.7],
  [14, 4.7],
  [16, 14],
  [18, 45],
] as const;

export const cost: Row<Sizes<Pick<Baseline, 'productEquivalents' | 'wallTimesMs'>>> = {
  name: 'cost',
  measure: (bench) => measureSizes(bench.software ? COSTS.map(([logn]) => logn) : [], bench, (n) => bench.baseline(n)),
  judge: ({ sizes }, { software }) =>
    COSTS.map(([logn, most]) => {
      const found = sizes.find((size) => size.logn === logn);
      const what = `2^${logn}: product equivalents, millions`;
      if (found === undefined) return notMeasured(what, { most }, software ? needs(logn) : 'software adapters only');
      const costs = found.productEquivalents.map((products) => products / 1e6);
      const spread = `${round(Math.min(...costs))} to ${round(Math.max(...costs))}`;
      const note = `${spread}; total time ${middleOf(found.wallTimesMs).value?.toFixed(0)} ms`;
      return { what, target: { most }, ...middleOf(costs), unit: 'M', note };
    }),
};

const GPU_TIMES = [
  [16, 3],
  [18, 6],
  [20, 16],
] as const;
const ABOVE = { most: 1.5 };
const LINEAR = { from: 20, to: 22, target: { most: 4.4 } };

export const gpuTime: Row<Sizes<Pick<Baseline, 'gpuMs' | 'aboveGpuMs'>>> = {
  name: 'gpu-time',
  measure: (bench) =>
    measureSizes(bench.software ? [] : [...GPU_TIMES.map(([logn]) => logn), LINEAR.to], bench, (n) =>
      bench.baseline(n),
    ),
  judge({ sizes }, { software }) {
    const of = (logn: number) => sizes.find((size) => size.logn === logn);
    const timed = (
      what: string,
      target: Target,
      values: readonly number[] | null | undefined,
      logn: number,
    ): Finding => {
      if (values) return { what, target, ...middleOf(values), unit: 'ms' };
      const missing = of(logn) === undefined ? needs(logn) : 'no timestamp-query here';
      return notMeasured(what, target, software ? 'real GPUs only' : missing);
    };
    const [base, large] = [of(LINEAR.from)?.gpuMs, of(LINEAR.to)?.gpuMs];
    const growth = `GPU time, 2^${LINEAR.to} ÷ 2^${LINEAR.from}`;
    return [
      ...GPU_TIMES.flatMap(([logn, most]) => [
        timed(`2^${logn}: GPU time`, { most }, of(logn)?.gpuMs, logn),
        timed(`2^${logn}: total time − GPU time`, ABOVE, of(logn)?.aboveGpuMs, logn),
      ]),
      base && large
        ? { what: growth, target: LINEAR.target, ...ratioFinding(base, large), unit: '×' }
        : timed(growth, LINEAR.target, null, LINEAR.to),
    ];
  },
};

const SMALL = { n: 256, hardwareMs: { most: 3 }, softwareMillions: { most: 0.5 } };

/** Row `small`: the fixed costs of an MSM. */
export const small: Row<Pick<Baseline, 'wallTimesMs' | 'productEquivalents'>> = {
  name: 'small',
  measure: (bench) => bench.baseline(SMALL.n),
  judge({ wallTimesMs, productEquivalents }, { software }) {
    const wall = middleOf(wallTimesMs);
    if (!software) return [{ what: `n = ${SMALL.n}: total time`, target: SMALL.hardwareMs, ...wall, unit: 'ms' }];
    const what = `n = ${SMALL.n}: product equivalents, millions`;
    const note = `total time ${wall.value?.toFixed(1)} ms`;
    return [{ what, target: SMALL.softwareMillions, ...middleOf(productEquivalents, 1e6), unit: 'M', note }];
  },
};

const MEMORY = [
  [16, 48],
  [18, 64],
  [20, 100],
] as const;
const TIGHT = { logn: 20, budget: 32 * 2 ** 20, target: { most: 1.5 } };

interface Memory extends Sizes<{ readonly peakBytes: number }> {
  readonly tight: { readonly defaultMs: readonly number[]; readonly tightMs: readonly number[] } | null;
}

/** Row `memory`: GPU memory of an MSM beside its points, and the cost of a tight budget. */
export const memory: Row<Memory> = {
  name: 'memory',
  async measure(bench) {
    const logns = MEMORY.map(([logn]) => logn);
    const { sizes } = await measureSizes(logns, bench, async (n) => ({ peakBytes: (await bench.warm(n)).peakBytes }));
    return { sizes, tight: bench.logn < TIGHT.logn ? null : await timeTight(bench) };
  },
  judge({ sizes, tight }) {
    const what = `2^${TIGHT.logn} in ${TIGHT.budget / 2 ** 20} MiB: total time ÷ total time with the default budget`;
    return [
      ...MEMORY.map(([logn, most]) => {
        const found = sizes.find((size) => size.logn === logn);
        const name = `2^${logn}: peak scratch`;
        return found === undefined
          ? notMeasured(name, { most }, needs(logn))
          : { what: name, target: { most }, value: found.peakBytes / 1e6, unit: 'MB' };
      }),
      tight === null
        ? notMeasured(what, TIGHT.target, needs(TIGHT.logn))
        : {
            what,
            target: TIGHT.target,
            ...ratioFinding(tight.defaultMs, tight.tightMs),
            unit: '×',
          },
    ];
  },
};

async function timeTight(bench: Workbench): Promise<NonNullable<Memory['tight']>> {
  const { n, subject, cases } = await bench.warm(2 ** TIGHT.logn);
  const tight = await bench.subject({ memoryBudget: TIGHT.budget });
  await bench.warmUp(tight, cases);
  const hostTimes = { defaultMs: [] as number[], tightMs: [] as number[] };
  const sides = [
    { of: subject, into: hostTimes.defaultMs },
    { of: tight, into: hostTimes.tightMs },
  ];
  await interleave(sides, bench.reps, {
    async take({ of, into }, repetition) {
      await bench.announce(`n = ${n}: a tight budget, run ${repetition} of ${bench.reps}`);
      into.push(await bench.time(of, cases[repetition % 2] as (typeof cases)[0]));
    },
  });
  return hostTimes;
}
