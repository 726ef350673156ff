/** Finds work that snarkjs computes faster than this library, by the times of the caller's work. */
import type { FfCurveName } from './ffjavascript.js';

/** Work that is left to snarkjs, which computes it faster. */
export interface LeftWork {
  /** The kind of work and its size. */
  readonly work: string;
  /** The least time that this library took for it, in milliseconds. */
  readonly ownMs: number;
  /** The least time that snarkjs took for it, in milliseconds. */
  readonly snarkjsMs: number;
}

/** A kind of work: calls of one kind take about the same time. */
export interface Work {
  readonly key: string;
  /** Description for `LeftWork`. */
  readonly label: string;
  readonly curve: FfCurveName;
}

export type Side = 'own' | 'snarkjs';

/** Own calls of a kind until snarkjs computes one, besides the first, which loads and compiles. */
const LEAST_OWN = 2;

/** Work that takes less is not contested, in milliseconds: clocks of pages are coarse. */
const LEAST_MS = 8;

/** Times of each side that count. */
const KEPT = 3;

/** snarkjs is faster where its time is less than this part of the own one. */
const CLEARLY = 0.9;

/** Calls that show that snarkjs is faster. */
const WINS = 2;

/** Calls of a kind that snarkjs computes at most, unless it is faster. */
const MOST_TRIALS = 4;

/** Calls of a kind that is left to snarkjs, of which this library computes the last two again. */
const REMATCH = 32;

/** Kinds that are remembered. A forgotten one costs speed alone. */
const REMEMBERED = 256;

/** Times of a kind of work, and who computes it. */
interface Standing extends Pick<Work, 'label'> {
  readonly ms: Record<Side, number[]>;
  isWarm: boolean;
  /** True if the last call was a trial: the next one is an own one. */
  wasTrial: boolean;
  trials: number;
  wins: number;
  isLeft: boolean;
  /** Calls since the kind was left to snarkjs. */
  leftCalls: number;
}

const bestOf = (all: readonly number[]): number => Math.min(...all);

/**
 * Decides who computes. After some own calls of a kind snarkjs computes one instead, in trials
 * between own calls; its result is used, so that a trial costs the difference alone. Work that
 * snarkjs computed clearly faster twice is left to it, and now and then tried again. Times count
 * only of calls that ran alone.
 */
export class Contest {
  readonly #isWorthwhile: (work: Work) => boolean;
  readonly #onChange: (left: readonly LeftWork[]) => void;
  readonly #standings = new Map<string, Standing>();
  /** Calls that run. */
  #open = 0;
  #begun = 0;

  /**
   * @param isWorthwhile returns whether snarkjs may be faster at all
   * @param onChange is told of all work that is left to snarkjs whenever it changes
   */
  constructor(isWorthwhile: (work: Work) => boolean, onChange: (left: readonly LeftWork[]) => void) {
    this.#isWorthwhile = isWorthwhile;
    this.#onChange = onChange;
  }

  /** True while no call runs. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Returns whether snarkjs is to compute the next call of a kind. */
  leaves(work: Work): boolean {
    const standing = this.#standingOf(work);
    if (standing.isLeft) return ++standing.leftCalls % REMATCH < REMATCH - 2;
    const { ms, wasTrial, trials } = standing;
    const isDue = ms.own.length >= LEAST_OWN && !wasTrial && trials < MOST_TRIALS && this.isIdle;
    if (!isDue || bestOf(ms.own) < LEAST_MS || !this.#isWorthwhile(work)) return false;
    standing.wasTrial = true;
    standing.trials++;
    return true;
  }

  /**
   * Computes and records the time.
   *
   * @param begun the beginning of the call on the clock `performance.now`
   */
  async timed<Result>(
    work: Work,
    side: Side,
    compute: () => Promise<Result>,
    begun = performance.now(),
  ): Promise<Result> {
    const { result, isAlone } = await this.alone(compute);
    if (isAlone) this.#record(work, side, performance.now() - begun);
    return result;
  }

  /** Calls a function, and returns whether no other call ran meanwhile. */
  async alone<Result>(compute: () => Promise<Result>): Promise<{ readonly result: Result; readonly isAlone: boolean }> {
    const isFirst = this.#open++ === 0;
    const number = ++this.#begun;
    try {
      const result = await compute();
      return { result, isAlone: isFirst && this.#begun === number };
    } finally {
      this.#open--;
    }
  }

  #standingOf({ key, label }: Work): Standing {
    const known = this.#standings.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#standings.keys();
    if (this.#standings.size >= REMEMBERED) this.#standings.delete(oldest as string);
    const standing: Standing = {
      ...{ label, ms: { own: [], snarkjs: [] }, isWarm: false, wasTrial: false },
      ...{ trials: 0, wins: 0, isLeft: false, leftCalls: 0 },
    };
    this.#standings.set(key, standing);
    return standing;
  }

  #record(work: Work, side: Side, ms: number): void {
    const standing = this.#standingOf(work);
    if (side === 'own' && !standing.isWarm) {
      standing.isWarm = true;
      return;
    }
    standing.ms[side] = [...standing.ms[side], ms].slice(-KEPT);
    if (standing.isLeft) {
      if (side === 'own') this.#rematch(standing, ms);
    } else if (side === 'own') standing.wasTrial = false;
    else this.#judge(standing, ms);
  }

  /** Judges a trial. The first one may be lost: snarkjs may compile in it. */
  #judge(standing: Standing, ms: number): void {
    if (ms < CLEARLY * bestOf(standing.ms.own)) standing.wins++;
    else if (standing.trials > 1) standing.trials = MOST_TRIALS;
    if (standing.wins >= WINS) this.#leave(standing, true);
  }

  /** Takes work back that snarkjs does not compute clearly faster any more. */
  #rematch(standing: Standing, ms: number): void {
    if (bestOf(standing.ms.snarkjs) < CLEARLY * ms) return;
    Object.assign(standing, { trials: 0, wins: 0, wasTrial: false });
    standing.ms.own = [ms];
    this.#leave(standing, false);
  }

  #leave(standing: Standing, isLeft: boolean): void {
    Object.assign(standing, { isLeft, leftCalls: 0 });
    const left = [...this.#standings.values()].filter((each) => each.isLeft);
    this.#onChange(
      left.map(({ label, ms }) => ({ work: label, ownMs: bestOf(ms.own), snarkjsMs: bestOf(ms.snarkjs) })),
    );
  }
}
