import { tableLines } from '../bench/table.js';
import type { MsmCounts } from './count-msm.js';
import { type Counts, counted } from './instrument.js';

/** Products that a squaring counts as, as in the targets. */
export const SQUARE = 0.8;

const sum = (counts: readonly Counts[]): Counts =>
  Object.fromEntries(
    counted.map((what) => [what, counts.reduce((total, own) => total + own[what], 0)]),
  ) as unknown as Counts;

/** Formats counts as text, with a line for each stage and the total. */
export const countTable = ({ n, windows, windowBits, entries, phases }: MsmCounts): string => {
  const irreducible = 6 * n * windows;
  const cells = (name: string, { products, squares, inversions, coordinates, words }: Counts): string[] => {
    const work = products + SQUARE * squares;
    const number = (value: number): string => Math.round(value).toLocaleString('en');
    return [
      name,
      number(products),
      number(squares),
      number(inversions),
      (work / irreducible).toFixed(3),
      number(coordinates / 2),
      number(words * 4),
    ];
  };
  const rows = [
    ['stage', 'products', 'squares', 'inversions', '÷ 6nT', 'points moved', 'bytes moved'],
    ...Object.entries(phases).map(([name, counts]) => cells(name, counts)),
    cells('all', sum(Object.values(phases))),
  ];
  const digits = n * windows;
  return [
    `n = ${n.toLocaleString('en')}, c = ${windowBits}, T = ${windows}, 6nT = ${irreducible.toLocaleString('en')}; ` +
      `${entries.toLocaleString('en')} of ${digits.toLocaleString('en')} digits are not zero`,
    ...tableLines(rows),
  ].join('\n');
};
