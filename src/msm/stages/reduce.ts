import template from '../../../wgsl/msm/reduce.wgsl?template';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { STORAGE_ALIGNMENT } from '../../shaders/limits.js';
import { ENTRY_WORDS, entryWgsl } from './entry.js';

/** Config of the stage that lays out the streams of the reduction. */
export const ReduceConfig = struct('ReduceConfig', {
  high_bits: 'h: high bits of a bucket index',
  low_bits: 'q: low bits; h + q = c - 1',
  split_entries: 'length of the first stream',
  split_run_bits: 'its runs have 2^split_run_bits entries',
  split_folds: 'walks that fold its sums',
  bits_entries: 'length of the second stream',
  bits_run_bits: 'its runs have 2^bits_run_bits entries',
  bits_folds: 'walks that fold its sums',
  fold_entries: 'length of the stream of the walks that fold',
  fold_first: 'its first entry, behind the second stream',
  fold_bits: 'its runs have 2^fold_bits entries',
  entries_account: 'account of the digest of the entries, in lanes',
});

export const REDUCE_THREADS = 64;

/** A walk of the reduction, in which every run is one task. */
interface ReduceWalk {
  readonly stream: 'split' | 'bits' | 'fold';
  readonly entries: number;
  readonly tasks: number;
}

/**
 * Shapes of the walks that compute W = Σ k·B_k of every window, the last step of the bucket method.
 * All runs of a walk have the same length, so that no slot waits for another. A long run is cut
 * into several, and walks that fold add their sums.
 */
export interface ReduceShape {
  readonly highBits: number;
  readonly lowBits: number;
  readonly splitEntries: number;
  readonly splitRunBits: number;
  readonly splitFolds: number;
  readonly bitsEntries: number;
  readonly bitsRunBits: number;
  readonly bitsFolds: number;
  readonly foldEntries: number;
  /** First entry of the stream of the walks that fold, behind that of the bits. */
  readonly foldFirst: number;
  readonly foldBits: number;
  /** All walks, in their order. */
  readonly walks: readonly ReduceWalk[];
  /** Sums of the last walk: c for each window. */
  readonly bitSums: number;
}

/** A stream whose runs of 2^bits entries are cut: into runs of 2^runBits, and `folds` of them. */
const cutRuns = (bits: number, foldBits: number): { runBits: number; folds: number } => {
  const folds = Math.max(0, Math.floor(bits / foldBits) - 1);
  return { runBits: bits - folds * foldBits, folds };
};

/** Returns a walk over a stream and those that fold its sums. */
const foldedWalks = (
  stream: 'split' | 'bits',
  entries: number,
  { runBits, folds }: ReturnType<typeof cutRuns>,
  foldBits: number,
): ReduceWalk[] => {
  const first = entries / 2 ** runBits;
  const fold = (i: number): ReduceWalk => {
    const folded = first / 2 ** (i * foldBits);
    return { stream: 'fold', entries: folded, tasks: folded / 2 ** foldBits };
  };
  return [{ stream, entries, tasks: first }, ...Array.from({ length: folds }, (_, i) => fold(i))];
};

/** @param foldBits each walk that folds leaves fewer sums by the factor 2^foldBits */
export const reduceShape = (windowBits: number, windows: number, foldBits: number): ReduceShape => {
  const lowBits = (windowBits - 1) >> 1;
  const highBits = windowBits - 1 - lowBits;
  const splitEntries = windows * 2 * 2 ** (highBits + lowBits);
  const bitSums = windows * windowBits;
  // a binding starts there
  const aligned = STORAGE_ALIGNMENT / (4 * ENTRY_WORDS);
  const bitsEntries = bitSums * 2 ** (highBits - 1);
  const [split, bits] = [cutRuns(lowBits, foldBits), cutRuns(highBits - 1, foldBits)];
  const walks = [
    ...foldedWalks('split', splitEntries, split, foldBits),
    ...foldedWalks('bits', bitsEntries, bits, foldBits),
  ];
  return {
    ...{ highBits, lowBits, foldBits, walks, bitSums },
    ...{ splitEntries, splitRunBits: split.runBits, splitFolds: split.folds },
    ...{ bitsEntries, bitsRunBits: bits.runBits, bitsFolds: bits.folds },
    foldEntries: Math.max(0, ...walks.map(({ stream, entries }) => (stream === 'fold' ? entries : 0))),
    foldFirst: Math.ceil(bitsEntries / aligned) * aligned,
  };
};

/**
 * Returns the exponents of a sum: sum number `sum` of a window in the last walk has the weight Σ
 * 2^exponent.
 */
export const bitsExponents = (
  windowBits: number,
  { highBits, lowBits }: ReduceShape,
  sum: number,
): readonly number[] => {
  // k = v·2^q + u + 1 adds every bucket once more: those whose v has its top bit set, and in the
  // last sum the others
  if (sum === highBits - 1) return [lowBits + sum, 0];
  if (sum === windowBits - 1) return [0];
  return [sum < highBits ? lowBits + sum : sum - highBits];
};

export const reduceKernel = (): Kernel =>
  stageKernel({
    name: 'reduce',
    template,
    config: ReduceConfig,
    bindings: [
      { name: 'split', access: 'write', type: 'array<Entry>' },
      { name: 'bits', access: 'write', type: 'array<Entry>' },
    ],
    view: { entry: entryWgsl, threads: REDUCE_THREADS },
  });
