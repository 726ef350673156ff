/** Runs a program and compares every result with the known-discrete-logarithm oracle. */
import type { AffinePoint, Bases, MsmEngine } from '../../src/api.js';
import { createMsmEngine } from '../../src/engine/engine.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { bn254G1, expectedMsm, samePoint } from '../oracle/known-bases.js';
import { type FuzzCall, type FuzzProgram, length, vectorsOf } from './program.js';

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

/** The inputs of a call, and the answers. */
export const makeInputs = (call: FuzzCall) => {
  const pointSets = call.points.map(({ from, n, seed }) => pointDistributions[from].make(n, seed));
  const allLogs = pointSets.flatMap((set) => set.logs);
  const vectors = vectorsOf(call).map(({ scalars, offset }) => {
    const sets = scalars.map(({ from, n, seed }) => scalarDistributions[from].make(n, seed));
    const values = sets.flatMap((set) => set.values);
    const logs = allLogs.slice(offset, offset + values.length);
    return { offset, scalars: join(sets.map((set) => set.bytes)), expected: expectedMsm(bn254G1, logs, values) };
  });
  return { points: join(pointSets.map((set) => set.bytes)), vectors };
};

const compute = async (
  engine: MsmEngine,
  bases: Bases,
  { more }: FuzzCall,
  vectors: ReturnType<typeof makeInputs>['vectors'],
): Promise<AffinePoint[]> => {
  const [{ scalars, offset }] = vectors as [(typeof vectors)[0]];
  if (more === undefined) return [await engine.msm(bases, scalars, { offset })];
  return engine.msmBatch(
    bases,
    vectors.map((vector) => vector.scalars),
    { offsets: vectors.map((vector) => vector.offset) },
  );
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
      const { points, vectors } = makeInputs(call);
      const { precompute = 1 } = call;
      const bases = await engine.loadBases(points, { precompute });
      const sums = (await compute(engine, bases, call, vectors)).map((sum) => tamper(sum, call));
      bases.destroy();
      for (const [i, { expected }] of vectors.entries()) {
        const got = sums[i] as AffinePoint;
        if (!samePoint(expected, got)) return { call: index, expected, got, error: null };
      }
      const failed = (error: string): Failure => ({ call: index, expected: null, got: null, error });
      const { bases: left, peak } = engine.memory;
      if (left !== 0) return failed(`${left} bytes of bases are left`);
      if (program.memoryBudget !== null && peak > program.memoryBudget) {
        return failed(`peak ${peak} is over the budget of ${program.memoryBudget}`);
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
  scalars: calls.flatMap(vectorsOf).reduce((sum, { scalars }) => sum + length(scalars), 0),
});
