/** The submission of a job: its uploads and commands, and the audit of its result. */

import type { AffinePoint, Coordinate } from '../../api/values.js';
import { GpuFault, MsmError } from '../../errors.js';
import type { Submission, SubmissionResult, Upload } from '../../gpu/submission.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import type { CallContext } from '../../session/call-context.js';
import type { Command } from '../../shaders/commands.js';
import type { SurveyedScalars } from '../inputs/scalar-vectors.js';
import { walksOf } from '../plan/accounts.js';
import type { Batch, Job } from '../plan/schedule.js';
import { combineWindows } from '../stages/combine-windows.js';
import { IN_A_ROW, Vector } from '../stages/decompose.js';
import { audit, auditSums, type ExpectedDigests, expectedOf } from './audit.js';
import { recordJob } from './record.js';
import type { MsmSetup } from './setup.js';

/** Outcome of a job. */
export interface JobOutcome {
  /** The sums of the chunks, batch by batch. */
  readonly sums: readonly (readonly AffinePoint<Coordinate>[])[];
  /** Number of nonzero digits that the walk read. */
  readonly entries: number;
  /** Time of combining windows on the CPU, in ms. */
  readonly combineMs: number;
}

/** Finds a resident's buffer on the device; null if it is not there. */
export type FindBuffer = (resident: SurveyedScalars) => GPUBuffer | null;

/**
 * Records a job.
 *
 * @param bases the resident buffer
 * @param onExpected receives the expected digests of decompose while the GPU computes
 */
export const jobSubmission = (
  { curve, kernels, horner }: MsmSetup,
  job: Job,
  vectors: readonly SurveyedScalars[],
  bases: GPUBuffer,
  findBuffer: FindBuffer,
  call: CallContext,
  onExpected: (expected: ExpectedDigests) => void,
): Submission => {
  // the first job waits for its kernels meanwhile
  void horner.prepare();
  return {
    scratch: job.scratch,
    external: { bases, ...vectorBuffers(vectors, findBuffer) },
    uploads: job.batches.flatMap((batch) => uploadsOf(batch, vectors, curve.scalarBytes, findBuffer)),
    commands: [
      ...job.batches.flatMap((batch) => conversionsOf(batch, vectors)),
      ...recordJob(kernels, job, ({ plan, bases: { first, count } }) => {
        const baseBytes = plan.tables * curve.pointBytes;
        return { buffer: 'bases', offset: first * baseBytes, size: count * baseBytes };
      }),
    ],
    accounts: job.accounts,
    result: job.bitSums,
    meanwhile: async () => {
      const slice = new TimeSlice(() => call.checkpoint());
      onExpected(await expectedOf(curve, job, vectors, slice));
    },
  };
};

/**
 * Audits the accounts and sums of a job, and combines its windows.
 *
 * @throws GpuFault where the GPU computed wrongly
 */
export const readJob = async (
  { curve, horner }: MsmSetup,
  { batches }: Job,
  { accounts, result }: SubmissionResult,
  expected: ExpectedDigests,
  call: CallContext,
): Promise<JobOutcome> => {
  const slice = new TimeSlice(() => call.checkpoint());
  const [{ plan: first }] = batches as readonly [Batch];
  // a job with an instrument has one batch
  const found = first.instrument?.read(accounts, first.levelTasks.length, walksOf(first));
  if (found) throw new GpuFault(...found);
  const entries = batches.reduce(
    (sum, batch, i) => sum + audit(batch, expected[i] as ExpectedDigests[number], accounts),
    0,
  );
  const sumsOf = ({ at }: Batch): Uint32Array => result.subarray(at.bitSums / 4);
  for (const batch of batches) await auditSums(curve, batch, accounts, sumsOf(batch), slice);
  const combining = performance.now();
  const sums: AffinePoint<Coordinate>[][] = [];
  for (const batch of batches) {
    const own: AffinePoint<Coordinate>[] = [];
    for (let vector = 0; vector < batch.chunks.length; vector++) {
      own.push(combineWindows(curve, batch.plan, sumsOf(batch), vector, horner.now));
      if (slice.isOver) await slice.yield();
    }
    sums.push(own);
  }
  return { sums, entries, combineMs: performance.now() - combining };
};

/** Name of the buffer of vector `i` on the device, in commands. */
const vectorName = (i: number): string => `vector${i}`;

/** Returns the buffers of the vectors that are on the device, by name. */
const vectorBuffers = (vectors: readonly SurveyedScalars[], findBuffer: FindBuffer): Record<string, GPUBuffer> =>
  Object.fromEntries(
    vectors.flatMap((vector, i) => {
      if (vector.onDevice === undefined) return [];
      const buffer = findBuffer(vector);
      if (buffer === null)
        throw new MsmError('device-lost', `scalars[${i}] was lost with the GPU device; load it again`);
      return [[vectorName(i), buffer] as const];
    }),
  );

/** Returns the commands that convert the vectors of a batch that are on the device. */
const conversionsOf = ({ chunks, n, bases, plan, at }: Batch, vectors: readonly SurveyedScalars[]): Command[] =>
  chunks.flatMap(({ vector, first, length, sentAt }, i) => {
    const { onDevice, offset } = vectors[vector] as SurveyedScalars;
    if (onDevice === undefined || sentAt === undefined) return [];
    const out = { buffer: 'scalars', offset: at.scalars, size: plan.scratch.scalars };
    const places = { out, firstOut: i * n, account: sentAt };
    const firstBase = offset + first - bases.first;
    return [onDevice.convert(vectorName(vector), { first, length, vector: i, firstBase, ...places })];
  });

/** Returns the contents of a batch's slices of `scalars`, `picks` and `vectors`. */
const uploadsOf = (
  { chunks, n, bases, at }: Batch,
  vectors: readonly SurveyedScalars[],
  scalarBytes: number,
  findBuffer: FindBuffer,
): Upload[] => {
  const uploads: Upload[] = [];
  const table = new Uint32Array(chunks.length * Vector.fields.length);
  chunks.forEach(({ vector, first, length }, i) => {
    const surveyed = vectors[vector] as SurveyedScalars;
    const { scalars, indices, offset, loaded, onDevice } = surveyed;
    const end = first + length;
    const upload: Upload = {
      to: { buffer: 'scalars', offset: at.scalars + i * n * scalarBytes },
      data: scalars.subarray(first * scalarBytes, end * scalarBytes),
      from: () => {
        // picked scalars are not consecutive in the resident buffer
        if (loaded === null || indices !== null) return null;
        const buffer = findBuffer(surveyed);
        return buffer && { buffer, offset: loaded.start + first * scalarBytes };
      },
    };
    if (onDevice === undefined) uploads.push(upload);
    let start = { first_base: offset + first - bases.first, first_pick: IN_A_ROW };
    if (indices !== null) {
      // indices relative to the first base of the binding; every base of a chunk follows it
      const picks = indices.subarray(first, end).map((index) => offset + index - bases.first);
      uploads.push({ to: { buffer: 'picks', offset: at.picks + 4 * i * n }, data: picks });
      start = { first_base: 0, first_pick: i * n };
    }
    table.set(Vector.pack({ length, ...start }), i * Vector.fields.length);
  });
  uploads.push({ to: { buffer: 'vectors', offset: at.vectors }, data: table });
  return uploads;
};
