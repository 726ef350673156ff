import {
  formatBytes,
  formatMillions,
  formatMs,
  formatPercent,
  formatRatio,
  formatSize,
  shortSize,
} from '../bench/format.js';
import { judged } from '../bench/judged.js';
import { rowsOf, type StampedRow } from '../bench/rows.js';
import {
  type Fastest,
  fastestOf,
  partsOfWall,
  summarise,
  summarisePeers,
  type Timed,
  type TimedPeer,
} from '../bench/summary.js';
import { standingWords } from '../bench/words.js';
import { parseCaseAddress } from '../cases/address.js';
import { type Setting, settingsChart, show, stackedShares, type TimeData, timeChart } from './charts/index.js';
import { h, note, table, tableRow, verdict } from './dom.js';
import { passTables } from './passes.js';
import type { ResultView } from './result-view.js';
import { type Tile, tiles } from './tiles.js';

/** Times at each size and with each setting as they come: figures, a table, time against n, where it goes, and every repetition. */
export class TimingsView implements ResultView {
  readonly #summary = h('div', { class: 'size' });
  readonly #times = h('div');
  readonly #notes = h('div', { class: 'prose' });
  readonly #timeChart = timeChart({
    caption: 'Time against n',
    summary: 'Median wall time against the number of points, both axes logarithmic.',
  });
  readonly #settings = settingsChart({
    caption: 'Side by side',
    summary: 'Median wall times at one size.',
  });
  readonly #shares = stackedShares({
    caption: 'Where the time goes',
    summary:
      'Shares of the wall of the repetition in the middle: each pass on the GPU, the fold on the CPU, and the host with waiting.',
  });
  readonly #passes = h('div', { class: 'sizes' });
  readonly #repetitions = h('div');
  readonly root = h(
    'div',
    { class: 'sizes', hidden: true },
    this.#summary,
    this.#times,
    this.#notes,
    this.#timeChart.root,
    this.#settings.root,
    this.#shares.root,
    h('details', {}, h('summary', {}, 'Passes in numbers'), this.#passes),
    h('details', {}, h('summary', {}, 'Every repetition'), this.#repetitions),
  );
  readonly #rows: StampedRow[] = [];
  #drawing = false;

  onRow(row: StampedRow): void {
    this.#rows.push(row);
    if (this.#drawing) return;
    // rows of small MSMs come faster than anybody reads
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const timed = summarise(this.#rows);
    const peers = summarisePeers(this.#rows);
    if (timed.length === 0) return;
    this.root.hidden = false;
    const several = new Set(timed.map(({ setting }) => setting)).size > 1;
    const sizes = [...new Set(timed.map(({ n }) => n))];
    const label = ({ n, setting }: Timed): string =>
      several ? (sizes.length === 1 ? setting : `${shortSize(n)}, ${setting}`) : shortSize(n);

    // a bootstrap for every other setting, while the next MSM runs: once a drawing
    const largest = Math.max(...sizes);
    const atLargest = timed.filter(({ n }) => n === largest);
    const fastest = fastestOf(atLargest);
    this.#summary.replaceChildren(...summary(timed, fastest, atLargest.length, peers));
    this.#times.replaceChildren(timesTable(timed, peers, several));
    this.#notes.replaceChildren(...remarks(timed, this.#rows).map((remark) => note(remark)));
    const right = timed.filter(({ medianMs }) => medianMs !== null);
    // one size makes no line
    show(this.#timeChart, sizes.length === 1 ? null : lines(right, peers, several));
    const best = fastest?.notToldApartFrom === null ? fastest.best.setting : null;
    const oneSize = sizes.length === 1 && right.length > 0;
    const settings = oneSize ? bars(right, peers, several) : [];
    show(this.#settings, oneSize ? { settings, fastest: several ? best : null } : null);
    const withPhases = right.filter(({ phases, on }) => phases !== null && on === 'gpu');
    const shares = withPhases.map((each) => ({ label: label(each), parts: partsOfWall(each) ?? [] }));
    show(this.#shares, shares.length > 0 ? { bars: shares } : null);
    this.#passes.replaceChildren(
      ...right.map((each) => h('article', { class: 'size' }, h('h3', {}, label(each)), passTables(each))),
    );
    this.#repetitions.replaceChildren(repetitionTable(judged(this.#rows)));
  }
}

/** What the table does not say by itself. */
function remarks(timed: readonly Timed[], rows: readonly StampedRow[]): string[] {
  const bound = timed.findLast((each) => each.bound !== null)?.bound;
  const exceeded = new Set(timed.filter(({ boundExceeded }) => boundExceeded).map(({ n }) => shortSize(n)));
  const clamped = timed.flatMap(({ setting, n, warmUp }) =>
    (warmUp?.clamped ?? []).map((what) => `${setting}, ${shortSize(n)}: ${what}`),
  );
  const onCpu = new Set(timed.filter(({ on }) => on === 'cpu').map(({ n }) => shortSize(n)));
  return [
    bound
      ? `Roofline: the additions of the MSM at six field products each, at the rate that this device reaches with products alone (${formatMillions(bound.productsPerSecond)} million a second, measured between the repetitions). At ${shortSize(bound.n)} that is ${bound.additions.toLocaleString('en')} additions, ${formatMs(bound.ms)} ms. What is above it goes to inversions, sorting, summing up buckets, memory and waiting.`
      : '',
    exceeded.size > 0
      ? `No bound at ${[...exceeded].join(', ')}: the whole MSM was faster than its products alone were measured, so that these bound nothing.`
      : '',
    clamped.length > 0 ? `This device could not have all that was asked for. ${clamped.join('; ')}.` : '',
    onCpu.size > 0 ? `Computed on the CPU (cpubelow): ${[...onCpu].join(', ')}.` : '',
    ...rowsOf(rows, 'skipped').map(({ variant, why }) => `${variant}: ${why}`),
  ].filter((remark) => remark !== '');
}

/** The largest size, and of several settings the fastest. */
function summary(timed: readonly Timed[], fastest: Fastest | null, among: number, peers: readonly TimedPeer[]): Node[] {
  const wrong = timed.find((each) => each.wrong);
  if (wrong !== undefined) {
    const where = ` at ${shortSize(wrong.n)}, ${wrong.setting}: it has no time`;
    return [h('p', { class: 'headline' }, verdict(false), where)];
  }
  if (fastest === null) return [];
  const { n, setting } = fastest.best;
  const title = h('h3', {}, n === 1 ? '1 point' : `${formatSize(n)} points`, among > 1 ? `, ${setting}` : '');
  const standing = among > 1 ? [note(`This is ${standingWords(fastest, among, (each) => each.setting)}.`)] : [];
  return [title, ...standing, tiles(figures(fastest.best, peers))];
}

function figures(best: Timed, peers: readonly TimedPeer[]): (Tile | null)[] {
  const { n, bound, boundExceeded, ofBound, productEquivalents, gpuMs, on, repetitions } = best;
  const medianMs = best.medianMs as number;
  const peer = peers.find((each) => each.case === best.case && each.medianMs !== null);
  const ratio = (peer?.medianMs ?? 0) / medianMs;
  const rate = (1000 * n) / medianMs;
  return [
    { label: 'Wall', value: `${formatMs(medianMs)} ms`, note: `median of ${repetitions}` },
    on === 'cpu'
      ? { label: 'GPU time', value: '–', note: 'it was the CPU' }
      : {
          label: 'GPU time',
          value: gpuMs === null ? '–' : `${formatMs(gpuMs)} ms`,
          note: gpuMs === null ? 'no timestamps' : 'all passes',
        },
    {
      label: 'Points a second',
      value: rate < 1e6 ? Math.round(rate).toLocaleString('en') : `${formatMillions(rate)} M`,
    },
    productEquivalents === null
      ? null
      : {
          label: 'Product equivalents',
          value: `${(productEquivalents / 1e6).toPrecision(3)} M`,
          note: 'plain field products in the same time',
        },
    boundExceeded ? { label: 'Of the roofline', value: 'no bound', note: 'faster than its products alone' } : null,
    bound === null || ofBound === null
      ? null
      : { label: 'Of the roofline', value: formatPercent(ofBound), note: `products alone: ${formatMs(bound.ms)} ms` },
    peer === undefined
      ? null
      : {
          label: `Beside ${peer.peer}`,
          value: `${formatRatio(ratio)} ×`,
          note:
            ratio >= 1
              ? `${peer.peer} on the CPU takes ${formatRatio(ratio)} times as long`
              : `${peer.peer} on the CPU is ${formatRatio(1 / ratio)} times as fast`,
        },
  ];
}

const peerLabel = (peer: string): string => `${peer} (CPU)`;

/** Against n: every setting, the peers, and the lowest roofline. */
function lines(timed: readonly Timed[], peers: readonly TimedPeer[], several: boolean): TimeData {
  const byName = new Map<string, TimeData['series'][number]['points'][number][]>();
  const add = (name: string, { n, medianMs, lowMs, highMs }: Timed | TimedPeer, whiskers: boolean): void => {
    if (medianMs === null) return;
    const point = { n, ms: medianMs, ...(whiskers && { lowMs: lowMs as number, highMs: highMs as number }) };
    byName.set(name, [...(byName.get(name) ?? []), point]);
  };
  for (const each of timed) add(several ? each.setting : 'webgpu-msm', each, true);
  for (const each of peers) add(peerLabel(each.peer), each, false);
  const bounds = new Map<number, number>();
  for (const { n, bound } of timed)
    if (bound !== null) bounds.set(n, Math.min(bound.ms, bounds.get(n) ?? Number.POSITIVE_INFINITY));
  const bound = {
    name: several ? 'roofline, the lowest of the settings' : 'roofline: its products alone',
    kind: 'bound' as const,
    points: [...bounds].map(([n, ms]) => ({ n, ms })),
  };
  const measured = [...byName].map(([name, points]) => ({ name, kind: 'measured' as const, points }));
  return { series: bounds.size > 0 ? [...measured, bound] : measured };
}

/** Of one size: every setting, the peers, and the roofline of one setting. */
function bars(timed: readonly Timed[], peers: readonly TimedPeer[], several: boolean): Setting[] {
  const bar = (label: string, { medianMs, lowMs, highMs }: Timed | TimedPeer): Setting[] =>
    medianMs === null ? [] : [{ label, medianMs, lowMs: lowMs as number, highMs: highMs as number }];
  const bound = several ? null : (timed[0]?.bound ?? null);
  return [
    ...timed.flatMap((each) => bar(several ? each.setting : 'webgpu-msm', each)),
    ...peers.flatMap((each) => bar(peerLabel(each.peer), each)),
    ...(bound === null
      ? []
      : [
          {
            label: 'roofline',
            medianMs: bound.ms,
            lowMs: bound.ms,
            highMs: bound.ms,
            note: 'its products alone',
            bound: true,
          },
        ]),
  ];
}

function timesTable(timed: readonly Timed[], peers: readonly TimedPeer[], several: boolean): HTMLElement {
  const others = [...new Set(peers.map(({ peer }) => peer))];
  const rows = timed.map((each) => {
    const { n, setting, medianMs, lowMs, highMs, gpuMs, wrong, ofBound, boundExceeded, warmUp } = each;
    const cells = [
      shortSize(n),
      verdict(!wrong),
      several ? setting : null,
      wrong ? '–' : h('strong', {}, formatMs(medianMs)),
      medianMs === null ? '–' : `${formatMs(lowMs)} – ${formatMs(highMs)}`,
      formatMs(gpuMs),
      ...others.map((name) => {
        const peer = peers.find((other) => other.peer === name && other.case === each.case);
        return peer?.wrong === true ? verdict(false) : formatMs(peer?.medianMs ?? null);
      }),
      boundExceeded ? 'no bound' : ofBound === null ? '–' : formatPercent(ofBound),
      warmUp === null ? '–' : formatBytes(warmUp.scratchBytes),
    ];
    return tableRow(cells, wrong ? 'failed' : '');
  });
  const { points, scalars } = parseCaseAddress((timed[0] as Timed).case);
  const setting = several ? ['Setting'] : [];
  const beside = others.map((name) => `${name}, ms`);
  return table(
    `Wall times, median of the repetitions; points: ${points}, scalars: ${scalars}`,
    ['n', 'Answer', ...setting, 'Median, ms', 'From – to', 'GPU, ms', ...beside, 'Of the roofline', 'Scratch'],
    rows,
  );
}

function repetitionTable(rows: readonly StampedRow[]): HTMLElement {
  const body = rows.flatMap((row) => {
    if (row.event !== 'warm-up' && row.event !== 'repetition' && row.event !== 'peer') return [];
    const first = row.event === 'warm-up';
    const cells = [
      shortSize(parseCaseAddress(row.case).n),
      row.event === 'peer' ? row.peer : row.setting,
      first ? 'first' : String(row.repetition),
      formatMs(row.wallMs),
      formatMs(row.event === 'repetition' ? row.gpuMs : null),
      verdict(row.agrees),
    ];
    return [tableRow(cells, first ? 'aside' : row.agrees ? '' : 'failed')];
  });
  return table('In the order in which they ran', ['n', 'Who', 'Run', 'Wall, ms', 'GPU, ms', 'Answer'], body);
}
