/** What the rows share: engines that are warm, their inputs, and what was measured once for several of them. */
import type { PhaseTime } from '../../../../src/api/run-record.js';
import type { Tuning } from '../../../../src/api/tuning.js';
import { bn254 } from '../../../../src/curves/bn254.js';
import { modulus } from '../../../../src/field/modulus.js';
import { openDevice } from '../../../../src/gpu/device.js';
import { formatCaseAddress } from '../../../cases/address.js';
import { type MsmCase, makeCase, redrawn } from '../../../cases/msm-case.js';
import { type MsmCounts, makeCounter } from '../../../count/count-msm.js';
import { libraryOperations, libraryVariant, threadsFor } from '../../../field-bench/kernels.js';
import { openMeter, ratesAround } from '../../../field-bench/product-meter.js';
import { type FieldBenchRow, fieldBench } from '../../../field-bench/run.js';
import type { BenchDevice } from '../../bench-device.js';
import { type EngineUnderTest, makeEngine } from '../../engine-under-test.js';
import { bestRow } from '../../field-rates.js';
import type { Knobs } from '../../knobs.js';
import { isOnGpu, wrongResult } from '../../measure.js';
import type { Run } from '../../run.js';
import type { Setting } from '../../settings.js';

export const SEED = 1;

/** An engine that is warm for one n, with its points on the GPU. */
export interface Stage {
  readonly n: number;
  readonly subject: EngineUnderTest;
  /** Random scalars; others in each, so that no result can be that of the run before. */
  readonly cases: readonly [MsmCase, MsmCase];
  /** Scratch of an MSM. */
  readonly peakBytes: number;
}

export interface TimedRun {
  readonly wallMs: number;
  readonly productEquivalents: number;
  readonly phases: readonly PhaseTime[] | null;
}

const ARITHMETIC: readonly string[] = ['walk', 'combine', 'reduce', 'fold (CPU)'];

/** Warm MSMs of random scalars over distinct points. */
export type Baseline = ReturnType<typeof summariseRuns> & { readonly n: number; readonly tuning: Tuning };

/** Null where the adapter has no timestamps. @param runs at least one */
export function summariseRuns(runs: readonly TimedRun[]) {
  const sum = (phases: readonly PhaseTime[] | null, wanted: (phase: PhaseTime) => boolean): number =>
    (phases ?? []).filter(wanted).reduce((total, { ms }) => total + ms, 0);
  const ofTimed = (value: (run: TimedRun) => number): number[] | null =>
    runs.some(({ phases }) => phases === null) ? null : runs.map(value);
  return {
    runs,
    wallTimesMs: runs.map(({ wallMs }) => wallMs),
    productEquivalents: runs.map(({ productEquivalents }) => productEquivalents),
    /** What the phases on the GPU take together. */
    gpuMs: ofTimed(({ phases }) => sum(phases, isOnGpu)),
    /** The wall less that. */
    aboveGpuMs: ofTimed(({ wallMs, phases }) => wallMs - sum(phases, isOnGpu)),
    /** The share of the wall that is in no phase of additions. */
    notArithmetic: ofTimed(
      ({ wallMs, phases }) => (wallMs - sum(phases, ({ name }) => ARITHMETIC.includes(name))) / wallMs,
    ),
  };
}

export type FieldCosts = ReturnType<typeof fieldCosts>;

/** What field-bench says of the library's own operations, in products of its own. */
export function fieldCosts(rows: readonly FieldBenchRow[], variant: string, plain: string) {
  const best = (operation: string): number => bestRow(rows, variant, operation)?.perSecond ?? Number.NaN;
  const unit = rows.find((row) => row.variant === plain && row.chains === 1)?.perSecond ?? Number.NaN;
  const product = best('product');
  return {
    variant,
    inversion: product / best('inverse'),
    square: product / best('square'),
    /** Its product ÷ the plain one as the product meter has it: from the same turns, so that it stays when a shared machine slows down. */
    ownToPlain: product / unit,
  };
}

/** Of a short dispatch: a few would do for a time, but what is wanted are ratios, and those of a busy machine vary. */
const LEAST_FIELD_REPS = 15;

export type Workbench = ReturnType<typeof makeWorkbench>;

/** @param logn the largest n */
export function makeWorkbench(run: Run, bench: BenchDevice, { reps, settings }: Knobs, logn: number) {
  const setting = settings[0] as Setting;
  const { software } = bench.adapter;
  const cleanUp: (() => void)[] = [];
  const once = new Map<string, Promise<unknown>>();
  const memoised = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const made = (once.get(key) as Promise<T> | undefined) ?? make();
    once.set(key, made);
    return made;
  };

  /** Says what comes next. */
  const say = (doing: string): Promise<void> => run.next(doing);

  const subject = async (changes: Partial<Setting> = {}): Promise<EngineUnderTest> => {
    const made = await makeEngine(run, bench, { curve: 'bn254', group: 'g1' }, { ...setting, ...changes });
    cleanUp.push(() => made.destroy());
    return made;
  };

  /** A device on which nothing was compiled yet. */
  const freshDevice = async (): Promise<GPUDevice> => {
    const { device } = await openDevice({ gpu: bench.gpu });
    cleanUp.push(() => device.destroy());
    return device;
  };

  /** One MSM. @returns its wall @throws Error if its answer is wrong */
  const time = async (timed: EngineUnderTest, msmCase: MsmCase): Promise<number> => {
    const outcome = await timed.compute(msmCase);
    if (!outcome.agrees) throw wrongResult(msmCase, timed.label, outcome);
    return outcome.wallMs;
  };

  /** Loads the points of the cases, and computes each once: one compiles, after it an engine knows the device. */
  const warmUp = async (timed: EngineUnderTest, cases: readonly MsmCase[]): Promise<void> => {
    await say(`${formatCaseAddress((cases[0] as MsmCase).address)}: loading, compiling, warming up`);
    await timed.load(cases[0] as MsmCase);
    for (const each of cases) await time(timed, each);
  };

  const stage = (n: number): Promise<Stage> =>
    memoised(`stage ${n}`, async () => {
      await say(`n = ${n}: making the points`);
      const first = makeCase({ points: 'distinct', scalars: 'random', n, seed: SEED });
      const cases = [first, redrawn(first, 1)] as const;
      const made = await subject();
      await warmUp(made, cases);
      return { n, subject: made, cases, peakBytes: made.engine.memory.peak };
    });

  const meter = () =>
    memoised('meter', async () => {
      await say('Calibrating the product that costs are told in');
      const opened = await openMeter(bench.gpu, (why) => run.loseDevice(why));
      cleanUp.push(() => opened.destroy());
      return opened;
    });

  const baseline = (n: number): Promise<Baseline> =>
    memoised(`baseline ${n}`, async () => {
      const { subject: timed, cases } = await stage(n);
      const rateAround = await ratesAround(await meter());
      const runs: TimedRun[] = [];
      for (let rep = 0; rep < reps; rep++) {
        await say(`n = ${n}: run ${rep + 1} of ${reps}`);
        const wallMs = await time(timed, cases[rep % 2] as MsmCase);
        const phases = timed.engine.lastRun?.phases ?? null;
        runs.push({ wallMs, productEquivalents: (wallMs / 1000) * (await rateAround()), phases });
      }
      const { tuning } = timed.engine.lastRun as NonNullable<typeof timed.engine.lastRun>;
      return { n, ...summariseRuns(runs), tuning };
    });

  // a device of its own: counting changes the kernels that are compiled on it
  const counter = () => memoised('counter', async () => makeCounter(await freshDevice()));

  /** The work of the MSM that `baseline` times, in the same plan. */
  const counts = (n: number): Promise<MsmCounts> =>
    memoised(`counts ${n}`, async () => {
      const { tuning } = await baseline(n);
      await say(`n = ${n}: counting`);
      return (await counter())({ n, tuning });
    });

  /** What the operations of the field cost here, with the products that MSMs compute with. */
  const field = (): Promise<FieldCosts> =>
    memoised('field', async () => {
      const variant = libraryVariant((await baseline(2 ** 10)).tuning.fieldProduct);
      const [plain] = libraryOperations;
      const wanted = ['product', 'square', 'inverse'];
      const { rows } = await fieldBench(bench.device, modulus(bn254.p), {
        threads: threadsFor(software),
        chains: [1, 2],
        reps: Math.max(reps, LEAST_FIELD_REPS),
        leastMs: 50,
        operations: libraryOperations.filter(
          (operation) => operation === plain || (operation.variant === variant && wanted.includes(operation.name)),
        ),
        features: bench.gpu.wgslLanguageFeatures as ReadonlySet<string>,
        onProgress: (doing) => {
          run.signal.throwIfAborted();
          run.bench.doing = doing;
          run.tick();
        },
      });
      return fieldCosts(rows, variant, plain?.variant ?? '');
    });

  /** Engines before their devices. */
  const destroy = (): void => {
    for (const clean of cleanUp.splice(0).reverse()) clean();
  };

  const { signal } = run;
  const library = () => bench.library(setting);
  return {
    ...{ signal, bench, software, reps, logn, library, say, subject, freshDevice, time, warmUp },
    ...{ stage, baseline, counts, field, destroy },
  };
}
