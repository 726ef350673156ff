/**
 * Request coalescing: a call that has its turn computes the requests of waiting calls with its own.
 */
import type { EngineEvent } from '../api/sharing.js';
import { abortedBy, onAbort } from '../errors.js';
import type { Notify } from './call-events.js';
import { dueTime, isMoreUrgent, type Waiting } from './edf.js';

/** Request of a call that may be computed together with requests of other calls. */
export interface Coalescing {
  /** Selects the waiting requests worth computing together with this one. */
  coalesced(waiting: readonly Coalescing[]): readonly Coalescing[];
}

/** A call that another call, its leader, computes. */
export interface CoalescedCall extends Waiting {
  readonly request: Coalescing;
  readonly signal: AbortSignal | undefined;
  readonly notify: Notify;
  settle(result: unknown): void;
  fail(error: unknown): void;
  /**
   * Queues the call again, without coalescing: another request of the group may be the one that
   * failed.
   */
  separate(): void;
}

/**
 * Result of a coalesced call; boxed, because a promise that resolves with a promise waits for it.
 */
export interface CoalescedResult {
  readonly result: Promise<unknown>;
}

/** Result of a coalesced call that has to be computed by itself. */
export const SEPARATED = Symbol('separated');

/** Joins a waiting call to a leader: returns the call as the leader sees it, and its result. */
export const joinLeader = (
  call: Waiting,
  own: Pick<CoalescedCall, 'request' | 'signal' | 'notify'>,
): { readonly joined: CoalescedCall; readonly result: Promise<unknown> } => {
  let settle: (result: unknown) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const result = new Promise<unknown>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const { request, signal } = own;
  const unsubscribe = onAbort(signal, () => fail(abortedBy(signal)));
  let isOver = false;
  const end = (): void => {
    isOver = true;
    unsubscribe();
  };
  result.then(end, end);
  const notify: Notify = (event: EngineEvent['event']) => isOver || own.notify(event);
  const separate = (): void => settle(SEPARATED);
  return { joined: { ...call, request, signal, notify, settle, fail, separate }, result };
};

/** Returns the urgency of a group: the highest priority and the earliest due time of its calls. */
export const groupUrgency = (leader: Waiting, coalesced: readonly Waiting[]): Waiting => {
  if (coalesced.length === 0) return leader;
  const { priority } = coalesced.reduce((most, each) => (isMoreUrgent(each, most) ? each : most), leader);
  return { priority, since: leader.since, deadline: Math.min(...[leader, ...coalesced].map(dueTime)) };
};
