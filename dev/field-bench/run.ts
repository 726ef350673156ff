/** field-bench: measures field operations and the peaks of a device in one interleaved run. */
import { median } from '../../src/calibrate/statistics.js';
import type { Modulus } from '../../src/field/modulus.js';
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { CHAIN_THREADS, type FieldOperation, fieldOperations, peakOperations } from './kernels.js';
import { fieldSubject, makeRig, type Rig, timeSubmit } from './rig.js';

export interface FieldBenchOptions {
  /** Threads of a dispatch, rounded up to whole workgroups. */
  readonly threads: number;
  /** Numbers of independent chains a thread. */
  readonly chains: readonly number[];
  /** Repetitions, of which the median counts. Each repetition runs all kernels. */
  readonly reps: number;
  /** Shortest duration of one dispatch, in milliseconds. */
  readonly leastMs: number;
  /** Operations to measure besides the peaks, if the device supports them. Default: all. */
  readonly operations?: readonly FieldOperation[];
  /** WGSL language features of the device. */
  readonly features: ReadonlySet<string>;
  /**
   * Reports progress. An exception ends the run.
   *
   * @param prepared number of the steps in `total` that only compile
   */
  onProgress?(text: string, done: number, total: number, prepared: number): void;
}

export interface FieldBenchRow {
  readonly operation: string;
  /** Name of the variant: which product. */
  readonly variant: string;
  readonly chains: number;
  /** Operations a second of all threads together: the median. */
  readonly perSecond: number;
  /** Rate of each repetition. All kernels are interleaved. */
  readonly rates: readonly number[];
  /** Milliseconds to compile the pipeline. */
  readonly compileMs: number;
  /**
   * Share of the peak of u32 multiply-adds, from the multiply-adds of the operation; null if that
   * is no measure.
   */
  readonly ofPeak: number | null;
}

export interface FieldBenchResult {
  readonly rows: readonly FieldBenchRow[];
  /** Operations that were skipped, because this device cannot do them. */
  readonly skipped: readonly { readonly operation: string; readonly variant: string; readonly why: string }[];
  readonly peaks: readonly { readonly operation: string; readonly perSecond: number }[];
  /** Bytes read and written a second by copies between buffers. */
  readonly copyBytesPerSecond: number;
}

/** Bytes of the copied buffers, more than the caches of most devices hold. */
const COPY_BYTES = 2 ** 26;

const copyOnce = (device: GPUDevice, from: GPUBuffer, to: GPUBuffer): Promise<number> =>
  timeSubmit(device, () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, to, 0, COPY_BYTES);
    return encoder.finish();
  });

const isPossible = ({ feature }: Pick<FieldOperation, 'feature'>, features: ReadonlySet<string>): boolean =>
  feature === undefined || features.has(feature);

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

/** Returns the peaks and rows of all rigs, which are in this order. */
function resultOf(timed: readonly Timed[], peakCount: number): Pick<FieldBenchResult, 'peaks' | 'rows'> {
  const measured = timed.map(measuredOf);
  const multiplyAddsPerSecond = measured[0]?.perSecond as number;
  return {
    peaks: measured.slice(0, peakCount).map(({ operation, perSecond }) => ({ operation, perSecond })),
    rows: measured.slice(peakCount).map(({ multiplyAdds, ...row }) => ({
      ...row,
      ofPeak: multiplyAdds === null ? null : (multiplyAdds * row.perSecond) / multiplyAddsPerSecond,
    })),
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
  const { chains, reps, leastMs, operations = fieldOperations, features, onProgress } = options;
  const threads = CHAIN_THREADS * Math.ceil(options.threads / CHAIN_THREADS);
  const peaks = peakOperations.filter((operation) => isPossible(operation, features));
  const subjects = [
    ...peaks.map((operation) => fieldSubject(m, operation, 8, threads)),
    ...operations
      .filter((operation) => isPossible(operation, features))
      .flatMap((operation) =>
        (operation.alone ? [1] : chains).map((count) => fieldSubject(m, operation, count, threads)),
      ),
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
    const skipped = operations
      .filter((operation) => !isPossible(operation, features))
      .map(({ name, variant, feature }) => ({ operation: name, variant, why: `no ${feature} here` }));
    return { ...resultOf(timed, peaks.length), skipped, copyBytesPerSecond: median(copies) as number };
  } finally {
    for (const { rig } of timed) rig.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
};
