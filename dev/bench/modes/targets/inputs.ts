/**
 * Rows about other inputs: adversarial inputs against random ones, and a batch of short vectors
 * against single calls. All are interleaved.
 */
import { type MsmCase, makeCase, redrawn } from '../../../cases/msm-case.js';
import type { PointDistributionName } from '../../../cases/point-distributions.js';
import type { ScalarDistributionName } from '../../../cases/scalar-distributions.js';
import { samePoint } from '../../../oracle/known-bases.js';
import { interleave } from '../../interleave.js';
import { middleOf, needs, notMeasured, ratioFinding } from './findings.js';
import { row, SEED, type Workbench } from './workbench.js';

interface Input {
  readonly what: string;
  readonly points?: PointDistributionName;
  readonly scalars?: ScalarDistributionName;
  /** Largest ratio to random scalars over distinct points. */
  readonly most?: number;
  /** Largest wall time in milliseconds, on a real GPU. */
  readonly mostMs?: number;
}

const INPUTS: readonly Input[] = [
  { what: 'all scalars equal', scalars: 'all-equal', most: 1.3 },
  { what: 'all points equal', points: 'all-equal', most: 1.3 },
  { what: 'one bucket and noise', scalars: 'one-bucket-and-noise', most: 1.3 },
  { what: '90 % zeros', scalars: 'mostly-zero', most: 0.2 },
  { what: '32-bit scalars', scalars: 'short-32', most: 0.25 },
  { what: 'scalars 0 and 1', scalars: 'zero-one', most: 0.15 },
  { what: 'one scalar not zero', scalars: 'one-nonzero', mostMs: 2 },
];

/** Small size measured beside the largest, as some slow inputs show most at small sizes. */
const SMALL_LOGN = 14;

export const distributions = row({
  name: 'distributions',
  async measure(bench) {
    const sizes = [];
    for (const logn of new Set([Math.min(SMALL_LOGN, bench.logn), bench.logn])) {
      sizes.push(await timeInputs(bench, logn));
    }
    return { sizes };
  },
  judge: ({ sizes }, { software }) =>
    sizes.flatMap(({ logn, randomMs, inputs }) =>
      INPUTS.map(({ what: input, most = 0, mostMs }) => {
        const wallTimes = inputs.find((each) => each.what === input)?.wallTimesMs ?? [];
        const what = `2^${logn}: ${input}`;
        if (mostMs !== undefined) {
          return { what, target: software ? null : { most: mostMs }, ...middleOf(wallTimes), unit: 'ms' };
        }
        // an input without times has failed
        const ratio = wallTimes.length === 0 ? { value: Number.NaN } : ratioFinding(randomMs, wallTimes);
        return { what, target: { most }, ...ratio, unit: '×' };
      }),
    ),
});

async function timeInputs(bench: Workbench, logn: number) {
  const { n, subject, cases } = await bench.warm(2 ** logn);
  const random = { what: 'random', of: subject, wallTimesMs: [] as number[], msmCase: cases[0] as MsmCase };
  const contenders = [];
  for (const { what, points = 'distinct', scalars = 'random' } of INPUTS) {
    const shared = points === 'distinct';
    const of = shared ? subject : await bench.subject();
    const msmCase = makeCase({ points, scalars, n, seed: SEED }, shared ? cases[0].points : undefined);
    await bench.warmUp(of, [msmCase]);
    contenders.push({ what, of, msmCase, wallTimesMs: [] as number[] });
  }
  await interleave([random, ...contenders], bench.reps, {
    async take({ what, of, msmCase, wallTimesMs }, repetition) {
      await bench.announce(`n = ${n}: ${what}, run ${repetition} of ${bench.reps}`);
      wallTimesMs.push(await bench.time(of, msmCase));
    },
  });
  return {
    logn,
    randomMs: random.wallTimesMs,
    inputs: contenders.map(({ what, wallTimesMs }) => ({ what, wallTimesMs })),
  };
}

const BATCH = { logn: 12, vectors: 10, target: { most: 0.5 } };

export const batch = row({
  name: 'batch',
  async measure(bench) {
    if (bench.logn < BATCH.logn) return null;
    const { subject, cases } = await bench.warm(2 ** BATCH.logn);
    const { engine } = subject;
    const bases = await engine.loadBases(cases[0].points.bytes);
    const vectors = Array.from({ length: BATCH.vectors }, (_, i) => redrawn(cases[0], 100 + i));
    const oneByOne = async () => {
      const sums = [];
      for (const { scalars } of vectors) sums.push(await engine.msm(bases, scalars.bytes));
      return sums;
    };
    const together = () =>
      engine.msmBatch(
        bases,
        vectors.map(({ scalars }) => scalars.bytes),
      );
    const singleMs: number[] = [];
    const batchMs: number[] = [];
    const sides = [
      { how: 'ten calls', compute: oneByOne, into: singleMs },
      { how: 'a batch', compute: together, into: batchMs },
    ];
    // the first repetition warms up
    await interleave(sides, bench.reps + 1, {
      async take({ how, compute, into }, repetition) {
        await bench.announce(
          `batch: ${how}, ${repetition === 1 ? 'warming up' : `run ${repetition - 1} of ${bench.reps}`}`,
        );
        const begun = performance.now();
        const sums = await compute();
        const ms = performance.now() - begun;
        const wrong = vectors.findIndex(({ expected }, i) => sums[i] === undefined || !samePoint(sums[i], expected));
        if (wrong >= 0 || sums.length !== BATCH.vectors) {
          throw new Error(`wrong result of ${how}, vector ${wrong} of ${sums.length}`);
        }
        if (repetition > 1) into.push(ms);
      },
    });
    bases.destroy();
    return { singleMs, batchMs };
  },
  judge(measured, { software }) {
    const what = `${BATCH.vectors} vectors of 2^${BATCH.logn}: one batch ÷ ${BATCH.vectors} calls`;
    const target = software ? null : BATCH.target;
    if (measured === null) return [notMeasured(what, target, needs(BATCH.logn))];
    const { singleMs, batchMs } = measured;
    return [{ what, target, ...ratioFinding(singleMs, batchMs), unit: '×' }];
  },
});
