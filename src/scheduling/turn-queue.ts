/**
 * Queue of work that computes in turns, such as the sums of the CPU: one at a time, earliest
 * deadline first with ageing. Where work pauses, more urgent work goes first.
 */
import { abortedBy, assertNotAborted, onAbort } from '../errors.js';
import { earliestDue, isMoreUrgent, type Waiting } from './edf.js';
import { TimeSlice } from './time-slice.js';

/** Position of work in the queue. */
export interface TurnTicket extends Waiting {
  /** Size that pauses compare with theirs, such as the point additions of a sum. */
  readonly size: number;
  /** Removes the work from the queue. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lets more urgent work of at most `maxSize` go first, once. Returns null if none waits. The
 * promise rejects as soon as the work that paused is aborted.
 */
export type Pause = (maxSize: number) => Promise<void> | null;

/** Size of work that goes first in no pause but those for any size. */
export const ANY_SIZE = Number.POSITIVE_INFINITY;

/**
 * Returns the time slices of work, between which more urgent work goes first.
 *
 * @param checkpoint called between slices; ends the computation by throwing
 * @param maxSize returns how large work may be that goes first
 */
export const timeSlices = (checkpoint: () => void, pause: Pause | undefined, maxSize = () => ANY_SIZE): TimeSlice =>
  new TimeSlice(() => {
    checkpoint();
    return pause?.(maxSize())?.then(checkpoint);
  });

interface WaitingTurn extends TurnTicket {
  begin(): void;
  /** Resolves when the work has ended, computed or not. */
  readonly over: Promise<void>;
}

export class TurnQueue {
  #waiting: WaitingTurn[] = [];
  /** Number of calls that have begun: one that computes, and those that it paused. */
  #underWay = 0;

  /** True while no work has begun. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /**
   * Calls `compute` when it is the turn of `ticket`.
   *
   * @throws MsmError `aborted` at once if the signal aborts while the work waits; and what
   *   `compute` throws
   */
  async inTurn<Result>(ticket: TurnTicket, compute: (pause: Pause) => Promise<Result>): Promise<Result> {
    assertNotAborted(ticket.signal);
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (this.#underWay === 0) this.#underWay++;
    else await this.#wait(ticket, over);
    try {
      return await compute((maxSize) => this.#pause(ticket, maxSize));
    } finally {
      this.#underWay--;
      end();
      if (this.#underWay === 0) this.#beginOne(this.#waiting);
    }
  }

  #wait(ticket: TurnTicket, over: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(ticket.signal, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(abortedBy(ticket.signal));
      });
      const begin = (): void => {
        unsubscribe();
        resolve();
      };
      const waiting: WaitingTurn = { ...ticket, begin, over };
      this.#waiting.push(waiting);
    });
  }

  /** Begins the earliest due of some waiting work. @returns null if there are none */
  #beginOne(candidates: readonly WaitingTurn[]): WaitingTurn | null {
    const next = candidates[earliestDue(candidates)] ?? null;
    if (next === null) return null;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#underWay++;
    next.begin();
    return next;
  }

  #pause(ticket: TurnTicket, maxSize: number): Promise<void> | null {
    const next = this.#beginOne(this.#waiting.filter((each) => isMoreUrgent(each, ticket) && each.size <= maxSize));
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
