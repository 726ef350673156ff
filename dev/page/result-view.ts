import type { StampedRow } from '../bench/rows.js';

/** What a mode shows of its rows while they come. */
export interface ResultView {
  readonly root: HTMLElement;
  onRow(row: StampedRow): void;
}
