import { type Cell, type Part, tableOf } from '../../parts.js';
import type { RowOf } from '../../rows.js';
import { type Finding, round, type Target, verdictOf } from './findings.js';

const spell = (target: Target): string => ('most' in target ? `≤ ${target.most}` : `≥ ${target.least}`);

const measuredOf = ({ value, interval, unit = '' }: Finding): string => {
  if (value === null) return '';
  const range = interval ? ` (${round(interval[0])} to ${round(interval[1])})` : '';
  return `${round(value)}${unit && ` ${unit}`}${range}`;
};

/** Returns the verdict with its remark below. */
function verdictCell(finding: Finding): Cell {
  const text = verdictOf(finding);
  const small = finding.failure ?? finding.note;
  const as = text === 'met' ? 'right' : text === 'MISSED' || text === 'FAILED' ? 'wrong' : undefined;
  return { text, ...(as && { as }), ...(small !== undefined && { small }) };
}

/** Returns a table with a line for each finding; the first finding of a row names the row. */
export const findingsTable = (caption: string, told: readonly Pick<RowOf<'target'>, 'name' | 'findings'>[]): Part =>
  tableOf(
    caption,
    told.flatMap(({ name, findings }) => findings.map((finding, i) => ({ ...finding, row: i === 0 ? name : '' }))),
    [
      ['Group', ({ row }) => row],
      ['Quantity', ({ what }) => what],
      ['Target', ({ target }) => (target === null ? '' : spell(target))],
      ['Measured', measuredOf],
      ['Verdict', verdictCell],
    ],
    { words: 5, fits: true },
  );
