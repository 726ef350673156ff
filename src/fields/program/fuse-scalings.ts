/** Joins the scaling of an inverse transform with that of the coset after it. */
import { mod } from '../../field/modulus.js';
import type { FieldStep } from './steps.js';
import type { Vector } from './vector.js';

/**
 * Moves the factor 1/n of an inverse transform into the powers of a forward transform on a coset,
 * if nothing else uses the coefficients between them.
 */
export const fuseScalings = (steps: readonly FieldStep[], p: bigint): FieldStep[] => {
  const uses = new Map<Vector, number>();
  for (const { operands } of steps) for (const operand of operands) uses.set(operand, (uses.get(operand) ?? 0) + 1);
  const fused = [...steps];
  const makers = new Map(steps.map(({ result }, i) => [result, i]));
  for (const [i, step] of steps.entries()) {
    const { computation: own, operands } = step;
    if (own.kind !== 'ntt' || own.coset === 1n) continue;
    const coefficients = operands[0] as Vector;
    const maker = makers.get(coefficients);
    if (maker === undefined || coefficients.isKept || uses.get(coefficients) !== 1) continue;
    const before = fused[maker] as FieldStep;
    if (before.computation.kind !== 'intt' || before.computation.coset !== 1n) continue;
    fused[maker] = { ...before, computation: { ...before.computation, factor: 1n } };
    fused[i] = { ...step, computation: { ...own, factor: mod(own.factor * before.computation.factor, p) } };
  }
  return fused;
};
