/** Runs of steps as jobs: where their vectors are, and what they keep. */
import type { Resident } from '../../session/operation.js';
import type { FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import { emitCheck } from './check.js';
import { emitSteps, type Places } from './emit-steps.js';
import type { Emitter, Part } from './emitter.js';
import type { FieldJob, KnownKind } from './field-job.js';
import { boundRows, type PlacedMatrix } from './matrix.js';
import { emitLeave } from './numbers.js';
import { Parts, type Place } from './parts.js';
import { type PlacedPowers, powersPart } from './placed-powers.js';
import type { Placed } from './placed-scalars.js';

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
