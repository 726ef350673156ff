/**
 * Queue of the sums that the CPU computes: one at a time, earliest deadline first with ageing.
 * Between two time slices of a sum a more urgent one goes first.
 */
import { abortedBy, assertNotAborted, onAbort } from '../../errors.js';
import { earliestDue, isMoreUrgent, type Waiting } from '../../scheduling/edf.js';
import { TimeSlice } from '../../scheduling/time-slice.js';

/** Position of a sum in the queue. */
export interface SumTicket extends Waiting {
  /** Estimated number of point additions. */
  readonly additions: number;
  /** Removes the sum from the queue. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lets one more urgent sum of at most `maxAdditions` go first. Returns null if none waits. The
 * promise rejects as soon as the sum that paused is aborted.
 */
export type Pause = (maxAdditions: number) => Promise<void> | null;

/** Additions of a sum of any size. */
export const ANY_SIZE = Number.POSITIVE_INFINITY;

/**
 * Returns the time slices of a sum, between which more urgent sums go first.
 *
 * @param checkpoint called between slices; ends the computation by throwing
 * @param maxAdditions returns how large a sum may be that goes first
 */
export const timeSlices = (
  checkpoint: () => void,
  pause: Pause | undefined,
  maxAdditions = () => ANY_SIZE,
): TimeSlice =>
  new TimeSlice(() => {
    checkpoint();
    return pause?.(maxAdditions())?.then(checkpoint);
  });

interface WaitingSum extends SumTicket {
  begin(): void;
  /** Resolves when the sum has ended, computed or not. */
  readonly over: Promise<void>;
}

export class SumQueue {
  #waiting: WaitingSum[] = [];
  /** Number of sums that have begun: one that computes, and those that it paused. */
  #underWay = 0;

  /**
   * Calls `compute` when it is the turn of `ticket`.
   *
   * @throws MsmError `aborted` at once if the signal aborts while the sum waits; and what `compute`
   *   throws
   */
  async inTurn<Result>(ticket: SumTicket, compute: (pause: Pause) => Promise<Result>): Promise<Result> {
    assertNotAborted(ticket.signal);
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (this.#underWay === 0) this.#underWay++;
    else await this.#wait(ticket, over);
    try {
      return await compute((maxAdditions) => this.#pause(ticket, maxAdditions));
    } finally {
      this.#underWay--;
      end();
      if (this.#underWay === 0) this.#beginOne(this.#waiting);
    }
  }

  #wait(ticket: SumTicket, over: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(ticket.signal, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(abortedBy(ticket.signal));
      });
      const begin = (): void => {
        unsubscribe();
        resolve();
      };
      const waiting: WaitingSum = { ...ticket, begin, over };
      this.#waiting.push(waiting);
    });
  }

  /** Begins the earliest due of some waiting sums. @returns null if there are none */
  #beginOne(candidates: readonly WaitingSum[]): WaitingSum | null {
    const next = candidates[earliestDue(candidates)] ?? null;
    if (next === null) return null;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#underWay++;
    next.begin();
    return next;
  }

  #pause(ticket: SumTicket, maxAdditions: number): Promise<void> | null {
    const next = this.#beginOne(
      this.#waiting.filter((each) => isMoreUrgent(each, ticket) && each.additions <= maxAdditions),
    );
    if (next === null) return null;
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(ticket.signal, () => reject(abortedBy(ticket.signal)));
      void next.over.then(() => {
        unsubscribe();
        resolve();
      });
    });
  }
}
