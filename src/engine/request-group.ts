/** Requests of several calls that are computed as one. */
import type { PointEncoding, ScalarEncoding } from '../api/values.js';
import { onAbort } from '../errors.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import type { CallTicket } from '../scheduling/call-queue.js';
import type { Coalescing } from '../scheduling/coalescing.js';
import type { ResultPoint } from './results.js';

/** Request of a call of `msm` or `msmBatch`. */
export interface SumRequest extends Coalescing {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  readonly scalarEncoding: ScalarEncoding | undefined;
  readonly result: 'affine' | PointEncoding;
  readonly verify: number | undefined;
}

/** A request, and the call that waits for its result. */
export interface GroupMember {
  readonly request: SumRequest;
  settle(results: ResultPoint[]): void;
  /** Fails the call because of an error in its own request. */
  fail(error: unknown): void;
  /** Fails the call, or has it computed alone, because the group failed. */
  failTogether(error: unknown): void;
}

/** A call that leads a group: its own outcome, and the members of the group with itself first. */
export interface RequestGroup {
  readonly members: readonly GroupMember[];
  /** Returns the leader's results. @throws its error */
  outcome(): ResultPoint[];
}

/** Returns the group of a call and the calls that were coalesced with it. */
export const groupOf = (request: SumRequest, { coalesced }: CallTicket): RequestGroup => {
  const own: { results?: ResultPoint[]; error?: unknown } = {};
  const fail = (error: unknown): void => {
    own.error = error;
  };
  const leader: GroupMember = {
    request,
    settle: (results) => {
      own.results = results;
    },
    fail,
    failTogether: fail,
  };
  const followers = coalesced.map(
    ({ request: joined, settle, fail: failOne, separate }): GroupMember => ({
      request: joined as SumRequest,
      settle,
      fail: failOne,
      failTogether: separate,
    }),
  );
  return {
    members: [leader, ...followers],
    outcome: () => {
      if (own.results === undefined) throw own.error;
      return own.results;
    },
  };
};

/**
 * Runs work with a signal that aborts when all signals have aborted; without a signal if one of the
 * calls has none.
 */
export const abortWhenAllAbort = async (
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal | undefined) => Promise<void>,
): Promise<void> => {
  if (signals.length === 1) return work(signals[0]);
  if (signals.includes(undefined)) return work(undefined);
  const controller = new AbortController();
  const look = (): void => {
    if (signals.every((each) => each?.aborted)) controller.abort(signals[0]?.reason);
  };
  const unsubscribe = signals.map((signal) => onAbort(signal, look));
  look();
  try {
    await work(controller.signal);
  } finally {
    for (const each of unsubscribe) each();
  }
};
