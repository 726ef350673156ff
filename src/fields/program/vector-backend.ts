/**
 * The interface of a backend: a place where vectors live and are computed, CPU or GPU. And the
 * steps of a run as both backends execute them: with joined scalings, and the last use of each
 * vector.
 */
import type { Progress } from '../../api/calls.js';
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { mod } from '../../field/modulus.js';
import type { DeviceVector } from '../../msm/inputs/scalars.js';
import type { Ticket } from '../../scheduling/edf.js';
import type { PackedEntries } from './entries.js';
import { type FieldStep, operations } from './operations.js';
import type { Matrix, Vector } from './vectors.js';

/** A call of an engine that has its turn. */
export interface VectorCall {
  /** Throws if the call was aborted, or its engine destroyed. Called between steps. */
  check(): void;
  /** Lets one more urgent call go first; null if none waits. @throws MsmError of `check` */
  pause(): Promise<void> | null;
  readonly ticket: Ticket;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Numbers of a caller: little-endian words of each value times `scale`, below the prime. */
export interface ScaledNumbers {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly scale: bigint;
}

/** Entries of a matrix, whose values are numbers times `scale`. */
export interface Entries extends PackedEntries {
  readonly scale: bigint;
}

/** Turns of an engine: it makes one call at a time. */
export interface EngineTurns {
  /** @throws MsmError `destroyed` */
  assertUsable(): void;
  /** Does work in the turn of a ticket. @throws MsmError `aborted`, `destroyed` */
  inTurn<Result>(ticket: Ticket, work: (call: VectorCall) => Promise<Result>): Promise<Result>;
}

/** Has the vectors and matrices of an engine. The engine makes one call at a time. */
export interface VectorBackend {
  /** Bytes of vectors, matrices and tables, now and at most so far. */
  readonly memory: { readonly used: number; readonly peak: number };
  /** Most workers that compute beside the engine's thread. */
  readonly workers: number;
  /** Returns whether a vector has been computed or loaded, and not released. */
  has(vector: Vector): boolean;
  /**
   * Loads a vector. The words are the backend's from now on: it overwrites them as soon as it needs
   * them no more.
   *
   * @throws MsmError `out-of-memory`, and errors of `call.check`; then the words are the caller's
   */
  enter(vector: Vector, numbers: ScaledNumbers, call: VectorCall): Promise<void>;
  /** Loads a matrix. The entries stay the caller's. @throws MsmError as `enter` */
  enterMatrix(matrix: Matrix, entries: Entries, call: VectorCall): Promise<void>;
  /**
   * Computes the results of steps, and keeps those that are kept. Where all that is in use is
   * vectors, it may pause.
   *
   * @param verifies true to have a GPU compute them a second time in another way, and compare
   * @throws MsmError as `enter`
   */
  execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldRunRecord>;
  /**
   * Returns the costs of steps.
   *
   * @param verifies true to include the memory of a verification
   * @throws MsmError as `execute`
   */
  plan(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldPlan>;
  /** Writes the values of a vector times `scale` to `words`. @throws MsmError of `call.check` */
  leave(vector: Vector, numbers: ScaledNumbers, call: VectorCall): Promise<void>;
  /**
   * Returns a vector for sums on its GPU; null if the CPU has it.
   *
   * @param turns of the engine
   */
  onDevice(vector: Vector, turns: EngineTurns): DeviceVector | null;
  release(handle: Vector | Matrix): void;
  /** Frees tables and pooled scratch. */
  trim(): void;
  /** Frees all that is left. */
  destroy(): void;
}

/** A step, and the vectors of its run that no later step reads. */
export interface LiveStep {
  readonly step: FieldStep;
  readonly ending: readonly Vector[];
}

/**
 * Returns the steps of a run as backends execute them.
 *
 * @param readsParts true if slices and longer vectors are read where their operand is, which then
 *   ends with them
 */
export const liveSteps = (given: readonly FieldStep[], p: bigint, readsParts: boolean): readonly LiveStep[] =>
  withEndings(fuseScalings(given, p), readsParts);

/** Returns steps with the vectors that end with each. @param readsParts as for `liveSteps` */
export const withEndings = (steps: readonly FieldStep[], readsParts: boolean): readonly LiveStep[] => {
  const made = new Set(steps.map(({ result }) => result));
  const last = new Map<Vector, number>();
  for (const [i, { operands, result }] of steps.entries())
    for (const vector of [...operands, result]) if (made.has(vector)) last.set(vector, i);
  for (const { kind, operands, result } of readsParts ? steps.toReversed() : []) {
    const [whole] = operands as [Vector];
    const end = last.get(whole);
    if (operations[kind].result === 'part' && end !== undefined) {
      last.set(whole, Math.max(end, last.get(result) as number));
    }
  }
  const endings = steps.map((): Vector[] => []);
  for (const [vector, i] of last) endings[i]?.push(vector);
  return steps.map((step, i) => ({ step, ending: endings[i] as Vector[] }));
};

/**
 * Moves the factor 1/n of an inverse transform into the powers of a forward transform on a coset,
 * if nothing else uses the coefficients between them.
 */
const fuseScalings = (steps: readonly FieldStep[], p: bigint): FieldStep[] => {
  const uses = new Map<Vector, number>();
  for (const { operands } of steps) for (const operand of operands) uses.set(operand, (uses.get(operand) ?? 0) + 1);
  const fused = [...steps];
  const makers = new Map(steps.map(({ result }, i) => [result, i]));
  for (const [i, step] of steps.entries()) {
    if (step.kind !== 'ntt' || step.parameters.coset === 1n) continue;
    const coefficients = step.operands[0] as Vector;
    const maker = makers.get(coefficients);
    if (maker === undefined || coefficients.isKept || uses.get(coefficients) !== 1) continue;
    const before = fused[maker] as FieldStep;
    if (before.kind !== 'intt' || before.parameters.coset !== 1n) continue;
    const factor = mod(step.parameters.factor * before.parameters.factor, p);
    fused[maker] = { ...before, parameters: { ...before.parameters, factor: 1n } };
    fused[i] = { ...step, parameters: { ...step.parameters, factor } };
  }
  return fused;
};
