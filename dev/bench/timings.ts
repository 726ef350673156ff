/** `msm-bench` and `sweep`: MSMs at each size, with each setting in turn, beside peers and the roofline. */
import { formatCaseAddress } from '../cases/address.js';
import { type MsmCase, makeCase } from '../cases/msm-case.js';
import { ProductMeter, ratesAround } from '../field-bench/product-meter.js';
import { BenchDevice } from './bench-device.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { timesOf, warmUp, weightOf } from './measure.js';
import { PeerTurns } from './peer-turns.js';
import { Roofline } from './roofline.js';
import type { EndRow } from './rows.js';
import type { Run } from './run.js';
import { median } from './statistics.js';

/** The answer of each setting is checked before anything is timed, and again at every repetition. */
export async function runTimings(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps, settings } = knobs;
  run.plan(cases.flatMap(({ address: { n } }) => settings.flatMap(() => Array(reps + 1).fill(weightOf(n)))));
  const bench = await BenchDevice.open(run, host, knobs);
  const subjects: EngineUnderTest[] = [];
  const roofline = new Roofline(run, bench.gpu);
  let meter: ProductMeter | null = null;
  const medians: EndRow['medians'][number][] = [];
  try {
    for (const setting of settings) subjects.push(await EngineUnderTest.create(run, bench, setting));
    await run.next('Calibrating the product that costs are told in');
    meter = await ProductMeter.open(bench.gpu, { onLost: (why) => run.loseDevice(why) });
    for (const { address } of cases) {
      await run.next(`Making ${address.n.toLocaleString('en')} points and the known answer`);
      const msmCase = makeCase(address);
      for (const subject of subjects) {
        await warmUp(run, subject, msmCase);
        run.advance(weightOf(address.n));
      }
      await roofline.begin(subjects);
      const peers = await PeerTurns.prepare(run, bench.gpu, msmCase, knobs);
      const walls = subjects.map((): number[] => []);
      try {
        const rateAround = await ratesAround(meter);
        for (let repetition = 1; repetition <= reps; repetition++) {
          // who begins changes, so that nobody always comes after the same other
          for (let turn = 0; turn < subjects.length; turn++) {
            const index = (turn + repetition - 1) % subjects.length;
            const subject = subjects[index] as EngineUnderTest;
            walls[index]?.push(await timeOne(run, subject, msmCase, rateAround, repetition, reps));
          }
          await roofline.measure();
          await peers.take(repetition);
        }
      } finally {
        peers.destroy();
      }
      for (const [i, subject] of subjects.entries()) {
        const medianMs = median(walls[i] as number[]) as number;
        medians.push({ case: formatCaseAddress(address), setting: subject.setting.name, medianMs });
        const bound = roofline.boundOf(address, subject);
        if (bound !== null) run.tell(bound, 'progress', 'results');
      }
    }
  } finally {
    meter?.destroy();
    roofline.destroy();
    for (const subject of subjects) subject.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}

/**
 * One timed MSM, told as a row.
 *
 * @returns its wall time
 * @throws Error if the answer is wrong
 */
async function timeOne(
  run: Run,
  subject: EngineUnderTest,
  msmCase: MsmCase,
  rateAround: () => Promise<number>,
  repetition: number,
  reps: number,
): Promise<number> {
  const { n } = msmCase.address;
  const setting = subject.setting.name;
  await run.next(`${n.toLocaleString('en')} points, ${setting}: repetition ${repetition} of ${reps}`);
  const outcome = await subject.compute(msmCase);
  const productsPerSecond = await rateAround();
  const times = timesOf(outcome);
  const { wallMs } = times;
  const name = formatCaseAddress(msmCase.address);
  if (wallMs !== null) run.bench.lastWallMs = wallMs;
  run.tell(
    {
      event: 'repetition',
      case: name,
      n,
      setting,
      repetition,
      ...times,
      productEquivalents: wallMs === null ? null : (wallMs / 1000) * productsPerSecond,
    },
    'progress',
    'results',
  );
  run.advance(weightOf(n));
  if (wallMs === null) throw new Error(`wrong result at ${name}, ${setting}, repetition ${repetition}`);
  return wallMs;
}
