/** The second evaluation of a run: each result, as a polynomial, has the same value at a point. */
import { mod } from '../../field/modulus.js';
import type { FieldStep } from '../program/steps.js';
import type { Vector } from '../program/vector.js';
import { emitSteps, type Places } from './emit-steps.js';
import type { Emitter, Part } from './emitter.js';
import { emitLeave } from './numbers.js';
import { emitValue } from './scans.js';

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
export const emitCheck = (
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
