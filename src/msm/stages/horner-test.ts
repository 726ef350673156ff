/** A known answer of Horner's rule, which tells arithmetics that compute wrongly on a machine. */
import type { CurveContext } from '../../curves/curve.js';
import { double, negated, toAffine } from '../../curves/jacobian.js';
import { type Horner, storedPoints } from './horner.js';

/** Returns results that depend on every step: doublings, opposite points, a wrong point. */
const answersOf = (horner: Horner, points: Uint32Array): string => {
  const results: unknown[] = [horner.take(points)];
  for (const index of [0, 0, 2, 1]) {
    horner.add(index);
    horner.double();
  }
  results.push(horner.total());
  const wrong = points.slice();
  wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1;
  results.push(horner.take(wrong));
  for (const index of [0, 1]) horner.add(index);
  results.push(horner.total());
  return results.join();
};

/** Returns whether two arithmetics compute the same from G, −G and 2·G. */
export const agree = (curve: CurveContext, some: Horner, other: Horner): boolean => {
  const { coordinates: f, generator } = curve;
  const points = [generator, negated(curve, generator), toAffine(curve, double(curve, { ...generator, z: f.one }))];
  const words = storedPoints(curve, points);
  return answersOf(some, words) === answersOf(other, words);
};
