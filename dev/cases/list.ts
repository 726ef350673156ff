/** The list: every distribution of points × every distribution of scalars × the sizes at which something begins or ends. */
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { hasInfinity } from '../oracle/encodings.js';
import { type CaseAddress, defaultEncoding, type EncodedGroup, encodingsOf } from './address.js';
import { type PointDistributionName, pointDistributions } from './point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from './scalar-distributions.js';

export const everyPoints = Object.keys(pointDistributions) as PointDistributionName[];
export const everyScalars = Object.keys(scalarDistributions) as ScalarDistributionName[];

/**
 * Nothing and next to nothing; a workgroup of 64 and a window of 2^8 and their neighbours; no power of anything; around 2^12; a power
 * that fills every buffer; and 2^17 − 1, at which an implementation in public is wrong (DESIGN §6).
 */
export const listSizes = [0, 1, 2, 3, 63, 65, 257, 1000, 4095, 4097, 65_536, 131_071] as const;

/** The whole list. */
export const everyCase = (of: EncodedGroup, seed: number): CaseAddress[] =>
  listSizes.flatMap((n) =>
    everyPoints.flatMap((points) => everyScalars.map((scalars) => ({ ...of, points, scalars, n, seed }))),
  );

/**
 * A tenth of the list in which every two of points, scalars and n meet: all pairs of scalars and n, with the points of a Latin square.
 * Points are the fewest of the three, so that their row comes round for every scalars and for every n.
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

/** What is most likely to show a mistake in the constants or in the arithmetic of a curve: most additions are exceptional, and all digits occur. */
const representative = (of: EncodedGroup, n: number, seed: number): CaseAddress => ({
  ...of,
  // the same without infinity, where that cannot be written
  points: hasInfinity(of.encoding) ? 'few-with-signs' : 'pairs',
  scalars: 'carry-patterns',
  n,
  seed,
});

export const representatives = (n: number, seed: number): CaseAddress[] =>
  everyGroup.map((of) => representative({ ...of, encoding: defaultEncoding }, n, seed));

/** Points of more than one workgroup, in every encoding of every group. */
export const everyEncoding = (seed: number): CaseAddress[] =>
  everyGroup.flatMap((of) => encodingsOf(of).map((encoding) => representative({ ...of, encoding }, 100, seed)));

/** Where a case's prefix products go when each case is run with one placement only: the two take turns in every direction of the list. */
export const placementInTurn = ({ points, scalars, n }: CaseAddress): 'private' | 'workgroup' => {
  const place =
    everyPoints.indexOf(points) + everyScalars.indexOf(scalars) + (listSizes as readonly number[]).indexOf(n);
  return place % 2 === 0 ? 'private' : 'workgroup';
};
