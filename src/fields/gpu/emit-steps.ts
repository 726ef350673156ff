/** Emits the steps of a run. Vectors give back their scratch after their last use. */
import { fuseScalings } from '../program/fuse-scalings.js';
import type { Computation, FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import { emitCombination, emitCopy, emitElementwise, type Operand, scaleByPowers, whole } from './elementwise.js';
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

/** Kinds that read parts of vectors as well as whole ones, because `combine` reads for them. */
const readsParts: ReadonlySet<Computation['kind']> = new Set([
  ...(['add', 'subtract', 'multiply', 'multiplyAdd', 'multiplySubtract'] as const),
  ...(['scale', 'scalePowers', 'linearCombination', 'ntt', 'intt'] as const),
]);

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
  const { at: a, end } = first;
  switch (own.kind) {
    case 'add':
    case 'subtract':
    case 'multiply':
    case 'multiplyAdd':
    case 'multiplySubtract':
      return emitElementwise(emit, own.kind, operands, length);
    case 'scale':
      return scaleByPowers(emit, first, { base: 1n, factor: own.factor, length, order: 'natural' });
    case 'scalePowers':
      return scaleByPowers(emit, first, { ...own, length });
    case 'ntt':
    case 'intt':
      return emitTransform(emit, own, first, length, mayOverwrite, places.twiddles);
    case 'linearCombination':
      return emitCombination(emit, operands, own.factors, length);
    case 'invert':
      return emitInverses(emit, a, length);
    case 'prefixProduct':
      return emitScan(emit, a, length, null);
    case 'evaluate':
      return emitValue(emit, a, end, own.x);
    case 'divideByLinear':
      return emitQuotient(emit, a, end, own.x);
    case 'slice':
    case 'pad':
      return emitPart(emit, partOf(own, first, length), length);
    case 'gather':
      return emitGather(emit, a, own.indices);
    case 'apply':
      return emitMatrixProduct(emit, places.matrix(own.matrix), a);
  }
};

/** Returns a slice of a whole vector, or a longer vector with it. */
const partOf = (
  { kind, first }: Extract<Computation, { readonly kind: 'slice' | 'pad' }>,
  { at, end }: Operand,
  length: number,
): Operand => (kind === 'slice' ? { at, shift: first, end: first + length } : { at, shift: -first, end });

/** Emits a vector into new scratch. */
const emitPart = (emit: Emitter, operand: Operand, length: number): Part => {
  const out = emit.take(length);
  emitCopy(emit, out, operand, length);
  return out;
};

const isPart = ({ computation: { kind } }: FieldStep): boolean => kind === 'slice' || kind === 'pad';

/** Returns the vectors that each step is the last to use, itself or as a part. */
const endingAt = (steps: readonly FieldStep[]): ReadonlyMap<number, readonly Vector[]> => {
  const last = new Map<Vector, number>();
  for (const [i, { operands, result }] of steps.entries())
    for (const vector of [...operands, result]) last.set(vector, i);
  for (const step of steps.toReversed()) {
    const [all] = step.operands as [Vector];
    if (isPart(step)) last.set(all, Math.max(last.get(all) as number, last.get(step.result) as number));
  }
  const ending = new Map<number, Vector[]>();
  for (const [vector, i] of last) ending.set(i, [...(ending.get(i) ?? []), vector]);
  return ending;
};

/**
 * Emits the steps of a run, and copies of the results that are kept. Slices and longer vectors are
 * read where the vector is that they are of, except in a second evaluation.
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
  const ending = endingAt(steps);
  const readable = new Map<Vector, Operand>();
  /** Scratch by the vector that it is released with. */
  const owned = new Map<Vector, Part>();
  const place = (vector: Vector, at: Part): Operand => {
    const operand = whole(at, vector.length);
    owned.set(vector, at);
    readable.set(vector, operand);
    return operand;
  };
  const read = (vector: Vector, mayBePart: boolean): Operand => {
    const operand = readable.get(vector) ?? whole(places.vector(vector), vector.length);
    const isWhole = operand.shift === 0 && operand.end === vector.length;
    return isWhole || mayBePart ? operand : place(vector, emitPart(emit, operand, vector.length));
  };
  for (const [i, step] of steps.entries()) {
    const { computation, operands, result } = step;
    emit.phase = computation.kind;
    const from = operands.map((operand) => read(operand, readsParts.has(computation.kind)));
    const [first] = operands as [Vector];
    const over = ending.get(i) ?? [];
    if ((computation.kind === 'slice' || computation.kind === 'pad') && !emit.isOther) {
      readable.set(result, partOf(computation, from[0] as Operand, result.length));
    } else {
      const mayOverwrite = owned.has(first) && over.includes(first);
      place(result, emitStep(emit, computation, from, result.length, mayOverwrite, places));
    }
    if (result.isKept) emitCopy(emit, output(result), readable.get(result) as Operand, result.length);
    const own = owned.get(result);
    for (const vector of over) {
      const part = owned.get(vector);
      // a transform may have taken over the scratch of its operand
      if (part !== undefined && (vector === result || part.buffer !== own?.buffer)) emit.release(part);
    }
  }
};
