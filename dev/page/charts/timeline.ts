import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { chartOf } from './frame.js';
import { inLanes } from './lanes.js';

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
