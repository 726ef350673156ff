/**
 * Points of which sums are no generic additions: equal and opposite ones and infinities, in every
 * order.
 */
import type { AffinePoint, Coordinate, KnownBases } from '../../dev/oracle/known-bases.js';

const negative = (p: bigint, y: bigint): bigint => (y === 0n ? 0n : p - y);

/**
 * 24 of them, of two known points: one sum after the other of the first few doubles, cancels or
 * passes on.
 */
export const meetingPoints = <Of extends Coordinate>(
  { p }: { readonly p: bigint },
  known: KnownBases<Of>,
): { points: AffinePoint<Of>[]; logs: bigint[] } => {
  const [a, b] = known.points as [AffinePoint<Of>, AffinePoint<Of>];
  const [k, l] = known.logs as [bigint, bigint];
  const { y }: AffinePoint<Coordinate> = a;
  const minusY = typeof y === 'bigint' ? negative(p, y) : { c0: negative(p, y.c0), c1: negative(p, y.c1) };
  const minus = { ...a, y: minusY as Of };
  const zero = (typeof y === 'bigint' ? 0n : { c0: 0n, c1: 0n }) as Of;
  const none = { x: zero, y: zero, infinity: true };
  const order = [a, a, minus, a, a, a, none, minus, minus, minus, minus, b, a, a, none, ...new Array(9).fill(a)];
  const logOf = new Map([
    [a, k],
    [minus, -k],
    [b, l],
    [none, 0n],
  ]);
  return { points: order, logs: order.map((point) => logOf.get(point) as bigint) };
};
