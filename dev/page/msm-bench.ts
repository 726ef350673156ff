import type { PhaseTime } from '../../src/api.js';
import { formatCaseAddress } from '../cases/address.js';
import { makeCase } from '../cases/msm-case.js';
import { ProductMeter, ratesAround } from '../field-bench/product-meter.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Knobs } from './knobs.js';
import type { EndRow } from './rows.js';
import type { Run } from './run.js';
import { median } from './statistics.js';

/** Times MSMs at each size. The answer is checked before anything is timed, and again at every repetition. */
export async function runMsmBench(run: Run, { cases, reps, tuning }: Knobs): Promise<void> {
  run.bench.total = cases.length * (reps + 1);
  await run.next('Opening the GPU');
  const start = performance.now();
  const subject = await EngineUnderTest.create(run, tuning, cases[0]?.placement);
  const { engine } = subject;
  let meter: ProductMeter | null = null;
  const medians: { case: string; medianMs: number }[] = [];
  try {
    run.bench.adapter = engine.adapter;
    run.tell(
      {
        event: 'init',
        mode: 'msm-bench',
        query: location.search,
        adapter: engine.adapter,
        userAgent: navigator.userAgent,
        createMs: performance.now() - start,
      },
      'progress',
      'results',
    );
    await run.next('Calibrating the product that costs are told in');
    meter = await ProductMeter.open(navigator.gpu);
    for (const { address } of cases) {
      const name = formatCaseAddress(address);
      const size = address.n.toLocaleString('en');
      await run.next(`Making ${size} points and the known answer`);
      const msmCase = makeCase(address);
      await run.next(`Loading ${size} points`);
      const loadMs = await subject.load(msmCase.points);
      await run.next(`Warming up with ${size} points, checking the answer`);
      const first = await subject.compute(msmCase);
      run.tell({ event: 'warm-up', case: name, loadMs, wallMs: first.wallMs, agrees: first.agrees }, 'progress');
      run.advance();
      if (!first.agrees) throw new Error(`wrong result at ${name}: nothing was timed`);

      const rateAround = await ratesAround(meter);
      const wallTimes: number[] = [];
      for (let repetition = 1; repetition <= reps; repetition++) {
        await run.next(`${size} points: repetition ${repetition} of ${reps}`);
        const { agrees, wallMs, phases } = await subject.compute(msmCase);
        const productsPerSecond = await rateAround();
        if (agrees) {
          wallTimes.push(wallMs);
          run.bench.lastWallMs = wallMs;
        }
        run.tell(
          {
            event: 'repetition',
            case: name,
            n: address.n,
            placement: engine.lastRun?.tuning.walkerPrefixMemory ?? 'private',
            repetition,
            agrees,
            wallMs: agrees ? wallMs : null,
            productEquivalents: agrees ? (wallMs / 1000) * productsPerSecond : null,
            gpuMs: agrees && phases !== null ? sumOnGpu(phases) : null,
            phases: agrees ? phases : null,
          },
          'progress',
          'results',
        );
        run.advance();
        if (!agrees) throw new Error(`wrong result at ${name}, repetition ${repetition}`);
      }
      const middle = median(wallTimes);
      if (middle !== null) medians.push({ case: name, medianMs: middle });
    }
  } finally {
    meter?.destroy();
    subject.destroy();
  }
  await run.end(null, medians satisfies EndRow['medians']);
}

/** The phases that have a time on the GPU: what runs on the CPU says so in its name. */
const sumOnGpu = (phases: readonly PhaseTime[]): number =>
  phases.filter(({ name }) => !name.endsWith('(CPU)')).reduce((sum, { ms }) => sum + ms, 0);
