import type { CurveContext } from '../../src/curves/curve.js';
import { halvingOf } from '../../src/curves/halving.js';
import { add, infinityOf, type Jacobian, multiply, negated, toAffine } from '../../src/curves/jacobian.js';
import { readElement, writeElement } from '../../src/field/field.js';
import { readWords } from '../../src/field/modulus.js';
import type { ScaleConfig } from '../../src/msm/stages/scale.js';
import { readPoint } from './points.js';

/**
 * CPU reference of wgsl/msm/scale.wgsl: reads both halves of a scalar from its digits, and multiplies
 * by double and add.
 */
export const scalePoints = (
  curve: CurveContext,
  { points: count, plane_words: each, factors: several }: ReturnType<typeof ScaleConfig.unpack>,
  { points, which, digits, factors }: Readonly<Record<'points' | 'which' | 'digits' | 'factors', Uint32Array>>,
  products: Uint32Array,
): void => {
  const { coordinates: f, pointWords } = curve;
  const { beta } = halvingOf(curve);
  for (let i = 0; i < count; i++) {
    const point = readPoint(curve, points, i);
    const image = point && { ...point, x: f.reduced(f.multiple(point.x, beta)) };
    const planes = [0, 1, 2, 3].map((plane) => readWords(digits, (4 * (which[i] as number) + plane) * each, each));
    const terms = [point, point && negated(curve, point), image, image && negated(curve, image)];
    const sum = terms.reduce<Jacobian>(
      (before, term, plane) =>
        term === null ? before : add(curve, before, multiply(curve, planes[plane] as bigint, term)),
      infinityOf(curve),
    );
    const { x, y } = toAffine(curve, sum) ?? { x: f.zero, y: f.zero };
    for (let k = 0; k < several; k++) {
      const factor = readElement(f, factors, k * f.words);
      for (const [at, value] of [x, y].entries()) {
        const target = (k * count + i) * pointWords + at * f.words;
        writeElement(f, products, target, f.reduced(f.product(value, factor)));
      }
    }
  }
};
