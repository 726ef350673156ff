/** `accum-ab`: two settings strictly in turns, on the same inputs, and whether their difference is more than noise. */
import { WARM_UPS } from '../../scripts/ab/warm-ups.mjs';
import { roundMaker, runPairs, summarise, type Timing } from '../ab/compare.js';
import { Contestant, type SideName, WrongResultError } from '../ab/contestant.js';
import { formatCaseAddress } from '../cases/address.js';
import { makePoints } from '../cases/msm-case.js';
import { ProductMeter } from '../field-bench/product-meter.js';
import { BenchDevice } from './bench-device.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { sumOnGpu, warmUpRow, weightOf } from './measure.js';
import type { EndRow, RepetitionRow } from './rows.js';
import type { Run } from './run.js';

export async function runAccumAb(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps, settings, seed } = knobs;
  run.plan(cases.flatMap(({ address: { n } }) => Array(reps + WARM_UPS).fill(weightOf(n))));
  const bench = await BenchDevice.open(run, host, knobs);
  const engines: EngineUnderTest[] = [];
  let meter: ProductMeter | null = null;
  const medians: EndRow['medians'][number][] = [];
  try {
    // both before either compiles: what an engine refuses is told at once
    for (const setting of settings) engines.push(await EngineUnderTest.create(run, bench, setting));
    await run.next('Calibrating the product that costs are told in');
    meter = await ProductMeter.open(bench.gpu, { onLost: (why) => run.loseDevice(why) });
    for (const { address } of cases) {
      const { n } = address;
      const size = n.toLocaleString('en');
      const name = formatCaseAddress(address);
      await run.next(`Making ${size} points`);
      const points = makePoints(address);
      const makeRound = roundMaker(points.logs, address.scalars, seed);
      const contestants: Contestant[] = [];
      const last: Partial<Record<SideName, Pick<RepetitionRow, 'on' | 'gpuMs' | 'walls' | 'phases' | 'placement'>>> =
        {};
      for (const [i, { engine, setting }] of engines.entries()) {
        const side = i === 0 ? 'A' : 'B';
        await run.next(`${side} (${setting.name}): loading ${size} points`);
        const { precompute } = setting;
        const { signal } = run;
        const loading = performance.now();
        const contestant = await Contestant.load(side, engine, points.bytes, { precompute, signal }, (record) => {
          last[side] = {
            on: record?.on ?? 'cpu',
            gpuMs: record?.on === 'gpu' ? sumOnGpu(record.phases) : null,
            walls: record?.walls ?? null,
            phases: record?.phases ?? null,
            placement: record?.tuning.walkerPrefixMemory ?? 'private',
          };
          run.tick();
        });
        contestants.push(contestant);
        const loadMs = performance.now() - loading;
        await run.next(`${side} (${setting.name}): compiling, checking the answer`);
        const warmingUp = performance.now();
        await contestant.warmUp(Array.from({ length: WARM_UPS }, (_, k) => makeRound(`warm-up ${k + 1}`, k)));
        const subject = { engine, setting, basesBytes: contestant.basesBytes };
        const row = warmUpRow(name, subject, loadMs, performance.now() - warmingUp);
        run.tell({ ...row, setting: side }, 'progress', 'results');
        run.advance(weightOf(n));
      }
      const [a, b] = contestants as [Contestant, Contestant];
      try {
        const nothing = { gpuMs: null, walls: null, phases: null, productEquivalents: null } as const;
        const tell = (side: SideName, timing: Timing | null, repetition: number): void => {
          const { on, placement, ...times } = last[side] ?? { ...nothing, on: 'gpu', placement: 'private' };
          if (timing !== null) run.bench.lastWallMs = timing.ms;
          run.tell(
            {
              event: 'repetition',
              case: name,
              n,
              setting: side,
              repetition,
              on,
              placement,
              agrees: timing !== null,
              wallMs: timing?.ms ?? null,
              productEquivalents: timing === null ? null : (timing.ms / 1000) * timing.productsPerSecond,
              ...(timing === null ? nothing : times),
            },
            'progress',
            'results',
          );
        };
        let done = 0;
        const pairs = await runPairs(
          a,
          b,
          meter,
          reps,
          async (pair) => {
            await run.next(`${size} points: pair ${pair + 1} of ${reps}`);
            return makeRound(`pair ${pair + 1}`, WARM_UPS + pair);
          },
          (pair, index) => {
            tell('A', pair.a, index + 1);
            tell('B', pair.b, index + 1);
            done = index + 1;
            run.advance(weightOf(n));
          },
        ).catch((error: unknown) => {
          if (error instanceof WrongResultError) tell(error.contestant as SideName, null, done + 1);
          throw error;
        });
        if (pairs.some(({ a: first, b: second }) => first.ms <= 0 || second.ms <= 0)) {
          throw new Error(`${size} points take less than a tick of this clock: nothing to compare; take more of them`);
        }
        const { walls, a: ofA, b: ofB } = summarise(pairs, seed);
        const [settingA, settingB] = settings.map((setting) => setting.name) as [string, string];
        run.tell(
          {
            event: 'comparison',
            case: name,
            n,
            a: settingA,
            b: settingB,
            pairs: pairs.length,
            walls,
            aMs: ofA.medianMs,
            bMs: ofB.medianMs,
            first: pairs.map(({ first }) => first),
          },
          'progress',
          'results',
        );
        medians.push({ case: name, setting: settingA, medianMs: ofA.medianMs });
        medians.push({ case: name, setting: settingB, medianMs: ofB.medianMs });
      } finally {
        for (const contestant of contestants) contestant.destroy();
      }
    }
  } finally {
    meter?.destroy();
    for (const engine of engines) engine.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}
