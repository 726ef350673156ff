/** What `npm run bench:targets` prints. */
import { verdictOf } from './findings.mjs';

/** @typedef {import('./findings.mjs').Finding & { readonly row: string }} Line */

/** @param {readonly Line[]} lines */
export function table(lines) {
  const cells = [
    ['row', 'what', 'target', 'measured', 'verdict'],
    ...lines.map((line, i) => [
      line.row === lines[i - 1]?.row ? '' : line.row,
      line.what,
      line.target === null ? '' : spell(line.target),
      line.value === null ? '' : `${round(line.value)}${line.unit === undefined ? '' : ` ${line.unit}`}`,
      spellVerdict(line),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const text = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return text.map((line) => line.trimEnd()).join('\n');
}

/** @param {readonly Line[]} lines */
export function summary(lines) {
  const verdicts = lines.map(verdictOf);
  return ['met', 'MISSED', 'FAILED', 'no verdict', 'not measured']
    .map((verdict) => `${verdicts.filter((each) => each === verdict).length} ${verdict}`)
    .join(', ');
}

/** @param {import('./findings.mjs').Target} target */
const spell = (target) => ('most' in target ? `≤ ${target.most}` : `≥ ${target.least}`);

/** @param {Line} line */
function spellVerdict(line) {
  const why = line.failure ?? line.note;
  return `${verdictOf(line)}${why === undefined ? '' : `: ${why}`}`;
}

/** @param {number} value */
export const round = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3))));
