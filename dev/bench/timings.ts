/** MSMs at each size, with each setting in turn, each answer checked: the one loop of repetitions of all modes that time whole MSMs. */

import { median } from '../../src/calibrate/statistics.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import { type MsmCase, makeCase, redrawn } from '../cases/msm-case.js';
import { openMeter, type ProductMeter, ratesAround } from '../field-bench/product-meter.js';
import { oracles } from '../oracle/curves.js';
import { openBenchPlace } from './bench-place.js';
import { type EngineUnderTest, makeEngine } from './engine-under-test.js';
import type { Host } from './environment.js';
import { inTurns } from './in-turns.js';
import type { Knobs } from './knobs.js';
import { timesOf, warmUp, weightOf, wrongResult } from './measure.js';
import { preparePeers } from './peer-turns.js';
import { makeRoofline } from './roofline.js';
import type { Row, RowOf } from './rows.js';
import type { Run } from './run.js';

/** What the repetitions of a case came to with one setting, in the order in which they ran. */
export interface Times {
  readonly subject: EngineUnderTest;
  readonly wallTimesMs: number[];
  readonly productEquivalents: number[];
}

export interface TimingOptions {
  /** Whether the roofline is measured between the repetitions. */
  readonly bounded?: boolean;
  /** Tell every pass of every MSM, and no costs. */
  readonly traced?: boolean;
  /** What the settings are called in rows. Default: their names. */
  readonly labels?: readonly string[];
  /** After the repetitions of a case: what else is to be told. */
  conclude?(address: CaseAddress, times: readonly Times[]): Row;
}

/**
 * The answer of each setting is checked before anything is timed, and again at every repetition, each of which has other scalars: no
 * result can be that of the run before.
 */
export async function runTimings(run: Run, host: Host, knobs: Knobs, options: TimingOptions = {}): Promise<void> {
  const { cases, curve, group, reps, settings } = knobs;
  const { bounded = false, traced = false, labels = settings.map(({ name }) => name), conclude } = options;
  run.plan(cases.flatMap(({ address: { n } }) => settings.flatMap(() => Array(reps + 1).fill(weightOf(n)))));
  const bench = await openBenchPlace(run, host, knobs);
  const subjects: EngineUnderTest[] = [];
  const roofline = bench.gpu && makeRoofline(run, bench.gpu, oracles[curve].Point.Fp.ORDER);
  let meter: ProductMeter | null = null;
  const medians: RowOf<'end'>['medians'][number][] = [];
  try {
    // all before any compiles: what an engine refuses is told at once
    for (const [i, setting] of settings.entries()) {
      const own = { curve, group: setting.group ?? group };
      subjects.push(await makeEngine(run, bench, own, setting, labels[i] as string));
    }
    // costs are told in products of a GPU
    if (!traced && bench.gpu !== null) {
      await run.next('Calibrating the product that costs are told in');
      meter = await openMeter(bench.gpu, (why) => run.loseDevice(why));
    }
    for (const { address } of cases) {
      await run.next(`Making ${address.n.toLocaleString('en')} points and the known answer`);
      const made = casesOf(subjects, address);
      for (const subject of subjects) {
        await warmUp(run, subject, made.of(subject));
        run.advance(weightOf(address.n), 'warm-up');
      }
      if (bounded) await roofline?.begin(subjects);
      const peers = await preparePeers(run, bench.gpu, made.of(subjects[0] as EngineUnderTest), knobs.peers);
      const times = subjects.map((subject): Times => ({ subject, wallTimesMs: [], productEquivalents: [] }));
      try {
        const rateAround = meter === null ? null : await ratesAround(meter);
        await inTurns(times, reps, {
          begin: made.draw,
          take: (own, repetition) => timeOne(run, own, made.of(own.subject), { traced, rateAround, repetition, reps }),
          end: async (repetition) => {
            await roofline?.measure();
            await peers.take(repetition);
          },
        });
      } finally {
        peers.destroy();
      }
      for (const { subject, wallTimesMs } of times) {
        const medianMs = median(wallTimesMs) as number;
        const own = { ...address, group: subject.group };
        medians.push({ case: formatCaseAddress(own), setting: subject.label, medianMs });
        const bound = roofline?.boundOf(own, subject) ?? null;
        if (bound !== null) run.tell(bound, 'progress', 'results');
      }
      if (conclude !== undefined) run.tell(conclude(address, times), 'progress', 'results');
    }
  } finally {
    meter?.destroy();
    roofline?.destroy();
    for (const subject of subjects) subject.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}

/** The same case in the group of each of the subjects. */
function casesOf(subjects: readonly Pick<EngineUnderTest, 'group'>[], address: CaseAddress) {
  const groups = new Set(subjects.map(({ group }) => group));
  const first = new Map([...groups].map((group) => [group, makeCase({ ...address, group })]));
  let drawn = first;
  return {
    of: ({ group }: Pick<EngineUnderTest, 'group'>): MsmCase => drawn.get(group) as MsmCase,

    /** Other scalars, the same for all. */
    draw(repetition: number): void {
      drawn = new Map([...first].map(([group, msmCase]) => [group, redrawn(msmCase, repetition)]));
    },
  };
}

/**
 * One timed MSM, told as a row: with `traced` its passes and no cost.
 *
 * @throws Error if the answer is wrong
 */
async function timeOne(
  run: Run,
  { subject, wallTimesMs, productEquivalents }: Times,
  msmCase: MsmCase,
  how: {
    readonly traced: boolean;
    /** Products a second around each MSM; null where no GPU is there to measure them. */
    readonly rateAround: (() => Promise<number>) | null;
    readonly repetition: number;
    readonly reps: number;
  },
): Promise<void> {
  const { traced, rateAround, repetition, reps } = how;
  const { n } = msmCase.address;
  const setting = subject.label;
  await run.next(`${n.toLocaleString('en')} points, ${setting}: repetition ${repetition} of ${reps}`);
  const outcome = await subject.compute(msmCase);
  const productsPerSecond = rateAround === null ? null : await rateAround();
  const times = timesOf(outcome);
  const { wallMs } = times;
  const cost = wallMs === null || productsPerSecond === null ? null : (wallMs / 1000) * productsPerSecond;
  const told = { case: formatCaseAddress(msmCase.address), n, setting, repetition, ...times };
  const timeline = outcome.agrees ? (outcome.record?.timeline ?? null) : null;
  run.tell(
    traced ? { event: 'trace', ...told, timeline } : { event: 'repetition', ...told, productEquivalents: cost },
    'progress',
    'results',
  );
  run.advance(weightOf(n));
  if (wallMs === null) throw wrongResult(msmCase, `${setting}, repetition ${repetition}`, outcome);
  run.bench.lastWallMs = wallMs;
  wallTimesMs.push(wallMs);
  if (cost !== null) productEquivalents.push(cost);
}
