/** Prints the report of a run as text for terminals. */
import { placeOf } from './format.js';
import { modeOf, modes } from './modes.js';
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
import { rowsOf, type StampedRow } from './rows.js';
import { tableLines, withoutEmpty } from './table.js';

/** Returns the report line by line; empty if the rows are not those of a bench run. */
export function reportLines(told: readonly unknown[]): string[] {
  const rows = told as readonly StampedRow[];
  const [init] = rowsOf(rows, 'init');
  if (init === undefined || !Object.hasOwn(modes, init.mode)) return [];
  return [`adapter: ${placeOf(init)}`, ...textOf(modeOf(init.mode).show(rows))];
}

/** Returns the lines of all parts, with an empty line between two parts. */
export const textOf = (parts: Parts): string[] =>
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
