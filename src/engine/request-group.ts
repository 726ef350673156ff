/**
 * Requests of several calls that are computed as one: the call that has its turn leads, and one sum
 * has the vectors of all members.
 */
import type { AffinePoint, Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { onAbort } from '../errors.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import type { Call } from '../scheduling/call.js';
import type { CoalescedCall, Coalescing } from '../scheduling/call-queue.js';
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

/** Vectors on the same bases, with their scalars converted. */
export type GroupInput = Pick<SumRequest, 'bases' | 'vectors' | 'verify'>;

/** A request, and the call that waits for its result. */
interface GroupMember {
  readonly request: SumRequest;
  settle(results: ResultPoint[]): void;
  /** Fails the call because of an error in its own request. */
  fail(error: unknown): void;
  /** Fails the call, or has it computed alone, because the group failed. */
  failTogether(error: unknown): void;
}

/** A member whose scalars are converted, and the writer of its results. */
interface Prepared {
  readonly member: GroupMember;
  readonly write: ResultWriter;
}

/** The requests of a call and of the calls that were coalesced with it. */
export class RequestGroup {
  readonly #members: readonly GroupMember[];
  #ready: Prepared[] = [];
  #results: ResultPoint[] | null = null;
  #error: unknown;

  constructor(request: SumRequest, coalesced: readonly CoalescedCall[]) {
    const fail = (error: unknown): void => {
      this.#error = error;
    };
    const settle = (results: ResultPoint[]): void => {
      this.#results = results;
    };
    const followers = coalesced.map(
      (joined): GroupMember => ({
        request: joined.request as SumRequest,
        settle: joined.settle,
        fail: joined.fail,
        failTogether: joined.separate,
      }),
    );
    this.#members = [{ request, settle, fail, failTogether: fail }, ...followers];
  }

  /**
   * Converts the scalars of all members. A wrong request fails its own call alone.
   *
   * @returns the vectors to sum; null if no request is right
   */
  async prepare(curve: CurveContext, call: Call): Promise<GroupInput | null> {
    call.clock.enter('encodeMs');
    const timeSlice = call.timeSlice();
    for (const member of this.#members) {
      const { vectors, scalarEncoding, result } = member.request;
      try {
        await convertScalars(curve, vectors, scalarEncoding, timeSlice);
        this.#ready.push({ member, write: await resultWriter(curve, result) });
      } catch (error) {
        member.fail(error);
      }
    }
    const [first] = this.#members as [GroupMember];
    const { bases, verify } = first.request;
    const vectors = this.#ready.flatMap(({ member }) => member.request.vectors);
    return this.#ready.length === 0 ? null : { bases, vectors, verify };
  }

  /** Settles the prepared members with the sums of their vectors, in order. */
  settle(sums: readonly AffinePoint<Coordinate>[]): void {
    let at = 0;
    for (const { member, write } of this.#ready) {
      const { length } = member.request.vectors;
      member.settle(sums.slice(at, at + length).map(write));
      at += length;
    }
  }

  /** Ends the prepared members with an error of the sum. */
  fail(error: unknown): void {
    for (const { member } of this.#ready) member.failTogether(error);
  }

  /** Returns the results of the call that leads. @throws its error */
  outcome(): ResultPoint[] {
    if (this.#results === null) throw this.#error;
    return this.#results;
  }
}

/**
 * Returns a signal that aborts when all signals have aborted, and a function that lets go of them;
 * no signal if one of the calls has none.
 */
export const whenAllAbort = (
  signals: readonly (AbortSignal | undefined)[],
): { readonly signal: AbortSignal | undefined; release(): void } => {
  if (signals.length === 1 || signals.includes(undefined)) {
    return { signal: signals.length === 1 ? signals[0] : undefined, release: () => undefined };
  }
  const controller = new AbortController();
  const look = (): void => {
    if (signals.every((each) => each?.aborted)) controller.abort(signals[0]?.reason);
  };
  const unsubscribe = signals.map((signal) => onAbort(signal, look));
  look();
  return {
    signal: controller.signal,
    release: () => {
      for (const each of unsubscribe) each();
    },
  };
};
