/** A case made real: bases, scalars and the answers that the oracles give. */
import { oracleOf } from '../oracle/curves.js';
import { pointsIn } from '../oracle/encodings.js';
import {
  type AffinePoint,
  type Coordinate,
  expectedMsm,
  type OracleCurve,
  toAffinePoint,
} from '../oracle/known-bases.js';
import { type CaseAddress, defaultCurve, defaultEncoding, defaultGroup } from './address.js';
import { type PointSet, pointDistributions } from './point-distributions.js';
import { type ScalarSet, scalarDistributions } from './scalar-distributions.js';

/** Up to this many points a case is also answered without the discrete logarithms. */
export const directUpTo = 256;

export interface MsmCase<Of extends Coordinate = Coordinate> {
  readonly address: CaseAddress;
  readonly curve: OracleCurve<Coordinate>;
  readonly points: PointSet<Of>;
  readonly scalars: ScalarSet;
  /** ((Σ s_i·k_i) mod r)·G. */
  readonly expected: AffinePoint<Of>;
  /** Σ s_i·P_i added up by noble from the points themselves; null above `directUpTo` points. */
  readonly direct: AffinePoint<Of> | null;
}

type Where = 'curve' | 'group' | 'encoding';
/** What tells a case: on BN254 where it names no curve, in the first group where it names none, and in the library's own bytes. */
export type CaseOf = Omit<CaseAddress, Where> & Partial<Pick<CaseAddress, Where>>;
type CaseOfG1 = CaseOf & { readonly group?: 'g1' };

export function makePoints({
  curve = defaultCurve,
  group = defaultGroup,
  points,
  n,
  seed,
}: CaseOf): PointSet<Coordinate> {
  return pointDistributions[points].make(n, seed, oracleOf({ curve, group }));
}

export function makeCase(told: CaseOfG1, points?: PointSet): MsmCase<bigint>;
export function makeCase(told: CaseOf, points?: PointSet<Coordinate>): MsmCase;
export function makeCase(told: CaseOf, points: PointSet<Coordinate> = makePoints(told)): MsmCase {
  const address: CaseAddress = { curve: defaultCurve, group: defaultGroup, encoding: defaultEncoding, ...told };
  const curve = oracleOf(address);
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

/** The points as `engine.loadBases` takes them in the encoding of the case. @throws RangeError where it has no infinity, and there is some */
export const encodedPoints = ({
  address: { encoding },
  curve,
  points,
}: Pick<MsmCase, 'address' | 'curve' | 'points'>): Uint8Array<ArrayBuffer> =>
  encoding === defaultEncoding ? points.bytes : pointsIn(curve, points.points, encoding);

/** The same points with other scalars for each draw, as far as the distribution has others; answered by the discrete logarithms alone. */
export function redrawn(of: MsmCase<bigint>, draw: number): MsmCase<bigint>;
export function redrawn(of: MsmCase, draw: number): MsmCase;
export function redrawn({ address, curve, points }: MsmCase, draw: number): MsmCase {
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed + draw, curve);
  return { address, curve, points, scalars, expected: expectedMsm(curve, points.logs, scalars.values), direct: null };
}

/** Σ scalars[i]·points[i], one multiplication and one addition after the other. */
function sumDirectly<Of extends Coordinate>(
  { Point }: OracleCurve<Of>,
  points: readonly AffinePoint<Of>[],
  scalars: readonly bigint[],
): AffinePoint<Of> {
  const terms = points.map(({ x, y, infinity }, i) =>
    infinity ? Point.ZERO : Point.fromAffine({ x, y }).multiplyUnsafe(Point.Fn.create(scalars[i] as bigint)),
  );
  return toAffinePoint(terms.reduce((sum, term) => sum.add(term), Point.ZERO));
}

/** Whether the oracle accepts the point: canonical coordinates that satisfy the curve equation, or infinity. */
export function isOnCurve<Of extends Coordinate>(point: AffinePoint<Of>, { Point }: OracleCurve<Of>): boolean {
  const { x, y, infinity } = point;
  if (infinity) return true;
  if (!Point.Fp.isValid(x) || !Point.Fp.isValid(y)) return false;
  try {
    Point.fromAffine({ x, y }).assertValidity();
    return true;
  } catch {
    return false;
  }
}
