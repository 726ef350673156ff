/** A picture with a horizontal time axis, and blocks in lanes. */
import { barX } from '@observablehq/plot';
import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { chartOf } from './frame.js';
import { colourOf } from './marks.js';

/** Draws blocks on a timeline, with a lane for each name so that no blocks overlap. */
export const timeline = chartOf((data: ChartData['timeline']) => {
  const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
  const lanes = grouped(blocks, ({ lane, name }) => `${lane}: ${name}`)
    .map((spans) => ({ label: `${spans[0]?.lane}: ${spans[0]?.name}`, spans }))
    .toSorted((a, b) => Number(a.label.startsWith('GPU')) - Number(b.label.startsWith('GPU')));
  const spans = lanes.flatMap((lane, row) =>
    lane.spans.map((span) => ({ ...span, row, endMs: span.startMs + span.ms })),
  );
  const title = ({ name, startMs, ms, endMs }: (typeof spans)[0]): string =>
    `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(endMs)} ms`;
  return {
    plot: () => ({
      ...{ height: 26 * lanes.length + 30, marginTop: 0, marginBottom: 30, marginLeft: 190 },
      x: {
        domain: [0, Math.max(0, ...spans.map(({ endMs }) => endMs))],
        ...{ grid: true, label: null, tickSpacing: 70, tickFormat: (ms: number) => `${ms.toLocaleString('en')} ms` },
      },
      y: {
        ...{ type: 'band', domain: lanes.map((_, row) => row), padding: 0.2, label: null, tickSize: 0 },
        tickFormat: (row: number) => lanes[row]?.label ?? '',
      },
      marks: [
        barX(spans, {
          ...{ x1: 'startMs', x2: 'endMs', y: 'row', title, className: 'chart-span' },
          // short spans are visible, too
          insetRight: -2,
          fill: spans.map(({ name }) => colourOf(name)),
        }),
      ],
    }),
    numbers: {
      heads: ['Phase', 'Runs on', 'Start, ms', 'Duration, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    },
  };
});
