/** Which settings are tried, and which of them wins. Knows no device: only settings that can be timed. */
import type { CalibrationTrial } from '../api/calibration.js';
import type { Tuning } from '../api/tuning.js';
import { fieldProducts } from '../field/modulus.js';
import { leastPairs, median, ratioOfMedians } from './statistics.js';
import type { Trial } from './trial.js';

/**
 * One knob after the other, the best so far kept: the product first, as everything else depends on it. Isolated products would
 * mispredict: registers are short in the walker, and not in a loop around one product.
 */
const rounds: readonly (readonly Partial<Tuning>[])[] = [
  fieldProducts.map((fieldProduct) => ({ fieldProduct })),
  [{ walkerPrefixMemory: 'private' }, { walkerPrefixMemory: 'workgroup' }],
  [{ walkerSlots: 4 }, { walkerSlots: 8 }, { walkerSlots: 16 }, { walkerSlots: 32 }],
  [{ walkerThreadsPerWorkgroup: 32 }, { walkerThreadsPerWorkgroup: 64 }, { walkerThreadsPerWorkgroup: 128 }],
];

/** Times of a setting, at most, in a round: more pairs say hardly more. */
const MOST_PAIRS = 24;

/** MSMs that a search times at least: in each round the defaults, the best so far and all changes but the one that is there; then the two again. */
export const leastRuns = leastPairs * (rounds.reduce((sum, { length }) => sum + length + 1, 0) + 2);

/** What must be gained for a knob to leave its default. */
const WORTHWHILE = 0.97;

/** Whether b is faster than a: the interval says so, and it is worth a change. */
const wins = (a: readonly number[], b: readonly number[]): boolean => {
  const { ratio, verdict } = ratioOfMedians(a, b, { resamples: 2000 });
  return verdict === 'B is faster' && ratio < WORTHWHILE;
};

/** A setting, and its times in every round so far: in pairs with those of the defaults. */
interface Contender extends Trial {
  readonly pairs: { readonly standard: number[]; readonly own: number[] };
}

export interface SearchOptions {
  /** A setting, ready to be timed; null where it does not work. */
  prepare(tuning: Partial<Tuning>): Promise<Trial | null>;
  /** Whether a change is worth a try on this device; every one if left out. */
  offers?(change: Partial<Tuning>): boolean;
  /** What all timed MSMs together may take, in milliseconds; each setting is timed `leastPairs` times a round even so. */
  readonly budgetMs: number;
  /** Throws if there is no point in going on. */
  checkpoint(): void;
  onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

/** What a search tried, and what won. */
export interface Found {
  readonly tuning: Partial<Tuning>;
  readonly trials: readonly CalibrationTrial[];
}

/**
 * Tries knob after knob. All settings of a round run in turn, so that what slows a machine down meets all of them; one takes the place
 * of the best so far if the interval of their pairs says that it is faster. What is the best in the end runs in turn with the defaults once
 * more, and wins if these pairs say so, and all of all rounds: in the rounds it was the luckiest of many. Where the defaults do not work, the first setting that does stands for them.
 */
export const search = async (options: SearchOptions): Promise<Found> => {
  const { prepare, offers = () => true, budgetMs, checkpoint, onProgress } = options;
  const offered = rounds.map((round) => round.filter(offers));
  const contenders: Contender[] = [];
  const failed: CalibrationTrial[] = [];
  const total = offered.reduce((sum, { length }) => sum + length, 0) + 1;
  let [spent, done] = [0, 0];
  const tell = (): void => onProgress?.({ done: ++done, total });

  const attempt = async (tuning: Partial<Tuning>): Promise<Contender | null> => {
    checkpoint();
    const trial = await prepare(tuning);
    if (trial === null) {
      failed.push({ tuning, ms: null });
      return null;
    }
    const contender = { ...trial, pairs: { standard: [], own: [] } };
    contenders.push(contender);
    return contender;
  };

  /** Has settings run in turn, there and back; what each took. One that was wrong once is out. */
  const race = async (running: readonly Contender[], racesLeft: number): Promise<Map<Contender, number[]>> => {
    const times = new Map(running.map((contender) => [contender, [] as number[]]));
    const share = (budgetMs - spent) / racesLeft;
    const before = spent;
    let turns = leastPairs;
    for (let turn = 0; turn < turns; turn++) {
      const order = [...times];
      for (const [contender, own] of turn % 2 === 0 ? order : order.toReversed()) {
        checkpoint();
        const ms = await contender.time();
        if (ms !== null) {
          own.push(ms);
          spent += ms;
        } else {
          times.delete(contender);
          contenders.splice(contenders.indexOf(contender), 1);
          failed.push({ tuning: contender.tuning, ms });
          contender.destroy();
        }
      }
      if (turn === 0) turns = Math.min(MOST_PAIRS, Math.max(leastPairs, Math.floor(share / (spent - before))));
    }
    const standard = times.get(running[0] as Contender);
    for (const [{ pairs }, own] of times) {
      pairs.standard.push(...(standard ?? []));
      pairs.own.push(...own);
    }
    return times;
  };

  try {
    let standard = await attempt({});
    let best = standard;
    for (const [index, round] of offered.entries()) {
      const others: Contender[] = [];
      for (const change of round) {
        const knobs = Object.entries(change) as [keyof Tuning, unknown][];
        if (knobs.some(([knob, value]) => best?.resolved[knob] !== value)) {
          const other = await attempt({ ...best?.tuning, ...change });
          if (other !== null) others.push(other);
          standard ??= other;
          best ??= other;
        }
        tell();
      }
      if (standard === null || best === null) continue;
      const times = await race([...new Set([standard, best, ...others])], rounds.length + 1 - index);
      if (!times.has(standard)) {
        // it was right before: nothing can be said of what was compared with it
        const { tuning } = standard;
        for (const { destroy } of contenders) destroy();
        return await search({ ...options, prepare: async (other) => (isSame(other, tuning) ? null : prepare(other)) });
      }
      const toBeat: Contender = times.has(best) ? best : standard;
      best = toBeat;
      for (const other of others) {
        const own = times.get(other);
        if (own === undefined || other === toBeat || !wins(times.get(toBeat) as number[], own)) continue;
        if (best === toBeat || middle(own) < middle(times.get(best) as number[])) best = other;
      }
      // a phone has no room for a dozen engines
      for (const contender of contenders) if (contender !== standard && contender !== best) contender.destroy();
    }
    if (standard !== null && best !== null && best !== standard) {
      const times = await race([standard, best], 1);
      const last = [times.get(standard), times.get(best)] as const;
      const holds = last[0] !== undefined && last[1] !== undefined && wins(last[0], last[1]);
      if (!holds || !wins(best.pairs.standard, best.pairs.own)) best = standard;
    }
    tell();
    const trials = contenders.map(told);
    return { tuning: best?.tuning ?? {}, trials: [...trials, ...failed] };
  } finally {
    for (const { destroy } of contenders) destroy();
  }
};

/** A setting beside the defaults of its own turns. */
const told = ({ tuning, pairs: { standard, own } }: Contender): CalibrationTrial => {
  if (own.length === 0) return { tuning, ms: null };
  const { ratio, low, high } = ratioOfMedians(standard, own, { resamples: 2000 });
  return { tuning, ms: middle(own), defaults: { ms: middle(standard), ratio, low, high } };
};

const middle = (times: readonly number[]): number => median(times) as number;

const isSame = (a: Partial<Tuning>, b: Partial<Tuning>): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
