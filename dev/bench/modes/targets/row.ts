import type { Finding } from './findings.js';
import type { Workbench } from './workbench.js';

/** Names of the rows in print order. */
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

/** A row of targets: a measurement, and the findings from it. */
export interface Row<Measured> {
  /** Name for --rows. */
  readonly name: (typeof rowNames)[number];
  /** True if it must be measured before anything else of this process. */
  readonly first?: true;
  /** Measures the row. Throws if a result is wrong. */
  measure(bench: Workbench): Promise<Measured>;
  judge(measured: Measured, conditions: Conditions): Finding[];
}

/** Infers the type of the measurement. */
export const row = <Measured>(own: Row<Measured>): Row<Measured> => own;
