/** Functions of a kernel that sort points into buckets and add each bucket up. */
import type { WasmModule } from '../encoder/module.js';
import { addPairs } from './add-pairs.js';
import { addSort } from './sort-digits.js';

/**
 * Bits of one window: digit + 2^(c−1) is `mask` of the 64 bits at `from`, shifted by `shift`; the
 * digits of the next scalar are `stride` bytes further. `half` is 2^(c−1). The buckets are `width`
 * from `low` on.
 */
export type WindowArguments = [
  from: number,
  stride: number,
  shift: number,
  mask: number,
  half: number,
  count: number,
  low: number,
  width: number,
];

/** Functions for buckets. Every argument is a number or an address. */
export interface BucketExports {
  /** Counts the digits of a window, by bucket: word b + 2 of `starts`. */
  countDigits(...args: [...WindowArguments, starts: number]): void;
  /** Turns the counts of `count` ≥ 1 buckets into their beginnings. @returns how many digits */
  sumCounts(starts: number, count: number): number;
  /**
   * Writes the address of each point to the place of its bucket in `row`, with the sign of its
   * digit. Afterwards word b of `starts` is where bucket b begins.
   */
  sortDigits(...args: [...WindowArguments, starts: number, row: number, point: number, pointBytes: number]): void;
  /** Computes one list of additions (`PAIR_STATE`). @returns 0 when all buckets are added up */
  addPairs(state: number): number;
}

/** Adds the functions of `BucketExports`. @param add index of the function that computes a list */
export const addBucketFunctions = (
  module: WasmModule,
  add: number,
  { additions, point }: { readonly additions: number; readonly point: number },
): void => {
  addSort(module);
  addPairs(module, add, additions, point);
};
