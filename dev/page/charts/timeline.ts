import { formatMs } from '../../bench/format.js';
import type { ChartData, ChartOptions } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { h } from '../dom.js';
import { type Chart, makeFrame } from './frame.js';
import { spanOf, TimeAxis } from './time-axis.js';

/** Draws blocks on a timeline, with a row for each name so that no blocks overlap. */
export function timeline({ caption, summary }: ChartOptions): Chart<ChartData['timeline']> {
  const axis = new TimeAxis();
  const rows = h('div');
  const picture = h('div', { class: 'chart-timeline', role: 'img', 'aria-label': summary }, axis.root, rows);
  const frame = makeFrame(caption, picture);
  const update = (data: ChartData['timeline']): void => {
    const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
    const endMs = Math.max(0, ...blocks.map(({ startMs, ms }) => startMs + ms));
    const lanes = [...new Set(data.blocks.map(({ lane }) => lane))];
    rows.replaceChildren(
      ...lanes.flatMap((lane) =>
        grouped(
          blocks.filter((each) => each.lane === lane),
          ({ name }) => name,
        ).map((own, i) => {
          const title = h(
            'span',
            { class: 'chart-lane-name' },
            i === 0 ? h('b', {}, `${lane}: `) : '',
            own[0]?.name ?? '',
          );
          const track = h('div', { class: 'chart-track' }, ...own.map((block) => spanOf(block, endMs)));
          return h('div', { class: i === 0 ? 'chart-lane first' : 'chart-lane' }, title, track);
        }),
      ),
    );
    frame.update({
      heads: ['Phase', 'Runs on', 'Start, ms', 'Duration, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    });
    axis.draw(endMs);
  };

  return { root: frame.root, update };
}
