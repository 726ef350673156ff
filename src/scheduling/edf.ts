/** Which of those that wait is next: the one that is due first. */
import type { Priority } from '../api/calls.js';

/**
 * Milliseconds that a call lets others go before it that come after it: nobody waits for ever, as whoever comes later than that is due later, however
 * urgent it is. Between calls of one priority the first goes first.
 */
export const AGEING_MS: Readonly<Record<Priority, number>> = { interactive: 0, normal: 1000, background: 10_000 };

/** A call that waits. */
export interface Waiting {
  readonly priority: Priority;
  /** When it came. */
  readonly since: number;
  /** By when it wants to have begun; null: as its priority says. */
  readonly deadline: number | null;
}

/** The moment at which it is due. */
export const dueTime = ({ priority, since, deadline }: Waiting): number =>
  Math.min(since + AGEING_MS[priority], deadline ?? Number.POSITIVE_INFINITY);

/** Whether one is of a more urgent kind than another one. */
export const isMoreUrgent = (one: Pick<Waiting, 'priority'>, other: Pick<Waiting, 'priority'>): boolean =>
  AGEING_MS[one.priority] < AGEING_MS[other.priority];

/** The index of the next one, of several that are due together the first. */
export const earliestDue = (waiting: readonly Waiting[]): number =>
  waiting.reduce((best, each, i) => (dueTime(each) < dueTime(waiting[best] as Waiting) ? i : best), 0);
