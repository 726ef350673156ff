/** The search for the fastest setting. It knows no device, only settings that can be timed. */
import type { CalibrationTrial } from '../api/calibration.js';
import type { Tuning } from '../api/tuning.js';
import { leastPairs, median, ratioOfMedians } from './statistics.js';
import type { Trial } from './trial.js';

/**
 * The rounds of a search: one knob a round, on top of the best setting so far. The field product
 * comes first, because all other knobs depend on it. Timing a product alone would mislead:
 * registers are scarce in the walker, and not in a loop around one product.
 */
const rounds: readonly (readonly Partial<Tuning>[])[] = [
  [{ fieldProduct: 'signed' }, { fieldProduct: 'unsigned' }, { fieldProduct: 'dot4' }],
  [{ walkerPrefixMemory: 'private' }, { walkerPrefixMemory: 'workgroup' }],
  [{ walkerSlots: 4 }, { walkerSlots: 8 }, { walkerSlots: 16 }, { walkerSlots: 32 }],
  [{ walkerThreadsPerWorkgroup: 32 }, { walkerThreadsPerWorkgroup: 64 }, { walkerThreadsPerWorkgroup: 128 }],
];

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

/** One pass over the rounds. */
class Search {
  readonly #options: SearchOptions;
  readonly #rounds: readonly (readonly Partial<Tuning>[])[];
  readonly #total: number;
  readonly #contenders: Contender[] = [];
  readonly #failed: CalibrationTrial[] = [];
  #spent = 0;
  #done = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    const { offers = () => true } = options;
    this.#rounds = rounds.map((round) => round.filter(offers));
    this.#total = this.#rounds.reduce((sum, { length }) => sum + length, 0) + 1;
  }

  /**
   * Resolves to a tuning if it stood for the defaults and then failed: the search starts again
   * without it.
   */
  async run(): Promise<Found | { readonly broken: Partial<Tuning> }> {
    let standard = await this.#attempt({});
    let best = standard;
    for (const [index, round] of this.#rounds.entries()) {
      const others: Contender[] = [];
      for (const change of round) {
        const knobs = Object.entries(change) as [keyof Tuning, unknown][];
        if (knobs.some(([knob, value]) => best?.resolved[knob] !== value)) {
          const other = await this.#attempt({ ...best?.tuning, ...change });
          if (other !== null) others.push(other);
          standard ??= other;
          best ??= other;
        }
        this.#tell();
      }
      if (standard === null || best === null) continue;
      const running = [...new Set([standard, best, ...others])];
      const times = await this.#race(running, rounds.length + 1 - index);
      // the defaults worked before and failed now, so all comparisons with them are void
      if (!times.has(standard)) return { broken: standard.tuning };
      best = this.#fastest(times.has(best) ? best : standard, others, times);
      // a phone lacks the memory for a dozen engines
      for (const contender of this.#contenders) {
        if (contender !== standard && contender !== best) contender.destroy();
      }
    }
    if (standard !== null && best !== null && best !== standard) best = await this.#final(standard, best);
    this.#tell();
    return { tuning: best?.tuning ?? {}, trials: [...this.#contenders.map(trialOf), ...this.#failed] };
  }

  /** Frees every setting. Calling it twice is harmless. */
  destroy(): void {
    for (const { destroy } of this.#contenders) destroy();
  }

  #tell(): void {
    this.#options.onProgress?.({ done: ++this.#done, total: this.#total });
  }

  /** Prepares a setting; resolves to null if it does not work. */
  async #attempt(tuning: Partial<Tuning>): Promise<Contender | null> {
    this.#options.checkpoint();
    const trial = await this.#options.prepare(tuning);
    if (trial === null) {
      this.#failed.push({ tuning, ms: null });
      return null;
    }
    const contender = { ...trial, pairs: { standard: [], own: [] } };
    this.#contenders.push(contender);
    return contender;
  }

  /**
   * Times settings in turn, alternately forwards and backwards, and returns their times. Excludes a
   * setting after its first wrong result. The first setting stands for the defaults.
   */
  async #race(running: readonly Contender[], racesLeft: number): Promise<Map<Contender, number[]>> {
    const { budgetMs } = this.#options;
    const times = new Map(running.map((contender) => [contender, [] as number[]]));
    const share = (budgetMs - this.#spent) / racesLeft;
    const before = this.#spent;
    let turns = leastPairs;
    for (let turn = 0; turn < turns; turn++) {
      const order = [...times];
      for (const [contender, own] of turn % 2 === 0 ? order : order.toReversed()) {
        if (!(await this.#time(contender, own))) times.delete(contender);
      }
      if (turn === 0) {
        turns = Math.min(MOST_PAIRS, Math.max(leastPairs, Math.floor(share / (this.#spent - before))));
      }
    }
    const standard = times.get(running[0] as Contender);
    for (const [{ pairs }, own] of times) {
      pairs.standard.push(...(standard ?? []));
      pairs.own.push(...own);
    }
    return times;
  }

  /** Times a setting once; resolves to false and drops the setting if its result is wrong. */
  async #time(contender: Contender, own: number[]): Promise<boolean> {
    this.#options.checkpoint();
    const ms = await contender.time();
    if (ms !== null) {
      own.push(ms);
      this.#spent += ms;
      return true;
    }
    this.#contenders.splice(this.#contenders.indexOf(contender), 1);
    this.#failed.push({ tuning: contender.tuning, ms });
    contender.destroy();
    return false;
  }

  /** Returns the fastest setting of those that beat `toBeat`, or `toBeat`. */
  #fastest(
    toBeat: Contender,
    others: readonly Contender[],
    times: ReadonlyMap<Contender, readonly number[]>,
  ): Contender {
    let best = toBeat;
    for (const other of others) {
      const own = times.get(other);
      if (own === undefined || other === toBeat || !wins(times.get(toBeat) as readonly number[], own)) continue;
      if (best === toBeat || middle(own) < middle(times.get(best) as readonly number[])) best = other;
    }
    return best;
  }

  /**
   * Times the winner of the rounds and the defaults once more, and returns which of the two to use.
   */
  async #final(standard: Contender, best: Contender): Promise<Contender> {
    const times = await this.#race([standard, best], 1);
    const last = [times.get(standard), times.get(best)] as const;
    const holds = last[0] !== undefined && last[1] !== undefined && wins(last[0], last[1]);
    return holds && wins(best.pairs.standard, best.pairs.own) ? best : standard;
  }
}

/**
 * Searches for the fastest setting, knob after knob. All settings of a round run in turn, so that a
 * slowdown of the machine hits all of them. A setting replaces the best one if the confidence
 * interval of their pairs shows that it is faster. The winner then runs once more against the
 * defaults, and is used if these pairs and the pairs of all rounds show that it is faster: in the
 * rounds alone it may have been the luckiest of many. If the defaults do not work, the first
 * setting that works stands for them.
 */
export const search = async (options: SearchOptions): Promise<Found> => {
  const own = new Search(options);
  let found: Awaited<ReturnType<Search['run']>>;
  try {
    found = await own.run();
  } finally {
    own.destroy();
  }
  if (!('broken' in found)) return found;
  const { broken } = found;
  const { prepare } = options;
  return search({ ...options, prepare: async (other) => (isSame(other, broken) ? null : prepare(other)) });
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
