import type { CurveContext } from '../../curves/curve.js';
import { GpuFault } from '../../errors.js';
import { sumInSlices, type TimeSlice } from '../../scheduling/time-slice.js';
import { absorb, sumOfLanes } from '../../shaders/hash-chain.js';
import { accountsOf } from '../plan/planner.js';
import type { Batch, Chunk, Job } from '../plan/schedule.js';
import type { SurveyedVector } from '../plan/workload.js';
import { scalarsDigest } from '../stages/decompose.js';

/**
 * Digests that decompose has to report, by batch and vector; null where the device converts the
 * scalars and computes the digest.
 */
export type ExpectedDigests = readonly (readonly (number | null)[])[];

/** Computes the digests of the scalars of a job, while the GPU computes the job. */
export const expectedOf = async (
  curve: CurveContext,
  { batches }: Job,
  vectors: readonly SurveyedVector[],
  slice: TimeSlice,
): Promise<ExpectedDigests> => {
  const expected: (number | null)[][] = [];
  for (const { chunks, bases } of batches) {
    const digests: (number | null)[] = [];
    for (const [v, { vector, first, length, sentAt }] of chunks.entries()) {
      if (sentAt !== undefined) {
        digests.push(null);
        continue;
      }
      const { scalars, indices, offset } = vectors[vector] as SurveyedVector;
      const words = new Uint32Array(scalars.buffer, scalars.byteOffset, scalars.length / 4);
      const scalarWords = curve.scalarBytes / 4;
      const firstBase = offset - bases.first;
      const digest = (begin: number, end: number): number => {
        const some = words.subarray((first + begin) * scalarWords, (first + end) * scalarWords);
        const picks = indices?.subarray(first + begin, first + end) ?? null;
        const next = picks === null ? firstBase + first + begin : firstBase;
        return scalarsDigest(some, scalarWords, { vector: v, first: begin, firstBase: next, picks });
      };
      digests.push(await sumInSlices(length, slice, digest));
    }
    expected.push(digests);
  }
  return expected;
};

/**
 * Audits a batch. Each stage reports digests of its input and its output. The audit compares them
 * along the chain of stages, and the first with the digest of the scalars that the host sent or the
 * device converted.
 *
 * @param expected digests of the vectors of the batch
 * @returns number of entries that the walk read
 * @throws GpuFault naming the stages between which something was lost or changed
 */
export const audit = (batch: Batch, expected: readonly (number | null)[], words: Uint32Array): number => {
  const { plan, at } = batch;
  const { groups, reduce, finitePoints } = accountsOf(plan, at.accounts);
  const laneSum = (first: number): number => sumOfLanes(words, first);
  let walked = 0;
  groups.forEach(({ scalars, entries, length, checksum }, group) => {
    const first = group * plan.windowsPerGroup;
    const end = Math.min(first + plan.windowsPerGroup, plan.windows);
    const sent = expected
      .map((digest, v) => digest ?? laneSum((batch.chunks[v] as Chunk).sentAt as number))
      .slice(Math.floor(first / plan.vectorWindows), Math.ceil(end / plan.vectorWindows))
      .reduce((sum, digest) => (sum + digest) >>> 0, 0);
    if (laneSum(scalars) !== sent) throw new GpuFault('decompose', 'it read other scalars than those that were sent');
    if (laneSum(entries) !== words[checksum]) {
      throw new GpuFault('sort, walk or combine', 'the walk read other digits than those that decompose wrote');
    }
    walked += words[length] as number;
  });
  if (words[finitePoints] !== 0) {
    throw new GpuFault('walk or reduce', 'reduce read other bucket sums than those that the walk wrote');
  }
  if (laneSum(reduce.entries) !== words[reduce.checksum]) {
    throw new GpuFault('reduce', 'its walks read other entries than those that it wrote');
  }
  return walked;
};

/**
 * Compares the sums that were read back with the digest of those that the last walk wrote. The
 * digest depends on the position of each point.
 *
 * @param sums words from the first sum of the batch on
 * @throws GpuFault if a sum differs or is in another place
 */
export const auditSums = async (
  { pointWords }: CurveContext,
  { plan, at }: Batch,
  words: Uint32Array,
  sums: Uint32Array,
  slice: TimeSlice,
): Promise<void> => {
  let digest = 0;
  for (let i = 0; i < plan.reduce.bitSums; i++) {
    digest = (digest + absorb(i, sums, i * pointWords, (i + 1) * pointWords)) >>> 0;
    if (slice.isOverSoon) await slice.yield();
  }
  if (digest !== words[accountsOf(plan, at.accounts).readBack]) {
    throw new GpuFault('read-back', 'other sums came back than those that the last walk wrote, or in other places');
  }
};
