import { barX, stackX, text } from '@observablehq/plot';
import { type ChartData, sharesTable } from '../../bench/parts.js';
import { inRows } from './bars.js';
import { colourOf } from './colours.js';
import { chartOf } from './frame.js';
import { blockSwatch } from './marks.js';

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
