/** Finds work that snarkjs computes faster than this library, by the times of the caller's work. */

import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { FfCurveName, FfGroup, MultiExpAffine } from './ffjavascript.js';

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

/** Points of the MSM, which takes each side some milliseconds. */
const POINTS = 2 ** 9;

/** MSMs of each side at most, of which the fastest counts. */
const TURNS = 3;

/** Time after which a side computes no further MSM, in milliseconds. */
const MOST_MS = 20;

/** snarkjs may be faster with larger work where it takes less than this times the own time. */
const MOST_RATIO = 1.5;

/** Arithmetics in which this library takes a third of snarkjs's time. */
const certain: readonly unknown[] = ['wasm-fma', 'wasm-wide'];

/** Bytes of a scalar. */
const SCALAR_BYTES = 32;

/** Time after a call until both sides are measured, in milliseconds. */
const PAUSE_MS = 100;

/** A group of a curve that snarkjs has made, and its own MSM. */
export interface OriginalGroup {
  readonly group: FfGroup;
  readonly multiExpAffine: MultiExpAffine;
}

/** Both sides of a curve. */
export interface Sides {
  /** Returns the engine of a curve's G1. */
  engine(curve: FfCurveName): Promise<MsmEngine<Coordinate>>;
  /** Returns G1 of a curve whose threads run; null if snarkjs has made none. */
  original(curve: FfCurveName): OriginalGroup | null;
}

/** Returns the multiples G to n·G of a group's generator. */
const multiplesOf = async (group: FfGroup, n: number): Promise<Uint8Array> => {
  const bytes = 3 * group.F.n8;
  const all = new Uint8Array(n * bytes);
  let point = group.g;
  for (let i = 0; i < n; i++) {
    all.set(point, i * bytes);
    point = group.add(point, group.g);
  }
  return group.batchToAffine(all);
};

/** Returns random scalars below the order of every curve of snarkjs. */
const randomScalars = (n: number): Uint8Array => {
  const scalars = crypto.getRandomValues(new Uint8Array(n * SCALAR_BYTES));
  for (let i = 1; i <= n; i++) scalars[i * SCALAR_BYTES - 1] = 0;
  return scalars;
};

/** Returns the least time of some calls, in milliseconds. */
const leastMs = async (compute: () => Promise<unknown>): Promise<number> => {
  let [least, spent] = [Number.POSITIVE_INFINITY, 0];
  for (let turn = 0; turn < TURNS && spent < MOST_MS; turn++) {
    const begun = performance.now();
    await compute();
    const ms = performance.now() - begun;
    least = Math.min(least, ms);
    spent += ms;
  }
  return least;
};

/** Measures once for each curve, while nothing else is computed. */
class Doubt {
  readonly #sides: Sides;
  readonly #contest: () => Contest;
  readonly #known = new Map<FfCurveName, boolean>();
  readonly #arranged = new Set<FfCurveName>();

  /** @param contest knows whether other work runs */
  constructor(sides: Sides, contest: () => Contest) {
    this.#sides = sides;
    this.#contest = contest;
  }

  /** Returns whether snarkjs may be faster on a curve; false until it is measured. */
  of(curve: FfCurveName): boolean {
    if (this.#sides.original(curve) === null) return false;
    const known = this.#known.get(curve);
    if (known === undefined && !this.#arranged.has(curve)) this.#arrange(curve);
    return known ?? false;
  }

  #arrange(curve: FfCurveName): void {
    this.#arranged.add(curve);
    const timer = setTimeout(() => void this.#measureIfIdle(curve), PAUSE_MS);
    // in Node, lets a process end that waits for this timer alone
    (timer as { unref?(): void }).unref?.();
  }

  async #measureIfIdle(curve: FfCurveName): Promise<void> {
    const contest = this.#contest();
    if (!contest.isIdle) {
      this.#arrange(curve);
      return;
    }
    try {
      const { result, isAlone } = await contest.alone(() => this.#measure(curve));
      if (isAlone) this.#known.set(curve, result);
    } catch {
      // a side that fails is not compared
      this.#known.set(curve, false);
    } finally {
      this.#arranged.delete(curve);
    }
  }

  async #measure(curve: FfCurveName): Promise<boolean> {
    const original = this.#sides.original(curve);
    const engine = await this.#sides.engine(curve);
    if (original === null || !engine.adapter.software) return false;
    const [points, scalars] = [await multiplesOf(original.group, POINTS), randomScalars(POINTS)];
    const bases = await engine.loadBases(points.slice(), { encoding: 'le-montgomery' });
    try {
      const ownMs = await leastMs(() => engine.msm(bases, scalars));
      const run = engine.lastRun;
      if (run?.on === 'cpu' && certain.includes(run.arithmetic)) return false;
      return (await leastMs(() => original.multiExpAffine(points, scalars))) < MOST_RATIO * ownMs;
    } finally {
      bases.destroy();
    }
  }
}

/**
 * Makes a contest of the work on all curves.
 *
 * @param mayLeave returns whether anything may be left to snarkjs at the moment
 * @param onChange as `Contest` has it
 */
export const contestIn = (
  sides: Sides,
  mayLeave: () => boolean,
  onChange: (left: readonly LeftWork[]) => void,
): Contest => {
  const doubt: Doubt = new Doubt(sides, () => contest);
  const contest: Contest = new Contest(({ curve }) => mayLeave() && doubt.of(curve), onChange);
  return contest;
};
