/** What a run comes to, as data: the page draws it, a terminal prints it. A mode says what there is to show, and never how. */
import type { PhaseTime } from '../../src/api/run-record.js';
import { formatMs, formatPercent } from './format.js';

/** Words that stand out: a verdict, the figure of a line, or with small print under them. */
export type Cell =
  | string
  | { readonly text: string; readonly as?: 'right' | 'wrong' | 'strong'; readonly small?: string };

/** Of a table. What is to be said of a line is under it. */
export interface Line {
  readonly cells: readonly Cell[];
  readonly is?: 'failed' | 'aside' | undefined;
  readonly below?: string | null;
}

export const lineOf = (row: readonly Cell[] | Line): Line => ('cells' in row ? row : { cells: row });

/** With the links that it has. */
export type Sentence = string | readonly (string | { readonly text: string; readonly query: string })[];

/** A large figure, and what it rests on. */
export type Tile = readonly [label: string, value: Cell, note?: string | undefined];

export interface TimePoint {
  readonly n: number;
  readonly ms: number;
  readonly lowMs?: number;
  readonly highMs?: number;
}

/** A bound is dashed, and without points. */
export interface TimeSeries {
  readonly name: string;
  readonly points: readonly TimePoint[];
  readonly kind: 'measured' | 'bound';
}

/** From the shortest to the longest; a bound is no measurement but what none can be faster than. */
export interface Bar {
  readonly label: string;
  readonly medianMs: number;
  readonly lowMs: number;
  readonly highMs: number;
  readonly bound?: boolean;
}

/** What ran when. */
export interface Block {
  readonly lane: 'host' | 'GPU';
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

/** One of several that run side by side, in its phases. */
export interface Course {
  readonly label: string;
  readonly spans: readonly { readonly name: string; readonly startMs: number; readonly ms: number }[];
}

/** A time in its parts. */
export interface Shares {
  readonly label: string;
  readonly parts: readonly PhaseTime[];
}

/** What each kind of chart draws. */
export interface ChartData {
  readonly time: { readonly series: readonly TimeSeries[] };
  /** `fastest`: the label of what is that by more than noise; null where nothing is. */
  readonly settings: { readonly settings: readonly Bar[]; readonly fastest: string | null };
  readonly shares: { readonly bars: readonly Shares[] };
  readonly distribution: { readonly series: readonly { readonly name: string; readonly values: readonly number[] }[] };
  readonly timeline: { readonly blocks: readonly Block[] };
  readonly waterfall: { readonly lines: readonly Course[] };
}

export interface ChartOptions {
  readonly caption: string;
  /** One sentence that says what the picture shows, for those who do not see it. */
  readonly summary: string;
}

export interface TableData<Row = readonly Cell[] | Line> {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
  /** How many columns, from the left, have words; the others have numbers. Default: 1. */
  readonly words?: number;
  /** A terminal has those lines alone that failed. */
  readonly long?: boolean;
  /** The page breaks words into lines, and on a narrow screen a line into several, so that every column is in view. */
  readonly fits?: boolean;
}

export type Part =
  | { readonly kind: 'tiles'; readonly tiles: readonly Tile[] }
  | { readonly kind: 'notes'; readonly lines: readonly Sentence[] }
  | ({ readonly kind: 'table' } & TableData)
  /** The page folds it up, or not. */
  | { readonly kind: 'folded' | 'section'; readonly caption: string; readonly parts: Parts }
  | {
      [Kind in keyof ChartData]: ChartOptions & { readonly kind: Kind; readonly data: ChartData[Kind] };
    }[keyof ChartData];

/** Null is nothing. */
export type Parts = readonly (Part | null)[];

/** What is there; the others are null. */
export const present = <Value>(values: readonly (Value | null)[]): Value[] => values.filter((value) => value !== null);

export const verdict = (right: boolean, text = right ? 'right' : 'wrong'): Cell => ({
  text,
  as: right ? 'right' : 'wrong',
});

export const tiles = (...all: readonly (Tile | null)[]): Part => ({ kind: 'tiles', tiles: present(all) });

export const notes = (...lines: readonly Sentence[]): Part => ({ kind: 'notes', lines });

/** A column of a table: its head, and its cell of each item. */
export type Column<Item> = readonly [head: string, cell: (item: Item) => Cell];

/** A line for each of the items. */
export function tableOf<Item>(
  caption: string,
  items: readonly Item[],
  columns: readonly (Column<Item> | null)[],
  { of, ...how }: { of?(item: Item): Omit<Line, 'cells'>; words?: number; long?: boolean; fits?: boolean } = {},
): Part {
  const there = present(columns);
  const rows = items.map((item): Line => ({ cells: there.map(([, cell]) => cell(item)), ...of?.(item) }));
  return { kind: 'table', caption, heads: there.map(([head]) => head), rows, ...how };
}

/** Where times go: a line a part, a column each, and what it is all together. */
export function sharesTable(caption: string, head: string, bars: readonly Shares[]): TableData<readonly string[]> {
  const names = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const columns = bars.map(({ parts }) => {
    const times = names.map((name) => parts.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0));
    const total = times.reduce((sum, ms) => sum + ms, 0);
    return [...times.map((ms) => `${formatMs(ms)} ms, ${formatPercent(ms / (total || 1))}`), `${formatMs(total)} ms`];
  });
  const rows = [...names, 'all'].map((name, i) => [name, ...columns.map((column) => column[i] ?? '')]);
  return { caption, heads: [head, ...bars.map(({ label }) => label)], rows };
}
