/** field-bench: what the operations of the field cost on a device, beside what the device can do at all, in one interleaved run. */

import { median } from '../../src/calibrate/statistics.js';
import type { Modulus } from '../../src/field/modulus.js';
import { bufferUsage } from '../../src/gpu/constants.js';
import { type BatchInversion, batchSubject, describeBatch } from './batch-inverse/kernel.js';
import { CHAIN_THREADS, fieldOperations, peakOperations } from './kernels.js';
import type { FieldOperation } from './operation.js';
import { fieldSubject, makeRig, passes, type Rig } from './rig.js';
import { timeSubmit } from './submit.js';

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

interface Measured {
  /** How it is done: which product. */
  readonly variant: string;
  /** Operations a second, of all threads together: the median. Of a batch: numbers inverted. */
  readonly perSecond: number;
  /** Milliseconds until its pipeline was there. */
  readonly compileMs: number;
}

export interface FieldBenchRow extends Measured {
  readonly operation: string;
  readonly chains: number;
  /** In every repetition; all kernels take turns in each. */
  readonly rates: readonly number[];
  /** Of the peak of u32 multiply-adds, by the multiply-adds that the operation takes; null where that says nothing. */
  readonly ofPeak: number | null;
}

export interface BatchRow extends Measured {
  readonly name: string;
  readonly batch: BatchInversion;
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
  options: FieldBenchOptions,
): Promise<FieldBenchResult> => {
  const { chains, reps, leastMs, operations = fieldOperations, batches = [], features, onProgress } = options;
  const threads = CHAIN_THREADS * Math.ceil(options.threads / CHAIN_THREADS);
  const isPossible = ({ feature }: { feature?: string }): boolean => feature === undefined || features.has(feature);
  const peaks = peakOperations.filter(isPossible);
  const possible: FieldOperation[] = [];
  const skipped: { operation: string; variant: string; why: string }[] = [];
  for (const operation of operations) {
    const { variant, name, feature, probe } = operation;
    if (!isPossible(operation)) skipped.push({ operation: name, variant, why: `no ${feature} here` });
    else if (probe !== undefined && !(await passes(device, variant, probe)))
      skipped.push({ operation: name, variant, why: 'not exact here' });
    else possible.push(operation);
  }
  const subjects = [
    ...peaks.map((operation) => fieldSubject(m, operation, 8, threads)),
    ...possible.flatMap((operation) =>
      (operation.alone ? [1] : chains).map((count) => fieldSubject(m, operation, count, threads)),
    ),
    ...batches.map((batch) => batchSubject(m, batch, threads)),
  ];
  const rigs: { readonly rig: Rig; readonly rates: number[] }[] = [];
  const buffers = [0, 1].map(() =>
    device.createBuffer({ size: COPY_BYTES, usage: bufferUsage.copySrc | bufferUsage.copyDst }),
  ) as [GPUBuffer, GPUBuffer];
  try {
    const prepared = subjects.length;
    const total = prepared + reps;
    for (const [i, subject] of subjects.entries()) {
      const name = [subject.name, subject.variant].filter((part) => part !== '').join(', ');
      onProgress?.(`${name}, ${subject.chains} chains: compiling, checking`, i, total, prepared);
      rigs.push({ rig: await makeRig(device, subject, leastMs), rates: [] });
    }
    const copies: number[] = [];
    await copyOnce(device, ...buffers);
    for (let rep = 0; rep < reps; rep++) {
      onProgress?.(`repetition ${rep + 1} of ${reps}`, prepared + rep, total, prepared);
      for (const { rig, rates } of rigs) rates.push(await rig.rate());
      copies.push((2 * COPY_BYTES) / ((await copyOnce(device, ...buffers)) / 1000));
    }
    const measured = rigs.map(({ rig, rates }) => {
      const { name: operation, variant, chains, multiplyAdds } = rig.subject;
      const perSecond = median(rates) as number;
      return { operation, multiplyAdds, variant, chains, perSecond, rates, compileMs: rig.compileMs };
    });
    const firstBatch = measured.length - batches.length;
    const multiplyAddsPerSecond = measured[0]?.perSecond as number;
    return {
      peaks: measured.slice(0, peaks.length).map(({ operation, perSecond }) => ({ operation, perSecond })),
      rows: measured.slice(peaks.length, firstBatch).map(({ multiplyAdds, ...row }) => ({
        ...row,
        ofPeak: multiplyAdds === null ? null : (multiplyAdds * row.perSecond) / multiplyAddsPerSecond,
      })),
      batches: measured.slice(firstBatch).map(({ variant, perSecond, compileMs }, i) => {
        const batch = batches[i] as BatchInversion;
        return { name: describeBatch(batch), batch, variant, perSecond, compileMs };
      }),
      skipped,
      copyBytesPerSecond: median(copies) as number,
    };
  } finally {
    for (const { rig } of rigs) rig.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
};
