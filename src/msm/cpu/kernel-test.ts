/** The known answer of a curve's kernel. */
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, addAffine, infinityOf, negated, toAffine } from '../../curves/jacobian.js';
import { writePoint } from '../../curves/point-source.js';
import type { KernelTest } from '../../wasm/points/kernel-test.js';

/** Multiples of the generator that the test adds: 1·G to 6·G. */
const MULTIPLES = 6;

/** Index of infinity, behind the multiples. */
const INFINITY = MULTIPLES;

/** Returns sums of multiples of the generator and infinity by every formula, from BigInts. */
export const kernelTest = (curve: CurveContext): KernelTest => {
  const { coordinates: f, generator } = curve;
  const points: Affine[] = [generator];
  const sumOf = (P: Affine, Q: Affine): Affine =>
    toAffine(curve, addAffine(curve, addAffine(curve, infinityOf(curve), P), Q));
  while (points.length < MULTIPLES) points.push(sumOf(points.at(-1) as Affine, generator));
  points.push(null);
  const words = new Uint32Array(points.length * curve.pointWords);
  for (const [i, point] of points.entries()) writePoint(curve, words, i, point);
  const signed = (index: number, negates: boolean): Affine => {
    const point = points[index] as Affine;
    return negates && point !== null ? negated(curve, point) : point;
  };
  const chosen = [
    [0, false, 1, false],
    [2, true, 3, false],
    [4, false, 5, true],
    [1, true, 5, true],
    [3, false, 3, false],
    [4, true, 4, true],
    [2, false, 2, true],
    [0, true, INFINITY, false],
    [INFINITY, false, 1, true],
  ] as const;
  return {
    words,
    sums: chosen.map(([P, negatesP, Q, negatesQ]) => {
      const sum = sumOf(signed(P, negatesP), signed(Q, negatesQ));
      const zero = f.coefficients(f.zero);
      const own = sum === null ? [...zero, ...zero] : [...f.coefficients(sum.x), ...f.coefficients(sum.y)];
      return [P, negatesP, Q, negatesQ, own];
    }),
  };
};
