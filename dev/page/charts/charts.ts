/** The charts of the page: bars, a timeline, a distribution, and times by size. */
import { barX, dot, line, type Markish, type PlotOptions, ruleX, ruleY, stackX, text, tickX } from '@observablehq/plot';
import { median } from '../../../src/calibrate/statistics.js';
import { formatMs, formatSize, shortSize } from '../../bench/format.js';
import { type ChartData, sharesTable, type TimePoint, type TimeSeries } from '../../bench/parts.js';
import { grouped } from '../../bench/summary.js';
import {
  blockSwatch,
  chartOf,
  colourAt,
  colourOf,
  lineStyle,
  lineSwatch,
  MARGIN,
  pointStyle,
  striped,
} from './frame.js';

/** Heights of a row and of its text, and room for the text at its right end, in CSS pixels. */
const [ROW, TEXT, VALUE] = [46, 20, 110];

/** Width of a letter, in CSS pixels. */
const LETTER = 7;

/** A row of bars: its name, and the text at its right end. */
interface BarRow {
  readonly name: string;
  readonly value: string;
  readonly isStrong?: boolean;
}

/** Returns a picture of bars in rows, which have their indices as y. */
const inRows = (width: number, rows: readonly BarRow[], marks: Markish[]): PlotOptions => {
  const label = (of: 'name' | 'value', frameAnchor: 'left' | 'right', isStrong: boolean) =>
    text(rows, {
      ...{ y: rows.map((_, row) => row), text: of, frameAnchor, dy: -TEXT },
      ...{ filter: ({ isStrong: is = false }: BarRow) => is === isStrong, fontWeight: isStrong ? 700 : 400 },
      ...{ textOverflow: 'ellipsis-end', lineWidth: of === 'name' ? (width - VALUE) / LETTER / 1.7 : 99 },
    });
  return {
    ...{ height: ROW * rows.length + TEXT / 2, marginTop: TEXT / 2, marginLeft: 0, marginRight: 1, marginBottom: 0 },
    x: { axis: null },
    y: { type: 'band', domain: rows.map((_, row) => row), axis: null, paddingInner: 0.52, paddingOuter: 0.26 },
    marks: [marks, ...[false, true].flatMap((is) => [label('name', 'left', is), label('value', 'right', is)])],
  };
};

/**
 * Draws the median time of each setting as a bar, with its range from the shortest to the longest
 * time.
 */
export const settingsChart = chartOf(({ settings, fastest }: ChartData['settings']) => ({
  plot: (width) => {
    const fill = settings.map(({ bound }) => (bound === true ? striped(colourAt(0)) : colourAt(0)));
    const y = settings.map((_, row) => row);
    const ends = { y, stroke: 'var(--ink)', inset: 4 };
    const marks = [
      barX(settings, { x: 'medianMs', y, fill, className: 'chart-bar' }),
      ruleY(settings, { x1: 'lowMs', x2: 'highMs', y, stroke: 'var(--ink)' }),
      tickX(settings, { x: 'lowMs', ...ends }),
      tickX(settings, { x: 'highMs', ...ends }),
    ];
    const rows = settings.map(({ label, medianMs }) => {
      const isStrong = label === fastest;
      return { name: label, value: `${formatMs(medianMs)} ms${isStrong ? ', fastest' : ''}`, isStrong };
    });
    return inRows(width, rows, marks);
  },
  numbers: {
    heads: ['Setting', 'Median, ms', 'Shortest, ms', 'Longest, ms'],
    rows: settings.map(({ label, medianMs, lowMs, highMs }) => [label, ...[medianMs, lowMs, highMs].map(formatMs)]),
  },
}));

/** Widths in CSS pixels from which a part has its number, and its name. */
const [NUMBER, NAME] = [20, 120];

/**
 * Draws the share of each part in a bar's time. Each part is numbered, and named if its name fits.
 */
export const stackedShares = chartOf(({ bars }: ChartData['shares']) => {
  const table = sharesTable('', 'Pass', bars);
  const names = table.rows.slice(0, -1).map(([name = '']) => name);
  const rows = bars.map(({ label }, row) => ({ name: label, value: table.rows.at(-1)?.[row + 1] ?? '' }));
  const parts = bars.flatMap(({ parts: own }, row) => {
    const times = names.map((name) => own.reduce((sum, part) => (part.name === name ? sum + part.ms : sum), 0));
    const total = times.reduce((sum, ms) => sum + ms, 0) || 1;
    return names.map((name, i) => ({ name, i, row, share: (times[i] as number) / total }));
  });
  return {
    plot: (width) => {
      const place = { x: 'share', y: 'row' } as const;
      const label = ({ name, i, share }: (typeof parts)[0]): string =>
        share * width < NUMBER ? '' : share * width < NAME ? String(i + 1) : `${i + 1} ${name}`;
      const marks = [
        barX(parts, {
          ...stackX(place),
          fill: parts.map(({ name }) => colourOf(name)),
          insetRight: 2,
          title: ({ name, i, row }) => `${name}: ${table.rows[i]?.[row + 1]}`,
          className: 'chart-parts',
        }),
        text(parts, { ...stackX(place), text: label, className: 'chart-words' }),
      ];
      return inRows(width, rows, marks);
    },
    legend: names.map((name, i) => ({ name, swatch: blockSwatch(colourOf(name), String(i + 1)) })),
    numbers: { heads: table.heads, rows: table.rows },
  };
});

/** Draws blocks on a timeline, with a lane for each name so that no blocks overlap. */
export const timeline = chartOf((data: ChartData['timeline']) => {
  const blocks = data.blocks.toSorted((a, b) => a.startMs - b.startMs);
  const lanes = grouped(blocks, ({ lane, name }) => `${lane}: ${name}`)
    .map((spans) => ({ label: `${spans[0]?.lane}: ${spans[0]?.name}`, spans }))
    .toSorted((a, b) => Number(a.label.startsWith('GPU')) - Number(b.label.startsWith('GPU')));
  const spans = lanes.flatMap((lane, row) =>
    lane.spans.map((span) => ({ ...span, row, endMs: span.startMs + span.ms })),
  );
  const title = ({ name, startMs, ms, endMs }: (typeof spans)[0]): string =>
    `${name}: ${formatMs(ms)} ms, from ${formatMs(startMs)} to ${formatMs(endMs)} ms`;
  return {
    plot: () => ({
      ...{ height: 26 * lanes.length + 30, marginTop: 0, marginBottom: 30, marginLeft: 190 },
      x: {
        domain: [0, Math.max(0, ...spans.map(({ endMs }) => endMs))],
        ...{ grid: true, label: null, tickSpacing: 70, tickFormat: (ms: number) => `${ms.toLocaleString('en')} ms` },
      },
      y: {
        ...{ type: 'band', domain: lanes.map((_, row) => row), padding: 0.2, label: null, tickSize: 0 },
        tickFormat: (row: number) => lanes[row]?.label ?? '',
      },
      marks: [
        barX(spans, {
          ...{ x1: 'startMs', x2: 'endMs', y: 'row', title, className: 'chart-span' },
          // short spans are visible, too
          insetRight: -2,
          fill: spans.map(({ name }) => colourOf(name)),
        }),
      ],
    }),
    numbers: {
      heads: ['Phase', 'Runs on', 'Start, ms', 'Duration, ms'],
      rows: blocks.map(({ name, lane, startMs, ms }) => [name, lane, formatMs(startMs), formatMs(ms)]),
    },
  };
});

const LABEL_HEIGHT = 17;

/** Draws the share of runs that took at most a given time, as a step for every run. */
export const distributionChart = chartOf(({ series }: ChartData['distribution']) => {
  const samples = series.map(({ name, values }) => {
    const sorted = values.toSorted((a, b) => a - b);
    return { name, sorted, middle: median(sorted) };
  });
  const [min, max] = timeRange(samples.flatMap(({ sorted }) => sorted));
  const longest = Math.max(0, ...samples.map(({ sorted }) => sorted.length));
  const marksOf = ({ name, sorted, middle }: (typeof samples)[0], i: number) => {
    if (middle === null) return [];
    const steps = [[min, 0], ...sorted.map((time, at) => [time, (100 * (at + 1)) / sorted.length])] as [
      number,
      number,
    ][];
    // placed at the end with more room, and in a line of its own above the plane
    const isRight = 2 * middle > (sorted[0] ?? middle) + (sorted.at(-1) ?? middle);
    const label = `${name.split(':')[0]}: median ${formatMs(middle)} ms`;
    const place = { frameAnchor: 'top', textAnchor: isRight ? 'end' : 'start', dy: -6 - i * LABEL_HEIGHT } as const;
    return [
      line(steps, { curve: 'step-after', ...lineStyle(i) }),
      ruleX([middle], { ...lineStyle(i), strokeWidth: 1, insetTop: -i * LABEL_HEIGHT }),
      text([middle], { x: [middle], text: [label], fill: lineStyle(i).stroke, className: 'chart-words', ...place }),
    ];
  };
  return {
    plot: () => ({
      height: 280 + samples.length * LABEL_HEIGHT,
      marginTop: samples.length * LABEL_HEIGHT + 6,
      x: { domain: [min, max], grid: true, label: 'ms', labelAnchor: 'center', labelArrow: 'none', tickSpacing: 70 },
      y: { domain: [-2, 102], grid: true, label: null, ticks: [0, 25, 50, 75, 100], tickFormat: (tick) => `${tick} %` },
      marks: samples.flatMap(marksOf),
    }),
    legend: samples.map(({ name }, i) => ({ name, swatch: lineSwatch(i, false, false) })),
    numbers: {
      heads: ['Run, fastest first', ...samples.map(({ name }) => `${name}, ms`)],
      rows: [
        ['median', ...samples.map(({ middle }) => formatMs(middle))],
        ...Array.from({ length: longest }, (_, run) => [
          String(run + 1),
          ...samples.map(({ sorted }) => formatMs(sorted[run] ?? null)),
        ]),
      ],
    },
  };
});

function timeRange(times: readonly number[]): [number, number] {
  if (times.length === 0) return [0, 1];
  const [min, max] = [Math.min(...times), Math.max(...times)];
  const margin = max > min ? 0.06 * (max - min) : 0.05 * max || 1;
  return [Math.max(0, min - margin), max + margin];
}

/** Draws time against the number of points, both on logarithmic axes. */
export const timeChart = chartOf(({ series }: ChartData['time']) => {
  const byN = series.map(({ points }) => new Map(points.map((each) => [each.n, each])));
  const sizes = [...new Set(byN.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const [range, times] = [sizeRange(sizes), rangeOfTimes(series)];
  return {
    plot: (width) => ({
      height: 340,
      x: {
        ...{
          type: 'log',
          base: 2,
          domain: range,
          grid: true,
          label: 'points',
          labelAnchor: 'center',
          labelArrow: 'none',
        },
        ticks: sizeTicks(...range, width - MARGIN.marginLeft - MARGIN.marginRight),
        tickFormat: shortSize,
      },
      y: {
        ...{ type: 'log', domain: times, grid: true, label: null },
        ticks: timeTicks(...times),
        tickFormat: timeLabel,
      },
      marks: series.flatMap(marksOf),
    }),
    legend: series.map(({ name, kind }, i) => ({ name, swatch: lineSwatch(i, kind === 'bound') })),
    numbers: {
      heads: ['Points', ...series.map(({ name }) => `${name}, ms`)],
      rows: sizes.map((n) => [formatSize(n), ...byN.map((points) => describe(points.get(n)))]),
    },
  };
});

function marksOf({ kind, points }: TimeSeries, i: number): Markish[] {
  const known = points.filter(({ ms }) => ms > 0);
  const course = line(known, { x: 'n', y: 'ms', sort: 'n', ...lineStyle(i, kind === 'bound') });
  if (kind === 'bound') return [course];
  const spread = known.filter(({ lowMs = 0 }) => lowMs > 0);
  const about = (at: TimePoint): string => `${formatSize(at.n)} points: ${describe(at)} ms`;
  return [
    course,
    ruleX(spread, { x: 'n', y1: 'lowMs', y2: 'highMs', ...lineStyle(i), strokeDasharray: 'none' }),
    dot(known, { x: 'n', y: 'ms', title: about, className: 'chart-point', ...pointStyle(i) }),
  ];
}

function describe(at: TimePoint | undefined): string {
  if (at === undefined) return '–';
  const { ms, lowMs, highMs } = at;
  const spread = lowMs === undefined || highMs === undefined ? '' : ` (${formatMs(lowMs)}–${formatMs(highMs)})`;
  return `${formatMs(ms)}${spread}`;
}

function sizeRange(sizes: readonly number[]): [number, number] {
  const [min, max] = [sizes.at(0) ?? 1, sizes.at(-1) ?? 2];
  const margin = min === max ? 2 : Math.max(2 ** 0.25, (max / min) ** 0.04);
  return [min / margin, max * margin];
}

/**
 * Returns the range of the y axis: at least a decade, so that small differences do not look large.
 */
function rangeOfTimes(series: readonly TimeSeries[]): [number, number] {
  const times = series
    .flatMap(({ points }) => points.flatMap(({ ms, lowMs, highMs }) => [ms, lowMs ?? ms, highMs ?? ms]))
    .filter((ms) => ms > 0);
  if (times.length === 0) return [1, 10];
  const [min, max] = [Math.min(...times) / 1.3, Math.max(...times) * 1.3];
  const margin = Math.sqrt(Math.max(1, 10 / (max / min)));
  return [min / margin, max * margin];
}

/* Positions and texts of the labels of logarithmic axes. */

/** Width of a label, in CSS pixels. */
const LABEL_WIDTH = 40;

/** Returns evenly spaced powers of two for the labels of a logarithmic axis, as many as fit. */
export function sizeTicks(min: number, max: number, width: number): number[] {
  const octaves = Math.log2(max / min);
  const step = [1, 2, 4, 8].find((candidate) => (candidate * width) / octaves >= LABEL_WIDTH) ?? 16;
  const ticks: number[] = [];
  for (let log = Math.ceil(Math.log2(min) / step) * step; 2 ** log <= max; log += step) ticks.push(2 ** log);
  return ticks;
}

/** Returns the decades between two times; over a short range also 2 and 5 times them. */
export function timeTicks(min: number, max: number): number[] {
  const factors = max / min < 200 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let log = Math.floor(Math.log10(min)); 10 ** log <= max; log++)
    for (const factor of factors) ticks.push(Number((factor * 10 ** log).toPrecision(3)));
  return ticks.filter((tick) => tick >= min && tick <= max);
}

/** Formats milliseconds as `1 ms`, `10 ms` or `1 s`. */
export const timeLabel = (ms: number): string =>
  ms >= 1000
    ? `${(ms / 1000).toLocaleString('en')} s`
    : `${ms.toLocaleString('en', { maximumSignificantDigits: 3 })} ms`;
