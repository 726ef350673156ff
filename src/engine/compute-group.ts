/** Computation of a request group: one sum for all vectors of its members. */
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { CallContext } from '../session/call-context.js';
import { convertScalars } from './given-scalars.js';
import type { GroupMember, RequestGroup, SumRequest } from './request-group.js';
import { type ResultWriter, resultWriter } from './results.js';

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
