import { formatMs } from '../../bench/format.js';
import { h } from '../dom.js';
import type { Chart, ChartOptions } from './chart.js';
import { colourOf } from './colours.js';
import { Frame } from './frame.js';
import { paint } from './marks.js';
import { formatTick, niceStep } from './ticks.js';

export interface Block {
  readonly lane: string;
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

export interface TimelineData {
  readonly blocks: readonly Block[];
}

/** From a tick to the next, in CSS pixels. */
const TICK_ROOM = 58;
/** Of that, what the label takes. */
const TICK_LABEL = 52;

/** What ran when: a row for each name, so that no block lies over another. */
export function timeline({ caption, summary }: ChartOptions): Chart<TimelineData> {
  const ticks = h('div', { class: 'chart-ticks', 'aria-hidden': 'true' });
  const rows = h('div', { class: 'chart-lanes' });
  const picture = h('div', { class: 'chart-timeline', role: 'group', 'aria-label': summary }, ticks, rows);
  const readout = h(
    'p',
    { class: 'note steady' },
    'Point at, touch or focus a block; arrow keys go from one to the next',
  );
  const frame = new Frame(caption, picture, readout);
  let blocks: HTMLElement[] = [];
  let endMs = 0;

  const drawTicks = (): void => {
    const width = ticks.clientWidth;
    if (width === 0 || endMs === 0) return;
    const step = niceStep(endMs, width / TICK_ROOM);
    const steps = Math.floor((endMs * (1 - TICK_LABEL / width)) / step);
    ticks.replaceChildren(
      ...Array.from({ length: steps + 1 }, (_, i) => {
        const tick = h('span', {}, `${formatTick(i * step, step)} ms`);
        tick.style.left = `${(100 * i * step) / endMs}%`;
        return tick;
      }),
    );
  };

  const makeBlock = (block: Block): HTMLElement => {
    const text = describe(block);
    const show = (): void => readout.replaceChildren(text);
    const listeners = { pointerenter: show, focus: show, keydown: (event: Event) => moveFocus(event as KeyboardEvent) };
    const attributes = { class: 'chart-span', role: 'listitem', tabindex: -1, title: text, 'aria-label': text };
    const element = paint(h('div', { ...attributes, ...listeners }), colourOf(block.name));
    element.style.left = `${(100 * block.startMs) / endMs}%`;
    element.style.width = `${(100 * block.ms) / endMs}%`;
    return element;
  };

  /** One stop for the Tab key, and arrows from there: a run has dozens of blocks. */
  const moveFocus = (event: KeyboardEvent): void => {
    const at = blocks.indexOf(event.currentTarget as HTMLElement);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: blocks.length - 1 };
    const next = blocks[moves[event.key] ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    for (const block of blocks) block.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };

  const update = (data: TimelineData): void => {
    const byStart = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
    const focused = blocks.indexOf(document.activeElement as HTMLElement);
    endMs = Math.max(0, ...byStart.map(({ startMs, ms }) => startMs + ms));
    blocks = byStart.map(makeBlock);
    const lanes = [...new Set(data.blocks.map(({ lane }) => lane))];
    rows.replaceChildren(
      ...lanes.flatMap((lane) => {
        const names = [...new Set(byStart.filter((each) => each.lane === lane).map(({ name }) => name))];
        return names.map((name, i) =>
          h(
            'div',
            { class: i === 0 ? 'chart-lane first' : 'chart-lane' },
            h(
              'span',
              { class: 'chart-lane-name', 'aria-hidden': 'true' },
              i === 0 ? h('b', {}, `${lane}: `) : '',
              name,
            ),
            h(
              'div',
              { class: 'chart-track', role: 'list', 'aria-label': `${lane}: ${name}` },
              ...blocks.filter((_, at) => byStart[at]?.lane === lane && byStart[at]?.name === name),
            ),
          ),
        );
      }),
    );
    (blocks[focused] ?? blocks[0])?.setAttribute('tabindex', '0');
    blocks[focused]?.focus();
    frame.setNumbers(
      ['Block', 'Lane', 'Start, ms', 'Took, ms'],
      byStart.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    );
    drawTicks();
  };

  const observer = new ResizeObserver(drawTicks);
  observer.observe(picture);
  return { root: frame.root, update };
}

const describe = ({ name, lane, startMs, ms }: Block): string =>
  `${name}, ${lane}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(startMs + ms)} ms`;
