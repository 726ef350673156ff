/** noble-curves on the CPU: what a prover has without a GPU and without wasm. */
import { pippenger } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import type { OwnName } from '../../src/curves/names.js';
import { oracles } from '../oracle/curves.js';
import { samePoint, toAffinePoint } from '../oracle/known-bases.js';
import type { Peer, PeerProblem } from './peer.js';

type NoblePoint = WeierstrassPoint<bigint>;

export function makeNoble(curve: OwnName): Peer<NoblePoint> {
  const { Point } = oracles[curve];
  let points: NoblePoint[] = [];
  let scalars: bigint[] = [];
  let expected: PeerProblem['expected'] | null = null;
  return {
    name: 'noble',
    quickUpTo: 2 ** 12,
    async prepare(_, problem) {
      points = problem.points.map(({ x, y, infinity }) => (infinity ? Point.ZERO : Point.fromAffine({ x, y })));
      scalars = problem.scalars.map((scalar) => Point.Fn.create(scalar));
      expected = problem.expected;
    },
    run: async () => pippenger(Point, points, scalars),
    check: (result) => expected !== null && samePoint(toAffinePoint(result), expected),
  };
}
