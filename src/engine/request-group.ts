/** Requests of several calls that are computed as one: one sum for all vectors of a group. */
import type { AffinePoint, Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { onAbort } from '../errors.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import type { CallTicket, Coalescing } from '../scheduling/call-queue.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { CallContext } from '../session/call.js';
import { type ResultPoint, type ResultWriter, resultWriter } from './arguments.js';
import { convertScalars } from './call-inputs.js';

/** Request of a call of `msm` or `msmBatch`. */
export interface SumRequest extends Coalescing {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  readonly scalarEncoding: ScalarEncoding | undefined;
  readonly result: 'affine' | PointEncoding;
  readonly verify: number | undefined;
}

/** A request, and the call that waits for its result. */
interface GroupMember {
  readonly request: SumRequest;
  settle(results: ResultPoint[]): void;
  /** Fails the call because of an error in its own request. */
  fail(error: unknown): void;
  /** Fails the call, or has it computed alone, because the group failed. */
  failTogether(error: unknown): void;
}

/** A call that leads a group: its own outcome, and the members of the group with itself first. */
interface RequestGroup {
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

/** A request whose scalars are converted, and the writer of its results. */
interface Prepared {
  readonly member: GroupMember;
  readonly vectors: readonly ScalarVector[];
  readonly write: ResultWriter;
}

/** Vectors on the same bases, with their scalars converted. */
export type GroupInput = Pick<SumRequest, 'bases' | 'vectors' | 'verify'>;

/** Computes the sums of vectors, in their order. */
export type Multiply = (input: GroupInput, call: CallContext) => Promise<readonly AffinePoint<Coordinate>[]>;

const prepare = async (curve: CurveContext, member: GroupMember, timeSlice: TimeSlice): Promise<Prepared> => {
  const { vectors, scalarEncoding, result } = member.request;
  await convertScalars(curve, vectors, scalarEncoding, timeSlice);
  return { member, vectors, write: await resultWriter(curve, result) };
};

/** Computes a group, and settles each member with its results or its error. Never rejects. */
export const computeGroup = async (
  curve: CurveContext,
  { members }: RequestGroup,
  multiply: Multiply,
  call: CallContext,
): Promise<void> => {
  call.clock.enter('encodeMs');
  const timeSlice = new TimeSlice(() => call.checkpoint());
  const ready: Prepared[] = [];
  for (const member of members) {
    try {
      ready.push(await prepare(curve, member, timeSlice));
    } catch (error) {
      member.fail(error);
    }
  }
  if (ready.length === 0) return;
  try {
    const { bases, verify } = (members[0] as GroupMember).request;
    const vectors = ready.flatMap((each) => each.vectors);
    const sums = await multiply({ bases, vectors, verify }, call);
    let at = 0;
    for (const { member, vectors: own, write } of ready) {
      member.settle(sums.slice(at, at + own.length).map(write));
      at += own.length;
    }
  } catch (error) {
    for (const { member } of ready) member.failTogether(error);
  }
};
