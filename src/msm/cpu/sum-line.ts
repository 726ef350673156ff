/** Whose sum the CPU computes: one at a time, and of those that wait the one that is due first. Between two parts of a sum one that is more urgent goes first. */
import { abortedBy, assertNotAborted, onAbort } from '../../errors.js';
import { earliestDue, isMoreUrgent, type Waiting } from '../../scheduling/edf.js';
import { TimeSlice } from '../../scheduling/time-slice.js';

/** A sum that is to be computed. */
export interface SumTicket extends Waiting {
  /** Additions that it takes, about. */
  readonly additions: number;
  /** Ends its waiting. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Between two parts of a sum: has one that is more urgent go first, but no more than one, and none of more additions than these. Returns null where there
 * is none; rejects as soon as the sum that waits for it is aborted.
 */
export type Pause = (most: number) => Promise<void> | null;

/** Additions of any sum. */
export const ANY = Number.POSITIVE_INFINITY;

/**
 * Turns in each of which another one may go first.
 *
 * @param goOn called now and then; what it throws ends the computation
 * @param most additions of whoever may, as things are
 */
export const turnsOf = (checkpoint: () => void, pause: Pause | undefined, most = () => ANY): TimeSlice =>
  new TimeSlice(() => {
    checkpoint();
    return pause?.(most())?.then(checkpoint);
  });

interface Waiter extends SumTicket {
  begin(): void;
  /** When it is over, computed or not. */
  readonly over: Promise<void>;
}

export class SumQueue {
  #waiting: Waiter[] = [];
  /** Sums that have begun: one that is computed, and those that let it go first. */
  #underWay = 0;

  /**
   * Has a sum computed when it is its turn.
   *
   * @throws MsmError `aborted`, at once, while it waits; and what `compute` throws
   */
  async inTurn<Result>(turn: SumTicket, compute: (pause: Pause) => Promise<Result>): Promise<Result> {
    assertNotAborted(turn.signal);
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (this.#underWay === 0) this.#underWay++;
    else await this.#wait(turn, over);
    try {
      return await compute((most) => this.#pause(turn, most));
    } finally {
      this.#underWay--;
      end();
      if (this.#underWay === 0) this.#begin(this.#waiting);
    }
  }

  #wait(turn: SumTicket, over: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const stay = onAbort(turn.signal, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(abortedBy(turn.signal));
      });
      const begin = (): void => {
        stay();
        resolve();
      };
      const waiter: Waiter = { ...turn, begin, over };
      this.#waiting.push(waiter);
    });
  }

  /** Has the one of some begin that is due first. */
  #begin(some: readonly Waiter[]): Waiter | null {
    const next = some[earliestDue(some)] ?? null;
    if (next === null) return null;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#underWay++;
    next.begin();
    return next;
  }

  #pause(turn: SumTicket, most: number): Promise<void> | null {
    const next = this.#begin(this.#waiting.filter((each) => isMoreUrgent(each, turn) && each.additions <= most));
    if (next === null) return null;
    return new Promise((resolve, reject) => {
      const stay = onAbort(turn.signal, () => reject(abortedBy(turn.signal)));
      void next.over.then(() => {
        stay();
        resolve();
      });
    });
  }
}
