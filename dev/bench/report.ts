/** A run as text, for terminals. */
import { placeOf } from './format.js';
import { benchModes } from './modes/index.js';
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

/** What a run came to, line by line; nothing of rows from somewhere else that are not of a bench like this one. */
export function reportLines(told: readonly unknown[]): string[] {
  const rows = told as readonly StampedRow[];
  const [init] = rowsOf(rows, 'init');
  if (init === undefined || !Object.hasOwn(benchModes, init.mode)) return [];
  return [`adapter: ${placeOf(init)}`, ...textOf(benchModes[init.mode].show(rows))];
}

/** With a line between one thing and the next. */
export const textOf = (parts: Parts): string[] =>
  present(parts)
    .map(linesOf)
    .flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]));

/** Of charts a terminal has that of shares alone, as a table: the others draw what is in tables already. */
function linesOf(part: Part): string[] {
  switch (part.kind) {
    case 'tiles':
      return part.tiles.map(([label, value, note]) => `${label}: ${wordsOf(value)}${note ? ` (${note})` : ''}`);
    case 'notes':
      return part.lines.map(spell);
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

/** @param before what small print has before it */
const wordsOf = (cell: Cell, before = ', '): string => {
  if (typeof cell === 'string') return cell;
  const { text, as, small } = cell;
  return `${as === 'wrong' ? text.toUpperCase() : text}${small === undefined ? '' : `${before}${small}`}`;
};

const spell = (sentence: Sentence): string =>
  [sentence]
    .flat()
    .map((piece) => (typeof piece === 'string' ? piece : `${piece.text} (?${piece.query})`))
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
