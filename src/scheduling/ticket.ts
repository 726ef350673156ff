import type { Waiting } from './edf.js';

/** When a job's turn is to be, and who may end its waiting. */
export interface Ticket extends Waiting {
  readonly signal?: AbortSignal | undefined;
  /** Told when it is. */
  onBegun?(): void;
  /** Told where it will never be, as the device is gone. */
  onRefused?(): void;
  /** Told when its last submit was made. */
  onSubmitted?(): void;
  /** Told when what it gave back was read. */
  onComputed?(): void;
}
