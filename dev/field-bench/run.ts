/** field-bench: what the operations of the field cost on a device, beside what the device can do at all, in one interleaved run. */

import { median } from '../../src/calibrate/statistics.js';
import type { Modulus } from '../../src/field/modulus.js';
import { bufferUsage } from '../../src/gpu/constants.js';
import { type BatchInversion, describeBatch } from './batch-inverse/kernel.js';
import { batchSubject } from './batch-inverse/subject.js';
import { CHAIN_THREADS, type FieldOperation, fieldOperations, type PeakOperation, peakOperations } from './kernels.js';
import { fieldSubject, passes, peakSubject, Rig } from './rig.js';
import { timeSubmit } from './submit-time.js';

export interface FieldBenchOptions {
  /** Threads of a dispatch; rounded up to whole workgroups. */
  readonly threads: number;
  /** Numbers of independent chains a thread. */
  readonly chains: readonly number[];
  /** Repetitions, of which the median counts; all kernels take turns in each. */
  readonly reps: number;
  /** How long one dispatch should take at least, in milliseconds. */
  readonly leastMs: number;
  /** What to measure beside the peaks. Default: all that the device can do. */
  readonly operations?: readonly FieldOperation[];
  /** Batches of inversions to measure beside them. Default: none. */
  readonly batches?: readonly BatchInversion[];
  /** WGSL language features that the device's WebGPU has. */
  readonly features: ReadonlySet<string>;
  /**
   * May throw, which ends the run.
   *
   * @param prepared how many of the steps in `total` compile and measure nothing
   */
  onProgress?(text: string, done: number, total: number, prepared: number): void;
}

export interface FieldBenchRow {
  /** How it is done: limbs and carries. */
  readonly variant: string;
  readonly operation: string;
  readonly chains: number;
  /** Operations a second, of all threads together: the median. */
  readonly perSecond: number;
  /** In every repetition; all kernels take turns in each. */
  readonly rates: readonly number[];
  /** Of the peak of u32 multiply-adds, by the multiply-adds that the operation takes; null where that says nothing. */
  readonly ofPeak: number | null;
  /** Milliseconds until its pipeline was there. */
  readonly compileMs: number;
}

export interface BatchRow {
  readonly name: string;
  readonly batch: BatchInversion;
  /** As that of the operations with the same carries. */
  readonly variant: string;
  /** Numbers inverted a second, of all threads together. */
  readonly perSecond: number;
  readonly compileMs: number;
}

export interface FieldBenchResult {
  readonly rows: readonly FieldBenchRow[];
  readonly batches: readonly BatchRow[];
  /** What was not measured, as this device cannot do it, or not exactly. */
  readonly skipped: readonly { readonly operation: string; readonly variant: string; readonly why: string }[];
  readonly peaks: readonly { readonly operation: string; readonly perSecond: number }[];
  /** Bytes read and written a second by copies from buffer to buffer. */
  readonly copyBytesPerSecond: number;
}

/** Bytes of the buffers that are copied: more than the caches of most devices hold. */
const COPY_BYTES = 2 ** 26;

/** Milliseconds of one copy of COPY_BYTES. */
const copyOnce = (device: GPUDevice, from: GPUBuffer, to: GPUBuffer): Promise<number> =>
  timeSubmit(device, () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, to, 0, COPY_BYTES);
    return encoder.finish();
  });

/**
 * Checks every kernel against BigInts, finds how long a chain it needs, and times all of them in turn.
 *
 * @param m the field
 * @throws Error `WRONG: …` if a kernel computes anything else than its definition says
 */
export const fieldBench = async (
  device: GPUDevice,
  m: Modulus,
  {
    threads: wanted,
    chains,
    reps,
    leastMs,
    operations = fieldOperations,
    batches = [],
    features,
    onProgress,
  }: FieldBenchOptions,
): Promise<FieldBenchResult> => {
  const threads = CHAIN_THREADS * Math.ceil(wanted / CHAIN_THREADS);
  const possible = ({ feature }: { feature?: string }): boolean => feature === undefined || features.has(feature);
  const peaks = (peakOperations as readonly PeakOperation[]).filter(possible);
  const measured: FieldOperation[] = [];
  const skipped: { operation: string; variant: string; why: string }[] = [];
  for (const operation of operations) {
    const { variant, name, feature, probe } = operation;
    if (!possible(operation)) skipped.push({ operation: name, variant, why: `no ${feature} here` });
    else if (probe !== undefined && !(await passes(device, variant, probe)))
      skipped.push({ operation: name, variant, why: 'not exact here' });
    else measured.push(operation);
  }
  const subjects = [
    ...peaks.map((operation) => peakSubject(operation, 8, threads)),
    ...measured.flatMap((operation) =>
      (operation.alone ? [1] : chains).map((count) => fieldSubject(m, operation, count, threads)),
    ),
    ...batches.map((batch) => batchSubject(m, batch, threads)),
  ];
  const rigs: { readonly rig: Rig; readonly steps: number; readonly times: number[] }[] = [];
  const buffers = [0, 1].map(() =>
    device.createBuffer({ size: COPY_BYTES, usage: bufferUsage.copySrc | bufferUsage.copyDst }),
  ) as [GPUBuffer, GPUBuffer];
  try {
    const total = subjects.length + reps;
    for (const [i, subject] of subjects.entries()) {
      onProgress?.(
        `${[subject.name, subject.variant].filter((part) => part !== '').join(', ')}, ${subject.chains} chains: compiling, checking`,
        i,
        total,
        subjects.length,
      );
      const rig = await Rig.make(device, subject);
      rigs.push({ rig, steps: await rig.calibrate(leastMs), times: [] });
    }
    const copies: number[] = [];
    await copyOnce(device, ...buffers);
    for (let rep = 0; rep < reps; rep++) {
      onProgress?.(`repetition ${rep + 1} of ${reps}`, subjects.length + rep, total, subjects.length);
      for (const { rig, steps, times } of rigs) times.push(rig.rate(steps, await rig.run(steps)));
      copies.push((2 * COPY_BYTES) / ((await copyOnce(device, ...buffers)) / 1000));
    }
    const rates = rigs.map(({ rig, times }) => ({
      ...rig.subject,
      compileMs: rig.compileMs,
      perSecond: median(times) as number,
      rates: times,
    }));
    const firstBatch = rates.length - batches.length;
    const multiplyAddsPerSecond = rates[0]?.perSecond as number;
    return {
      peaks: rates.slice(0, peaks.length).map(({ name, perSecond }) => ({ operation: name, perSecond })),
      rows: rates
        .slice(peaks.length, firstBatch)
        .map(({ variant, name, chains: count, perSecond, rates: all, multiplyAdds: each, compileMs }) => ({
          variant,
          operation: name,
          chains: count,
          perSecond,
          rates: all,
          ofPeak: each === null ? null : (each * perSecond) / multiplyAddsPerSecond,
          compileMs,
        })),
      batches: rates.slice(firstBatch).map(({ variant, perSecond, compileMs }, i) => ({
        name: describeBatch(batches[i] as BatchInversion),
        batch: batches[i] as BatchInversion,
        variant,
        perSecond,
        compileMs,
      })),
      skipped,
      copyBytesPerSecond: median(copies) as number,
    };
  } finally {
    for (const { rig } of rigs) rig.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
};
