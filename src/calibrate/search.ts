/** The search for the fastest setting. It knows no device, only settings that can be timed. */
import type { CalibrationTrial } from '../api/calibration.js';
import type { Tuning } from '../api/tuning.js';
import { leastPairs, median, ratioOfMedians } from './statistics.js';
import type { Trial } from './trial.js';

const fieldProducts = Object.keys({
  unsigned: true,
  dot4: true,
  fma: true,
} satisfies Record<Tuning['fieldProduct'], true>) as Tuning['fieldProduct'][];

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

export interface SearchOptions {
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
export interface Found {
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
