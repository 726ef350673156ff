/** field-bench: measures field operations and the peaks of a device in one interleaved run. */

import { median } from '../../src/calibrate/statistics.js';
import type { Modulus } from '../../src/field/modulus.js';
import { bufferUsage } from '../../src/gpu/constants.js';
import { type BatchInversion, batchSubject, describeBatch } from './batch-inverse/kernel.js';
import { CHAIN_THREADS, fieldOperations, peakOperations } from './kernels.js';
import type { FieldOperation } from './operation.js';
import { fieldSubject, makeRig, passes, type Rig } from './rig.js';
import { timeSubmit } from './submit.js';

export interface FieldBenchOptions {
  /** Threads of a dispatch, rounded up to whole workgroups. */
  readonly threads: number;
  /** Numbers of independent chains a thread. */
  readonly chains: readonly number[];
  /** Repetitions, of which the median counts. Each repetition runs all kernels. */
  readonly reps: number;
  /** Shortest duration of one dispatch, in milliseconds. */
  readonly leastMs: number;
  /** Operations to measure besides the peaks. Default: all that the device supports. */
  readonly operations?: readonly FieldOperation[];
  /** Batches of inversions to measure. Default: none. */
  readonly batches?: readonly BatchInversion[];
  /** WGSL language features of the device. */
  readonly features: ReadonlySet<string>;
  /**
   * Reports progress. An exception ends the run.
   *
   * @param prepared number of the steps in `total` that only compile
   */
  onProgress?(text: string, done: number, total: number, prepared: number): void;
}

interface Measured {
  /** Name of the variant: which product. */
  readonly variant: string;
  /** Operations a second of all threads together, or numbers inverted in batches: the median. */
  readonly perSecond: number;
  /** Milliseconds to compile the pipeline. */
  readonly compileMs: number;
}

export interface FieldBenchRow extends Measured {
  readonly operation: string;
  readonly chains: number;
  /** Rate of each repetition. All kernels are interleaved. */
  readonly rates: readonly number[];
  /**
   * Share of the peak of u32 multiply-adds, from the multiply-adds of the operation; null if that
   * is no measure.
   */
  readonly ofPeak: number | null;
}

export interface BatchRow extends Measured {
  readonly name: string;
  readonly batch: BatchInversion;
}

export interface FieldBenchResult {
  readonly rows: readonly FieldBenchRow[];
  readonly batches: readonly BatchRow[];
  /** Operations that were skipped, because this device cannot do them, or not exactly. */
  readonly skipped: readonly { readonly operation: string; readonly variant: string; readonly why: string }[];
  readonly peaks: readonly { readonly operation: string; readonly perSecond: number }[];
  /** Bytes read and written a second by copies between buffers. */
  readonly copyBytesPerSecond: number;
}

/** Bytes of the copied buffers, more than the caches of most devices hold. */
const COPY_BYTES = 2 ** 26;

/** Returns the milliseconds of one copy of COPY_BYTES. */
const copyOnce = (device: GPUDevice, from: GPUBuffer, to: GPUBuffer): Promise<number> =>
  timeSubmit(device, () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, to, 0, COPY_BYTES);
    return encoder.finish();
  });

type Skipped = FieldBenchResult['skipped'][number];

const isPossible = ({ feature }: { feature?: string }, features: ReadonlySet<string>): boolean =>
  feature === undefined || features.has(feature);

/** Selects the operations that a device can do exactly. */
async function selectOperations(
  device: GPUDevice,
  operations: readonly FieldOperation[],
  features: ReadonlySet<string>,
): Promise<{ readonly possible: readonly FieldOperation[]; readonly skipped: readonly Skipped[] }> {
  const possible: FieldOperation[] = [];
  const skipped: Skipped[] = [];
  for (const operation of operations) {
    const { variant, name, feature, probe } = operation;
    if (!isPossible(operation, features)) skipped.push({ operation: name, variant, why: `no ${feature} here` });
    else if (probe !== undefined && !(await passes(device, variant, probe)))
      skipped.push({ operation: name, variant, why: 'not exact here' });
    else possible.push(operation);
  }
  return { possible, skipped };
}

/** A rig with its rates, by repetition. */
interface Timed {
  readonly rig: Rig;
  readonly rates: number[];
}

const measuredOf = ({ rig, rates }: Timed) => {
  const { name: operation, variant, chains, multiplyAdds } = rig.subject;
  const perSecond = median(rates) as number;
  return { operation, multiplyAdds, variant, chains, perSecond, rates, compileMs: rig.compileMs };
};

/** Returns the peaks, rows and batches of all rigs, which are in this order. */
function resultOf(
  timed: readonly Timed[],
  peakCount: number,
  batches: readonly BatchInversion[],
): Pick<FieldBenchResult, 'peaks' | 'rows' | 'batches'> {
  const measured = timed.map(measuredOf);
  const firstBatch = measured.length - batches.length;
  const multiplyAddsPerSecond = measured[0]?.perSecond as number;
  return {
    peaks: measured.slice(0, peakCount).map(({ operation, perSecond }) => ({ operation, perSecond })),
    rows: measured.slice(peakCount, firstBatch).map(({ multiplyAdds, ...row }) => ({
      ...row,
      ofPeak: multiplyAdds === null ? null : (multiplyAdds * row.perSecond) / multiplyAddsPerSecond,
    })),
    batches: measured.slice(firstBatch).map(({ variant, perSecond, compileMs }, i) => {
      const batch = batches[i] as BatchInversion;
      return { name: describeBatch(batch), batch, variant, perSecond, compileMs };
    }),
  };
}

/**
 * Checks every kernel against BigInts, finds its chain length, and times all kernels interleaved.
 *
 * @param m modulus of the field
 * @throws Error `WRONG: …` if a kernel does not compute what its definition says
 */
export const fieldBench = async (
  device: GPUDevice,
  m: Modulus,
  options: FieldBenchOptions,
): Promise<FieldBenchResult> => {
  const { chains, reps, leastMs, operations = fieldOperations, batches = [], features, onProgress } = options;
  const threads = CHAIN_THREADS * Math.ceil(options.threads / CHAIN_THREADS);
  const peaks = peakOperations.filter((operation) => isPossible(operation, features));
  const { possible, skipped } = await selectOperations(device, operations, features);
  const subjects = [
    ...peaks.map((operation) => fieldSubject(m, operation, 8, threads)),
    ...possible.flatMap((operation) =>
      (operation.alone ? [1] : chains).map((count) => fieldSubject(m, operation, count, threads)),
    ),
    ...batches.map((batch) => batchSubject(m, batch, threads)),
  ];
  const timed: Timed[] = [];
  const buffers = [0, 1].map(() =>
    device.createBuffer({ size: COPY_BYTES, usage: bufferUsage.copySrc | bufferUsage.copyDst }),
  ) as [GPUBuffer, GPUBuffer];
  try {
    const prepared = subjects.length;
    const total = prepared + reps;
    for (const [i, subject] of subjects.entries()) {
      const name = [subject.name, subject.variant].filter((part) => part !== '').join(', ');
      onProgress?.(`${name}, ${subject.chains} chains: compiling, checking`, i, total, prepared);
      timed.push({ rig: await makeRig(device, subject, leastMs), rates: [] });
    }
    const copies: number[] = [];
    await copyOnce(device, ...buffers);
    for (let rep = 0; rep < reps; rep++) {
      onProgress?.(`repetition ${rep + 1} of ${reps}`, prepared + rep, total, prepared);
      for (const { rig, rates } of timed) rates.push(await rig.rate());
      copies.push((2 * COPY_BYTES) / ((await copyOnce(device, ...buffers)) / 1000));
    }
    return { ...resultOf(timed, peaks.length, batches), skipped, copyBytesPerSecond: median(copies) as number };
  } finally {
    for (const { rig } of timed) rig.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
};
