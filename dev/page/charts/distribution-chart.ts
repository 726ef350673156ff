import { median } from '../../../src/calibrate/statistics.js';
import { formatMs } from '../../bench/format.js';
import type { ChartData } from '../../bench/parts.js';
import { colourAt } from './colours.js';
import { chartOf, type Drawing } from './frame.js';
import { dashAt, inColour, line, lineSwatch } from './marks.js';
import { MARGIN, type Plane, plane, plot, words } from './plot.js';
import { formatTick, niceStep } from './ticks.js';

interface Sample {
  readonly name: string;
  readonly sorted: readonly number[];
  readonly median: number | null;
}

const HEIGHT = 280;
const LABEL_HEIGHT = 17;
/** Distance between two labels of the x axis, in CSS pixels. */
const TICK_ROOM = 70;

/** Draws the share of runs that took at most a given time, as a step for every run. */
export const distributionChart = chartOf(draw);

function draw({ series }: ChartData['distribution']): Drawing {
  const samples = series.map(({ name, values }): Sample => {
    const sorted = values.toSorted((a, b) => a - b);
    return { name, sorted, median: median(sorted) };
  });
  const height = HEIGHT + samples.length * LABEL_HEIGHT;
  const [min, max] = timeRange(samples);

  const paint: Drawing['paint'] = (width, image) => {
    const step = niceStep(max - min, (width - MARGIN.left) / TICK_ROOM);
    const first = Math.ceil(min / step);
    const xTicks = Array.from({ length: Math.floor(max / step) - first + 1 }, (_, i) => (first + i) * step);
    const space = plane(
      width,
      height,
      // each median's label has a line of its own above the plane, so that near medians do not
      // overlap
      samples.length * LABEL_HEIGHT + 6,
      { range: [min, max], ticks: xTicks, label: (tick) => formatTick(tick, step) },
      { range: [-2, 102], ticks: [0, 25, 50, 75, 100], label: (tick) => `${tick} %` },
      'ms',
    );
    return plot(image, height, [...space.marks, ...samples.map((sample, i) => drawn(space, sample, i))]);
  };

  const longest = Math.max(0, ...samples.map(({ sorted }) => sorted.length));
  return {
    paint,
    legend: samples.map(({ name }, i) => ({ name, swatch: lineSwatch(colourAt(i), dashAt(i)) })),
    numbers: {
      heads: ['Run, fastest first', ...samples.map(({ name }) => `${name}, ms`)],
      rows: [
        ['median', ...samples.map((sample) => formatMs(sample.median))],
        ...Array.from({ length: longest }, (_, run) => [
          String(run + 1),
          ...samples.map(({ sorted }) => formatMs(sorted[run] ?? null)),
        ]),
      ],
    },
  };
}

function timeRange(samples: readonly Sample[]): [number, number] {
  const ends = samples.flatMap(({ sorted }) => [sorted.at(0) ?? [], sorted.at(-1) ?? []].flat());
  if (ends.length === 0) return [0, 1];
  const [min, max] = [Math.min(...ends), Math.max(...ends)];
  const margin = max > min ? 0.06 * (max - min) : 0.05 * max || 1;
  return [Math.max(0, min - margin), max + margin];
}

/** Draws the steps of a sample, and its median with its name. */
function drawn({ x, y }: Plane, { name, sorted, median: middle }: Sample, row: number): SVGElement {
  if (middle === null) return inColour(colourAt(row));
  const steps = sorted.map((time, i) => `H${x(time)}V${y((100 * (i + 1)) / sorted.length)}`).join('');
  const label = y(102) - row * LABEL_HEIGHT - 6;
  // placed at the end with more room
  const anchor = x(middle) > (x(sorted[0] ?? middle) + x(sorted.at(-1) ?? middle)) / 2 ? 'end' : 'start';
  return inColour(
    colourAt(row),
    line(`M${x(0) < MARGIN.left ? MARGIN.left : x(0)} ${y(0)}${steps}`, dashAt(row)),
    line(`M${x(middle)} ${label}V${y(0)}`, dashAt(row), 1),
    words(x(middle), label, `${name.split(':')[0]}: median ${formatMs(middle)} ms`, anchor),
  );
}
