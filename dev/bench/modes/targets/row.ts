import type { Finding } from './findings.js';
import type { Workbench } from './workbench.js';

/** In the order in which they are printed. */
export const rowNames = [
  'work',
  'efficiency',
  'cost',
  'gpu-time',
  'distributions',
  'small',
  'batch',
  'memory',
  'cold',
] as const;

export interface Conditions {
  readonly software: boolean;
  readonly logn: number;
}

/** What belongs together under one name: measured, and judged by what came of it. */
export interface Row<Measured> {
  /** For --rows. */
  readonly name: (typeof rowNames)[number];
  /** Whether it must be measured before anything else is, in this process. */
  readonly first?: true;
  /** Throws where a result is wrong. */
  measure(bench: Workbench): Promise<Measured>;
  judge(measured: Measured, conditions: Conditions): Finding[];
}

/** Infers what is judged from what is measured. */
export const row = <Measured>(own: Row<Measured>): Row<Measured> => own;
