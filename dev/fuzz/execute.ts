/** Runs a program, and compares every result with the oracle of known discrete logarithms. */
import { bytesToHex } from '@noble/curves/utils.js';
import type { Bases, MsmEngine, Scalars } from '../../src/api/engine.js';
import type { AffinePoint } from '../../src/api/values.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { engineIn } from '../cases/msm-case.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { createCheckedEngine } from '../checks/engine.js';
import { type CurveGroup, oracleOf } from '../oracle/curves.js';
import { pointsIn, scalarsIn } from '../oracle/encodings.js';
import { type Coordinate, expectedMsm, gotExpected, spellPoint } from '../oracle/known-bases.js';
import { type FuzzCall, type FuzzProgram, length, movedTo, programs, vectorsOf } from './program.js';
import { type FoundProgram, keepPipelines, runPrograms } from './run-programs.js';

const groupOf = ({ curve = 'bn254', group = 'g1' }: Partial<CurveGroup>): CurveGroup => ({ curve, group });

export const makeInputs = (call: FuzzCall, program: Partial<CurveGroup> = {}) => {
  const of = groupOf(program);
  const oracle = oracleOf(of);
  const { encoding = 'le', scalarEncoding = 'le' } = call;
  const pointSets = call.points.map(({ from, n, seed }) => pointDistributions[from].make(n, seed, oracle));
  const allLogs = pointSets.flatMap((set) => set.logs);
  const vectors = vectorsOf(call).map(({ scalars, offset }) => {
    const sets = scalars.map(({ from, n, seed }) => scalarDistributions[from].make(n, seed, oracle));
    const values = sets.flatMap((set) => set.values);
    const logs = allLogs.slice(offset, offset + values.length);
    return {
      offset,
      scalars: scalarsIn(oracle, values, scalarEncoding),
      expected: expectedMsm(oracle, logs, values),
    };
  });
  const points = pointsIn(
    oracle,
    pointSets.flatMap((set) => set.points),
    encoding,
  );
  return { points, vectors };
};

const SCALAR_BYTES = 32;

type Sum = AffinePoint<Coordinate> | Uint8Array;

interface GivenVector {
  readonly scalars: Uint8Array | Scalars;
  readonly offset: number;
}

const compute = async (
  engine: MsmEngine<Coordinate>,
  bases: Bases,
  { more, scalarEncoding = 'le', result }: FuzzCall,
  vectors: readonly GivenVector[],
): Promise<Sum[]> => {
  const [{ scalars, offset }] = vectors as [GivenVector];
  const one = { offset, scalarEncoding };
  if (more === undefined) {
    return [
      await (result === undefined ? engine.msm(bases, scalars, one) : engine.msm(bases, scalars, { ...one, result })),
    ];
  }
  const all = vectors.map((vector) => vector.scalars);
  const several = { offsets: vectors.map((vector) => vector.offset), scalarEncoding };
  return result === undefined
    ? engine.msmBatch(bases, all, several)
    : engine.msmBatch(bases, all, { ...several, result });
};

/** Computes with the scalars of all vectors loaded as one vector. */
const computeLoaded = async (
  engine: MsmEngine<Coordinate>,
  bases: Bases,
  call: FuzzCall,
  vectors: ReturnType<typeof makeInputs>['vectors'],
): Promise<Sum[]> => {
  const bytes = Uint8Array.from(vectors.flatMap(({ scalars }) => [...scalars]));
  const all = await engine.loadScalars(bytes, { scalarEncoding: call.scalarEncoding ?? 'le' });
  let at = 0;
  const parts = vectors.map(({ scalars, offset }) => {
    const from = at;
    at += scalars.length / SCALAR_BYTES;
    return { scalars: all.subarray(from, at), offset };
  });
  try {
    return await compute(engine, bases, call, parts);
  } finally {
    all.destroy();
  }
};

const spell = (sum: Sum): string => (sum instanceof Uint8Array ? bytesToHex(sum) : spellPoint(sum));

/**
 * @param device shared by all programs, so that pipelines are compiled once
 * @param tamper replaces results before the comparison, for the fuzzer's own tests
 * @returns null if every call gave the correct point and nothing leaked, else the index of the call and the
 *   difference: `call 0: Error: got …, expected …`
 */
export const execute = async (
  device: GPUDevice,
  program: FuzzProgram,
  tamper: (result: Sum, call: FuzzCall) => Sum = (result) => result,
): Promise<string | null> => {
  const create: typeof createMsmEngine = program.checks ? createCheckedEngine : createMsmEngine;
  const engine = await engineIn(create, groupOf(program), {
    device,
    ...(program.backend && { backend: program.backend }),
    tuning: program.tuning,
    // without retries a false alarm fails the program
    retries: 0,
    // the self-test is off: every result is compared here, and each program has other knobs
    selfTest: false,
    ...(program.memoryBudget === null ? {} : { memoryBudget: program.memoryBudget }),
  });
  let at = 0;
  try {
    for (const call of program.calls) {
      const { points, vectors } = makeInputs(call, program);
      const { precompute = 1, encoding = 'le', checkSubgroup = false, result } = call;
      const bases = await engine.loadBases(points, { precompute, encoding, checkSubgroup });
      const sums = (await (call.loaded ? computeLoaded : compute)(engine, bases, call, vectors)).map((sum) =>
        tamper(sum, call),
      );
      bases.destroy();
      for (const [i, { expected }] of vectors.entries()) {
        const got = spell(sums[i] as Sum);
        const wanted = spell(
          result === undefined ? expected : pointsIn(oracleOf(groupOf(program)), [expected], result),
        );
        if (got !== wanted) throw new Error(gotExpected(got, wanted));
      }
      const { bases: left, scalars, peak } = engine.memory;
      if (left + scalars !== 0) throw new Error(`${left} bytes of bases and ${scalars} bytes of scalars are left`);
      if (program.memoryBudget !== null && peak > program.memoryBudget) {
        throw new Error(`memory.peak is ${peak} bytes, above the budget of ${program.memoryBudget} bytes`);
      }
      at++;
    }
    return null;
  } catch (error) {
    return `call ${at}: ${error}`;
  } finally {
    engine.destroy();
  }
};

/** Number of programs that passed, and of their calls, points and scalars. */
export type FuzzCounts = Record<'programs' | 'calls' | 'points' | 'scalars', number>;

/** Runs programs, see `runPrograms`. @param onProgram told after each program that passed */
export function fuzz(
  device: GPUDevice,
  options: { readonly seed: number; readonly seconds: number; readonly backend: FuzzProgram['backend'] },
  onProgram: (counts: Readonly<FuzzCounts>) => void,
): Promise<FoundProgram<FuzzProgram> | null> {
  const kept = keepPipelines(device);
  const counts: FuzzCounts = { programs: 0, calls: 0, points: 0, scalars: 0 };
  const drawn = programs().map((program) => movedTo(options.backend, program));
  return runPrograms(
    drawn,
    options,
    (program) => execute(kept, program),
    ({ calls }) => {
      counts.programs++;
      counts.calls += calls.length;
      counts.points += calls.reduce((sum, call) => sum + length(call.points), 0);
      counts.scalars += calls.flatMap(vectorsOf).reduce((sum, { scalars }) => sum + length(scalars), 0);
      onProgram(counts);
    },
  );
}
