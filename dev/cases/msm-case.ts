import type { createMsmEngine, MsmEngine, MsmEngineOptions } from '../../src/index.js';
import { type CurveGroup, oracleOf } from '../oracle/curves.js';
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

/**
 * Creates an engine in a group known only at run time. The options select the type, so each group
 * has a call of its own.
 */
export const engineIn = (
  create: typeof createMsmEngine,
  { curve, group }: CurveGroup,
  options: Omit<MsmEngineOptions, 'curve' | 'group'>,
): Promise<MsmEngine<Coordinate>> =>
  group === 'g2' ? create({ ...options, curve, group }) : create({ ...options, curve });

/* Makes cases: bases, scalars, and the expected results of the oracles. */

/** Largest number of points for which a case also has a result without discrete logarithms. */
const directUpTo = 256;

export interface MsmCase<Of extends Coordinate = Coordinate> {
  readonly address: CaseAddress;
  readonly curve: OracleCurve<Coordinate>;
  readonly points: PointSet<Of>;
  readonly scalars: ScalarSet;
  /** ((Σ s_i·k_i) mod r)·G. */
  readonly expected: AffinePoint<Of>;
  /** Σ s_i·P_i computed by noble from the points; null above `directUpTo` points. */
  readonly direct: AffinePoint<Of> | null;
}

type Where = 'curve' | 'group' | 'encoding';
/**
 * A case whose curve, group and encoding are optional. Defaults: BN254, the first group, the
 * library's own encoding.
 */
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
  const sum = () => (address.n <= directUpTo ? sumDirectly(curve, points.points, scalars.values) : null);
  let direct: ReturnType<typeof sum> | undefined;
  return {
    address,
    curve,
    points,
    scalars,
    expected: expectedMsm(curve, points.logs, scalars.values),
    // computed on first use: it takes longer than the MSM
    get direct() {
      if (direct === undefined) direct = sum();
      return direct;
    },
  };
}

/**
 * Encodes the points for `engine.loadBases`.
 *
 * @throws RangeError if the encoding has no infinity, and a point needs it
 */
export const encodedPoints = ({
  address: { encoding },
  curve,
  points,
}: Pick<MsmCase, 'address' | 'curve' | 'points'>): Uint8Array<ArrayBuffer> =>
  encoding === defaultEncoding ? points.bytes : pointsIn(curve, points.points, encoding);

/**
 * Returns a case with the same points and other scalars, if the distribution has others. Only
 * discrete logarithms give its result.
 */
export function redrawn(of: MsmCase<bigint>, draw: number): MsmCase<bigint>;
export function redrawn(of: MsmCase, draw: number): MsmCase;
export function redrawn({ address, curve, points }: MsmCase, draw: number): MsmCase {
  const scalars = scalarDistributions[address.scalars].make(address.n, address.seed + draw, curve);
  return { address, curve, points, scalars, expected: expectedMsm(curve, points.logs, scalars.values), direct: null };
}

/** Returns Σ scalars[i]·points[i], term by term. */
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

/**
 * Returns whether the oracle accepts the point: canonical coordinates on the curve, or infinity.
 */
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
