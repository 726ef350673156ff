/** Runs of steps as jobs: where their vectors are, and what they keep. */
import type { Resident } from '../../session/resident.js';
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
  readonly twiddles: PlacedPowers | null;
}

/** A run as a job, and the places of the results that it keeps. */
export interface RunJob {
  readonly job: FieldJob;
  readonly kept: ReadonlyMap<Vector, Place>;
}

/** Returns the buffers and the tested kernels that steps use. */
const usedBy = (steps: readonly FieldStep[], { vectors, matrices, twiddles }: Placements) => {
  const residents = new Set<Resident>();
  const kinds = new Set<KnownKind>();
  for (const { computation, operands } of steps) {
    const kind = knownKinds[computation.kind];
    if (kind !== undefined) kinds.add(kind);
    for (const operand of operands)
      if (operand.state === 'resident') residents.add((vectors.get(operand) as Placed).buffer);
    if (computation.kind === 'apply') residents.add((matrices.get(computation.matrix) as PlacedMatrix).buffer);
  }
  if (twiddles?.buffer) residents.add(twiddles.buffer);
  return { residents: [...residents], kinds };
};

/** @param verifies true to compute a second time, and compare */
export const runJob = (
  steps: readonly FieldStep[],
  placed: Placements,
  elementBytes: number,
  verifies: boolean,
): RunJob => {
  const parts = new Parts();
  const kept = new Map<Vector, Place>();
  for (const { result } of steps) if (result.isKept) kept.set(result, parts.take(result.length * elementBytes));
  const { residents, kinds } = usedBy(steps, placed);
  const placesIn = (emit: Emitter): Places => {
    const bound = ({ buffer, offset, size }: Placed): Part => emit.bind(buffer.buffer, offset, size);
    const { vectors, matrices, twiddles } = placed;
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
