import type { Host } from '../environment.js';
import type { Knobs } from '../knobs.js';
import type { Parts } from '../parts.js';
import type { StampedRow } from '../rows.js';
import type { Run } from '../run.js';

/** What a mode does; what it is stands in scripts/mode-list.mjs. */
export interface BenchMode {
  /** Runs, and tells rows. Rejects where the run has failed. */
  run(run: Run, host: Host, knobs: Knobs): Promise<void>;
  /** What its rows come to, also while it runs. */
  show(rows: readonly StampedRow[]): Parts;
}
