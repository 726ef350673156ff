/** Horizontal time axis that timelines share: ticks over their whole height, and the spans. */
import { formatMs } from '../../bench/format.js';
import type { Course } from '../../bench/parts.js';
import { h } from '../dom.js';
import { colourOf } from './colours.js';
import { formatTick, niceStep } from './ticks.js';

/** Distance between two ticks, in CSS pixels. */
const TICK_ROOM = 58;
/** Width of a label, in CSS pixels. */
const TICK_LABEL = 52;

export class TimeAxis {
  readonly root = h('div', { class: 'chart-ticks' });
  #endMs = 0;

  constructor() {
    new ResizeObserver(() => this.draw(this.#endMs)).observe(this.root);
  }

  draw(endMs: number): void {
    this.#endMs = endMs;
    const width = this.root.clientWidth;
    if (width === 0 || endMs === 0) return;
    const step = niceStep(endMs, width / TICK_ROOM);
    const steps = Math.floor((endMs * (1 - TICK_LABEL / width)) / step);
    this.root.replaceChildren(
      ...Array.from({ length: steps + 1 }, (_, i) => {
        const style = `left: ${(100 * i * step) / endMs}%`;
        return h('span', { style }, `${formatTick(i * step, step)} ms`);
      }),
    );
  }
}

/** Draws a span in the colour of its name, with its texture and its tooltip. */
export const spanOf = ({ name, startMs, ms }: Course['spans'][number], endMs: number, texture = ''): HTMLElement =>
  h('div', {
    class: `chart-span ${texture}`,
    style: `background-color: ${colourOf(name)}; left: ${(100 * startMs) / endMs}%; width: ${(100 * ms) / endMs}%`,
    title: `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(startMs + ms)} ms`,
  });
