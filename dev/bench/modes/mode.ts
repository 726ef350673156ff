import type { Bench } from '../bench-setup.js';
import type { CommonKnob, Knobs, KnobTable, Values } from '../knob.js';
import type { Parts } from '../parts.js';
import type { StampedRow } from '../rows.js';

/** A mode of the bench: what it is for, its knobs, its run and its report. */
export interface BenchMode<Own extends KnobTable = KnobTable> {
  readonly title: string;
  /** Purpose, and the question that the mode answers. */
  readonly about: string;
  /** Duration with defaults on two busy cores with SwiftShader; the shorter end is an estimate. */
  readonly takes: string;
  /** Arguments of `npm run bench --`, as an example. */
  readonly example: string;
  /** Parts that the mode leaves out, switches off or cannot measure; absent if none. */
  readonly limits?: string;
  /** Why it runs in a terminal only; absent if it also runs on the page. */
  readonly nodeOnly?: string;
  /** `gpu`: always opens a GPU. `either`: not if every setting says `backend=cpu`. */
  readonly runsOn: 'gpu' | 'either';
  /** Settings: one for each value of a list, A and B, or, by default, one. */
  readonly settings?: 'lists' | 'sides';
  /** True if every case runs with both placements of the prefix products, and n may be 0. */
  readonly checksPlacements?: true;
  /** Common knobs that it uses, except `autorun`. */
  readonly uses: readonly CommonKnob[];
  readonly engine: readonly string[];
  readonly defaults: { readonly reps?: number; readonly logn?: readonly number[] };
  readonly knobs: Own;
  /** Returns what is wrong with values that are valid by themselves; null if nothing is. */
  problemOf?(query: URLSearchParams): string | null;
  /** Runs the mode and emits rows. Returns why the run failed, or null; rejects on errors. */
  run(bench: Bench, knobs: Knobs & Values<Own>): Promise<string | null>;
  /** Reports the rows, also while the run goes on. */
  show(rows: readonly StampedRow[]): Parts;
}

/** Infers the knobs of a mode. */
export const benchMode = <Own extends KnobTable>(mode: BenchMode<Own>): BenchMode<Own> => mode;
