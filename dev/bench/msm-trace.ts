/** `msm-trace`: the passes of an MSM, each with its beginning and its end. */
import { formatCaseAddress } from '../cases/address.js';
import { makeCase } from '../cases/msm-case.js';
import { BenchDevice } from './bench-device.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { timesOf, warmUp, weightOf } from './measure.js';
import type { EndRow } from './rows.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';
import { median } from './statistics.js';

export async function runMsmTrace(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps } = knobs;
  const [setting] = knobs.settings as [Setting];
  run.plan(cases.flatMap(({ address: { n } }) => Array(reps + 1).fill(weightOf(n))));
  const bench = await BenchDevice.open(run, host, knobs);
  const medians: EndRow['medians'][number][] = [];
  let subject: EngineUnderTest | null = null;
  try {
    subject = await EngineUnderTest.create(run, bench, setting);
    for (const { address } of cases) {
      const { n } = address;
      const size = n.toLocaleString('en');
      await run.next(`Making ${size} points and the known answer`);
      const msmCase = makeCase(address);
      const name = formatCaseAddress(address);
      await warmUp(run, subject, msmCase);
      run.advance(weightOf(n));
      const walls: number[] = [];
      for (let repetition = 1; repetition <= reps; repetition++) {
        await run.next(`${size} points: trace ${repetition} of ${reps}`);
        const outcome = await subject.compute(msmCase);
        const times = timesOf(outcome);
        const timeline = outcome.agrees ? (outcome.record?.timeline ?? null) : null;
        if (times.wallMs !== null) {
          walls.push(times.wallMs);
          run.bench.lastWallMs = times.wallMs;
        }
        run.tell(
          { event: 'trace', case: name, n, setting: setting.name, repetition, ...times, timeline },
          'progress',
          'results',
        );
        run.advance(weightOf(n));
        if (!outcome.agrees) throw new Error(`wrong result at ${name}, repetition ${repetition}`);
      }
      medians.push({ case: name, setting: setting.name, medianMs: median(walls) as number });
    }
  } finally {
    subject?.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}
