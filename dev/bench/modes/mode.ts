import type { Host } from '../environment.js';
import type { Knobs } from '../knobs.js';
import type { Parts } from '../parts.js';
import type { StampedRow } from '../rows.js';
import type { Run } from '../run.js';

/** A mode of the bench. Its name and description are in scripts/mode-list.mjs. */
export interface BenchMode {
  /** Runs the mode and emits rows. Rejects if the run fails. */
  run(run: Run, host: Host, knobs: Knobs): Promise<void>;
  /** Reports the rows, also while the run goes on. */
  show(rows: readonly StampedRow[]): Parts;
}
