import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { h } from '../dom.js';
import { chartOf } from './frame.js';
import { type Lane, onTimeAxis } from './time-axis.js';

/** Draws blocks on a timeline, with a row for each name so that no blocks overlap. */
export const timeline = chartOf((data: ChartData['timeline']) => {
  const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
  const lanes = [...new Set(data.blocks.map(({ lane }) => lane))].flatMap((lane) =>
    grouped(
      blocks.filter((each) => each.lane === lane),
      ({ name }) => name,
    ).map((spans, i): Lane => {
      const name = spans[0]?.name ?? '';
      return i > 0 ? { name, spans } : { name: h('span', {}, h('b', {}, `${lane}: `), name), class: 'first', spans };
    }),
  );
  return {
    paint: onTimeAxis(lanes, ''),
    numbers: {
      heads: ['Phase', 'Runs on', 'Start, ms', 'Duration, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    },
  };
});
