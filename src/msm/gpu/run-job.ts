import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { GpuFault } from '../../errors.js';
import type { Runner, SubmissionResult, Upload } from '../../gpu/runner.js';
import type { Ticket } from '../../scheduling/ticket.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import type { CallClock } from '../../session/clock.js';
import type { Batch, Job } from '../plan/schedule.js';
import type { SurveyedScalars } from '../scalar-vectors.js';
import { IN_A_ROW, Vector } from '../stages/decompose.js';
import { combineWindows } from '../stages/fold.js';
import type { Kernels } from '../stages/kernels.js';
import { audit, auditSums, type ExpectedDigests, expectedOf } from './audit.js';
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
  readonly vectors: readonly SurveyedScalars[];
  readonly clock: CallClock;
  /** Additions a millisecond that the device may be counted on for. */
  readonly additionsPerMs: number;
  /** When its jobs are to have their turns. */
  readonly turn?: Ticket;
  /** Throws if there is no point in going on. */
  checkpoint(): void;
}

/** What one job came to. */
export interface JobOutcome extends Pick<SubmissionResult, 'dispatches' | 'submits' | 'passes'> {
  /** The sums of the pieces, part by part. */
  readonly sums: readonly (readonly AffinePoint<Coordinate>[])[];
  readonly entries: number;
  readonly combineMs: number;
}

/**
 * Computes a job on the GPU, and folds what it read back on the CPU.
 *
 * @param onSubmitted called between the submits of the job; what it throws ends it
 * @throws MsmError `internal` where the GPU computed wrongly, what `goOn` throws, and what runners throw
 */
export const runJob = async (
  runner: Runner,
  { curve, kernels, checks, bases, vectors, clock, additionsPerMs, turn, checkpoint }: JobContext,
  job: Job,
  onSubmitted: (done: number) => void,
): Promise<JobOutcome> => {
  const { batches, scratch, accounts: accountsBytes, bitSums } = job;
  const turns = new TimeSlice(checkpoint);
  let expected: ExpectedDigests = [];
  const { accounts, result, passes, dispatches, submits } = await runner.run(
    {
      scratch,
      external: { bases },
      uploads: batches.flatMap((part) => inputsOf(part, vectors, curve.scalarBytes, runner.device)),
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
      expectedMs: batches.reduce((sum, { plan }) => sum + plan.additions, 0) / additionsPerMs / job.submits,
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
    const [{ plan: first }] = batches as readonly [Batch];
    // with checks there is one part
    const found = checks?.read(accounts, first.levelTasks.length);
    if (found) throw new GpuFault(...found);
    const entries = batches.reduce((sum, part, i) => sum + audit(part, expected[i] as readonly number[], accounts), 0);
    const sumsOf = ({ at }: Batch): Uint32Array => result.subarray(at.bitSums / 4);
    for (const part of batches) await auditSums(curve, part, accounts, sumsOf(part), turns);
    const folding = performance.now();
    const sums: AffinePoint<Coordinate>[][] = [];
    for (const part of batches) {
      const own: AffinePoint<Coordinate>[] = [];
      for (let vector = 0; vector < part.chunks.length; vector++) {
        own.push(combineWindows(curve, part.plan, sumsOf(part), vector));
        if (turns.isOver) await turns.yield();
      }
      sums.push(own);
    }
    return { sums, entries, combineMs: performance.now() - folding, dispatches, submits, passes };
  } catch (error) {
    runner.discard();
    throw error;
  }
};

/** What goes into a part's stretches of `scalars`, `picks` and `vectors`. */
const inputsOf = (
  { chunks, n, bases, at }: Batch,
  vectors: readonly SurveyedScalars[],
  scalarBytes: number,
  device: GPUDevice,
): Upload[] => {
  const uploads: Upload[] = [];
  const table = new Uint32Array(chunks.length * Vector.fields.length);
  chunks.forEach(({ vector, first, length }, i) => {
    const { scalars, indices, offset, loaded } = vectors[vector] as SurveyedScalars;
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
