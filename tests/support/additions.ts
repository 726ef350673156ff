/** Additions of a few points in every case, against noble. */
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { type Coordinate, encodePoints, numbersOf, toAffinePoint } from '../../dev/oracle/known-bases.js';
import type { PointAdder } from '../../src/wasm/points/point-adder.js';

/** Coefficients of x and y of a point; zeros for infinity. */
const told = (point: { toAffine(): { x: Coordinate; y: Coordinate } }): bigint[] => {
  const { x, y } = point.toAffine();
  return [...numbersOf(x), ...numbersOf(y)];
};

/**
 * Adds ±P and ±Q for every P and Q of some points, among them infinity, doubles and negatives.
 *
 * @returns the number of sums, and those that are wrong
 */
export const additions = (of: CurveGroup, adder: PointAdder): { readonly count: number; readonly wrong: string[] } => {
  const oracle = oracleOf(of);
  const { BASE: G, ZERO, Fn } = oracle.Point;
  const points = [
    ZERO,
    G,
    G.double(),
    G.negate(),
    ...Array.from({ length: 9 }, (_, i) => G.multiply(Fn.create(7n ** BigInt(40 * i + 30)))),
  ];
  const bytes = encodePoints(
    oracle,
    points.map((point) => toAffinePoint(point)),
  );
  const at = adder.enter(new Uint32Array(bytes.buffer), 1n);
  const pairs = points.flatMap((P, i) =>
    points.flatMap((Q, j) => [0, 1].flatMap((p) => [0, 1].map((q) => ({ P, Q, i, j, p, q })))),
  );
  const sums = pairs.map(({ i, j, p, q }) => {
    const to = adder.take(1);
    adder.add(to, at + i * adder.pointBytes + p, at + j * adder.pointBytes + q);
    return to;
  });
  adder.flush();
  const wrong = pairs.flatMap(({ P, Q, i, j, p, q }, k) => {
    const sum = (p === 0 ? P : P.negate()).add(q === 0 ? Q : Q.negate());
    const isRight = String(adder.read(sums[k] as number)) === String(told(sum));
    return isRight ? [] : [`${p ? '-' : ''}${i} + ${q ? '-' : ''}${j}`];
  });
  return { count: pairs.length, wrong };
};
