/** Emits the steps of a run. Vectors give back their scratch after their last use. */
import { fuseScalings } from '../program/fuse-scalings.js';
import type { Computation, FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import { emitCombination, emitElementwise, emitMoved, type Operand, scaleByPowers } from './elementwise.js';
import type { Emitter, Part } from './emitter.js';
import { emitGather } from './gather.js';
import { emitInverses } from './inverses.js';
import { emitMatrixProduct, type PlacedRows } from './matrix.js';
import { emitQuotient, emitScan, emitValue } from './scans.js';
import { emitTransform, type Twiddles } from './transforms.js';

/** Places of what steps use. */
export interface Places {
  vector(vector: Vector): Part;
  matrix(matrix: Matrix): PlacedRows;
  /** Powers for transforms; null if no transform has more than one element. */
  readonly twiddles: Twiddles | null;
}

/** Emits one step, and returns where its result is. */
const emitStep = (
  emit: Emitter,
  own: Computation,
  operands: readonly Operand[],
  length: number,
  mayOverwrite: boolean,
  places: Places,
): Part => {
  const [first] = operands as [Operand];
  const { at: a } = first;
  switch (own.kind) {
    case 'add':
    case 'subtract':
    case 'multiply':
    case 'multiplyAdd':
    case 'multiplySubtract':
      return emitElementwise(
        emit,
        own.kind,
        operands.map(({ at }) => at),
        length,
      );
    case 'scale':
      return scaleByPowers(emit, a, { base: 1n, factor: own.factor, length, order: 'natural' });
    case 'scalePowers':
      return scaleByPowers(emit, a, { ...own, length });
    case 'ntt':
    case 'intt':
      return emitTransform(emit, own, a, length, mayOverwrite, places.twiddles);
    case 'linearCombination':
      return emitCombination(emit, operands, own.factors, length);
    case 'invert':
      return emitInverses(emit, a, length);
    case 'prefixProduct':
      return emitScan(emit, a, length, null);
    case 'evaluate':
      return emitValue(emit, a, first.length, own.x);
    case 'divideByLinear':
      return emitQuotient(emit, a, first.length, own.x);
    case 'slice':
      return emitMoved(emit, first, own.first, length);
    case 'pad':
      return emitMoved(emit, first, -own.first, length);
    case 'gather':
      return emitGather(emit, a, own.indices);
    case 'apply':
      return emitMatrixProduct(emit, places.matrix(own.matrix), a);
  }
};

/**
 * Emits the steps of a run, and copies of the results that are kept.
 *
 * @param output returns the place of a result that is kept
 */
export const emitSteps = (
  emit: Emitter,
  given: readonly FieldStep[],
  places: Places,
  output: (vector: Vector) => Part,
): void => {
  const steps = fuseScalings(given, emit.setup.field.p);
  const lastUse = new Map<Vector, number>();
  for (const [i, { operands, result }] of steps.entries()) {
    for (const operand of [...operands, result]) lastUse.set(operand, i);
  }
  const made = new Map<Vector, Part>();
  for (const [i, { computation, operands, result }] of steps.entries()) {
    emit.phase = computation.kind;
    const own = operands.map((operand) => ({
      ...{ at: made.get(operand) ?? places.vector(operand), length: operand.length },
    }));
    const [first] = operands as [Vector];
    const mayOverwrite = made.has(first) && lastUse.get(first) === i;
    const at = emitStep(emit, computation, own, result.length, mayOverwrite, places);
    made.set(result, at);
    if (result.isKept) emit.copy(output(result), at, result.length);
    for (const vector of new Set([...operands, result])) {
      const part = made.get(vector);
      const isOver = lastUse.get(vector) === i;
      if (part !== undefined && isOver && (vector === result || part.buffer !== at.buffer)) emit.release(part);
    }
  }
};
