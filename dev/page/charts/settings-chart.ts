import { barX, ruleY, tickX } from '@observablehq/plot';
import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { inRows } from './bars.js';
import { colourAt } from './colours.js';
import { chartOf } from './frame.js';
import { textured } from './marks.js';

/**
 * Draws the median time of each setting as a bar, with its range from the shortest to the longest
 * time.
 */
export const settingsChart = chartOf(({ settings, fastest }: ChartData['settings']) => ({
  plot: (width) => {
    const fill = settings.map(({ bound }) => textured(colourAt(0), bound === true ? 'striped' : 'plain'));
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
