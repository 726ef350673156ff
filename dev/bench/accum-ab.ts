/** `accum-ab`: two settings strictly in turns, on the same inputs, and whether their difference is more than noise. */
import { WARM_UPS } from '../../scripts/ab/warm-ups.mjs';
import type { RunRecord } from '../../src/api.js';
import { type Pair, roundMaker, runPairs, summarise, type Timing } from '../ab/compare.js';
import { Contestant, type Round, type SideName, WrongResultError } from '../ab/contestant.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import { makePoints } from '../cases/msm-case.js';
import { ProductMeter } from '../field-bench/product-meter.js';
import { BenchDevice } from './bench-device.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { sumOnGpu, warmUpRow, weightOf } from './measure.js';
import type { EndRow } from './rows.js';
import type { Run } from './run.js';

export async function runAccumAb(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps, settings, seed } = knobs;
  run.plan(cases.flatMap(({ address: { n } }) => Array(reps + settings.length).fill(weightOf(n))));
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
      await run.next(`Making ${address.n.toLocaleString('en')} points`);
      const points = makePoints(address);
      const makeRound = roundMaker(points.logs, address.scalars, seed);
      const a = new Side(run, 'A', engines[0] as EngineUnderTest, address);
      const b = new Side(run, 'B', engines[1] as EngineUnderTest, address);
      try {
        for (const side of [a, b]) await side.warmUp(points.bytes, makeRound);
        const pairs = await comparePairs(run, a, b, meter, reps, makeRound);
        medians.push(...conclude(run, address, [a, b], pairs, seed));
      } finally {
        a.destroy();
        b.destroy();
      }
    }
  } finally {
    meter?.destroy();
    for (const engine of engines) engine.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}

/** A or B at one size. */
class Side {
  readonly name: SideName;
  readonly setting: string;
  readonly address: CaseAddress;
  readonly #run: Run;
  readonly #subject: EngineUnderTest;
  #contestant: Contestant | null = null;
  #last: RunRecord | null = null;

  constructor(run: Run, name: SideName, subject: EngineUnderTest, address: CaseAddress) {
    this.#run = run;
    this.name = name;
    this.#subject = subject;
    this.setting = subject.setting.name;
    this.address = address;
  }

  get contestant(): Contestant {
    if (this.#contestant === null) throw new Error(`${this.name} has no points yet`);
    return this.#contestant;
  }

  async warmUp(points: Uint8Array<ArrayBuffer>, makeRound: (name: string, index: number) => Round): Promise<void> {
    const { engine, setting } = this.#subject;
    const { signal } = this.#run;
    await this.#run.next(`${this.name} (${setting.name}): loading ${this.address.n.toLocaleString('en')} points`);
    const loading = performance.now();
    this.#contestant = await Contestant.load(
      this.name,
      engine,
      points,
      { precompute: setting.precompute, signal },
      (record) => {
        this.#last = record;
        this.#run.tick();
      },
    );
    const loadMs = performance.now() - loading;
    await this.#run.next(`${this.name} (${setting.name}): compiling, checking the answer`);
    const compiling = performance.now();
    await this.contestant.warmUp(Array.from({ length: WARM_UPS }, (_, i) => makeRound(`warm-up ${i + 1}`, i)));
    const subject = { engine, setting, basesBytes: this.contestant.basesBytes };
    const row = warmUpRow(formatCaseAddress(this.address), subject, loadMs, performance.now() - compiling);
    this.#run.tell({ ...row, setting: this.name }, 'progress', 'results');
    this.#run.advance(weightOf(this.address.n));
  }

  /** @param timing null: the answer was wrong */
  tell(timing: Timing | null, repetition: number): void {
    const record = timing === null ? null : this.#last;
    if (timing !== null) this.#run.bench.lastWallMs = timing.ms;
    this.#run.tell(
      {
        event: 'repetition',
        case: formatCaseAddress(this.address),
        n: this.address.n,
        setting: this.name,
        repetition,
        on: this.#last?.on ?? 'gpu',
        placement: this.#last?.tuning.walkerPrefixMemory ?? 'private',
        agrees: timing !== null,
        wallMs: timing?.ms ?? null,
        productEquivalents: timing === null ? null : (timing.ms / 1000) * timing.productsPerSecond,
        gpuMs: record?.on === 'gpu' ? sumOnGpu(record.phases) : null,
        walls: record?.walls ?? null,
        phases: record?.phases ?? null,
      },
      'progress',
      'results',
    );
  }

  destroy(): void {
    this.#contestant?.destroy();
  }
}

/** The pairs, told as they come. */
async function comparePairs(
  run: Run,
  a: Side,
  b: Side,
  meter: ProductMeter,
  reps: number,
  makeRound: (name: string, index: number) => Round,
): Promise<Pair[]> {
  const { n } = a.address;
  let done = 0;
  try {
    return await runPairs(
      a.contestant,
      b.contestant,
      meter,
      reps,
      async (pair) => {
        await run.next(`${n.toLocaleString('en')} points: pair ${pair + 1} of ${reps}`);
        return makeRound(`pair ${pair + 1}`, WARM_UPS + pair);
      },
      (pair, index) => {
        done = index + 1;
        a.tell(pair.a, done);
        b.tell(pair.b, done);
        run.advance(weightOf(n));
      },
    );
  } catch (error) {
    if (error instanceof WrongResultError) (error.contestant === a.name ? a : b).tell(null, done + 1);
    throw error;
  }
}

/** What the pairs say. */
function conclude(
  run: Run,
  address: CaseAddress,
  [a, b]: readonly [Side, Side],
  pairs: readonly Pair[],
  seed: number,
): EndRow['medians'] {
  const { n } = address;
  if (pairs.some((pair) => pair.a.ms <= 0 || pair.b.ms <= 0)) {
    throw new Error(`n = ${n} takes less than a tick of this clock: there is nothing to compare; take more points`);
  }
  const name = formatCaseAddress(address);
  const { walls, a: ofA, b: ofB } = summarise(pairs, seed);
  run.tell(
    {
      event: 'comparison',
      case: name,
      n,
      a: a.setting,
      b: b.setting,
      pairs: pairs.length,
      walls,
      aMs: ofA.medianMs,
      bMs: ofB.medianMs,
      first: pairs.map(({ first }) => first),
    },
    'progress',
    'results',
  );
  return [
    { case: name, setting: a.setting, medianMs: ofA.medianMs },
    { case: name, setting: b.setting, medianMs: ofB.medianMs },
  ];
}
