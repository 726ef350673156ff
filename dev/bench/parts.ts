/**
 * The report of a run as data: the page draws it, a terminal prints it. Modes decide the content,
 * not the layout.
 */
import type { PhaseTime } from '../../src/api/run-record.js';
import { formatMs, formatPercent } from './format.js';

/** Text of a table cell or tile, optionally with emphasis and small print. */
export type Cell =
  | string
  | { readonly text: string; readonly as?: 'right' | 'wrong' | 'strong'; readonly small?: string };

/** A row of a table, with an optional remark below it. */
export interface Line {
  readonly cells: readonly Cell[];
  readonly is?: 'failed' | 'aside' | undefined;
  readonly below?: string | null;
}

export const lineOf = (row: readonly Cell[] | Line): Line => ('cells' in row ? row : { cells: row });

/** A sentence; parts with a query are links. */
export type Sentence = string | readonly (string | { readonly text: string; readonly query: string })[];

/** A large figure with its label and a note. */
export type Tile = readonly [label: string, value: Cell, note?: string | undefined];

export interface TimePoint {
  readonly n: number;
  readonly ms: number;
  readonly lowMs?: number;
  readonly highMs?: number;
}

/** A series of times by size. Bounds are drawn dashed and without points. */
export interface TimeSeries {
  readonly name: string;
  readonly points: readonly TimePoint[];
  readonly kind: 'measured' | 'bound';
}

/**
 * A bar of a settings chart, with its range. A bound is not a measurement but a lower limit on the
 * time.
 */
export interface Bar {
  readonly label: string;
  readonly medianMs: number;
  readonly lowMs: number;
  readonly highMs: number;
  readonly bound?: boolean;
}

/** An interval on the timeline. */
export interface Block {
  readonly lane: 'host' | 'GPU';
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

/** A time split into parts. */
export interface Shares {
  readonly label: string;
  readonly parts: readonly PhaseTime[];
}

/** Data of each kind of chart. */
export interface ChartData {
  readonly time: { readonly series: readonly TimeSeries[] };
  /** `fastest`: label of the setting that is faster by more than noise; null if none is. */
  readonly settings: { readonly settings: readonly Bar[]; readonly fastest: string | null };
  readonly shares: { readonly bars: readonly Shares[] };
  readonly distribution: { readonly series: readonly { readonly name: string; readonly values: readonly number[] }[] };
  readonly timeline: { readonly blocks: readonly Block[] };
}

export interface ChartOptions {
  readonly caption: string;
  /** One sentence that describes the chart for screen readers. */
  readonly summary: string;
}

export interface TableData<Row = readonly Cell[] | Line> {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
  /** Number of columns from the left that hold text; the others hold numbers. Default: 1. */
  readonly words?: number;
  /** Terminals print the failed rows only. */
  readonly long?: boolean;
}

export type Part =
  | { readonly kind: 'tiles'; readonly tiles: readonly Tile[] }
  | { readonly kind: 'notes'; readonly lines: readonly Sentence[] }
  | { readonly kind: 'headline'; readonly text: string }
  | ({ readonly kind: 'table' } & TableData)
  /** A section with parts of its own; `folded` ones are collapsed on the page. */
  | { readonly kind: 'folded' | 'section'; readonly caption: string; readonly parts: Parts }
  | {
      [Kind in keyof ChartData]: ChartOptions & { readonly kind: Kind; readonly data: ChartData[Kind] };
    }[keyof ChartData];

export type Parts = readonly (Part | null)[];

export const present = <Value>(values: readonly (Value | null)[]): Value[] => values.filter((value) => value !== null);

export const verdict = (right: boolean, text = right ? 'correct' : 'wrong'): Cell => ({
  text,
  as: right ? 'right' : 'wrong',
});

export const tiles = (...all: readonly (Tile | null)[]): Part => ({ kind: 'tiles', tiles: present(all) });

/** Returns the sentence that says the result, above all figures. */
export const headline = (text: string): Part => ({ kind: 'headline', text });

export const notes = (...lines: readonly Sentence[]): Part => ({ kind: 'notes', lines });

/** A column of a table: its head, and the function that makes its cells. */
export type Column<Item> = readonly [head: string, cell: (item: Item) => Cell];

export function tableOf<Item>(
  caption: string,
  items: readonly Item[],
  columns: readonly (Column<Item> | null)[],
  { of, ...how }: { of?(item: Item): Omit<Line, 'cells'>; words?: number; long?: boolean } = {},
): Part {
  const there = present(columns);
  const rows = items.map((item): Line => ({ cells: there.map(([, cell]) => cell(item)), ...of?.(item) }));
  return { kind: 'table', caption, heads: there.map(([head]) => head), rows, ...how };
}

/** Returns a table of times by part: a row a part, a column a bar, and a last row of totals. */
export function sharesTable(caption: string, head: string, bars: readonly Shares[]): TableData<readonly string[]> {
  const names = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const columns = bars.map(({ parts }) => {
    const times = names.map((name) => parts.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0));
    const total = times.reduce((sum, ms) => sum + ms, 0);
    return [...times.map((ms) => `${formatMs(ms)} ms, ${formatPercent(ms / (total || 1))}`), `${formatMs(total)} ms`];
  });
  const rows = [...names, 'total'].map((name, i) => [name, ...columns.map((column) => column[i] ?? '')]);
  return { caption, heads: [head, ...bars.map(({ label }) => label)], rows };
}
