/** Pictures with a horizontal time axis: ticks over their whole height, and lanes of spans. */
import { formatMs } from '../../bench/format.js';
import type { Course } from '../../bench/parts.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import type { Drawing } from './frame.js';
import { formatTick, niceStep } from './ticks.js';

/** Distance between two ticks, and width of a label, in CSS pixels. */
const TICK_ROOM = 58;
const TICK_LABEL = 52;

export interface Lane {
  readonly name: Node | string;
  readonly class?: string;
  readonly spans: Course['spans'];
}

/** Draws lanes. @param textureOf returns the texture of a span by its name */
export function onTimeAxis(
  lanes: readonly Lane[],
  kind: string,
  textureOf = (_: string): string => '',
): Drawing['paint'] {
  const endMs = Math.max(0, ...lanes.flatMap(({ spans }) => spans.map(({ startMs, ms }) => startMs + ms)));
  const spanOf = ({ name, startMs, ms }: Course['spans'][number]): HTMLElement =>
    h('div', {
      class: `chart-span ${textureOf(name)}`,
      style: `background-color: ${colourOf(name)}; left: ${(100 * startMs) / endMs}%; width: ${(100 * ms) / endMs}%`,
      title: `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(startMs + ms)} ms`,
    });
  return (width, image) => {
    const step = niceStep(endMs, width / TICK_ROOM);
    const steps = Math.floor((endMs * (1 - TICK_LABEL / width)) / step);
    const ticks = Array.from({ length: endMs === 0 ? 0 : steps + 1 }, (_, i) =>
      h('span', { style: `left: ${(100 * i * step) / endMs}%` }, `${formatTick(i * step, step)} ms`),
    );
    return h(
      'div',
      { class: `chart-timeline ${kind}`, ...image },
      h('div', { class: 'chart-ticks' }, ...ticks),
      ...lanes.map((lane) =>
        h(
          'div',
          { class: `chart-lane ${lane.class ?? ''}` },
          h('span', { class: 'chart-lane-name' }, lane.name),
          h('div', { class: 'chart-track' }, ...lane.spans.map(spanOf)),
        ),
      ),
    );
  };
}
