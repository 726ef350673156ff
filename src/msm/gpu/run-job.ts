import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { GpuFault } from '../../errors.js';
import type { JobResult, Runner, Upload } from '../../gpu/runner.js';
import type { Turn } from '../../scheduling/ticket.js';
import { Turns } from '../../scheduling/time-slice.js';
import type { HostClock } from '../../session/clock.js';
import type { Job, Part } from '../plan/schedule.js';
import type { SurveyedFactors } from '../scalar-vectors.js';
import { IN_A_ROW, Vector } from '../stages/decompose.js';
import { fold } from '../stages/fold.js';
import type { Kernels } from '../stages/kernels.js';
import { audit, auditSums, type Expected, expectedOf } from './audit.js';
import type { Checks } from './checks.js';
import { recordJob } from './record.js';

/** What all jobs of a call have in common. */
export interface JobContext {
  readonly curve: CurveContext;
  readonly kernels: Kernels;
  /** What its jobs were planned with. */
  readonly checks: Checks | undefined;
  /** The resident buffer. */
  readonly bases: GPUBuffer;
  /** All vectors of the call; the pieces of a job name them by index. */
  readonly vectors: readonly SurveyedFactors[];
  readonly clock: HostClock;
  /** Additions a millisecond that the device may be counted on for. */
  readonly additionsPerMs: number;
  /** When its jobs are to have their turns. */
  readonly turn?: Turn;
  /** Throws if there is no point in going on. */
  goOn(): void;
}

/** What one job came to. */
export interface JobOutcome extends Pick<JobResult, 'dispatches' | 'submits' | 'passes'> {
  /** The sums of the pieces, part by part. */
  readonly sums: readonly (readonly AffinePoint<Coordinate>[])[];
  readonly entries: number;
  readonly foldMs: number;
}

/**
 * Computes a job on the GPU, and folds what it read back on the CPU.
 *
 * @param onSubmitted called between the submits of the job; what it throws ends it
 * @throws MsmError `internal` where the GPU computed wrongly, what `goOn` throws, and what runners throw
 */
export const runJob = async (
  runner: Runner,
  { curve, kernels, checks, bases, vectors, clock, additionsPerMs, turn, goOn }: JobContext,
  job: Job,
  onSubmitted: (done: number) => void,
): Promise<JobOutcome> => {
  const { parts, scratch, accounts: accountsBytes, bitSums } = job;
  const turns = new Turns(goOn);
  let expected: Expected = [];
  const { accounts, result, passes, dispatches, submits } = await runner.run(
    {
      scratch,
      external: { bases },
      uploads: parts.flatMap((part) => inputsOf(part, vectors, curve.scalarBytes, runner.device)),
      commands: recordJob(
        kernels,
        job,
        ({ plan, bases: { first, count } }) => {
          const baseBytes = plan.tables * curve.pointBytes;
          return { buffer: 'bases', offset: first * baseBytes, size: count * baseBytes };
        },
        checks,
      ),
      turn,
      expectedMs: parts.reduce((sum, { plan }) => sum + plan.additions, 0) / additionsPerMs / job.submits,
      accounts: accountsBytes,
      result: bitSums,
      meanwhile: async () => {
        expected = await expectedOf(curve, job, vectors, turns);
      },
      onSubmitted,
    },
    clock,
  );
  try {
    const [{ plan: first }] = parts as readonly [Part];
    // with checks there is one part
    const found = checks?.read(accounts, first.levelTasks.length);
    if (found) throw new GpuFault(...found);
    const entries = parts.reduce((sum, part, i) => sum + audit(part, expected[i] as readonly number[], accounts), 0);
    const sumsOf = ({ at }: Part): Uint32Array => result.subarray(at.bitSums / 4);
    for (const part of parts) await auditSums(curve, part, accounts, sumsOf(part), turns);
    const folding = performance.now();
    const sums: AffinePoint<Coordinate>[][] = [];
    for (const part of parts) {
      const own: AffinePoint<Coordinate>[] = [];
      for (let vector = 0; vector < part.pieces.length; vector++) {
        own.push(fold(curve, part.plan, sumsOf(part), vector));
        if (turns.areOver) await turns.take();
      }
      sums.push(own);
    }
    return { sums, entries, foldMs: performance.now() - folding, dispatches, submits, passes };
  } catch (error) {
    runner.discard();
    throw error;
  }
};

/** What goes into a part's stretches of `scalars`, `picks` and `vectors`. */
const inputsOf = (
  { pieces, n, bases, at }: Part,
  vectors: readonly SurveyedFactors[],
  scalarBytes: number,
  device: GPUDevice,
): Upload[] => {
  const uploads: Upload[] = [];
  const table = new Uint32Array(pieces.length * Vector.fields.length);
  pieces.forEach(({ vector, first, length }, i) => {
    const { scalars, indices, offset, loaded } = vectors[vector] as SurveyedFactors;
    const end = first + length;
    uploads.push({
      to: { buffer: 'scalars', offset: at.scalars + i * n * scalarBytes },
      data: scalars.subarray(first * scalarBytes, end * scalarBytes),
      from: () => {
        // those that were picked out of it are not in a row there
        if (loaded === null || indices !== null) return null;
        const buffer = loaded.store.on(device);
        return buffer && { buffer, offset: loaded.start + first * scalarBytes };
      },
    });
    let start = { first_base: offset + first - bases.first, first_pick: IN_A_ROW };
    if (indices !== null) {
      // from where the binding begins, which a chunk's first base is not before
      const picks = indices.subarray(first, end).map((index) => offset + index - bases.first);
      uploads.push({ to: { buffer: 'picks', offset: at.picks + 4 * i * n }, data: picks });
      start = { first_base: 0, first_pick: i * n };
    }
    table.set(Vector.pack({ length, ...start }), i * Vector.fields.length);
  });
  uploads.push({ to: { buffer: 'vectors', offset: at.vectors }, data: table });
  return uploads;
};
