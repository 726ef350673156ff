import { formatMs } from '../../bench/format.js';
import type { Block, ChartData, ChartOptions } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import { type Chart, makeFrame } from './frame.js';
import { formatTick, niceStep } from './ticks.js';

/** From a tick to the next, in CSS pixels. */
const TICK_ROOM = 58;
/** Of that, what the label takes. */
const TICK_LABEL = 52;

/** What ran when: a row for each name, so that no block lies over another. */
export function timeline({ caption, summary }: ChartOptions): Chart<ChartData['timeline']> {
  const ticks = h('div', { class: 'chart-ticks' });
  const rows = h('div');
  const picture = h('div', { class: 'chart-timeline', role: 'img', 'aria-label': summary }, ticks, rows);
  const frame = makeFrame(caption, picture);
  let endMs = 0;

  const drawTicks = (): void => {
    const width = ticks.clientWidth;
    if (width === 0 || endMs === 0) return;
    const step = niceStep(endMs, width / TICK_ROOM);
    const steps = Math.floor((endMs * (1 - TICK_LABEL / width)) / step);
    ticks.replaceChildren(
      ...Array.from({ length: steps + 1 }, (_, i) => {
        const style = `left: ${(100 * i * step) / endMs}%`;
        return h('span', { style }, `${formatTick(i * step, step)} ms`);
      }),
    );
  };

  const drawn = (block: Block): HTMLElement => {
    const { name, startMs, ms } = block;
    const place = `left: ${(100 * startMs) / endMs}%; width: ${(100 * ms) / endMs}%`;
    return h('div', {
      class: 'chart-span',
      style: `background: ${colourOf(name)}; ${place}`,
      title: `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(startMs + ms)} ms`,
    });
  };

  const update = (data: ChartData['timeline']): void => {
    const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
    endMs = Math.max(0, ...blocks.map(({ startMs, ms }) => startMs + ms));
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
          const track = h('div', { class: 'chart-track' }, ...own.map(drawn));
          return h('div', { class: i === 0 ? 'chart-lane first' : 'chart-lane' }, title, track);
        }),
      ),
    );
    frame.tell({
      heads: ['Block', 'Lane', 'Start, ms', 'Took, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    });
    drawTicks();
  };

  const observer = new ResizeObserver(drawTicks);
  observer.observe(picture);
  return { root: frame.root, update };
}
