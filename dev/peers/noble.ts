/** noble-curves on the CPU: the arithmetic of a prover without GPU and WebAssembly. */
import { type CurvePoint, type CurvePointCons, pippenger } from '@noble/curves/abstract/curve.js';
import { type CurveGroup, oracleOf } from '../oracle/curves.js';
import { type Coordinate, samePoint, toAffinePoint } from '../oracle/known-bases.js';
import type { Peer, PeerProblem } from './peer.js';

interface NoblePoint extends CurvePoint<Coordinate, NoblePoint> {
  readonly Z: Coordinate;
}

export function makeNoble(of: CurveGroup): Peer<NoblePoint> | null {
  // noble does not have this curve; its oracle is ours
  if (of.curve === 'bandersnatch') return null;
  const Point = oracleOf(of).Point as CurvePointCons<NoblePoint>;
  let points: NoblePoint[] = [];
  let scalars: bigint[] = [];
  let expected: PeerProblem['expected'] | null = null;
  return {
    name: 'noble',
    // an addition over p² elements takes noble three times as long
    quickUpTo: of.group === 'g1' ? 2 ** 12 : 2 ** 10,
    async prepare(problem) {
      points = problem.points.map(({ x, y, infinity }) => (infinity ? Point.ZERO : Point.fromAffine({ x, y })));
      scalars = problem.scalars.map((scalar) => Point.Fn.create(scalar));
      expected = problem.expected;
    },
    run: async () => pippenger(Point, points, scalars),
    check: (result) => expected !== null && samePoint(toAffinePoint(result), expected),
  };
}
