/**
 * Reports of a run as text for terminals, and its exports: JSON with all rows, and a trace for Perfetto
 * or chrome://tracing.
 */
import { placeOf, tableLines, withoutEmpty } from './format.js';
import { blocksOf } from './modes/msm-modes.js';
import { benchModes, modeOf } from './modes.js';
import {
  type Cell,
  lineOf,
  type Part,
  type Parts,
  present,
  type Sentence,
  sharesTable,
  type TableData,
} from './parts.js';
import { rowsOf, type StampedRow, voidWrongTimes } from './rows.js';

/** Returns the report line by line; empty if the rows are not those of a bench run. */
export function reportLines(told: readonly unknown[]): string[] {
  const rows = told as readonly StampedRow[];
  const [init] = rowsOf(rows, 'init');
  if (init === undefined || !Object.hasOwn(benchModes, init.mode)) return [];
  return [`adapter: ${placeOf(init)}`, ...textOf(modeOf(init.mode).show(rows))];
}

/** Returns the lines of all parts, with an empty line between two parts. */
const textOf = (parts: Parts): string[] =>
  present(parts)
    .map(linesOf)
    .flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]));

/**
 * Returns the lines of one part. Of the charts, only shares print, as a table; the data of others
 * is in tables already.
 */
function linesOf(part: Part): string[] {
  switch (part.kind) {
    case 'tiles':
      return part.tiles.map(([label, value, note]) => `${label}: ${wordsOf(value)}${note ? ` (${note})` : ''}`);
    case 'notes':
      return part.lines.map(spell);
    case 'headline':
      return [part.text];
    case 'section':
      return [part.caption, ...textOf(part.parts)];
    case 'folded':
      return textOf(part.parts).slice(1);
    case 'table':
      return tableText(part);
    case 'shares':
      return tableText(sharesTable(part.caption, 'Pass', part.data.bars));
    default:
      return [];
  }
}

/** @param before separator between text and small print */
const wordsOf = (cell: Cell, before = ', '): string => {
  if (typeof cell === 'string') return cell;
  const { text, as, small } = cell;
  return `${as === 'wrong' ? text.toUpperCase() : text}${small === undefined ? '' : `${before}${small}`}`;
};

const spell = (sentence: Sentence): string =>
  [sentence]
    .flat()
    .map((part) => (typeof part === 'string' ? part : `${part.text} (?${part.query})`))
    .join('');

function tableText({ caption, heads, rows, words, long }: TableData): string[] {
  const told = rows.map(lineOf).filter(({ is }) => long !== true || is === 'failed');
  if (told.length === 0) return [];
  const [head = '', ...lines] = tableLines(
    withoutEmpty([heads, ...told.map(({ cells }) => cells.map((cell, i) => wordsOf(cell, i === 0 ? ', ' : ': ')))]),
    words,
  );
  return [caption, head, ...lines.flatMap((line, i) => [line, told[i]?.below ? `  ${told[i].below}` : []].flat())];
}

export const toJson = (rows: readonly StampedRow[]): string => `${JSON.stringify(voidWrongTimes(rows), null, 2)}\n`;

const TRACE_LANES = { host: 1, GPU: 2 } as const;

/** Gap between two MSMs in the trace, in microseconds. */
const GAP_US = 1000;

export const hasTrace = (rows: readonly StampedRow[]): boolean => rows.some(({ event }) => event === 'trace');

/**
 * Converts the rows of `msm-trace` to the Trace Event Format: complete events (`X`) in
 * microseconds. Each case is a process; host and GPU are its threads
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
 */
export function toChromeTrace(rows: readonly StampedRow[]): string {
  const events: Record<string, unknown>[] = [];
  const processes = new Map<string, { readonly pid: number; at: number }>();
  for (const row of voidWrongTimes(rows)) {
    if (row.event !== 'trace' || row.wallMs === null) continue;
    let process = processes.get(row.case);
    if (process === undefined) {
      process = { pid: processes.size + 1, at: 0 };
      processes.set(row.case, process);
      const { pid } = process;
      events.push({ ph: 'M', name: 'process_name', pid, tid: 0, args: { name: `MSM ${row.case}` } });
      for (const [name, tid] of Object.entries(TRACE_LANES)) {
        events.push({ ph: 'M', name: 'thread_name', pid, tid, args: { name } });
      }
    }
    const { pid, at } = process;
    let end = at;
    for (const { lane, name, startMs, ms } of blocksOf(row)) {
      const ts = at + 1000 * startMs;
      const dur = 1000 * ms;
      end = Math.max(end, ts + dur);
      const args = { repetition: row.repetition, n: row.n, setting: row.setting };
      events.push({ ph: 'X', name, cat: lane, pid, tid: TRACE_LANES[lane], ts, dur, args });
    }
    process.at = end + GAP_US;
  }
  const [init] = rows.filter((row) => row.event === 'init');
  return JSON.stringify({ traceEvents: events, displayTimeUnit: 'ms', otherData: init ?? {} });
}
