/** Scratch that there is with `tuning.checks` only. */
export type CheckScratchName = 'digits' | 'bucketWriters' | 'splitWriters' | 'bitWriters';

/** What checks between the stages take. */
export interface PlannedChecks {
  /**
   * In bytes.
   *
   * @param stream bytes of the sorted stream of a group
   */
  scratch(
    stream: number,
    sums: { readonly buckets: number; readonly splitTasks: number; readonly bitsTasks: number },
  ): Readonly<Record<CheckScratchName, number>>;
  /** @param levels walks over the sorted stream and its partial sums */
  dispatches(groups: number, levels: number): number;
  /** What they say of an MSM, in words among its accounts. */
  findingsWords(levels: number): number;
}
