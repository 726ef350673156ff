import type { CurveContext } from '../../curves/curve.js';
import { GpuFault } from '../../errors.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { absorb, sumOfLanes } from '../../shaders/hash-chain.js';
import { accountsOf } from '../plan/accounts.js';
import type { Batch, Job } from '../plan/schedule.js';
import type { SurveyedVector } from '../plan/survey.js';
import { scalarsDigest } from '../stages/decompose.js';

/** Scalars that are looked at before others have their turn: a millisecond. */
const STRETCH = 2 ** 16;

/** What decompose is to find, vector by vector of each part. It is computed while the GPU has the job. */
export type ExpectedDigests = readonly (readonly number[])[];

export const expectedOf = async (
  curve: CurveContext,
  { batches }: Job,
  vectors: readonly SurveyedVector[],
  turns: TimeSlice,
): Promise<ExpectedDigests> => {
  const expected: number[][] = [];
  for (const { chunks, bases } of batches) {
    const digests: number[] = [];
    for (const [v, { vector, first, length }] of chunks.entries()) {
      const { scalars, indices, offset } = vectors[vector] as SurveyedVector;
      const words = new Uint32Array(scalars.buffer, scalars.byteOffset, scalars.length / 4);
      const scalarWords = curve.scalarBytes / 4;
      let digest = 0;
      for (let begin = 0; begin < length; begin += STRETCH) {
        const end = Math.min(begin + STRETCH, length);
        const bound = offset - bases.first;
        const base = (i: number): number => bound + (indices === null ? first + i : (indices[first + i] as number));
        const stretch = words.subarray((first + begin) * scalarWords, (first + end) * scalarWords);
        digest += scalarsDigest(stretch, scalarWords, v, begin, base);
        if (turns.isOver) await turns.yield();
      }
      digests.push(digest >>> 0);
    }
    expected.push(digests);
  }
  return expected;
};

/**
 * Compares what the stages of a part say of what they read and wrote, with each other and with what the host sent.
 *
 * @param expected digests of its vectors
 * @returns entries that were walked
 * @throws GpuFault naming the stages between which something was lost or changed
 */
export const audit = ({ plan, at }: Batch, expected: readonly number[], words: Uint32Array): number => {
  const { groups, reduce, finitePoints } = accountsOf(plan, at.accounts);
  const inLanes = (first: number): number => sumOfLanes(words, first);
  let walked = 0;
  groups.forEach(({ scalars, entries, length, checksum }, group) => {
    const first = group * plan.windowsPerGroup;
    const end = Math.min(first + plan.windowsPerGroup, plan.windows);
    const sent = expected
      .slice(Math.floor(first / plan.vectorWindows), Math.ceil(end / plan.vectorWindows))
      .reduce((sum, digest) => (sum + digest) >>> 0, 0);
    if (inLanes(scalars) !== sent)
      throw new GpuFault('decompose', 'the scalars that it read are not those that were sent');
    if (inLanes(entries) !== words[checksum]) {
      throw new GpuFault('sort, walk or combine', 'the digits that were taken in are not those that decompose wrote');
    }
    walked += words[length] as number;
  });
  if (words[finitePoints] !== 0) {
    throw new GpuFault('walk or reduce', 'the sums of buckets that were added are not those that were written');
  }
  if (inLanes(reduce.entries) !== words[reduce.checksum]) {
    throw new GpuFault('reduce', 'the entries that were taken in are not those that were written');
  }
  return walked;
};

/**
 * Compares the sums of a part that came back with those that its last walk wrote: each point, in its place.
 *
 * @param sums of the part, from its first on
 * @throws GpuFault if any is another one, or elsewhere
 */
export const auditSums = async (
  { pointWords }: CurveContext,
  { plan, at }: Batch,
  words: Uint32Array,
  sums: Uint32Array,
  turns: TimeSlice,
): Promise<void> => {
  let digest = 0;
  for (let i = 0; i < plan.reduce.bitsTasks; i++) {
    digest = (digest + absorb(i, sums, i * pointWords, (i + 1) * pointWords)) >>> 0;
    if (turns.isOverSoon) await turns.yield();
  }
  if (digest !== words[accountsOf(plan, at.accounts).readBack]) {
    throw new GpuFault('read-back', 'sums came back that the last walk did not write, or in other places');
  }
};
