/** Pictures with a horizontal time axis, and spans in lanes. */
import { barX, type PlotOptions } from '@observablehq/plot';
import { formatMs } from '../../bench/format.js';
import type { Course } from '../../bench/parts.js';
import { colourOf } from './colours.js';
import { type Texture, textured } from './marks.js';

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
