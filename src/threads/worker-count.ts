/**
 * How many workers the rounds of one size use: as many as bring something. A worker may cost more
 * than it brings: where a platform names more threads than it has cores, where messages are slow,
 * and while other programs have the cores.
 */

/** Workers of a round. */
export interface ChosenWorkers {
  readonly workers: number;
  /** True if the round is to measure its speed-up. */
  readonly measures: boolean;
}

/**
 * Rounds a thread of which one measures its speed-up, as threads wait meanwhile. The first rounds of
 * a number of workers all do.
 */
const EVERY = 4;

/** Measurements that count: their median, as other work may slow down either part of a round. */
const KEPT = 3;

/** Fewer workers are tried where each brings less than this part of what the own thread does. */
const LEAST_EACH = 1 / 3;

/** Least speed-up that workers are used for. */
const LEAST = 1.05;

/** A trial ends after so many measurements if all are below this part of the best speed-up. */
const CLEAR = { measured: 2, part: 0.85 } as const;

/** Part of the time of all rounds that trials may cost. */
const TRIALS = 1 / 64;

/** Least rounds between two trials. */
const GAP = 8;

/** Rounds after which a trial ends without measurements: workers did not get ready. */
const MOST_ROUNDS = 8;

/** A number of workers that is compared with the best so far. */
interface Trial {
  readonly workers: number;
  readonly best: number;
  rounds: number;
}

/**
 * Finds the number of workers with the highest speed-up. It begins with the most, tries half as many
 * where they bring little, and tries twice as many again after a while, as load may have ended.
 */
export class WorkerCount {
  #best = Number.POSITIVE_INFINITY;
  #trial: Trial | null = null;
  /** The last speed-ups, by number of workers. */
  readonly #speedups = new Map<number, readonly number[]>();
  #rounds = 0;
  /** Rounds until the next trial. */
  #pause = 0;
  #wasFewer = false;
  /** Whether the last trial lost. */
  #hasLost = false;

  /** Chooses the workers of the next round. @param most number that its size justifies */
  choose(most: number): ChosenWorkers {
    const best = Math.min(this.#best, most);
    if (this.#trial !== null && ++this.#trial.rounds > MOST_ROUNDS) {
      this.#trial = null;
      this.#pause = GAP;
    }
    this.#pause--;
    this.#trial ??= this.#nextTrial(best, most);
    const workers = Math.min(this.#trial?.workers ?? best, most);
    const speedups = this.#speedups.get(workers) ?? [];
    // one that is below the least is an outlier, or the first of many
    const isOpen = this.#trial !== null || speedups.length < KEPT || (speedups.at(-1) as number) < LEAST;
    const measures = isOpen || this.#rounds++ % (EVERY * (1 + workers)) === 0;
    return { workers, measures: workers > 0 && measures };
  }

  #nextTrial(best: number, most: number): Trial | null {
    const isDue = this.#pause < 0;
    const isWeak = this.#measured(best) === KEPT && this.#speedup(best) < 1 + LEAST_EACH * best;
    const mayBeFewer = isDue && isWeak && !(this.#wasFewer && best < most);
    const isFewer = best > 1 && (mayBeFewer || this.#isWorthless(best));
    if (!isFewer && !(isDue && best < most)) return null;
    this.#wasFewer = isFewer;
    const workers = isFewer ? best >> 1 : Math.min(most, 2 * best + 1);
    this.#speedups.delete(workers);
    return { workers, best, rounds: 0 };
  }

  /** True if all that counts says that the round would not take longer without workers. */
  #isWorthless(workers: number): boolean {
    const speedups = this.#speedups.get(workers) ?? [];
    return speedups.length === KEPT && speedups.every((each) => each < LEAST);
  }

  #measured(workers: number): number {
    return this.#speedups.get(workers)?.length ?? 0;
  }

  #speedup(workers: number): number {
    const sorted = [...(this.#speedups.get(workers) ?? [])].sort((a, b) => a - b);
    return workers === 0 ? LEAST : (sorted[sorted.length >> 1] ?? 0);
  }

  /**
   * Notes the speed-up of a round: the time in which its own thread would have computed what was
   * measured, divided by the time that the round took with workers.
   */
  note(workers: number, speedup: number): void {
    this.#speedups.set(workers, [...(this.#speedups.get(workers) ?? []), speedup].slice(-KEPT));
    // a lone worker needs no trial: the speed-up without workers is 1
    if (this.#trial === null && workers === 1 && this.#isWorthless(1)) this.#settle(0, 1);
    else if (this.#trial?.workers === workers) this.#judge(this.#trial);
  }

  #judge({ workers, best }: Trial): void {
    // more workers have to be better each time: where they pay at all, they do so clearly
    const least = Math.min(...(this.#speedups.get(workers) ?? []));
    const tried = workers > best ? least : this.#speedup(workers);
    const before = this.#speedup(best);
    const isClear = this.#measured(workers) === CLEAR.measured && tried < CLEAR.part * before;
    if (this.#measured(workers) < KEPT && !isClear) return;
    const winner = tried > before ? workers : best;
    const hasFewer = winner === workers && winner > 1;
    const isWorthless = this.#speedup(winner) < LEAST && !hasFewer;
    this.#settle(isWorthless ? 0 : winner, workers);
  }

  /**
   * Ends a trial. What lost is not tried soon if it cost time, unless it lost for the first time:
   * that may have been an outlier.
   */
  #settle(best: number, workers: number): void {
    const hasWon = best === workers;
    const lost = this.#measured(workers) * (this.#speedup(best) / this.#speedup(workers) - 1);
    // half of what won may be better still
    const isDown = hasWon && workers < (this.#trial?.best ?? 0);
    this.#pause = isDown ? 0 : Math.max(GAP, this.#hasLost && !hasWon ? Math.ceil(lost / TRIALS) : 0);
    this.#hasLost = !hasWon;
    this.#trial = null;
    this.#best = best;
  }
}
