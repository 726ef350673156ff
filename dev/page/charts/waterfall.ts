import { formatMs } from '../../bench/format.js';
import type { ChartData, ChartOptions } from '../../bench/parts.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import { type Chart, makeFrame } from './frame.js';
import { blockSwatch, textureAt } from './marks.js';
import { spanOf, TimeAxis } from './time-axis.js';

/** Draws concurrent jobs as lines, each with its phases in sequence. */
export function waterfall({ caption, summary }: ChartOptions): Chart<ChartData['waterfall']> {
  const axis = new TimeAxis();
  const rows = h('div');
  const picture = h('div', { class: 'chart-timeline waterfall', role: 'img', 'aria-label': summary }, axis.root, rows);
  const frame = makeFrame(caption, picture);

  const update = ({ lines }: ChartData['waterfall']): void => {
    const names = [...new Set(lines.flatMap(({ spans }) => spans.map(({ name }) => name)))];
    const endMs = Math.max(0, ...lines.flatMap(({ spans }) => spans.map(({ startMs, ms }) => startMs + ms)));
    rows.replaceChildren(
      ...lines.map(({ label, spans }) =>
        h(
          'div',
          { class: 'chart-lane' },
          h('span', { class: 'chart-lane-name' }, label),
          h(
            'div',
            { class: 'chart-track' },
            ...spans.map((span) => spanOf(span, endMs, textureAt(names.indexOf(span.name)))),
          ),
        ),
      ),
    );
    const times = ({ spans }: (typeof lines)[number], name: string): string =>
      formatMs(spans.reduce((sum, span) => (span.name === name ? sum + span.ms : sum), 0));
    frame.update(
      {
        heads: ['Job: scalars', 'Start, ms', ...names.map((name) => `${name}, ms`)],
        rows: lines.map((line) => [
          line.label,
          formatMs(line.spans[0]?.startMs ?? 0),
          ...names.map((name) => times(line, name)),
        ]),
      },
      names.map((name, i) => ({ swatch: blockSwatch(colourOf(name), '', textureAt(i)), name })),
    );
    axis.draw(endMs);
  };
  return { root: frame.root, update };
}
