import { formatMs } from '../../bench/format.js';
import type { ChartData, Course } from '../../bench/parts.js';
import { colourOf } from './colours.js';
import { chartOf } from './frame.js';
import { inLanes } from './lanes.js';
import { blockSwatch, type Texture, textureAt, textured } from './marks.js';

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
