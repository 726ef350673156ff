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
import type { SkippedRow, StampedRow } from '../bench/rows.js';
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
import { type Setting as SettingsBar, settingsChart, stackedShares, timeChart } from './charts/index.js';
import { h, table, tableRow } from './dom.js';
import { passTables } from './passes.js';
import type { ResultView } from './result-view.js';
import { verdict } from './verdict.js';

/** Times at each size and with each setting as they come: a table, time against n, where it goes, and every repetition. */
export class TimingsView implements ResultView {
  readonly root = h('div', { class: 'sizes', hidden: true });
  readonly #rows: StampedRow[] = [];
  readonly #headline = h('p', { class: 'headline' });
  readonly #times = h('div');
  readonly #timeChart = timeChart({
    data: { series: [] },
    caption: 'Time against n',
    summary: 'Median wall time against the number of points, both axes logarithmic.',
  });
  readonly #shares = stackedShares({
    data: { bars: [] },
    caption: 'Where the time goes',
    summary: 'Shares of the wall time: each pass on the GPU, the fold on the CPU, and the host with waiting.',
  });
  readonly #settings = settingsChart({
    data: { settings: [] },
    caption: 'Side by side',
    summary: 'Median wall times at one size.',
  });
  readonly #passes = h('details', { class: 'passes' }, h('summary', {}, 'Passes in numbers'));
  readonly #passList = h('div', { class: 'sizes' });
  readonly #repetitions = h('details', {}, h('summary', {}, 'Every repetition'));
  readonly #repetitionTable = h('div');
  readonly #notes = h('div', { class: 'prose' });
  #drawing = false;

  constructor() {
    this.#passes.append(this.#passList);
    this.#repetitions.append(this.#repetitionTable);
    this.root.append(
      this.#headline,
      this.#times,
      this.#notes,
      this.#timeChart.root,
      this.#settings.root,
      this.#shares.root,
      this.#passes,
      this.#repetitions,
    );
  }

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
    if (timed.length === 0) return;
    this.root.hidden = false;
    const peers = summarisePeers(this.#rows);
    const settings = [...new Set(timed.map(({ setting }) => setting))];
    const sizes = [...new Set(timed.map(({ n }) => n))];
    const label = ({ n, setting }: Timed): string =>
      settings.length === 1 ? shortSize(n) : sizes.length === 1 ? setting : `${shortSize(n)}, ${setting}`;

    // a bootstrap for every other setting, while the next MSM runs: once a drawing
    const largest = Math.max(...sizes);
    const atLargest = timed.filter(({ n }) => n === largest);
    const fastest = fastestOf(atLargest);
    this.#headline.replaceChildren(...headline(timed, fastest, atLargest.length, peers));
    this.#times.replaceChildren(timesTable(timed, peers, settings.length > 1));
    const right = timed.filter((each) => each.medianMs !== null);
    this.#timeChart.update({
      series: [
        ...settings.map((setting) => ({
          name: settings.length === 1 ? 'webgpu-msm' : setting,
          kind: 'measured' as const,
          points: right
            .filter((each) => each.setting === setting)
            .map(({ n, medianMs, lowMs, highMs }) => ({
              n,
              ms: medianMs as number,
              lowMs: lowMs as number,
              highMs: highMs as number,
            })),
        })),
        ...[...new Set(peers.map(({ peer }) => peer))].map((peer) => ({
          name: `${peer} (CPU)`,
          kind: 'measured' as const,
          points: peers.flatMap(({ peer: name, n, medianMs }) =>
            name === peer && medianMs !== null ? [{ n, ms: medianMs }] : [],
          ),
        })),
        {
          name: settings.length === 1 ? 'roofline: its products alone' : 'roofline, the lowest of the settings',
          kind: 'bound' as const,
          points: sizes.flatMap((n) => {
            const bounds = timed.flatMap((each) => (each.n === n && each.bound !== null ? [each.bound.ms] : []));
            return bounds.length === 0 ? [] : [{ n, ms: Math.min(...bounds) }];
          }),
        },
      ].filter(({ points }) => points.length > 0),
    });
    // one size makes no line
    this.#timeChart.root.hidden = sizes.length === 1;
    this.#settings.root.hidden = sizes.length > 1 || right.length === 0;
    if (!this.#settings.root.hidden) {
      this.#settings.update({
        settings: bars(right, peers, settings.length > 1),
        ...(settings.length > 1 &&
          fastest && { fastest: fastest.notToldApartFrom === null ? fastest.best.setting : null }),
      });
    }
    const withPhases = right.filter(({ phases, on }) => phases !== null && on === 'gpu');
    this.#shares.root.hidden = withPhases.length === 0;
    if (withPhases.length > 0) {
      this.#shares.update({ bars: withPhases.map((each) => ({ label: label(each), parts: partsOfWall(each) ?? [] })) });
    }
    this.#passList.replaceChildren(
      ...right.map((each) => h('article', { class: 'size' }, h('h3', {}, label(each)), passTables(each))),
    );
    this.#repetitionTable.replaceChildren(repetitionTable(judged(this.#rows)));
    this.#notes.replaceChildren(
      ...roofNote(timed),
      ...clampedNotes(timed),
      ...cpuNote(timed),
      ...this.#rows
        .filter((row): row is StampedRow & SkippedRow => row.event === 'skipped')
        .map(({ variant, why }) => h('p', { class: 'note' }, `${variant}: ${why}`)),
    );
  }
}

const clampedNotes = (timed: readonly Timed[]): HTMLElement[] => {
  const notes = timed.flatMap(({ setting, n, warmUp }) =>
    (warmUp?.clamped ?? []).map((what) => `${setting}, ${shortSize(n)}: ${what}`),
  );
  if (notes.length === 0) return [];
  return [h('p', { class: 'note' }, `This device could not have all that was asked for. ${notes.join('; ')}.`)];
};

const cpuNote = (timed: readonly Timed[]): HTMLElement[] => {
  const sizes = [...new Set(timed.filter(({ on }) => on === 'cpu').map(({ n }) => shortSize(n)))];
  return sizes.length === 0 ? [] : [h('p', { class: 'note' }, `Computed on the CPU (cpubelow): ${sizes.join(', ')}.`)];
};

/** What the roofline is, where there is one. */
function roofNote(timed: readonly Timed[]): HTMLElement[] {
  const bound = timed.findLast((each) => each.bound !== null)?.bound;
  if (!bound) return [];
  const rate = formatMillions(bound.productsPerSecond);
  const additions = bound.additions.toLocaleString('en');
  return [
    h(
      'p',
      { class: 'note' },
      `Roofline: the additions of the MSM at six field products each, at the rate that this device reaches with products alone (${rate} million a second, measured between the repetitions). At ${shortSize(bound.n)} that is ${additions} additions, ${formatMs(bound.ms)} ms. What is above it goes to inversions, sorting, summing up buckets, memory and waiting.`,
    ),
  ];
}

/** Of one size: every setting, the peers, and the roofline of one setting. */
function bars(timed: readonly Timed[], peers: readonly TimedPeer[], withSettings: boolean): SettingsBar[] {
  const own = timed.map(({ setting, medianMs, lowMs, highMs }) => ({
    label: withSettings ? setting : 'webgpu-msm',
    medianMs: medianMs as number,
    lowMs: lowMs as number,
    highMs: highMs as number,
  }));
  const others = peers.flatMap(({ peer, medianMs, lowMs, highMs }) =>
    medianMs === null ? [] : [{ label: `${peer} (CPU)`, medianMs, lowMs: lowMs as number, highMs: highMs as number }],
  );
  const bound = withSettings ? null : (timed[0]?.bound ?? null);
  const roof =
    bound === null
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
        ];
  return [...own, ...others, ...roof];
}

/** The largest size, and of several settings the fastest. */
function headline(
  timed: readonly Timed[],
  fastest: Fastest | null,
  among: number,
  peers: readonly TimedPeer[],
): (Node | string)[] {
  const wrong = timed.find((each) => each.wrong);
  if (wrong !== undefined) {
    return [h('strong', { class: 'wrong' }, '✗ wrong'), ` at ${shortSize(wrong.n)}, ${wrong.setting}: it has no time`];
  }
  if (fastest === null || fastest.best.medianMs === null) return [];
  const { best } = fastest;
  const { n, bound, productEquivalents } = best;
  const { medianMs } = fastest.best;
  const parts = [`${Math.round((1000 * n) / medianMs).toLocaleString('en')} points a second`];
  const peer = peers.find((each) => each.case === best.case && each.medianMs !== null);
  if (peer?.medianMs) {
    const ratio = peer.medianMs / medianMs;
    parts.push(
      ratio >= 1
        ? `${peer.peer} on the CPU takes ${formatRatio(ratio)} times as long`
        : `${peer.peer} on the CPU is ${formatRatio(1 / ratio)} times as fast`,
    );
  }
  if (bound !== null) parts.push(`${formatPercent(bound.ms / medianMs)} of the roofline`);
  if (productEquivalents !== null) {
    parts.push(
      `as much as ${(productEquivalents / 1e6).toPrecision(3)} million products of a plain field multiplication`,
    );
  }
  const points = n === 1 ? '1 point' : `${formatSize(n)} points`;
  const setting = among > 1 ? ` with ${best.setting}, ${standingWords(fastest, among, ({ setting }) => setting)}` : '';
  return [h('strong', {}, `${formatMs(medianMs)} ms`), ` for ${points}${setting}: ${parts.join('; ')}`];
}

function timesTable(timed: readonly Timed[], peers: readonly TimedPeer[], withSettings: boolean): HTMLElement {
  const others = [...new Set(peers.map(({ peer }) => peer))];
  const rows = timed.map((each) => {
    const { n, setting, medianMs, lowMs, highMs, gpuMs, wrong, ofBound, warmUp } = each;
    const cells = [
      shortSize(n),
      verdict(!wrong),
      withSettings ? setting : null,
      wrong ? '–' : h('strong', {}, formatMs(medianMs)),
      medianMs === null ? '–' : `${formatMs(lowMs)} – ${formatMs(highMs)}`,
      formatMs(gpuMs),
      ...others.map((name) => {
        const peer = peers.find((other) => other.peer === name && other.case === each.case);
        return peer?.wrong === true ? verdict(false) : formatMs(peer?.medianMs ?? null);
      }),
      ofBound === null ? '–' : formatPercent(ofBound),
      warmUp === null ? '–' : formatBytes(warmUp.scratchBytes),
    ];
    return tableRow(cells, wrong ? 'failed' : '');
  });
  const first = timed[0];
  const { points, scalars } = parseCaseAddress((first as Timed).case);
  return table(
    `Wall times, median of the repetitions; points: ${points}, scalars: ${scalars}`,
    [
      'n',
      'Answer',
      ...(withSettings ? ['Setting'] : []),
      'Median, ms',
      'From – to',
      'GPU, ms',
      ...others.map((name) => `${name}, ms`),
      'Of the roofline',
      'Scratch',
    ],
    rows,
  );
}

function repetitionTable(rows: readonly StampedRow[]): HTMLElement {
  const lines = rows.flatMap((row) => {
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
  return table('In the order in which they ran', ['n', 'Who', 'Run', 'Wall, ms', 'GPU, ms', 'Answer'], lines);
}
