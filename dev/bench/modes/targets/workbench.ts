/**
 * Resources that rows share: warm engines with their inputs, and measurements used by several rows.
 */

import type { Tuning } from '../../../../src/api/device.js';
import type { PhaseTime } from '../../../../src/api/run-record.js';
import { bn254 } from '../../../../src/curves/bn254.js';
import { modulus } from '../../../../src/field/modulus.js';
import { openDevice } from '../../../../src/gpu/device.js';
import { formatCaseAddress } from '../../../cases/address.js';
import { type MsmCase, makeCase, redrawn } from '../../../cases/msm-case.js';
import { type MsmCounts, makeCounter } from '../../../count/count-msm.js';
import { fieldOperations, libraryVariant, threadsFor } from '../../../field-bench/kernels.js';
import { openMeter, type ProductMeter, ratesAround } from '../../../field-bench/product-meter.js';
import { type FieldBenchRow, fieldBench } from '../../../field-bench/run.js';
import type { GpuBench } from '../../bench-setup.js';
import { type EngineUnderTest, gpuPartOf, makeEngine } from '../../engine-under-test.js';
import type { Knobs } from '../../knobs.js';
import { isOnGpu, wrongResult } from '../../measure.js';
import type { Setting } from '../../settings.js';
import { bestRow } from '../field-bench.js';
import type { Finding } from './findings.js';

export const SEED = 1;

/** An engine that is warm for one n, with its points on the GPU. */
export interface WarmEngine {
  readonly n: number;
  readonly subject: EngineUnderTest;
  /** Cases with different random scalars, so that no result can be that of the previous run. */
  readonly cases: readonly [MsmCase, MsmCase];
  /** Scratch of an MSM. */
  readonly peakBytes: number;
}

export interface TimedRun {
  readonly wallMs: number;
  readonly productEquivalents: number;
  readonly phases: readonly PhaseTime[] | null;
}

const ARITHMETIC: readonly string[] = ['walk', 'combine', 'reduce', 'combine windows (CPU)'];

/** Warm MSMs of random scalars over distinct points. */
export type Baseline = ReturnType<typeof summariseRuns> & { readonly n: number; readonly tuning: Tuning };

/** Summarises runs; values from phases are null without timestamps. @param runs at least one run */
export function summariseRuns(runs: readonly TimedRun[]) {
  const sum = (phases: readonly PhaseTime[] | null, wanted: (phase: PhaseTime) => boolean): number =>
    (phases ?? []).filter(wanted).reduce((total, { ms }) => total + ms, 0);
  const ofTimed = (value: (run: TimedRun) => number): number[] | null =>
    runs.some(({ phases }) => phases === null) ? null : runs.map(value);
  return {
    runs,
    wallTimesMs: runs.map(({ wallMs }) => wallMs),
    productEquivalents: runs.map(({ productEquivalents }) => productEquivalents),
    /** Time of all phases on the GPU. */
    gpuMs: ofTimed(({ phases }) => sum(phases, isOnGpu)),
    /** Wall time less the GPU time. */
    aboveGpuMs: ofTimed(({ wallMs, phases }) => wallMs - sum(phases, isOnGpu)),
    /** Share of the wall time outside phases of additions. */
    notArithmetic: ofTimed(
      ({ wallMs, phases }) => (wallMs - sum(phases, ({ name }) => ARITHMETIC.includes(name))) / wallMs,
    ),
  };
}

export type FieldCosts = ReturnType<typeof fieldCosts>;

/** Returns the cost of the library's field operations in products of its own. */
export function fieldCosts(rows: readonly FieldBenchRow[], variant: string, plain: string) {
  const best = (operation: string): number => bestRow(rows, variant, operation)?.perSecond ?? Number.NaN;
  const unit = rows.find((row) => row.variant === plain && row.chains === 1)?.perSecond ?? Number.NaN;
  const product = best('product');
  return {
    variant,
    inversion: product / best('inverse'),
    square: product / best('square'),
    /**
     * Rate of its product ÷ that of the plain product of the product meter. Both come from
     * interleaved kernels, so that the ratio holds when a shared machine slows down.
     */
    ownToPlain: product / unit,
  };
}

/**
 * Fewest repetitions of field-bench: its dispatches are short, and ratios on a busy machine vary.
 */
const LEAST_FIELD_REPS = 15;

/** Engines, devices and measurements of one run of targets. */
export type Workbench = ReturnType<typeof openWorkbench>;

/** @param logn largest size, as a power of two */
export function openWorkbench(bench: GpuBench, { reps, settings }: Knobs, logn: number) {
  const { run, device, gpu, own } = bench;
  const { software } = bench.adapter;
  const setting = settings[0] as Setting;
  const once = new Map<string, Promise<unknown>>();
  const memoised = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const made = (once.get(key) as Promise<T> | undefined) ?? make();
    once.set(key, made);
    return made;
  };
  const subject = async (changes: Partial<Setting> = {}): Promise<EngineUnderTest> =>
    own(await makeEngine(bench, { curve: 'bn254', group: 'g1' }, { ...setting, ...changes }));
  /** Opens a device that has compiled nothing yet. */
  const freshDevice = async (): Promise<GPUDevice> => own((await openDevice({ gpu })).device);
  /** Times one MSM. @returns its wall time @throws Error if its answer is wrong */
  const time = async (timed: EngineUnderTest, msmCase: MsmCase): Promise<number> => {
    const outcome = await timed.compute(msmCase);
    if (!outcome.agrees) throw wrongResult(msmCase, timed.label, outcome);
    return outcome.wallMs;
  };
  /**
   * Loads the points, and computes each case once: the first compiles, and the second plans with
   * the measured speed.
   */
  const warmUp = async (timed: EngineUnderTest, cases: readonly MsmCase[]): Promise<void> => {
    await run.next(`${formatCaseAddress((cases[0] as MsmCase).address)}: loading, compiling, warming up`);
    await timed.load(cases[0] as MsmCase);
    for (const each of cases) await time(timed, each);
  };
  const warm = (n: number): Promise<WarmEngine> =>
    memoised(`warm ${n}`, async () => {
      await run.next(`n = ${n}: making the points`);
      const first = makeCase({ points: 'distinct', scalars: 'random', n, seed: SEED });
      const cases = [first, redrawn(first, 1)] as const;
      const made = await subject();
      await warmUp(made, cases);
      return { n, subject: made, cases, peakBytes: made.engine.memory.peak };
    });
  const meter = (): Promise<ProductMeter> =>
    memoised('meter', async () => {
      await run.next('Calibrating the product that costs are counted in');
      return own(await openMeter(gpu, (why) => run.loseDevice(why)));
    });
  /** Times warm MSMs of n random scalars. */
  const baseline = (n: number): Promise<Baseline> =>
    memoised(`baseline ${n}`, async () => {
      const { subject: timed, cases } = await warm(n);
      const rateAround = await ratesAround(await meter());
      const runs: TimedRun[] = [];
      for (let rep = 0; rep < reps; rep++) {
        await run.next(`n = ${n}: run ${rep + 1} of ${reps}`);
        const wallMs = await time(timed, cases[rep % 2] as MsmCase);
        const phases = gpuPartOf(timed.engine.lastRun)?.phases ?? null;
        runs.push({ wallMs, productEquivalents: (wallMs / 1000) * (await rateAround()), phases });
      }
      const onGpu = gpuPartOf(timed.engine.lastRun);
      if (onGpu === null) throw new Error(`n = ${n}: the CPU computed; the targets are those of the GPU`);
      return { n, ...summariseRuns(runs), tuning: onGpu.tuning };
    });
  /** Counts the work of the MSM that `baseline` times, with the same plan. */
  const counts = (n: number): Promise<MsmCounts> =>
    memoised(`counts ${n}`, async () => {
      const { tuning } = await baseline(n);
      await run.next(`n = ${n}: counting`);
      // a device of its own, because counting instruments the kernels compiled on it
      const count = await memoised('counter', async () => makeCounter(await freshDevice()));
      return count({ n, tuning });
    });
  /** Measures the field operations with the product that MSMs use. */
  const field = (): Promise<FieldCosts> =>
    memoised('field', async () => {
      const variant = libraryVariant((await baseline(2 ** 10)).tuning.fieldProduct);
      const [plain] = fieldOperations;
      const { rows } = await fieldBench(device, modulus(bn254.p), {
        ...{ threads: threadsFor(software), chains: [1, 2], reps: Math.max(reps, LEAST_FIELD_REPS), leastMs: 50 },
        operations: fieldOperations.filter((operation) => operation === plain || operation.variant === variant),
        features: gpu.wgslLanguageFeatures as ReadonlySet<string>,
        onProgress: (doing) => {
          run.signal.throwIfAborted();
          run.bench.doing = doing;
          run.tick();
        },
      });
      return fieldCosts(rows, variant, plain?.variant ?? '');
    });
  const library = () => bench.library(setting);
  const shared = { bench, software, reps, logn, signal: run.signal, announce: (doing: string) => run.next(doing) };
  return { ...shared, library, subject, freshDevice, time, warmUp, warm, baseline, counts, field };
}

export const rowNames = [
  'work',
  'efficiency',
  'cost',
  'gpu-time',
  'distributions',
  'small',
  'batch',
  'memory',
  'cold',
] as const;

export interface Conditions {
  readonly software: boolean;
  readonly logn: number;
}

/** A row of targets: a measurement, and the findings from it. */
export interface Row<Measured> {
  /** Name for --rows. */
  readonly name: (typeof rowNames)[number];
  /** True if it must be measured before anything else of this process. */
  readonly first?: true;
  /** Measures the row. Throws if a result is wrong. */
  measure(bench: Workbench): Promise<Measured>;
  judge(measured: Measured, conditions: Conditions): Finding[];
}

export const row = <Measured>(own: Row<Measured>): Row<Measured> => own;
