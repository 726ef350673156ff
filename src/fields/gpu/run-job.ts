/** Runs of steps as jobs: where their vectors are, and what they keep. */

import { mod } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import type { Resident } from '../../session/operation.js';
import { STORAGE_ALIGNMENT } from '../../shaders/limits.js';
import type { OpenField } from '../program/open-field.js';
import { fuseScalings } from '../program/recorder.js';
import type { Computation, FieldStep, Matrix, Vector } from '../program/vectors.js';
import {
  combine,
  emitCombination,
  emitCopy,
  emitElementwise,
  emitLeave,
  type Operand,
  powerTables,
  scaleByPowers,
  whole,
} from './combine.js';
import type { Emitter, Part } from './emitter.js';
import type { FieldJob, KnownKind } from './field-operation.js';
import { emitGather } from './gather.js';
import { emitInverses } from './invert.js';
import { boundRows, emitMatrixProduct, type PlacedMatrix, type PlacedRows } from './rows.js';
import type { Placed } from './scalars.js';
import { emitQuotient, emitScan, emitValue } from './scan.js';
import { emitTransform, type Twiddles } from './transform.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Kinds of steps whose kernels have known answers. */
const knownKinds: Partial<Record<FieldStep['computation']['kind'], KnownKind>> = {
  ...{ ntt: 'transform', intt: 'transform' },
  ...{ prefixProduct: 'scan', evaluate: 'scan', divideByLinear: 'scan', invert: 'invert' },
};

/** Returns the results of one element, such as values of polynomials. Callers read them next. */
export const valuesOf = (kept: ReadonlyMap<Vector, Place>): Vector[] =>
  [...kept.keys()].filter(({ length }) => length === 1);

/** Vectors and matrices on the device. */
export interface Placements {
  readonly vectors: ReadonlyMap<Vector, Placed>;
  readonly matrices: ReadonlyMap<Matrix, PlacedMatrix>;
}

/**
 * Returns the places of the vectors and matrices that steps read, without those that the steps
 * compute. They stay the same when a handle is destroyed.
 */
export const inputsOf = (steps: readonly FieldStep[], placed: Placements): Placements => {
  const results = new Set(steps.map(({ result }) => result));
  const vectors = new Map<Vector, Placed>();
  const matrices = new Map<Matrix, PlacedMatrix>();
  for (const { computation, operands } of steps) {
    for (const operand of operands) {
      if (!results.has(operand)) vectors.set(operand, placed.vectors.get(operand) as Placed);
    }
    if (computation.kind === 'apply') {
      matrices.set(computation.matrix, placed.matrices.get(computation.matrix) as PlacedMatrix);
    }
  }
  return { vectors, matrices };
};

/** A run as a job, and the places of the results that it keeps. */
export interface RunJob {
  readonly job: FieldJob;
  readonly kept: ReadonlyMap<Vector, Place>;
}

/** Returns the buffers and the tested kernels that steps use. */
const usedBy = (
  steps: readonly FieldStep[],
  { vectors, matrices }: Placements,
  twiddles: PlacedPowers | null,
): { readonly residents: readonly Resident[]; readonly kinds: Set<KnownKind> } => {
  const residents = new Set<Resident>();
  for (const { buffer } of [...vectors.values(), ...matrices.values()]) residents.add(buffer);
  if (twiddles?.buffer) residents.add(twiddles.buffer);
  const kinds = new Set(steps.flatMap(({ computation }) => knownKinds[computation.kind] ?? []));
  return { residents: [...residents], kinds };
};

/**
 * @param inputs as `inputsOf` returns them
 * @param verifies true to compute a second time, and compare
 */
export const runJob = (
  steps: readonly FieldStep[],
  inputs: Placements,
  twiddles: PlacedPowers | null,
  elementBytes: number,
  verifies: boolean,
): RunJob => {
  const parts = new Parts();
  const kept = new Map<Vector, Place>();
  for (const { result } of steps) if (result.isKept) kept.set(result, parts.take(result.length * elementBytes));
  const { residents, kinds } = usedBy(steps, inputs, twiddles);
  const placesIn = (emit: Emitter): Places => {
    const bound = ({ buffer, offset, size }: Placed): Part => emit.bind(buffer.buffer, offset, size);
    const { vectors, matrices } = inputs;
    return {
      vector: (vector) => bound(vectors.get(vector) as Placed),
      matrix: (matrix) => boundRows(emit, matrices.get(matrix) as PlacedMatrix),
      twiddles: twiddles && { at: powersPart(emit, twiddles), logLength: twiddles.logLength },
    };
  };
  const keptIn = (output: Part | null) => (vector: Vector) => ({
    ...(output as Part),
    ...(kept.get(vector) as Place),
  });
  const isVerified = verifies && kept.size > 0;
  if (isVerified) kinds.add('scan');
  const check = (emit: Emitter, output: Part | null) => emitCheck(emit, steps, placesIn(emit), keptIn(output));
  const job: FieldJob = {
    ...{ outputBytes: parts.bytes, residents, kinds, check: isVerified ? check : undefined },
    emit: (emit, output) => {
      emitSteps(emit, steps, placesIn(emit), keptIn(output));
      return valuesOf(kept).map((vector) => emitLeave(emit, keptIn(output)(vector), 1, 1n));
    },
  };
  return { job, kept };
};

/* Emits the steps of a run. Vectors give back their scratch after their last use. */

/** Places of what steps use. */
interface Places {
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
const emitSteps = (
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

/* The second evaluation of a run: each result, as a polynomial, has the same value at a point. */

/** Draws of 52 bits for a point: against faults, not against an adversary. */
const DRAWS = 3;

const drawPoint = (p: bigint): bigint => {
  let point = 0n;
  for (let i = 0; i < DRAWS; i++) point = (point << 52n) + BigInt(Math.floor(Math.random() * 2 ** 52));
  return mod(point, p);
};

/**
 * Emits the steps of a run once more, in another way, and evaluates each result that is kept and
 * the same result of the second time. Two vectors of n elements that differ have the same value at
 * fewer than n points (Schwartz 1980; Zippel 1979).
 *
 * @param kept returns the place of a result that the run has kept
 * @returns the values, in pairs
 */
const emitCheck = (
  emit: Emitter,
  steps: readonly FieldStep[],
  places: Places,
  kept: (vector: Vector) => Part,
): Part[] => {
  // before the steps, which release scratch that they have released already
  const again = new Map<Vector, Part>();
  for (const { result } of steps) if (result.isKept) again.set(result, emit.take(result.length));
  emitSteps(emit, steps, places, (vector) => again.get(vector) as Part);
  emit.phase = 'verify';
  const point = drawPoint(emit.setup.field.p);
  return [...again].flatMap(([vector, part]) =>
    [kept(vector), part].map((each) => {
      const value = emitValue(emit, each, vector.length, point);
      const left = emitLeave(emit, value, 1, 1n);
      emit.release(value);
      return left;
    }),
  );
};

/* The table of powers for transforms. */

/** Powers for transforms of up to 2^logLength elements. */
export interface PlacedPowers extends Place {
  readonly logLength: number;
  /** Null in a plan, for a table that the run will make. */
  readonly buffer: VectorBuffer | null;
}

/** Returns log2 of the longest transform of steps. */
export const longestTransform = (steps: readonly FieldStep[]): number =>
  steps.reduce(
    (most, { computation: { kind }, result: { length } }) =>
      kind === 'ntt' || kind === 'intt' ? Math.max(most, Math.log2(length)) : most,
    0,
  );

/** Returns the place of a table in a buffer of its own. */
export const placeOfPowers = (logLength: number, elementBytes: number): Place => ({
  offset: 0,
  size: 2 ** (logLength - 1) * elementBytes,
});

/** Returns the job that makes the table for transforms of up to 2^logLength elements. */
export const powersJob = ({ p, rootOfUnity, twoAdicity }: OpenField, logLength: number, place: Place): FieldJob => {
  const length = 2 ** (logLength - 1);
  const root = power(rootOfUnity, 1n << BigInt(twoAdicity - logLength), p);
  return {
    ...{ outputBytes: place.size, residents: [], kinds: new Set() },
    emit: (emit, output) => {
      // the product of another device may have another Montgomery form
      const { words, low } = powerTables(emit.setup.field, root, 1n, length);
      combine(emit, { ...(output as Part), ...place }, { b: emit.upload(words) }, { length, products: 2, low });
      return [];
    },
  };
};

/** Names the table in commands. */
const powersPart = (emit: Emitter, { buffer, offset, size }: PlacedPowers): Part =>
  buffer === null ? { buffer: 'powers', offset, size } : emit.bind(buffer.buffer, offset, size);

/* Places of vectors in a buffer that stays. */

/** Part of a buffer. */
export interface Place {
  readonly offset: number;
  readonly size: number;
}

/** Gives parts of a buffer one after the other, each where a binding may start. */
export class Parts {
  bytes = 0;

  take(size: number): Place {
    const offset = this.bytes;
    this.bytes = Math.ceil((offset + size) / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    return { offset, size };
  }
}
