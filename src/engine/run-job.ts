import type { AffinePoint } from '../api.js';
import { Turns } from '../cpu/turns.js';
import type { CurveContext } from '../curves/curve.js';
import type { JobResult, Runner, Upload } from '../gpu/runner.js';
import type { Job, Part } from '../plan/schedule.js';
import type { SurveyedVector } from '../plan/survey.js';
import { recordJob } from '../record/record.js';
import { assertNoFindings } from '../stages/check.js';
import { IN_A_ROW, Vector } from '../stages/decompose.js';
import { fold } from '../stages/fold.js';
import type { Kernels } from '../stages/kernels.js';
import { Tally } from '../stages/partition.js';
import type { HostClock } from './clock.js';

/** What all jobs of a call have in common. */
export interface JobContext {
  readonly curve: CurveContext;
  readonly kernels: Kernels;
  /** The resident buffer. */
  readonly bases: GPUBuffer;
  /** All vectors of the call; the pieces of a job name them by index. */
  readonly vectors: readonly SurveyedVector[];
  readonly clock: HostClock;
  /** Throws if there is no point in going on. */
  goOn(): void;
}

/** What one job came to. */
export interface JobOutcome extends Pick<JobResult, 'dispatches' | 'submits' | 'passes'> {
  /** The sums of the pieces, part by part. */
  readonly sums: readonly (readonly AffinePoint[])[];
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
  { curve, kernels, bases, vectors, clock, goOn }: JobContext,
  job: Job,
  onSubmitted: (done: number) => void,
): Promise<JobOutcome> => {
  const { parts, scratch } = job;
  const { bitSums, tally, findings } = scratch as { bitSums: number; tally: number; findings?: number };
  const { data, passes, dispatches, submits } = await runner.run(
    {
      scratch,
      external: { bases },
      uploads: [
        ...parts.flatMap((part) => inputsOf(part, vectors, curve.scalarBytes)),
        // no point of any curve: a GPU that does nothing must not pass for one whose last result is still there
        { to: { buffer: 'bitSums' }, data: new Uint32Array(bitSums / 4).fill(0xffffffff) },
      ],
      commands: recordJob(kernels, job, ({ plan, bases: { first, count } }) => {
        const baseBytes = plan.tables * curve.pointBytes;
        return { buffer: 'bases', offset: first * baseBytes, size: count * baseBytes };
      }),
      read: [
        { buffer: 'bitSums', size: bitSums },
        { buffer: 'tally', size: tally },
        ...(findings === undefined ? [] : [{ buffer: 'findings', size: findings }]),
      ],
      onSubmitted,
    },
    clock,
  );
  const [allSums, tallies, found] = data as readonly [Uint32Array, Uint32Array, Uint32Array?];
  // with checks there is one part
  if (found !== undefined) assertNoFindings(found, (parts[0] as Part).plan.levelTasks.length);
  const folding = performance.now();
  const turns = new Turns(goOn);
  const sums: AffinePoint[][] = [];
  for (const { plan, pieces, at } of parts) {
    const own: AffinePoint[] = [];
    for (let vector = 0; vector < pieces.length; vector++) {
      own.push(fold(curve, plan, allSums.subarray(at.bitSums / 4), vector));
      if (turns.areOver) await turns.take();
    }
    sums.push(own);
  }
  const foldMs = performance.now() - folding;
  const entries = parts.reduce((sum, { at }) => sum + Tally.unpack(tallies.subarray(at.tally / 4), 0).entries, 0);
  return { sums, entries, foldMs, dispatches, submits, passes };
};

/** What goes into a part's stretches of `scalars`, `picks` and `vectors`. */
const inputsOf = (
  { pieces, n, bases, at }: Part,
  vectors: readonly SurveyedVector[],
  scalarBytes: number,
): Upload[] => {
  const uploads: Upload[] = [];
  const table = new Uint32Array(pieces.length * Vector.fields.length);
  pieces.forEach(({ vector, first, length }, i) => {
    const { scalars, indices, offset } = vectors[vector] as SurveyedVector;
    const end = first + length;
    uploads.push({
      to: { buffer: 'scalars', offset: at.scalars + i * n * scalarBytes },
      data: scalars.subarray(first * scalarBytes, end * scalarBytes),
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
