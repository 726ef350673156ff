/** A case made real: bases, scalars and the answers that the oracles give. */
import { type AffinePoint, bn254G1, expectedMsm, toAffinePoint } from '../oracle/known-bases.js';
import type { CaseAddress } from './address.js';
import { type PointSet, pointDistributions } from './point-distributions.js';
import { type ScalarSet, scalarDistributions } from './scalar-distributions.js';

/** Up to this many points a case is also answered without the discrete logarithms. */
export const directUpTo = 256;

export interface MsmCase {
  readonly address: CaseAddress;
  readonly points: PointSet;
  readonly scalars: ScalarSet;
  /** ((Σ s_i·k_i) mod r)·G. */
  readonly expected: AffinePoint;
  /** Σ s_i·P_i added up by noble from the points themselves; null above `directUpTo` points. */
  readonly direct: AffinePoint | null;
}

export function makePoints({ points, n, seed }: CaseAddress): PointSet {
  return pointDistributions[points].make(n, seed);
}

export function makeCase(address: CaseAddress, points: PointSet = makePoints(address)): MsmCase {
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed);
  return {
    address,
    points,
    scalars,
    expected: expectedMsm(bn254G1, points.logs, scalars.values),
    direct: address.n <= directUpTo ? sumDirectly(points.points, scalars.values) : null,
  };
}

/** The same points with other scalars for each draw, as far as the distribution has others; answered by the discrete logarithms alone. */
export function redrawn({ address, points }: MsmCase, draw: number): MsmCase {
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed + draw);
  return { address, points, scalars, expected: expectedMsm(bn254G1, points.logs, scalars.values), direct: null };
}

/** Σ scalars[i]·points[i], one multiplication and one addition after the other. */
function sumDirectly(points: readonly AffinePoint[], scalars: readonly bigint[]): AffinePoint {
  const { Point } = bn254G1;
  const terms = points.map(({ x, y, infinity }, i) =>
    infinity ? Point.ZERO : Point.fromAffine({ x, y }).multiplyUnsafe(Point.Fn.create(scalars[i] as bigint)),
  );
  return toAffinePoint(terms.reduce((sum, term) => sum.add(term), Point.ZERO));
}

/** Whether noble accepts the point: canonical coordinates that satisfy the curve equation, or infinity. */
export function isOnCurve(point: AffinePoint): boolean {
  if (point.infinity) return true;
  try {
    bn254G1.Point.fromAffine({ x: point.x, y: point.y }).assertValidity();
    return true;
  } catch {
    return false;
  }
}
