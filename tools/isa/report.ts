/**
 * Prints kernels × chips for terminals: a table for each chip. Two settings show both figures and
 * their ratio.
 */
import { tableLines, withoutEmpty } from '../../dev/bench/table.js';
import { type ChipName, chips } from './chips.js';
import type { Figures } from './figures.js';

/** One kernel on one chip. */
export interface ChipRow {
  readonly chip: ChipName;
  readonly kernel: string;
  /** Figures of A and B, or of the only setting; null where a setting has no such kernel. */
  readonly figures: readonly (Figures | null)[];
}

/** Figures with their heads, in the order of the tables. */
export const figureHeads: readonly (readonly [keyof Figures, string])[] = [
  ['instructions', 'instructions'],
  ['registers', 'registers'],
  ['spills', 'spills'],
  ['memory', 'memory'],
  ['waves', 'waves'],
  ['cycles', 'cycles'],
  ['alone', 'alone'],
  ['codeBytes', 'code bytes'],
  ['compileSeconds', 'compile s'],
];

const NOTHING = '–';

export const numberText = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return NOTHING;
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
};

const ratioText = (a: number, b: number): string => (a === 0 ? '' : ` ×${(b / a).toFixed(2)}`);

const cell = (values: readonly (number | null | undefined)[]): string => {
  const [a, b] = values;
  if (values.length === 1 || (a === b && typeof a === 'number')) return numberText(a);
  const both = typeof a === 'number' && typeof b === 'number';
  const text = `${numberText(a)} → ${numberText(b)}${both ? ratioText(a, b) : ''}`;
  return text === `${NOTHING} → ${NOTHING}` ? NOTHING : text;
};

/** @param drivers name and driver of each chip */
export const chipReport = (rows: readonly ChipRow[], drivers: ReadonlyMap<ChipName, string>): string[] =>
  [...drivers].flatMap(([chip, driver]) => {
    const own = rows.filter((row) => row.chip === chip);
    const lines = own.map(({ kernel, figures }) => [
      kernel,
      ...figureHeads.map(([key]) => cell(figures.map((each) => each?.[key]))),
    ]);
    return [
      `\n${chips[chip].title}: ${driver}`,
      ...tableLines(withoutEmpty([['kernel', ...figureHeads.map(([, head]) => head)], ...lines])),
    ];
  });
