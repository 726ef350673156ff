/**
 * Measures which knobs are the fastest on a device: a search over settings, each an engine that is
 * timed in turn with the defaults.
 */
import type { AdapterDescription, Calibration, CalibrationTrial, Tuning } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { addAffine, infinityOf, type Jacobian, multiply, toAffine } from '../curves/jacobian.js';
import { writePoint } from '../curves/point-source.js';
import type { MsmError, MsmErrorCode } from '../errors.js';
import { fieldProducts, mod, writeNumber } from '../field/modulus.js';
import { compileTimes } from '../gpu/device.js';
import { areSame, publicPoint } from '../msm/stages/combine-windows.js';
import { version } from '../version.js';
import { leastPairs, median, Random, ratioOfMedians } from './statistics.js';

/** A device and a curve to calibrate. */
export interface Subject {
  readonly device: GPUDevice;
  readonly adapter: AdapterDescription;
  readonly curve: CurveContext;
  /** Creates an engine of the curve on the device, whose sums the GPU computes. */
  open(tuning: Partial<Tuning>): Promise<MsmEngine<Coordinate>>;
}

/** Time that all timed MSMs together may take on a fast GPU, in ms. */
const BUDGET_MS = 300;

/** Points of the timed MSM if no larger one fits the budget. With fewer, latency would dominate. */
const LEAST_SIZE = 2 ** 10;

/** Larger sizes of the timed MSM, tried first. */
const LARGER_SIZES = [2 ** 14, 2 ** 12];

/**
 * Returns the largest MSM that the defaults compute fast enough for a search within the budget.
 *
 * @param tried receives the trials. They hold pipelines that the search uses again; the caller
 * destroys them afterwards
 */
const chooseProblem = async (bench: Bench, make: (n: number) => Problem, tried: Trial[]): Promise<Problem> => {
  for (const n of LARGER_SIZES) {
    const problem = make(n);
    const trial = await prepareTrial(bench, {}, problem);
    if (trial === null) continue;
    tried.push(trial);
    const ms = await trial.time();
    if (ms !== null && ms * leastRuns <= BUDGET_MS) return problem;
  }
  return make(LEAST_SIZE);
};

/** Settings of a measurement. */
type MeasureOptions = Pick<Bench, 'signal'> & Pick<SearchOptions, 'checkpoint' | 'onProgress'>;

/**
 * Measures which knobs are the fastest on a device.
 *
 * @throws the error of `checkpoint`; MsmError `aborted` by the signal, `device-lost`
 */
export const measure = async (subject: Subject, options: MeasureOptions): Promise<Calibration> => {
  const { device, adapter, curve, open } = subject;
  const { signal, checkpoint, onProgress } = options;
  const begun = performance.now();
  const compiledBefore = compileMs(device);
  const bench = { open, signal };
  // the first fractional bits of π
  const make = (n: number): Problem => makeProblem(curve, n, new Random(0x243f6a88));
  const tried: Trial[] = [];
  let found: Found;
  try {
    const problem = adapter.software ? make(LEAST_SIZE) : await chooseProblem(bench, make, tried);
    found = await search({
      prepare: (tuning) => prepareTrial(bench, tuning, problem),
      // SwiftShader expands dot products into code that may crash its compiler, and executes all
      // branches of a walk in extended coordinates in every step
      offers: ({ fieldProduct, walkerCoordinates }) =>
        !adapter.software || (fieldProduct !== 'dot4' && walkerCoordinates === undefined),
      budgetMs: BUDGET_MS,
      ...{ checkpoint, onProgress },
    });
  } finally {
    for (const { destroy } of tried) destroy();
  }
  return {
    tuning: Object.freeze(found.tuning),
    trials: found.trials,
    curve: curve.name,
    adapter,
    version,
    remembered: false,
    tookMs: performance.now() - begun,
    compileMs: compileMs(device) - compiledBefore,
  };
};

/** Returns the time that pipelines of a device took to compile so far. */
const compileMs = (device: GPUDevice): number => compileTimes(device).reduce((sum, { ms }) => sum + ms, 0);

/**
 * The rounds of a search: one knob a round, on top of the best setting so far. The field product
 * comes first, because all other knobs depend on it. Timing a product alone would mislead:
 * registers are scarce in the walker, and not in a loop around one product.
 */
const rounds: readonly (readonly Partial<Tuning>[])[] = [
  fieldProducts.map((fieldProduct) => ({ fieldProduct })),
  [{ walkerCoordinates: 'affine' }, { walkerCoordinates: 'xyzz' }],
  [{ walkerPrefixMemory: 'private' }, { walkerPrefixMemory: 'workgroup' }],
  [{ walkerSlots: 4 }, { walkerSlots: 8 }, { walkerSlots: 16 }, { walkerSlots: 32 }],
  [{ walkerThreadsPerWorkgroup: 32 }, { walkerThreadsPerWorkgroup: 64 }, { walkerThreadsPerWorkgroup: 128 }],
];

/** Knobs of slots, which walks in extended coordinates have none of. */
const knobsOfSlots: readonly string[] = ['walkerPrefixMemory', 'walkerSlots'] satisfies (keyof Tuning)[];

/** The most times that a setting is timed in a round. More pairs hardly narrow the interval. */
const MOST_PAIRS = 24;

/**
 * The least number of MSMs that a search times. Each round times the defaults, the best setting and
 * all changes except the present one; the final times the best setting and the defaults.
 */
export const leastRuns = leastPairs * (rounds.reduce((sum, { length }) => sum + length + 1, 0) + 2);

/** A knob leaves its default only if the ratio of the medians is below this. */
const WORTHWHILE = 0.97;

/**
 * Returns whether b is faster than a: by the confidence interval, and by enough to be worth a
 * change.
 */
const wins = (a: readonly number[], b: readonly number[]): boolean => {
  const { ratio, verdict } = ratioOfMedians(a, b, { resamples: 2000 });
  return verdict === 'B is faster' && ratio < WORTHWHILE;
};

/** A setting with its times of all rounds so far, in pairs with the times of the defaults. */
interface Contender extends Trial {
  readonly pairs: { readonly standard: number[]; readonly own: number[] };
}

interface SearchOptions {
  /** Prepares a setting for timing; resolves to null if the setting does not work. */
  prepare(tuning: Partial<Tuning>): Promise<Trial | null>;
  /** Returns whether to try a change on this device. Default: every change is tried. */
  offers?(change: Partial<Tuning>): boolean;
  /**
   * Time that all timed MSMs together may take, in ms. Each setting is timed `leastPairs` times a
   * round in any case.
   */
  readonly budgetMs: number;
  /** Throws to end the search. */
  checkpoint(): void;
  onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

/** The result of a search. */
interface Found {
  readonly tuning: Partial<Tuning>;
  readonly trials: readonly CalibrationTrial[];
}

/** The settings of a search: prepared, timed in turn, and destroyed. */
class Contenders {
  readonly #options: SearchOptions;
  readonly #all = new Set<Contender>();
  readonly #failed: CalibrationTrial[] = [];
  /** Time of all timed MSMs so far, in ms. */
  #spent = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Prepares a setting; resolves to null if it does not work. */
  async prepare(tuning: Partial<Tuning>): Promise<Contender | null> {
    this.#options.checkpoint();
    const trial = await this.#options.prepare(tuning);
    if (!trial) {
      this.#failed.push({ tuning, ms: null });
      return null;
    }
    const contender = { ...trial, pairs: { standard: [], own: [] } };
    this.#all.add(contender);
    return contender;
  }

  /**
   * Times settings in turn, alternately forwards and backwards, and returns their times. Excludes a
   * setting after its first wrong result. The first setting stands for the defaults.
   */
  async race(running: readonly Contender[], racesLeft: number): Promise<Map<Contender, number[]>> {
    const { budgetMs, checkpoint } = this.#options;
    const times = new Map(running.map((contender) => [contender, [] as number[]]));
    const share = (budgetMs - this.#spent) / racesLeft;
    const before = this.#spent;
    let turns = leastPairs;
    for (let turn = 0; turn < turns; turn++) {
      const order = [...times];
      for (const [contender, own] of turn % 2 === 0 ? order : order.toReversed()) {
        checkpoint();
        const ms = await contender.time();
        if (ms !== null) {
          own.push(ms);
          this.#spent += ms;
        } else {
          times.delete(contender);
          this.#all.delete(contender);
          this.#failed.push({ tuning: contender.tuning, ms });
          contender.destroy();
        }
      }
      if (turn === 0) {
        turns = Math.min(MOST_PAIRS, Math.max(leastPairs, Math.floor(share / (this.#spent - before))));
      }
    }
    const standard = times.get(running[0] as Contender) ?? [];
    for (const [{ pairs }, own] of times) {
      pairs.standard.push(...standard);
      pairs.own.push(...own);
    }
    return times;
  }

  /** Frees all settings but some. Freeing a setting twice is harmless. */
  destroy(...except: readonly Contender[]): void {
    for (const contender of this.#all) if (!except.includes(contender)) contender.destroy();
  }

  trials(): CalibrationTrial[] {
    return [...[...this.#all].map(trialOf), ...this.#failed];
  }
}

/** Times of the settings in a race. */
type Times = ReadonlyMap<Contender, readonly number[]>;

/** Returns the settings that beat `toBeat` in a race, the fastest first. */
const winners = (times: Times, toBeat: Contender, others: readonly Contender[]): Contender[] => {
  const timesOf = (contender: Contender): readonly number[] => times.get(contender) as readonly number[];
  return others
    .filter((other) => times.has(other) && times.has(toBeat) && wins(timesOf(toBeat), timesOf(other)))
    .sort((a, b) => middle(timesOf(a)) - middle(timesOf(b)));
};

/**
 * Searches for the fastest setting, knob after knob. All settings of a round run in turn, so that a
 * slowdown of the machine hits all of them. A setting replaces the best one if the confidence
 * interval of their pairs shows that it is faster. The winner then runs once more against the
 * defaults, and is used if these pairs and the pairs of all rounds show that it is faster: in the
 * rounds alone it may have been the luckiest of many. If the defaults do not work, the first
 * setting that works stands for them.
 */
export const search = async (options: SearchOptions): Promise<Found> => {
  const { prepare, offers = () => true, onProgress } = options;
  const offered = rounds.map((round) => round.filter(offers));
  const total = offered.reduce((sum, { length }) => sum + length, 0) + 1;
  let done = 0;
  const tell = (): void => onProgress?.({ done: ++done, total });
  const contenders = new Contenders(options);
  try {
    let standard = await contenders.prepare({});
    let best = standard;
    for (const [index, round] of offered.entries()) {
      const others: Contender[] = [];
      for (const change of round) {
        const knobs = Object.entries(change) as [keyof Tuning, unknown][];
        const isVoid =
          best?.resolved.walkerCoordinates === 'xyzz' && knobs.every(([knob]) => knobsOfSlots.includes(knob));
        if (!isVoid && knobs.some(([knob, value]) => best?.resolved[knob] !== value)) {
          const other = await contenders.prepare({ ...best?.tuning, ...change });
          if (other) others.push(other);
          standard ??= other;
          best ??= other;
        }
        tell();
      }
      if (!standard || !best) continue;
      const times = await contenders.race([...new Set([standard, best, ...others])], rounds.length + 1 - index);
      if (!times.has(standard)) {
        // the setting worked before and failed now, so all comparisons with it are void
        const { tuning } = standard;
        contenders.destroy();
        return await search({ ...options, prepare: async (other) => (isSame(other, tuning) ? null : prepare(other)) });
      }
      const toBeat: Contender = times.has(best) ? best : standard;
      best = winners(times, toBeat, others)[0] ?? toBeat;
      // a phone lacks the memory for a dozen engines
      contenders.destroy(standard, best);
    }
    if (standard && best && best !== standard) {
      const times = await contenders.race([standard, best], 1);
      const [winner] = winners(times, standard, [best]);
      if (!winner || !wins(best.pairs.standard, best.pairs.own)) best = standard;
    }
    tell();
    return { tuning: best?.tuning ?? {}, trials: contenders.trials() };
  } finally {
    contenders.destroy();
  }
};

/** Summarises a setting beside the defaults of the same turns. */
const trialOf = ({ tuning, pairs: { standard, own } }: Contender): CalibrationTrial => {
  if (own.length === 0) return { tuning, ms: null };
  const { ratio, low, high } = ratioOfMedians(standard, own, { resamples: 2000 });
  return { tuning, ms: middle(own), defaults: { ms: middle(standard), ratio, low, high } };
};

const middle = (times: readonly number[]): number => median(times) as number;

const isSame = (a: Partial<Tuning>, b: Partial<Tuning>): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

/** A setting that works on a device. Holds an engine. */
interface Trial {
  readonly tuning: Partial<Tuning>;
  /** All knobs, as the engine resolved them. */
  readonly resolved: Tuning;
  /**
   * Computes the MSM and returns its time in ms: GPU time with timestamps, else wall time; null for
   * a wrong result.
   */
  time(): Promise<number | null>;
  /** Frees the engine. Calling it twice is harmless. */
  destroy(): void;
}

/** Where settings are tried. */
interface Bench extends Pick<Subject, 'open'> {
  /** Ends the MSM under way. */
  readonly signal: AbortSignal | undefined;
}

/** Errors that end a calibration; others exclude a setting, which may exceed the device. */
const fatal: readonly MsmErrorCode[] = ['aborted', 'destroyed', 'device-lost'];

/** Returns true for an error of the library that excludes a setting. */
const isOfSetting = (error: unknown): boolean => {
  const { name, code } = Object(error) as Partial<MsmError>;
  return name === 'MsmError' && !fatal.includes(code as MsmErrorCode);
};

/**
 * Creates an engine with a setting, and compiles; null if the setting does not work on the device.
 *
 * @throws MsmError `aborted`, `destroyed`, `device-lost`
 */
const prepareTrial = async (
  { open, signal }: Bench,
  tuning: Partial<Tuning>,
  { points, scalars, isSolvedBy }: Problem,
): Promise<Trial | null> => {
  const engine = await open(tuning);
  const destroy = (): void => engine.destroy();
  // calls of other engines on the device go first
  const turn = { priority: 'background', ...(signal && { signal }) } as const;
  try {
    const bases = await engine.loadBases(points, turn);
    const time = async (): Promise<number | null> => {
      const result = await engine.msm(bases, scalars, turn);
      const run = engine.lastRun;
      if (run?.on !== 'gpu' || !isSolvedBy(result)) return null;
      const busy = (run.timeline ?? []).reduce((sum, { ms }) => sum + ms, 0);
      // the coarse clock of a browser may measure 0
      return busy > 0 ? busy : Math.max(run.wallMs, Number.MIN_VALUE);
    };
    // the first run compiles
    const right = (await time()) !== null;
    const run = engine.lastRun;
    if (right && run?.on === 'gpu') return { tuning, resolved: run.tuning, time, destroy };
  } catch (error) {
    if (!isOfSetting(error)) {
      destroy();
      throw error;
    }
  }
  destroy();
  return null;
};

/** An MSM with a known answer: the points are i·G, so the sum is (Σ s_i·i)·G. */
interface Problem {
  readonly n: number;
  readonly points: Uint8Array<ArrayBuffer>;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Returns true for the right sum. */
  isSolvedBy(sum: AffinePoint<Coordinate>): boolean;
}

/** Returns the first multiples of the generator, over and over, as bytes of n points. */
const multiplesOf = (curve: CurveContext, distinct: number, n: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(n * curve.pointBytes);
  const words = new Uint32Array(bytes.buffer);
  let sum: Jacobian = infinityOf(curve);
  for (let i = 0; i < distinct; i++) {
    sum = addAffine(curve, sum, curve.generator);
    writePoint(curve, words, i, toAffine(curve, sum));
  }
  const period = distinct * curve.pointBytes;
  for (let at = period; at < bytes.length; at += period) bytes.copyWithin(at, 0, period);
  return bytes;
};

/**
 * Makes an MSM of n points, of which n/16 are distinct.
 *
 * @param n a power of two, 16 or more
 */
const makeProblem = (curve: CurveContext, n: number, random: Random): Problem => {
  // few enough to compute quickly, and enough that equal points rarely meet in a bucket
  const distinct = n / 16;
  const each = curve.scalarBytes / 8;
  const words = new BigUint64Array(n * each);
  let logarithm = 0n;
  for (let i = 0; i < n; i++) {
    let scalar = 0n;
    for (let bits = 0; bits < curve.scalarBits; bits += 32) scalar = (scalar << 32n) | BigInt(random.u32());
    scalar = mod(scalar, curve.order);
    writeNumber(words, i * each, each, scalar);
    logarithm += scalar * BigInt((i % distinct) + 1);
  }
  const sum = toAffine(curve, multiply(curve, mod(logarithm, curve.order), curve.generator));
  return {
    n,
    points: multiplesOf(curve, distinct, n),
    scalars: new Uint8Array(words.buffer),
    isSolvedBy: (given) => areSame(curve, given, publicPoint(curve, sum)),
  };
};
