/**
 * Resources that rows share: warm engines with their inputs, and measurements used by several rows.
 */

import type { PhaseTime } from '../../../../src/api/run-record.js';
import type { Tuning } from '../../../../src/api/tuning.js';
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
import { type EngineUnderTest, makeEngine } from '../../engine-under-test.js';
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
export class Workbench {
  readonly bench: GpuBench;
  readonly software: boolean;
  readonly reps: number;
  /** Largest size, as a power of two. */
  readonly logn: number;
  readonly #setting: Setting;
  readonly #once = new Map<string, Promise<unknown>>();

  constructor(bench: GpuBench, { reps, settings }: Knobs, logn: number) {
    this.bench = bench;
    this.software = bench.adapter.software;
    this.reps = reps;
    this.logn = logn;
    this.#setting = settings[0] as Setting;
  }

  get signal(): AbortSignal {
    return this.bench.run.signal;
  }

  library() {
    return this.bench.library(this.#setting);
  }

  /** Announces the next step. */
  announce(doing: string): Promise<void> {
    return this.bench.run.next(doing);
  }

  async subject(changes: Partial<Setting> = {}): Promise<EngineUnderTest> {
    const setting = { ...this.#setting, ...changes };
    return this.bench.own(await makeEngine(this.bench, { curve: 'bn254', group: 'g1' }, setting));
  }

  /** Opens a device that has compiled nothing yet. */
  async freshDevice(): Promise<GPUDevice> {
    const { device } = await openDevice({ gpu: this.bench.gpu });
    return this.bench.own(device);
  }

  /** Times one MSM. @returns its wall time @throws Error if its answer is wrong */
  async time(timed: EngineUnderTest, msmCase: MsmCase): Promise<number> {
    const outcome = await timed.compute(msmCase);
    if (!outcome.agrees) throw wrongResult(msmCase, timed.label, outcome);
    return outcome.wallMs;
  }

  /**
   * Loads the points, and computes each case once: the first compiles, and the second plans with
   * the measured speed.
   */
  async warmUp(timed: EngineUnderTest, cases: readonly MsmCase[]): Promise<void> {
    await this.announce(`${formatCaseAddress((cases[0] as MsmCase).address)}: loading, compiling, warming up`);
    await timed.load(cases[0] as MsmCase);
    for (const each of cases) await this.time(timed, each);
  }

  /** Prepares a warm engine for n points. */
  warm(n: number): Promise<WarmEngine> {
    return this.#memoised(`warm ${n}`, async () => {
      await this.announce(`n = ${n}: making the points`);
      const first = makeCase({ points: 'distinct', scalars: 'random', n, seed: SEED });
      const cases = [first, redrawn(first, 1)] as const;
      const made = await this.subject();
      await this.warmUp(made, cases);
      return { n, subject: made, cases, peakBytes: made.engine.memory.peak };
    });
  }

  /** Times warm MSMs of n random scalars. */
  baseline(n: number): Promise<Baseline> {
    return this.#memoised(`baseline ${n}`, async () => {
      const { subject: timed, cases } = await this.warm(n);
      const rateAround = await ratesAround(await this.#meter());
      const runs: TimedRun[] = [];
      for (let rep = 0; rep < this.reps; rep++) {
        await this.announce(`n = ${n}: run ${rep + 1} of ${this.reps}`);
        const wallMs = await this.time(timed, cases[rep % 2] as MsmCase);
        const phases = timed.engine.lastRun?.phases ?? null;
        runs.push({ wallMs, productEquivalents: (wallMs / 1000) * (await rateAround()), phases });
      }
      const { tuning } = timed.engine.lastRun as NonNullable<typeof timed.engine.lastRun>;
      return { n, ...summariseRuns(runs), tuning };
    });
  }

  /** Counts the work of the MSM that `baseline` times, with the same plan. */
  counts(n: number): Promise<MsmCounts> {
    return this.#memoised(`counts ${n}`, async () => {
      const { tuning } = await this.baseline(n);
      await this.announce(`n = ${n}: counting`);
      return (await this.#counter())({ n, tuning });
    });
  }

  /** Measures the field operations with the product that MSMs use. */
  field(): Promise<FieldCosts> {
    return this.#memoised('field', async () => {
      const variant = libraryVariant((await this.baseline(2 ** 10)).tuning.fieldProduct);
      const [plain] = fieldOperations;
      const { rows } = await fieldBench(this.bench.device, modulus(bn254.p), {
        threads: threadsFor(this.software),
        chains: [1, 2],
        reps: Math.max(this.reps, LEAST_FIELD_REPS),
        leastMs: 50,
        operations: fieldOperations.filter((operation) => operation === plain || operation.variant === variant),
        features: this.bench.gpu.wgslLanguageFeatures as ReadonlySet<string>,
        onProgress: (doing) => {
          this.signal.throwIfAborted();
          this.bench.run.bench.doing = doing;
          this.bench.run.tick();
        },
      });
      return fieldCosts(rows, variant, plain?.variant ?? '');
    });
  }

  #meter(): Promise<ProductMeter> {
    return this.#memoised('meter', async () => {
      await this.announce('Calibrating the product that costs are counted in');
      return this.bench.own(await openMeter(this.bench.gpu, (why) => this.bench.run.loseDevice(why)));
    });
  }

  /**
   * Opens the counter on a device of its own, because counting instruments the kernels compiled on
   * it.
   */
  #counter() {
    return this.#memoised('counter', async () => makeCounter(await this.freshDevice()));
  }

  #memoised<T>(key: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#once.get(key) as Promise<T> | undefined) ?? make();
    this.#once.set(key, made);
    return made;
  }
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
