/** Submissions: uploads, commands and results of a job. */
import type { HostTimes } from '../api/run-record.js';
import type { Ticket } from '../scheduling/ticket.js';
import type { Command, Dispatch, Slice } from '../shaders/commands.js';

/** Bytes to upload. */
export interface Upload {
  readonly to: Slice;
  readonly data: Uint8Array | Uint32Array;
  /** Returns where the same bytes are on the device already; null if nowhere. Called once. */
  readonly from?: () => { readonly buffer: GPUBuffer; readonly offset: number } | null;
}

/** Commands of one or more submits, with their inputs and outputs. */
export interface Submission {
  /** Storage buffers that the commands use, by name, in bytes; pooled for the next submission. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Buffers that are not the runner's, by name. */
  readonly external?: Readonly<Record<string, GPUBuffer>>;
  readonly uploads: readonly Upload[];
  readonly commands: readonly Command[];
  /** Place in the device's queue. Default: in order, among those of normal priority. */
  readonly ticket?: Ticket | undefined;
  /** Expected milliseconds of one submit on the device. Default 0. */
  readonly expectedMs?: number;
  /** Bytes of the stages' accounts, which are zero at the beginning and come back. */
  readonly accounts?: number;
  /** Bytes of `RESULT`, which is zero at the beginning and comes back. */
  readonly result?: number;
  /** More slices to read back; in whole words. */
  readonly read?: readonly (Slice & { readonly size: number })[];
  /** Called after the last submit; the host computes its part. */
  meanwhile?(): Promise<void>;
  /** Called between submits; its errors end the submission. */
  onSubmitted?(done: number, total: number): void;
}

/** Results of a submission. */
export interface SubmissionResult {
  readonly accounts: Uint32Array;
  readonly result: Uint32Array;
  /** The words of each slice of `read`. */
  readonly data: readonly Uint32Array[];
  readonly dispatches: number;
  readonly submits: number;
  /** Bytes of the uploads that were not on the device already. */
  readonly uploadedBytes: number;
  /**
   * Times in the order of the commands; null without timestamps, or with more passes than a set of
   * queries holds.
   */
  readonly passes: readonly PassTime[] | null;
}

/** Times of a pass, in nanoseconds of the device's clock. */
export interface PassTime {
  readonly phase: string;
  /** Submit of the submission, from 0. */
  readonly submit: number;
  readonly begin: bigint;
  readonly end: bigint;
}

/** A clock that adds time to the part that was entered last. */
export interface Stopwatch {
  /** Enters a part. @param part null: time counts to none */
  enter(part: keyof HostTimes | null): void;
}

/** Consecutive commands of one phase, whose time is taken together. */
export interface Pass {
  readonly phase: string;
  readonly clears: Slice[];
  readonly dispatches: Dispatch[];
}

/**
 * Returns the passes of each submit. Clears precede the pass of the dispatch that follows them; no
 * earlier dispatch of that pass may need the old contents.
 */
export const toSegments = (commands: readonly Command[]): Pass[][] => {
  const segments: Pass[][] = [[]];
  let clears: Slice[] = [];
  for (const command of commands) {
    const segment = segments.at(-1) as Pass[];
    const last = segment.at(-1);
    if (command.kind === 'submit') {
      segments.push([]);
    } else if (command.kind === 'clear') {
      clears.push(command.slice);
    } else if (last !== undefined && last.phase === command.phase && clears.length === 0) {
      last.dispatches.push(command);
    } else {
      segment.push({ phase: command.phase, clears, dispatches: [command] });
      clears = [];
    }
  }
  return segments;
};
