/** noble-curves on the CPU: what a prover has without a GPU and without wasm. */
import { pippenger } from '@noble/curves/abstract/curve.js';
import { bn254G1, samePoint, toAffinePoint } from '../oracle/known-bases.js';
import type { Peer, PeerProblem } from './peer.js';

const { Point } = bn254G1;
type NoblePoint = InstanceType<typeof Point>;

export function makeNoble(): Peer<NoblePoint> {
  let points: NoblePoint[] = [];
  let scalars: bigint[] = [];
  let expected: PeerProblem['expected'] | null = null;
  return {
    name: 'noble',
    curve: bn254G1.name,
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
