/** Pictures with a horizontal time axis, and spans in lanes. */
import { barX, type PlotOptions } from '@observablehq/plot';
import { formatMs } from '../../bench/format.js';
import type { ChartData, Course } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { chartOf } from './frame.js';
import { blockSwatch, colourOf, type Texture, textureAt, textured } from './marks.js';

/** Returns lanes below each other, each with its name on the left. */
export function inLanes(
  lanes: readonly Course[],
  { height, marginLeft, textureOf }: { height: number; marginLeft: number; textureOf: (name: string) => Texture },
): PlotOptions {
  const spans = lanes.flatMap((lane, row) =>
    lane.spans.map((span) => ({ ...span, row, endMs: span.startMs + span.ms })),
  );
  const title = ({ name, startMs, ms, endMs }: (typeof spans)[0]): string =>
    `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(endMs)} ms`;
  return {
    ...{ height: height * lanes.length + 30, marginTop: 0, marginBottom: 30, marginLeft },
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
        fill: spans.map(({ name }) => textured(colourOf(name), textureOf(name))),
      }),
    ],
  };
}

/** Draws blocks on a timeline, with a row for each name so that no blocks overlap. */
export const timeline = chartOf((data: ChartData['timeline']) => {
  const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
  const lanes = grouped(blocks, ({ lane, name }) => `${lane}: ${name}`)
    .map((spans) => ({ label: `${spans[0]?.lane}: ${spans[0]?.name}`, spans }))
    .toSorted((a, b) => Number(a.label.startsWith('GPU')) - Number(b.label.startsWith('GPU')));
  return {
    plot: () => inLanes(lanes, { height: 26, marginLeft: 190, textureOf: () => 'plain' }),
    numbers: {
      heads: ['Phase', 'Runs on', 'Start, ms', 'Duration, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    },
  };
});

/** Draws concurrent jobs as lines, each with its phases in sequence. */
export const waterfall = chartOf(({ lines }: ChartData['waterfall']) => {
  const names = [...new Set(lines.flatMap(({ spans }) => spans.map(({ name }) => name)))];
  const textureOf = (name: string): Texture => textureAt(names.indexOf(name));
  const timeOf = ({ spans }: Course, name: string): string =>
    formatMs(spans.reduce((sum, span) => (span.name === name ? sum + span.ms : sum), 0));
  return {
    plot: () => inLanes(lines, { height: 15, marginLeft: 92, textureOf }),
    legend: names.map((name) => ({ swatch: blockSwatch(textured(colourOf(name), textureOf(name))), name })),
    numbers: {
      heads: ['Job: scalars', 'Start, ms', ...names.map((name) => `${name}, ms`)],
      rows: lines.map((line) => [
        line.label,
        formatMs(line.spans[0]?.startMs ?? 0),
        ...names.map((name) => timeOf(line, name)),
      ]),
    },
  };
});
