/** A case made real: bases, scalars and the answers that the oracles give. */
import { oracles } from '../oracle/curves.js';
import { type AffinePoint, bn254G1, expectedMsm, type OracleCurve, toAffinePoint } from '../oracle/known-bases.js';
import { type CaseAddress, defaultCurve } from './address.js';
import { type PointSet, pointDistributions } from './point-distributions.js';
import { type ScalarSet, scalarDistributions } from './scalar-distributions.js';

/** Up to this many points a case is also answered without the discrete logarithms. */
export const directUpTo = 256;

export interface MsmCase {
  readonly address: CaseAddress;
  readonly curve: OracleCurve;
  readonly points: PointSet;
  readonly scalars: ScalarSet;
  /** ((Σ s_i·k_i) mod r)·G. */
  readonly expected: AffinePoint;
  /** Σ s_i·P_i added up by noble from the points themselves; null above `directUpTo` points. */
  readonly direct: AffinePoint | null;
}

/** What tells a case: on BN254 where it names no curve. */
export type CaseOf = Omit<CaseAddress, 'curve'> & Partial<Pick<CaseAddress, 'curve'>>;

export function makePoints({ curve = defaultCurve, points, n, seed }: CaseOf): PointSet {
  return pointDistributions[points].make(n, seed, oracles[curve]);
}

export function makeCase(told: CaseOf, points: PointSet = makePoints(told)): MsmCase {
  const address: CaseAddress = { curve: defaultCurve, ...told };
  const curve = oracles[address.curve];
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed, curve);
  return {
    address,
    curve,
    points,
    scalars,
    expected: expectedMsm(curve, points.logs, scalars.values),
    direct: address.n <= directUpTo ? sumDirectly(curve, points.points, scalars.values) : null,
  };
}

/** The same points with other scalars for each draw, as far as the distribution has others; answered by the discrete logarithms alone. */
export function redrawn({ address, curve, points }: MsmCase, draw: number): MsmCase {
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed + draw, curve);
  return { address, curve, points, scalars, expected: expectedMsm(curve, points.logs, scalars.values), direct: null };
}

/** Σ scalars[i]·points[i], one multiplication and one addition after the other. */
function sumDirectly({ Point }: OracleCurve, points: readonly AffinePoint[], scalars: readonly bigint[]): AffinePoint {
  const terms = points.map(({ x, y, infinity }, i) =>
    infinity ? Point.ZERO : Point.fromAffine({ x, y }).multiplyUnsafe(Point.Fn.create(scalars[i] as bigint)),
  );
  return toAffinePoint(terms.reduce((sum, term) => sum.add(term), Point.ZERO));
}

/** Whether noble accepts the point: canonical coordinates that satisfy the curve equation, or infinity. */
export function isOnCurve(point: AffinePoint, { Point }: OracleCurve = bn254G1): boolean {
  if (point.infinity) return true;
  try {
    Point.fromAffine({ x: point.x, y: point.y }).assertValidity();
    return true;
  } catch {
    return false;
  }
}
