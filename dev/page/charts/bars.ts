/** Rows of bars, each with its name above it, for charts of any width. */
import { barX, type Markish, type PlotOptions, ruleY, stackX, text, tickX } from '@observablehq/plot';
import { formatMs } from '../../bench/format.js';
import { type ChartData, sharesTable } from '../../bench/parts.js';
import { chartOf } from './frame.js';
import { blockSwatch, colourAt, colourOf, striped } from './marks.js';

/** Heights of a row and of its text, and room for the text at its right end, in CSS pixels. */
const [ROW, TEXT, VALUE] = [46, 20, 110];

/** Width of a letter, in CSS pixels. */
const LETTER = 7;

/** A row of bars: its name, and the text at its right end. */
export interface BarRow {
  readonly name: string;
  readonly value: string;
  readonly isStrong?: boolean;
}

/** Returns a picture of bars in rows, which have their indices as y. */
export const inRows = (width: number, rows: readonly BarRow[], marks: Markish[]): PlotOptions => {
  const label = (of: 'name' | 'value', frameAnchor: 'left' | 'right', isStrong: boolean) =>
    text(rows, {
      ...{ y: rows.map((_, row) => row), text: of, frameAnchor, dy: -TEXT },
      ...{ filter: ({ isStrong: is = false }: BarRow) => is === isStrong, fontWeight: isStrong ? 700 : 400 },
      ...{ textOverflow: 'ellipsis-end', lineWidth: of === 'name' ? (width - VALUE) / LETTER / 1.7 : 99 },
    });
  return {
    ...{ height: ROW * rows.length + TEXT / 2, marginTop: TEXT / 2, marginLeft: 0, marginRight: 1, marginBottom: 0 },
    x: { axis: null },
    y: { type: 'band', domain: rows.map((_, row) => row), axis: null, paddingInner: 0.52, paddingOuter: 0.26 },
    marks: [marks, ...[false, true].flatMap((is) => [label('name', 'left', is), label('value', 'right', is)])],
  };
};

/**
 * Draws the median time of each setting as a bar, with its range from the shortest to the longest
 * time.
 */
export const settingsChart = chartOf(({ settings, fastest }: ChartData['settings']) => ({
  plot: (width) => {
    const fill = settings.map(({ bound }) => (bound === true ? striped(colourAt(0)) : colourAt(0)));
    const y = settings.map((_, row) => row);
    const ends = { y, stroke: 'var(--ink)', inset: 4 };
    const marks = [
      barX(settings, { x: 'medianMs', y, fill, className: 'chart-bar' }),
      ruleY(settings, { x1: 'lowMs', x2: 'highMs', y, stroke: 'var(--ink)' }),
      tickX(settings, { x: 'lowMs', ...ends }),
      tickX(settings, { x: 'highMs', ...ends }),
    ];
    const rows = settings.map(({ label, medianMs }) => {
      const isStrong = label === fastest;
      return { name: label, value: `${formatMs(medianMs)} ms${isStrong ? ', fastest' : ''}`, isStrong };
    });
    return inRows(width, rows, marks);
  },
  numbers: {
    heads: ['Setting', 'Median, ms', 'Shortest, ms', 'Longest, ms'],
    rows: settings.map(({ label, medianMs, lowMs, highMs }) => [label, ...[medianMs, lowMs, highMs].map(formatMs)]),
  },
}));

/** Widths in CSS pixels from which a part has its number, and its name. */
const [NUMBER, NAME] = [20, 120];

/**
 * Draws the share of each part in a bar's time. Each part is numbered, and named if its name fits.
 */
export const stackedShares = chartOf(({ bars }: ChartData['shares']) => {
  const table = sharesTable('', 'Pass', bars);
  const names = table.rows.slice(0, -1).map(([name = '']) => name);
  const rows = bars.map(({ label }, row) => ({ name: label, value: table.rows.at(-1)?.[row + 1] ?? '' }));
  const parts = bars.flatMap(({ parts: own }, row) => {
    const times = names.map((name) => own.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0));
    const total = times.reduce((sum, ms) => sum + ms, 0) || 1;
    return names.map((name, i) => ({ name, i, row, share: (times[i] as number) / total }));
  });
  return {
    plot: (width) => {
      const place = { x: 'share', y: 'row' } as const;
      const label = ({ name, i, share }: (typeof parts)[0]): string =>
        share * width < NUMBER ? '' : share * width < NAME ? String(i + 1) : `${i + 1} ${name}`;
      const marks = [
        barX(parts, {
          ...stackX(place),
          fill: parts.map(({ name }) => colourOf(name)),
          insetRight: 2,
          title: ({ name, i, row }) => `${name}: ${table.rows[i]?.[row + 1]}`,
          className: 'chart-parts',
        }),
        text(parts, { ...stackX(place), text: label, className: 'chart-words' }),
      ];
      return inRows(width, rows, marks);
    },
    legend: names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) })),
    numbers: { heads: table.heads, rows: table.rows },
  };
});
