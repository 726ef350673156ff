/** Computation of a request group: one sum for all vectors of its members. */
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { ScalarVector } from '../msm/inputs/scalar-vectors.js';
import type { CallContext } from '../session/call-context.js';
import { readScalarVectors } from './decode.js';
import type { GroupMember, RequestGroup, SumRequest } from './request-group.js';
import { type ResultWriter, resultWriter } from './results.js';

/** Decoded scalars of a request, and the writer of its results. */
interface Prepared {
  readonly member: GroupMember;
  readonly vectors: readonly ScalarVector[];
  readonly write: ResultWriter;
}

/** Decoded vectors on the same bases. */
export type GroupInput = Pick<SumRequest, 'bases' | 'vectors' | 'verify'>;

/** Computes the sums of vectors, in their order. */
export type Multiply = (input: GroupInput, call: CallContext) => Promise<readonly AffinePoint<Coordinate>[]>;

const prepare = async (curve: CurveContext, member: GroupMember): Promise<Prepared> => {
  const { vectors, scalarEncoding, result } = member.request;
  return {
    member,
    vectors: await readScalarVectors(curve, vectors, scalarEncoding),
    write: await resultWriter(curve, result),
  };
};

/** Computes a group, and settles each member with its results or its error. Never rejects. */
export const computeGroup = async (
  curve: CurveContext,
  { members }: RequestGroup,
  multiply: Multiply,
  call: CallContext,
): Promise<void> => {
  call.clock.enter('encodeMs');
  const ready: Prepared[] = [];
  for (const member of members) {
    try {
      ready.push(await prepare(curve, member));
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
