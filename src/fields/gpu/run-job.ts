/** Runs of steps as jobs: where their vectors are, and what they keep. */

import { mod } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import type { Resident } from '../../session/operation.js';
import type { OpenField } from '../program/open-field.js';
import {
  type Elementwise,
  type FieldStep,
  type Kind,
  operations,
  type StepParameters,
  type Transform,
} from '../program/operations.js';
import { liveSteps } from '../program/vector-backend.js';
import type { Matrix, Vector } from '../program/vectors.js';
import {
  combine,
  emitCombination,
  emitElementwise,
  emitLeave,
  type Operand,
  powerTables,
  scaleByPowers,
  whole,
} from './combine.js';
import { type Emitter, type Part, Parts, type Place } from './emitter.js';
import type { FieldJob, KnownKind } from './field-operation.js';
import { emitGather } from './gather.js';
import { emitInverses } from './invert.js';
import { boundRows, emitMatrixProduct, type PlacedMatrix, type PlacedRows } from './rows.js';
import type { Placed } from './scalars.js';
import { emitQuotient, emitScan, emitValue } from './scan.js';
import { emitTransform, type Twiddles } from './transform.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Returns the results of one element, such as values of polynomials. Callers read them next. */
export const valuesOf = (kept: ReadonlyMap<Vector, Place>): Vector[] =>
  [...kept.keys()].filter(({ length }) => length === 1);

/** Vectors and matrices on the device. */
interface Placements {
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
  for (const { kind, parameters, operands } of steps) {
    for (const operand of operands) {
      if (!results.has(operand)) vectors.set(operand, placed.vectors.get(operand) as Placed);
    }
    if (kind === 'apply') matrices.set(parameters.matrix, placed.matrices.get(parameters.matrix) as PlacedMatrix);
  }
  return { vectors, matrices };
};

/** A run as a job, and the places of the results that it keeps. */
interface RunJob {
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
  const parts = [...matrices.values()].flatMap((matrix) => matrix.parts);
  for (const { buffer } of [...vectors.values(), ...parts]) residents.add(buffer);
  if (twiddles?.buffer) residents.add(twiddles.buffer);
  const kinds = new Set(steps.flatMap(({ kind }) => gpuOperations[kind].kernel ?? []));
  return { residents: [...residents], kinds };
};

/** A run to be made a job. */
interface Run {
  readonly steps: readonly FieldStep[];
  /** As `inputsOf` returns them. */
  readonly inputs: Placements;
  readonly twiddles: PlacedPowers | null;
  readonly elementBytes: number;
  /** True to compute a second time, and compare. */
  readonly verifies: boolean;
}

export const runJob = ({ steps, inputs, twiddles, elementBytes, verifies }: Run): RunJob => {
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

/** Places of what steps use. */
interface Places {
  vector(vector: Vector): Part;
  matrix(matrix: Matrix): PlacedRows;
  /** Powers for transforms; null if no transform has more than one element. */
  readonly twiddles: Twiddles | null;
}

/** A step whose operands can be read. */
interface ReadStep<Own> {
  readonly parameters: Own;
  /** The operands, and the first of them. */
  readonly operands: readonly Operand[];
  readonly a: Operand;
  /** Elements of the result. */
  readonly length: number;
  /** True if `a` is a whole part of scratch that nothing else reads. */
  readonly mayOverwrite: boolean;
  readonly places: Places;
}

/** How a GPU computes an operation. */
interface GpuOperation<Own> {
  /** Emits the commands. @returns the place of the result, in scratch */
  emit(emit: Emitter, step: ReadStep<Own>): Part;
  /** Returns a result that is a part of the operand. */
  part?(step: ReadStep<Own>): Operand;
  /** Kernel that computes its known answer before; null if `combine` or copies are all. */
  readonly kernel: KnownKind | null;
}

const ofElements = (kind: Elementwise): GpuOperation<object> => ({
  emit: (emit, { operands, length }) => emitElementwise(emit, kind, operands, length),
  kernel: null,
});

const ofTransform = (kind: 'ntt' | 'intt'): GpuOperation<Transform> => ({
  emit: (emit, { places: { twiddles }, ...step }) => emitTransform(emit, kind, { ...step, twiddles }),
  kernel: 'transform',
});

const ofPart = (part: (step: ReadStep<{ readonly first: number }>) => Operand): GpuOperation<{ first: number }> => ({
  emit: (emit, step) => emitPart(emit, part(step), step.length),
  part,
  kernel: null,
});

/** The operations on a GPU, by the names of `operations`. */
const gpuOperations: { readonly [Of in Kind]: GpuOperation<StepParameters[Of]> } = {
  add: ofElements('add'),
  subtract: ofElements('subtract'),
  multiply: ofElements('multiply'),
  multiplyAdd: ofElements('multiplyAdd'),
  multiplySubtract: ofElements('multiplySubtract'),
  scale: {
    emit: (emit, { parameters: { factor }, a, length }) =>
      scaleByPowers(emit, a, { base: 1n, factor, length, order: 'natural' }),
    kernel: null,
  },
  scalePowers: {
    emit: (emit, { parameters, a, length }) => scaleByPowers(emit, a, { ...parameters, length }),
    kernel: null,
  },
  linearCombination: {
    emit: (emit, { parameters: { factors }, operands, length }) => emitCombination(emit, operands, factors, length),
    kernel: null,
  },
  ntt: ofTransform('ntt'),
  intt: ofTransform('intt'),
  invert: { emit: (emit, { a, length }) => emitInverses(emit, a.at, length), kernel: 'invert' },
  prefixProduct: { emit: (emit, { a, length }) => emitScan(emit, a.at, length, null), kernel: 'scan' },
  evaluate: { emit: (emit, { parameters: { x }, a }) => emitValue(emit, a.at, a.end, x), kernel: 'scan' },
  divideByLinear: { emit: (emit, { parameters: { x }, a }) => emitQuotient(emit, a.at, a.end, x), kernel: 'scan' },
  slice: ofPart(({ parameters: { first }, a: { at }, length }) => ({ at, shift: first, end: first + length })),
  pad: ofPart(({ parameters: { first }, a: { at, end } }) => ({ at, shift: -first, end })),
  gather: { emit: (emit, { parameters: { indices }, a }) => emitGather(emit, a.at, indices), kernel: null },
  apply: {
    emit: (emit, { parameters: { matrix }, a, places }) => emitMatrixProduct(emit, places.matrix(matrix), a.at),
    kernel: null,
  },
};

/** Emits a step. @returns its result in scratch, or as a part of its operand */
const emitStep = <Of extends Kind>(
  emit: Emitter,
  kind: Of,
  step: ReadStep<StepParameters[Of]>,
): { readonly scratch: Part } | { readonly part: Operand } => {
  const operation: GpuOperation<StepParameters[Of]> = gpuOperations[kind];
  // a second evaluation copies what the first one reads where it is
  const part = emit.isOther ? undefined : operation.part?.(step);
  return part === undefined ? { scratch: operation.emit(emit, step) } : { part };
};

/** Emits a vector into new scratch. */
const emitPart = (emit: Emitter, operand: Operand, length: number): Part => {
  const out = emit.take(length);
  combine(emit, out, length, { a: operand });
  return out;
};

/**
 * Emits the steps of a run, and copies of the results that are kept. Vectors give back their scratch
 * after their last use.
 *
 * @param output returns the place of a result that is kept
 */
const emitSteps = (
  emit: Emitter,
  steps: readonly FieldStep[],
  places: Places,
  output: (vector: Vector) => Part,
): void => {
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
  for (const { step, ending } of liveSteps(steps, emit.setup.field.p, true)) {
    const { kind, parameters, result } = step;
    emit.phase = kind;
    const operands = step.operands.map((operand) => read(operand, operations[kind].reads === 'parts'));
    const [first] = step.operands as [Vector];
    const [a] = operands as [Operand];
    const mayOverwrite = owned.has(first) && ending.includes(first);
    const { length } = result;
    const made = emitStep(emit, kind, { parameters, operands, a, length, mayOverwrite, places });
    if ('part' in made) readable.set(result, made.part);
    else place(result, made.scratch);
    if (result.isKept) combine(emit, output(result), length, { a: readable.get(result) });
    const own = owned.get(result);
    for (const vector of ending) {
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
    (most, { kind, result: { length } }) =>
      gpuOperations[kind].kernel === 'transform' ? Math.max(most, Math.log2(length)) : most,
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
      const { words, low } = powerTables(emit.setup.field, { base: root, factor: 1n, length });
      const powers = { at: emit.upload(words), low, reversedBits: 0 };
      combine(emit, { ...(output as Part), ...place }, length, { powers });
      return [];
    },
  };
};

/** Names the table in commands. */
const powersPart = (emit: Emitter, { buffer, offset, size }: PlacedPowers): Part =>
  buffer === null ? { buffer: 'powers', offset, size } : emit.bind(buffer.buffer, offset, size);
