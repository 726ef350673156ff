/** Points of which sums are no generic additions: equal and opposite ones and infinities, in every order. */
import type { AffinePoint, KnownBases } from '../../dev/oracle/known-bases.js';
import type { Curve } from '../../src/curves/curve.js';

/** 24 of them, of two known points: one sum after the other of the first few doubles, cancels or passes on. */
export const meetingPoints = ({ p }: Curve, known: KnownBases): { points: AffinePoint[]; logs: bigint[] } => {
  const [a, b] = known.points as [AffinePoint, AffinePoint];
  const [k, l] = known.logs as [bigint, bigint];
  const minus = { ...a, y: p - a.y };
  const none = { x: 0n, y: 0n, infinity: true };
  const order = [a, a, minus, a, a, a, none, minus, minus, minus, minus, b, a, a, none, ...new Array(9).fill(a)];
  const logOf = new Map([
    [a, k],
    [minus, -k],
    [b, l],
    [none, 0n],
  ]);
  return { points: order, logs: order.map((point) => logOf.get(point) as bigint) };
};
