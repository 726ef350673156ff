/**
 * Σ sᵢ·Pᵢ by Pippenger's bucket method (Pippenger 1976), seen at once.
 *
 * n is the number of scalars, λ the bits of the longest (the code below takes the curve's λ). With
 * windows of c bits, s = Σⱼ dⱼ·2^(c·j) with signed digits |dⱼ| ≤ 2^(c−1), and
 *
 *   Σ sᵢ·Pᵢ = Σⱼ 2^(c·j)·Wⱼ,   Wⱼ = Σₖ k·Bⱼₖ,   Bⱼₖ = Σ of ±Pᵢ where dⱼ of sᵢ is ±k
 *
 * That takes T·n additions into buckets Bⱼₖ, T = ⌈(λ + 1)/c⌉, some 2·T·2^(c−1) for the weighted sums
 * Wⱼ, and λ doublings at the end: a larger c means fewer digits and more buckets.
 * `defaultWindowBits` and `cpuWindowBits` of msm/plan/tuning.ts choose it.
 *
 * The functions of this file are the method on BigInts: for readers, for platforms without
 * WebAssembly or without memory for it, and for `cpuArithmetic: 'bigint'`. At each step a comment
 * says where the fast backends take it, and why there in that way. Paths are from src/, and from the
 * root for wgsl/, tests/ and docs/.
 *
 * The GPU takes the steps as dispatches; `recordBatch` of msm/gpu/record-job.ts lists them in order.
 * A call of `engine.msm()` goes through these files, in the order of their first work:
 *
 * 1. engine/engine.ts; engine/call-inputs.ts reads and copies; scheduling/call-queue.ts makes the Call.
 * 2. engine/request-group.ts has the scalars converted, by call-inputs.ts.
 * 3. msm/routing/router.ts; msm/inputs/scalars.ts and msm/plan/workload.ts survey what plans depend on;
 *    msm/routing/estimates.ts and routing.ts choose the backend.
 * 4. msm/gpu/gpu-backend.ts, buffer by buffer where the bases are in several (pages.ts);
 *    session/session.ts finds a tested device.
 * 5. msm/gpu/msm-operation.ts plans: msm/plan/schedule.ts, msm/plan/planner.ts.
 * 6. session/run-steps.ts; msm/gpu/record-job.ts records.
 * 7. gpu/runner.ts, gpu/submission.ts, gpu/device-scheduler.ts: the lease, the submit;
 *    gpu/device-memory.ts and gpu/upload-buffer.ts: buffers and uploads.
 * 8. msm/gpu/audit.ts and msm/stages/combine-windows.ts read the result.
 *
 * On the CPU beside a GPU steps 1 to 3 are the same; an engine without a GPU has no choice
 * (`onlyBackend` of the router; engine/create-engine.ts composes both kinds). Then
 * msm/cpu/cpu-backend.ts, msm/cpu/wasm-msm.ts (rounds that fit in memory, cut for threads),
 * msm/cpu/share.ts (the part of one thread), msm/cpu/buckets.ts, and msm/cpu/combine-on-cpu.ts. A call
 * of one vector of at most eight points, four in G2, with long scalars goes to msm/cpu/few-points.ts
 * once the module of Horner's rule is there: it needs no buckets.
 */
import type { RunFacts } from '../api/run-record.js';
import type { CurveContext } from '../curves/curve.js';
import { type Affine, add, addAffine, double, infinityOf, type Jacobian, negated } from '../curves/jacobian.js';
import { wordsOf } from '../curves/point-source.js';
import { digitsOf, readWords } from '../field/modulus.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { cpuWindowBits } from './plan/tuning.js';
import { windowCount } from './plan/workload.js';

/** The sum, and facts about how it was computed. */
interface BigIntSum extends Pick<RunFacts, 'windowBits' | 'windows' | 'entries'> {
  readonly sum: Jacobian;
}

/** A point, its negative, and the digits of its scalar. */
interface Term {
  readonly plus: Affine;
  readonly minus: Affine;
  readonly digits: readonly number[];
}

/**
 * Computes Σ sᵢ·Pᵢ. Jacobian coordinates with all exceptional cases make it right on every input.
 *
 * @param pointOf returns a point that was checked before
 * @param scalars scalars in the public format
 * @param timeSlice time slices of the call
 */
export const pippenger = async (
  curve: CurveContext,
  pointOf: (index: number) => Affine,
  scalars: Uint8Array<ArrayBuffer>,
  timeSlice: TimeSlice,
): Promise<BigIntSum> => {
  const n = scalars.length / curve.scalarBytes;
  if (n === 0) return { sum: infinityOf(curve), windowBits: 2, windows: 0, entries: 0 };

  // Plan. GPU: msm/plan/planner.ts, with limits of buffers and of the time of a submit;
  // msm/plan/schedule.ts cuts what does not fit. CPU: `cpuShape` in msm/plan/cost.ts.
  const windowBits = cpuWindowBits(curve.scalarBits, (c) => n * windowCount(curve.scalarBits, c));
  const windows = windowCount(curve.scalarBits, windowBits);

  // Decompose. GPU: wgsl/msm/decompose.wgsl, msm/stages/decompose.ts; it writes an entry (bucket, ±
  // index) for each digit. CPU: `digitWriter` in msm/cpu/buckets.ts writes s + Σⱼ 2^(c−1)·2^(c·j), of
  // which each window is read by itself, without carries. Reference: tests/reference/decompose.ts.
  const terms: Term[] = [];
  for (let i = 0; i < n; i++) {
    terms.push(termOf(curve, pointOf(i), scalars, i, { windowBits, windows }));
    if (timeSlice.isOverSoon) await timeSlice.yield();
  }

  let sum = infinityOf(curve);
  let entries = 0;
  for (let j = windows - 1; j >= 0; j--) {
    // Combine windows: Horner's rule, c doublings between two windows. Both backends take it on the
    // CPU, since its λ doublings depend on each other. After the GPU: msm/stages/combine-windows.ts.
    // CPU: msm/cpu/combine-on-cpu.ts, in Jacobian coordinates for up to four vectors once its module
    // is there; more vectors share inversions in lists.
    for (let i = 0; i < windowBits; i++) sum = double(curve, sum);
    const filled = await fillBuckets(curve, terms, j, windowBits, timeSlice);
    entries += filled.entries;
    sum = add(curve, sum, await weightedSum(curve, filled.buckets, timeSlice));
  }
  return { sum, windowBits, windows, entries };
};

/** Returns a point with its negative, and the digits of scalar `i`. */
const termOf = (
  curve: CurveContext,
  plus: Affine,
  scalars: Uint8Array<ArrayBuffer>,
  i: number,
  { windowBits, windows }: Pick<BigIntSum, 'windowBits' | 'windows'>,
): Term => {
  const words = curve.scalarBytes / 4;
  const scalar = readWords(wordsOf(scalars), i * words, words) % curve.order;
  return {
    plus,
    minus: plus === null ? null : negated(curve, plus),
    digits: signedDigits(scalar, windowBits, windows),
  };
};

/**
 * Returns signed digits dⱼ of a scalar with Σ dⱼ·2^(c·j) = scalar. A digit above the half borrows
 * from the next one. Since −P costs a negation of y, signs halve the number of buckets.
 */
export const signedDigits = (scalar: bigint, windowBits: number, windows: number): number[] => {
  const radix = 2 ** windowBits;
  let carry = 0;
  return digitsOf(scalar, windowBits, windows).map((bits) => {
    const digit = bits + carry;
    carry = digit > radix / 2 ? 1 : 0;
    return digit - carry * radix;
  });
};

/**
 * Adds the points of window `j` to their buckets.
 *
 * GPU: the entries are sorted by bucket (wgsl/msm/sort.wgsl, msm/stages/sort.ts) and cut into equal
 * tasks across buckets (wgsl/msm/partition.wgsl, msm/stages/partition.ts), so that no thread has
 * more work because one bucket has many points. The walk (wgsl/msm/walk.wgsl, msm/stages/walk.ts)
 * sums runs of equal keys, and `combine` walks over what crosses the borders of tasks. Adding to
 * buckets at random places with atomics was rejected: a point has 64 bytes or more.
 *
 * An affine addition takes six products and a share of an inversion. On a GPU only the slots of one
 * thread share it, usually eight: an eighth of 15 to 24 products, whose steps wait for each other.
 * NVIDIA and AMD take wgsl/msm/walk-xyzz.wgsl in G1 instead: extended coordinates, ten products, no
 * inversion and no slots in memory. That is faster on an H200 at every number of tasks; for AMD it
 * is chosen by what its compiler makes (docs/contributing/decisions/15-coordinates-of-the-walk.md).
 *
 * CPU: `addToBuckets` in msm/cpu/buckets.ts sorts the points of a block that fits the cache, and adds
 * pairs in lists (wasm/arithmetic/bucket-functions.ts and list-adder.ts). Up to 512 additions share
 * an inversion of about 100 products, a fifth of a product each, so that affine additions win there.
 *
 * References: tests/reference/sort.ts, partition.ts, walk.ts, walk-xyzz.ts.
 */
const fillBuckets = async (
  curve: CurveContext,
  terms: readonly Term[],
  j: number,
  windowBits: number,
  timeSlice: TimeSlice,
): Promise<{ readonly buckets: readonly Jacobian[]; readonly entries: number }> => {
  const buckets = new Array<Jacobian>(2 ** (windowBits - 1)).fill(infinityOf(curve));
  let entries = 0;
  for (const { plus, minus, digits } of terms) {
    const digit = digits[j] as number;
    if (digit === 0) continue;
    const bucket = Math.abs(digit) - 1;
    buckets[bucket] = addAffine(curve, buckets[bucket] as Jacobian, digit > 0 ? plus : minus);
    entries++;
    if (timeSlice.isOverSoon) await timeSlice.yield();
  }
  return { buckets, entries };
};

/**
 * Returns Σ (k + 1)·buckets[k], by running sums from the top bucket.
 *
 * These depend on each other, so neither backend computes them like that. GPU: reduce
 * (wgsl/msm/reduce.wgsl, msm/stages/reduce.ts) lays out streams whose walks sum the buckets by the bits
 * of k; Horner's rule over windows then has a point for each bit. CPU: `weightedSums` in
 * msm/cpu/share.ts takes short segments side by side, whose additions share inversions. Reference:
 * tests/reference/reduce.ts.
 */
const weightedSum = async (
  curve: CurveContext,
  buckets: readonly Jacobian[],
  timeSlice: TimeSlice,
): Promise<Jacobian> => {
  const infinity = infinityOf(curve);
  let [running, sum] = [infinity, infinity];
  for (let k = buckets.length - 1; k >= 0; k--) {
    running = add(curve, running, buckets[k] as Jacobian);
    sum = add(curve, sum, running);
    if (timeSlice.isOverSoon) await timeSlice.yield();
  }
  return sum;
};
