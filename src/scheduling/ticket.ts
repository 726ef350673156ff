import type { Waiting } from './edf.js';

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
