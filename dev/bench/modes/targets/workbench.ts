/** What the rows share: engines that are warm, their inputs, and what was measured once for several of them. */
import type { PhaseTime, Tuning } from '../../../../src/api.js';
import { bn254 } from '../../../../src/curves/bn254.js';
import type { CarryMode } from '../../../../src/field/carry.js';
import { modulus } from '../../../../src/field/modulus.js';
import { openDevice } from '../../../../src/gpu/device.js';
import { type CaseAddress, formatCaseAddress } from '../../../cases/address.js';
import { type MsmCase, makeCase, redrawn } from '../../../cases/msm-case.js';
import { type MsmCounts, makeCounter } from '../../../count/count-msm.js';
import { libraryOperations, libraryVariant, threadsFor } from '../../../field-bench/kernels.js';
import { ProductMeter, ratesAround } from '../../../field-bench/product-meter.js';
import { type FieldBenchRow, fieldBench } from '../../../field-bench/run.js';
import type { BenchDevice } from '../../bench-device.js';
import { EngineUnderTest } from '../../engine-under-test.js';
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

/** Warm MSMs of random scalars over distinct points. Null where the adapter has no timestamps. */
export interface Baseline {
  readonly n: number;
  readonly runs: readonly TimedRun[];
  readonly wallsMs: readonly number[];
  readonly productEquivalents: readonly number[];
  /** What the phases on the GPU take together. */
  readonly gpuMs: readonly number[] | null;
  /** The wall less that. */
  readonly aboveGpuMs: readonly number[] | null;
  /** The share of the wall that is in no phase of additions. */
  readonly notArithmetic: readonly number[] | null;
  readonly tuning: Tuning;
}

const ARITHMETIC: readonly string[] = ['walk', 'combine', 'reduce', 'fold (CPU)'];

/** @param runs at least one */
export function summariseRuns(runs: readonly TimedRun[]): Omit<Baseline, 'n' | 'tuning'> {
  const sum = (phases: readonly PhaseTime[] | null, wanted: (phase: PhaseTime) => boolean): number =>
    (phases ?? []).filter(wanted).reduce((total, { ms }) => total + ms, 0);
  const ofTimed = (value: (run: TimedRun) => number): number[] | null =>
    runs.some(({ phases }) => phases === null) ? null : runs.map(value);
  return {
    runs,
    wallsMs: runs.map(({ wallMs }) => wallMs),
    productEquivalents: runs.map(({ productEquivalents }) => productEquivalents),
    gpuMs: ofTimed(({ phases }) => sum(phases, isOnGpu)),
    aboveGpuMs: ofTimed(({ wallMs, phases }) => wallMs - sum(phases, isOnGpu)),
    notArithmetic: ofTimed(
      ({ wallMs, phases }) => (wallMs - sum(phases, ({ name }) => ARITHMETIC.includes(name))) / wallMs,
    ),
  };
}

/** What field-bench says of the library's own operations, in products of its own. */
export interface FieldCosts {
  readonly variant: string;
  readonly inversion: number;
  readonly square: number;
  /** Its product ÷ the plain one as the product meter has it: from the same turns, so that it stays when a shared machine slows down. */
  readonly ownToPlain: number;
}

export function fieldCosts(rows: readonly FieldBenchRow[], variant: string, plain: string): FieldCosts {
  const best = (operation: string): number => bestRow(rows, variant, operation)?.perSecond ?? Number.NaN;
  const unit = rows.find((row) => row.variant === plain && row.chains === 1)?.perSecond ?? Number.NaN;
  const product = best('product');
  return {
    variant,
    inversion: product / best('inverse'),
    square: product / best('square'),
    ownToPlain: product / unit,
  };
}

/** Of a short dispatch: a few would do for a time, but what is wanted are ratios, and those of a busy machine vary. */
const LEAST_FIELD_REPS = 15;

export class Workbench {
  readonly run: Run;
  readonly bench: BenchDevice;
  readonly software: boolean;
  readonly reps: number;
  /** The largest n. */
  readonly logn: number;
  readonly setting: Setting;
  readonly #once = new Map<string, Promise<unknown>>();
  readonly #cleanUp: (() => void)[] = [];

  constructor(run: Run, bench: BenchDevice, { reps, settings }: Knobs, logn: number) {
    this.run = run;
    this.bench = bench;
    this.software = bench.adapter.software;
    this.reps = reps;
    this.logn = logn;
    this.setting = settings[0] as Setting;
  }

  /** Says what comes next. */
  say(doing: string): Promise<void> {
    return this.run.next(doing);
  }

  library() {
    return this.bench.library(this.setting);
  }

  async subject(changes: Partial<Setting> = {}): Promise<EngineUnderTest> {
    const subject = await EngineUnderTest.create(this.run, this.bench, { ...this.setting, ...changes });
    this.#cleanUp.push(() => subject.destroy());
    return subject;
  }

  /** A device on which nothing was compiled yet. */
  async freshDevice(): Promise<GPUDevice> {
    const { device } = await openDevice({ gpu: this.bench.gpu });
    this.#cleanUp.push(() => device.destroy());
    return device;
  }

  /** One MSM. @returns its wall @throws Error if its answer is wrong */
  async time(subject: EngineUnderTest, msmCase: MsmCase): Promise<number> {
    const outcome = await subject.compute(msmCase);
    if (!outcome.agrees) throw wrongResult(msmCase, subject.label, outcome);
    return outcome.wallMs;
  }

  /** Loads the points of the cases, and computes each once: one compiles, after it an engine knows the device. */
  async warmUp(subject: EngineUnderTest, cases: readonly MsmCase[]): Promise<void> {
    await this.say(`${formatCaseAddress((cases[0] as MsmCase).address)}: loading, compiling, warming up`);
    await subject.load((cases[0] as MsmCase).points);
    for (const each of cases) await this.time(subject, each);
  }

  stage(n: number): Promise<Stage> {
    return this.#memoise(`stage ${n}`, async () => {
      await this.say(`n = ${n}: making the points`);
      const address: CaseAddress = { points: 'distinct', scalars: 'random', n, seed: SEED };
      const first = makeCase(address);
      const cases = [first, redrawn(first, 1)] as const;
      const subject = await this.subject();
      await this.warmUp(subject, cases);
      return { n, subject, cases, peakBytes: subject.engine.memory.peak };
    });
  }

  baseline(n: number): Promise<Baseline> {
    return this.#memoise(`baseline ${n}`, async () => {
      const { subject, cases } = await this.stage(n);
      const rateAround = await ratesAround(await this.#meter());
      const runs: TimedRun[] = [];
      for (let rep = 0; rep < this.reps; rep++) {
        await this.say(`n = ${n}: run ${rep + 1} of ${this.reps}`);
        const wallMs = await this.time(subject, cases[rep % 2] as MsmCase);
        const phases = subject.engine.lastRun?.phases ?? null;
        runs.push({ wallMs, productEquivalents: (wallMs / 1000) * (await rateAround()), phases });
      }
      const { tuning } = subject.engine.lastRun as NonNullable<typeof subject.engine.lastRun>;
      return { n, ...summariseRuns(runs), tuning };
    });
  }

  /** The work of the MSM that `baseline` times, in the same plan. */
  counts(n: number): Promise<MsmCounts> {
    return this.#memoise(`counts ${n}`, async () => {
      const { tuning } = await this.baseline(n);
      await this.say(`n = ${n}: counting`);
      return (await this.#counter())({ n, tuning });
    });
  }

  /** What the operations of the field cost here, with the carries that MSMs compute with. */
  field(): Promise<FieldCosts> {
    return this.#memoise('field', async () => {
      const { tuning } = await this.baseline(2 ** 10);
      return this.#measureField(tuning.fieldCarry);
    });
  }

  async #measureField(carry: CarryMode): Promise<FieldCosts> {
    const variant = libraryVariant(carry);
    const [plain] = libraryOperations;
    const wanted = ['product', 'square', 'inverse'];
    const { rows } = await fieldBench(this.bench.device, modulus(bn254.p), {
      threads: threadsFor(this.software),
      chains: [1, 2],
      reps: Math.max(this.reps, LEAST_FIELD_REPS),
      leastMs: 50,
      operations: libraryOperations.filter(
        (operation) => operation === plain || (operation.variant === variant && wanted.includes(operation.name)),
      ),
      features: this.bench.gpu.wgslLanguageFeatures as ReadonlySet<string>,
      onProgress: (doing) => {
        this.run.signal.throwIfAborted();
        this.run.bench.doing = doing;
        this.run.tick();
      },
    });
    return fieldCosts(rows, variant, plain?.variant ?? '');
  }

  destroy(): void {
    // engines before their devices
    for (const cleanUp of this.#cleanUp.splice(0).reverse()) cleanUp();
  }

  #meter(): Promise<ProductMeter> {
    return this.#memoise('meter', async () => {
      await this.say('Calibrating the product that costs are told in');
      const meter = await ProductMeter.open(this.bench.gpu, { onLost: (why) => this.run.loseDevice(why) });
      this.#cleanUp.push(() => meter.destroy());
      return meter;
    });
  }

  #counter() {
    // a device of its own: counting changes the kernels that are compiled on it
    return this.#memoise('counter', async () => makeCounter(await this.freshDevice()));
  }

  #memoise<T>(key: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#once.get(key) as Promise<T> | undefined) ?? make();
    this.#once.set(key, made);
    return made;
  }
}
