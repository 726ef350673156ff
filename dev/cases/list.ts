/** List of cases: every distribution of points × every distribution of scalars × boundary sizes. */
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { encodingsOf, hasInfinity } from '../oracle/encodings.js';
import { type CaseAddress, defaultEncoding, type EncodedGroup, everyPoints, everyScalars } from './address.js';
import type { PointDistributionName } from './point-distributions.js';

export { everyPoints, everyScalars };

/**
 * Sizes: empty and nearly empty; the neighbours of a workgroup of 64 and of a window of 2^8; 1000,
 * which is no power; the neighbours of 2^12; a power that fills every buffer; and 2^17 − 1, at
 * which a published implementation is wrong.
 */
export const listSizes = [0, 1, 2, 3, 63, 65, 257, 1000, 4095, 4097, 65_536, 131_071] as const;

export const everyCase = (of: EncodedGroup, seed: number): CaseAddress[] =>
  listSizes.flatMap((n) =>
    everyPoints.flatMap((points) => everyScalars.map((scalars) => ({ ...of, points, scalars, n, seed }))),
  );

/**
 * Returns a tenth of the list in which every pair of points, scalars and n occurs: all pairs of
 * scalars and n, with the points of a Latin square. Points are the fewest of the three, so each row
 * of the square covers them.
 */
export const pairwiseCases = (of: EncodedGroup, seed: number): CaseAddress[] =>
  listSizes.flatMap((n, i) =>
    everyScalars.map((scalars, j) => ({
      ...of,
      points: everyPoints[(i + j) % everyPoints.length] as PointDistributionName,
      scalars,
      n,
      seed,
    })),
  );

export const everyGroup: readonly CurveGroup[] = curveNames.flatMap((curve) =>
  groupsOf(curve).map((group) => ({ curve, group })),
);

/**
 * Returns the case most likely to show a mistake in the constants or arithmetic of a curve: most
 * additions are exceptional, and all digits occur.
 */
const representative = (of: EncodedGroup, n: number, seed: number): CaseAddress => ({
  ...of,
  // points without infinity for encodings that cannot express it
  points: hasInfinity(of.encoding) ? 'few-with-signs' : 'pairs',
  scalars: 'carry-patterns',
  n,
  seed,
});

export const representatives = (n: number, seed: number): CaseAddress[] =>
  everyGroup.map((of) => representative({ ...of, encoding: defaultEncoding }, n, seed));

/** Returns a case with more than one workgroup of points, in every encoding of every group. */
export const everyEncoding = (seed: number): CaseAddress[] =>
  everyGroup.flatMap((of) => encodingsOf(of).map((encoding) => representative({ ...of, encoding }, 100, seed)));

/**
 * Returns the placement of prefix products of a case that runs with one only. Placements alternate
 * along each axis of the list.
 */
export const alternatingPlacement = ({ points, scalars, n }: CaseAddress): 'private' | 'workgroup' => {
  const index =
    everyPoints.indexOf(points) + everyScalars.indexOf(scalars) + (listSizes as readonly number[]).indexOf(n);
  return index % 2 === 0 ? 'private' : 'workgroup';
};
