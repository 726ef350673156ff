/** Runs a program and compares every result with the known-discrete-logarithm oracle. */
import type { AffinePoint } from '../../src/api.js';
import { createMsmEngine } from '../../src/engine.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { bn254G1, expectedMsm, samePoint } from '../oracle/known-bases.mjs';
import { type FuzzCall, type FuzzProgram, length } from './program.js';

/** How a program failed: at which call, and what was there instead of the right point. */
export interface Failure {
  readonly call: number;
  readonly expected: AffinePoint | null;
  readonly got: AffinePoint | null;
  readonly error: string | null;
}

const join = (parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** The inputs of a call, and the answer. */
export const makeInputs = ({ points, scalars, offset }: FuzzCall) => {
  const pointSets = points.map(({ from, n, seed }) => pointDistributions[from].make(n, seed));
  const scalarSets = scalars.map(({ from, n, seed }) => scalarDistributions[from].make(n, seed));
  const values = scalarSets.flatMap((set) => set.values);
  const logs = pointSets.flatMap((set) => set.logs).slice(offset, offset + values.length);
  return {
    points: join(pointSets.map((set) => set.bytes)),
    scalars: join(scalarSets.map((set) => set.bytes)),
    expected: expectedMsm(bn254G1, logs, values),
  };
};

/**
 * @param device shared by all programs, so that pipelines are compiled once
 * @param tamper for the fuzzer's own tests: stands between the engine and the comparison
 * @returns null if every call gave the right point and nothing leaked
 */
export const execute = async (
  device: GPUDevice,
  program: FuzzProgram,
  tamper: (result: AffinePoint, call: FuzzCall) => AffinePoint = (result) => result,
): Promise<Failure | null> => {
  const engine = await createMsmEngine({
    curve: 'bn254',
    device,
    tuning: program.tuning,
    ...(program.memoryBudget === null ? {} : { memoryBudget: program.memoryBudget }),
  });
  let at = 0;
  try {
    for (const [index, call] of program.calls.entries()) {
      at = index;
      const { points, scalars, expected } = makeInputs(call);
      const bases = await engine.loadBases(points);
      const got = tamper(await engine.msm(bases, scalars, { offset: call.offset }), call);
      bases.destroy();
      if (!samePoint(expected, got)) return { call: index, expected, got, error: null };
      const { bases: left, peak } = engine.memory;
      if (left !== 0) return { call: index, expected, got, error: `${left} bytes of bases are left` };
      if (program.memoryBudget !== null && peak > program.memoryBudget) {
        return { call: index, expected, got, error: `peak ${peak} is over the budget of ${program.memoryBudget}` };
      }
    }
    return null;
  } catch (error) {
    return { call: at, expected: null, got: null, error: String(error) };
  } finally {
    engine.destroy();
  }
};

/** Points and scalars of a program, for the statistics. */
export const size = ({ calls }: FuzzProgram): { points: number; scalars: number } => ({
  points: calls.reduce((sum, call) => sum + length(call.points), 0),
  scalars: calls.reduce((sum, call) => sum + length(call.scalars), 0),
});
