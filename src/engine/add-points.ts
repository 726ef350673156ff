/** Adds up points, such as the sums of parts of bases that a caller has split. */
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { type AnyCurve, type Curve, isOnCurve, type TwistedEdwards } from '../curves/curve.js';
import { isOnEdwards, originalOf } from '../curves/edwards.js';
import { addAffine, infinityOf, toAffine } from '../curves/jacobian.js';
import type { Group, NamedCurve } from '../curves/more-curves.js';
import { openCurve } from '../curves/open-curve.js';
import { readerOf } from '../curves/point-source.js';
import { badArgument, kindOf, MsmError } from '../errors.js';
import { publicPoint } from '../msm/stages/combine-windows.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { readPoints } from './arguments.js';

/** The group of some points, as `createMsmEngine` has it. */
export interface GroupOptions<Of extends Coordinate = bigint> {
  /** Name of a curve, or its constants. */
  readonly curve: NamedCurve | Curve<Of>;
  /**
   * Group of a pairing-friendly curve.
   *
   * @defaultValue `g1`, or the group of the curve's constants
   */
  readonly group?: (Of extends Fp2 ? 'g2' : 'g1') | undefined;
}

const groupOptions = {
  of: 'addPoints',
  rows: { curve: { kind: 'any', isRequired: true }, group: { kind: 'any' } },
} as const satisfies OptionTable<GroupOptions>;

/** Points that are added before the event loop goes on. */
const POINTS_PER_STEP = 64;

/**
 * Adds up points on the CPU, in turns of a few milliseconds: sums of parts, where bases are larger
 * than memory or computed in several places. Infinity, equal and opposite points are right.
 *
 * @param group curve and group of the points
 * @param points sums in the form in which `msm` returns them; none: the result is infinity
 * @throws MsmError `bad-argument` naming the point or the option; `not-on-curve`
 * @example
 * ```ts
 * import { addPoints, createMsmEngine } from 'webgpu-msm';
 *
 * const engine = await createMsmEngine({ curve: 'bn254' });
 * const generator = { x: 1n, y: 2n, infinity: false };
 * const sums = [];
 * for (const scalar of [2n, 3n]) {
 *   const bases = await engine.loadBases([generator]); // a part of many points
 *   sums.push(await engine.msm(bases, [scalar]));
 *   bases.destroy();
 * }
 * const sum = await addPoints({ curve: 'bn254' }, sums); // 5·G
 * console.log(sum.infinity); // false
 * engine.destroy();
 * ```
 */
export function addPoints(group: GroupOptions, points: readonly AffinePoint[]): Promise<AffinePoint>;
export function addPoints(group: GroupOptions<Fp2>, points: readonly AffinePoint<Fp2>[]): Promise<AffinePoint<Fp2>>;
export async function addPoints(
  group: GroupOptions | GroupOptions<Fp2>,
  points: readonly AffinePoint<Coordinate>[],
): Promise<AffinePoint<Coordinate>> {
  const options = readOptions(groupOptions, group as GroupOptions, { argument: 'group', path: 'group.' });
  // read before the first await, so that later changes of the array have no effect
  const own = Array.isArray(points) ? points.map((point) => (point === null ? null : { ...point })) : points;
  const curve = await openCurve(options.curve as NamedCurve | AnyCurve, options.group as Group | undefined);
  if (!Array.isArray(points)) throw badArgument(`points must be an array of affine points, got ${kindOf(points)}`);
  const slice = new TimeSlice(() => undefined);
  const source = await readPoints(curve, own as typeof points, 'le', slice);
  const read = readerOf(curve, source);
  let sum = infinityOf(curve);
  for (let i = 0; i < points.length; i++) {
    const { x, y, infinity } = own[i] as AffinePoint<Coordinate>;
    const isRight =
      infinity ||
      (curve.edwards === undefined
        ? isOnCurve(curve, x, y)
        : isOnEdwards(curve.edwards as TwistedEdwards, curve.p, x as bigint, y as bigint));
    if (!isRight) throw new MsmError('not-on-curve', `points[${i}] is not on ${curve.name}`);
    sum = addAffine(curve, sum, read(i));
    if (i % POINTS_PER_STEP === 0 && slice.isOver) await slice.yield();
  }
  const total = publicPoint(curve, toAffine(curve, sum));
  return curve.edwards === undefined ? total : originalOf(curve, total);
}
