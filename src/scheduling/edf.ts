/** Earliest deadline first with ageing, and the ticket of a call that waits. */
import type { Priority } from '../api/calls.js';

/**
 * How long later calls may overtake a call, in ms. Calls that arrive after that are due later
 * whatever their priority, so no call starves. Calls of one priority run in order of arrival.
 */
export const AGEING_MS: Readonly<Record<Priority, number>> = { interactive: 0, normal: 1000, background: 10_000 };

/** A call that waits. */
export interface Waiting {
  readonly priority: Priority;
  /** Time of arrival. */
  readonly since: number;
  /** Time by which it should begin; null: given by its priority. */
  readonly deadline: number | null;
}

/** Returns the time at which a call is due. */
export const dueTime = ({ priority, since, deadline }: Waiting): number =>
  Math.min(since + AGEING_MS[priority], deadline ?? Number.POSITIVE_INFINITY);

/** Returns true if `one` has a higher priority than `other`. */
export const isMoreUrgent = (one: Pick<Waiting, 'priority'>, other: Pick<Waiting, 'priority'>): boolean =>
  AGEING_MS[one.priority] < AGEING_MS[other.priority];

/** Returns the index of the call that is due first; of several at the same time, the first one. */
export const earliestDue = (waiting: readonly Waiting[]): number =>
  waiting.reduce((best, each, i) => (dueTime(each) < dueTime(waiting[best] as Waiting) ? i : best), 0);

/** Place of a call in a queue, and callbacks of the queue. */
export interface Ticket extends Waiting {
  /** Identity of the call, in whichever queues it waits; absent for work of no call. */
  readonly call?: object;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the device begins its work. */
  onBegun?(): void;
  /** Called when the device is gone before it could begin. */
  onRefused?(): void;
  /** Called after the last submit. */
  onSubmitted?(): void;
  /** Called after the result was read back. */
  onComputed?(): void;
}

/** Returns a ticket; without one, a new ticket of normal priority. */
export const ticketOf = (ticket: Ticket | undefined): Ticket =>
  ticket ?? { priority: 'normal', since: performance.now(), deadline: null };
