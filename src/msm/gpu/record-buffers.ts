/** Buffers that the commands of a batch read and write. */
import { RESULT, type Slice } from '../../shaders/commands.js';
import type { GroupAccounts } from '../plan/accounts.js';
import type { ScratchName } from '../plan/planner.js';
import type { Batch, OwnName } from '../plan/schedule.js';

/** Returns a slice of a scratch buffer. */
export const scratch = (buffer: ScratchName, offset?: number, size?: number): Slice => ({
  buffer,
  ...(offset === undefined ? {} : { offset }),
  ...(size === undefined ? {} : { size }),
});

/** A group of windows, [first, first + count), that is sorted and walked at once. */
export interface WindowGroup {
  readonly accounts: GroupAccounts;
  readonly first: number;
  readonly count: number;
}

/** Returns a batch's slice of a buffer that all batches share. */
export const ownSlice = ({ plan, at }: Batch, buffer: Exclude<OwnName, 'accounts'>): Slice => ({
  buffer: buffer === 'bitSums' ? RESULT : buffer,
  offset: at[buffer],
  size: plan.scratch[buffer],
});

/**
 * Returns the buffer that a sort pass reads. A pass writes the buffer of the next pass; the last
 * pass writes the sorted stream.
 */
export const sortBuffer = (pass: number): ScratchName => (pass % 2 === 0 ? 'entriesA' : 'entriesB');
