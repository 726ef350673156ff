/** Modes that time MSMs: one setting, every combination of lists, two settings, and all passes of one. */
import { median, ratioOfMedians, type Verdict } from '../../../src/calibrate/statistics.js';
import {
  type CaseAddress,
  defaultCurve,
  defaultGroup,
  formatCaseAddress,
  parseCaseAddress,
} from '../../cases/address.js';
import { peerNames } from '../../peers/peers.js';
import {
  formatBytes,
  formatFactor,
  formatMillions,
  formatMs,
  formatPercent,
  formatSize,
  shortSize,
} from '../format.js';
import { ofMsm, peersKnob } from '../knob.js';
import { isOnGpu, sumOnGpu } from '../measure.js';
import {
  type Bar,
  type Block,
  type Column,
  headline,
  notes,
  type Part,
  type Parts,
  present,
  sharesTable,
  type Tile,
  type TimePoint,
  type TimeSeries,
  tableOf,
  tiles,
  verdict,
} from '../parts.js';
import { type RowOf, rowsOf, type StampedRow, voidWrongTimes } from '../rows.js';
import {
  compareTimes,
  comparisonText,
  type Fastest,
  fastestOf,
  grouped,
  intervalText,
  medianRepetition,
  partsByHost,
  partsOfWallTime,
  speedText,
  standingText,
  summarise,
  summarisePeers,
  type Timed,
  type TimedPeer,
  verdictText,
} from '../summary.js';
import { runTimings, type Times } from '../timings.js';
import { benchMode } from './mode.js';

/**
 * Returns a field of a case. The case is not parsed, because rows of another version may have
 * unknown distributions.
 */
const inCase = (address: string, name: string): string | null =>
  new URLSearchParams(address.replaceAll(',', '&')).get(name);

const settingOf = ({ setting }: Timed): string => setting;

/** Formats a size as `2⁹ = 512 points`. */
const pointsOf = ({ n }: Pick<Timed, 'n'>): string => (n === 1 ? '1 point' : `${formatSize(n)} points`);

const fromTo = ({ lowMs, highMs }: Pick<Timed, 'lowMs' | 'highMs'>): string =>
  lowMs === null ? '–' : `${formatMs(lowMs)} – ${formatMs(highMs)}`;

function timingsResult(rows: readonly StampedRow[]): Parts {
  const timed = summarise(rows);
  if (timed.length === 0) return [];
  const peers = summarisePeers(rows);
  const several = new Set(timed.map(settingOf)).size > 1;
  const sizes = [...new Set(timed.map(({ n }) => n))];
  const nameOf = ({ setting }: Timed): string => (several ? setting : 'webgpu-msm');
  const labelOf = ({ n, setting }: Timed): string =>
    several ? (sizes.length === 1 ? setting : `${shortSize(n)}, ${setting}`) : shortSize(n);
  const right = timed.filter(({ medianMs }) => medianMs !== null);
  const largest = Math.max(...sizes);
  const atLargest = timed.filter(({ n }) => n === largest);
  // each comparison is a bootstrap, so other sizes are compared only when the run is over
  const fastest = fastestOf(atLargest);
  const isSwept = rowsOf(rows, 'init')[0]?.mode === 'sweep' && rows.some(({ event }) => event === 'end');
  const standings = (isSwept ? sizes : []).flatMap((n) => {
    const own = timed.filter((each) => each.n === n);
    const found = n === largest ? null : fastestOf(own);
    return found ? `${shortSize(n)}: ${found.best.setting} is ${standingText(found, own.length, settingOf)}.` : [];
  });
  const best = several && fastest?.notToldApartFrom === null ? fastest.best.setting : null;
  return [
    ...summary(timed, fastest, atLargest.length, peers),
    timesTable(timed, peers, several),
    notes(...standings, ...remarks(timed), ...skippedText(rows)),
    // one size gives no line
    sizes.length > 1
      ? {
          kind: 'time',
          caption: 'Total time by number of points',
          summary: 'Median total time against the number of points, both axes logarithmic.',
          data: { series: lines(right, peers, nameOf, several) },
        }
      : {
          kind: 'settings',
          caption: 'Total time compared',
          summary: 'Median total times at one size.',
          data: { settings: sideBySide(right, peers, nameOf, several), fastest: best },
        },
    ...whereItGoes(right, labelOf),
    { kind: 'folded', caption: 'Every repetition', parts: [repetitionTable(voidWrongTimes(rows))] },
  ];
}

/** Returns the breakdown of the median repetitions, where it is known. */
function whereItGoes(timed: readonly Timed[], labelOf: (each: Timed) => string): Parts {
  const shares = (partsOf: typeof partsOfWallTime | typeof partsByHost) =>
    timed.flatMap((each) => {
      if (each.on === 'cpu') return [];
      const parts = partsOf(each);
      return parts === null ? [] : [{ label: labelOf(each), parts }];
    });
  const [bars, byHost] = [shares(partsOfWallTime), shares(partsByHost)];
  const host = sharesTable('Encoding, waiting and reading back, by the clock of the host', 'Part', byHost);
  return [
    bars.length === 0
      ? null
      : {
          kind: 'shares',
          caption: 'Breakdown of the total time',
          summary:
            'Breakdown of the median repetition: each pass on the GPU, combining windows on the CPU, and waiting and other work of the host.',
          data: { bars },
        },
    byHost.length === 0
      ? null
      : { kind: 'folded', caption: 'Breakdown by the clock of the host', parts: [{ kind: 'table', ...host }] },
  ];
}

export const skippedText = (rows: readonly StampedRow[]): string[] =>
  rowsOf(rows, 'skipped').map(({ variant, why }) => `${variant}: ${why}`);

function remarks(timed: readonly Timed[]): string[] {
  const bound = timed.findLast((each) => each.bound !== null)?.bound;
  const where = (which: (each: Timed) => boolean): string =>
    [...new Set(timed.filter(which).map(({ n }) => shortSize(n)))].join(', ');
  const clamped = timed.flatMap(({ setting, n, warmUp }) =>
    (warmUp?.clamped ?? []).map((what) => `${setting}, ${shortSize(n)}: ${what}`),
  );
  const exceeded = where(({ boundExceeded }) => boundExceeded);
  const onCpu = where(({ on }) => on === 'cpu');
  const untimed = where(({ on, wrong, phases }) => on === 'gpu' && !wrong && phases === null);
  return [
    bound &&
      `Hardware limit (roofline): the time of the field products of all additions, six each, at the rate that this device reaches with products alone (${formatMillions(bound.productsPerSecond)} million per second, measured between the repetitions). ${shortSize(bound.n)} points need ${bound.additions.toLocaleString('en')} additions: ${formatMs(bound.ms)} ms. The rest of the total time is inversions, sorting, bucket reduction, memory access and waiting.`,
    exceeded &&
      `No hardware limit at ${exceeded}: the MSM took less time than its products alone, so the measured rate is not a limit.`,
    clamped.length > 0 && `This device limits some knobs. ${clamped.join('; ')}.`,
    onCpu && `Computed on the CPU: ${onCpu}.`,
    untimed && 'No times of passes: this adapter has no timestamps.',
  ].filter((remark) => typeof remark === 'string' && remark !== '') as string[];
}

function summary(timed: readonly Timed[], fastest: Fastest | null, among: number, peers: readonly TimedPeer[]): Parts {
  const wrong = timed.find((each) => each.wrong);
  if (wrong)
    return [tiles(['Result', verdict(false), `at ${shortSize(wrong.n)}, ${wrong.setting}; no times are reported`])];
  if (fastest === null) return [];
  return [headline(resultOf(fastest, among, peers)), tiles(...figures(fastest.best, peers))];
}

function resultOf(fastest: Fastest, among: number, peers: readonly TimedPeer[]): string {
  const { best } = fastest;
  const peer = peerOf(best, peers);
  const compared = [
    peer && speedText(best.wallTimesMs, peer.wallTimesMs, `${peer.name} on the CPU`),
    best.ofBound && `${formatPercent(best.ofBound)} of the hardware limit`,
  ].filter((part) => typeof part === 'string');
  const took = `A sum of ${pointsOf(best)} takes ${formatMs(best.medianMs)} ms`;
  if (among === 1) return `${[took, compared.join(', at ')].filter((part) => part !== '').join(': ')}.`;
  const rank = standingText(fastest, among, settingOf);
  return `${took} with ${best.setting}, ${rank}.`;
}

/** Returns the first peer with a time at the same case. */
function peerOf(best: Timed, peers: readonly TimedPeer[]) {
  const peer = peers.find((each) => each.case === best.case && each.medianMs !== null);
  return peer === undefined ? null : { ...peer, name: peer.peer, ms: peer.medianMs as number };
}

const besideWords: Readonly<Record<Verdict, string>> = {
  'A is faster': 'Faster than',
  'B is faster': 'Slower than',
  'no difference': 'Beside',
  'too few pairs': 'Beside',
};

/** Returns the figure that compares with a peer: a factor only where the times have a verdict. */
function peerTile(best: Timed, peer: NonNullable<ReturnType<typeof peerOf>>): Tile {
  const verdict = compareTimes(best.wallTimesMs, peer.wallTimesMs);
  const ratio = peer.ms / (best.medianMs as number);
  const isTold = verdict === 'A is faster' || verdict === 'B is faster';
  return [
    `${besideWords[verdict]} ${peer.name}`,
    isTold ? `${formatFactor(Math.max(ratio, 1 / ratio))} ×` : verdict === 'no difference' ? 'no difference' : '–',
    `${peer.name} on the CPU: ${formatMs(peer.ms)} ms${verdict === 'too few pairs' ? '; too few repetitions' : ''}`,
  ];
}

function figures(best: Timed, peers: readonly TimedPeer[]): (Tile | null)[] {
  const { n, bound, boundExceeded, ofBound, gpuMs, on, repetitions } = best;
  const medianMs = best.medianMs as number;
  const peer = peerOf(best, peers);
  const rate = (1000 * n) / medianMs;
  const gpuNote = gpuMs === null ? 'no timestamps' : 'all passes';
  return [
    ['Total time', `${formatMs(medianMs)} ms`, `median of ${repetitions}`],
    on === 'cpu' ? null : ['GPU time', gpuMs === null ? '–' : `${formatMs(gpuMs)} ms`, gpuNote],
    ['Points per second', rate < 1e6 ? Math.round(rate).toLocaleString('en') : `${formatMillions(rate)} M`],
    boundExceeded ? ['Share of the hardware limit', 'no limit', 'faster than its products alone'] : null,
    bound && ['Share of the hardware limit', formatPercent(ofBound as number), `limit: ${formatMs(bound.ms)} ms`],
    peer && peerTile(best, peer),
  ];
}

const peerLabel = ({ peer }: TimedPeer): string => `${peer} (CPU)`;
const measured = ({ medianMs }: Timed | TimedPeer): boolean => medianMs !== null;

/** Returns series by n: every setting, the peers, and the lowest roofline. */
function lines(
  timed: readonly Timed[],
  peers: readonly TimedPeer[],
  nameOf: (each: Timed) => string,
  several: boolean,
) {
  const own = grouped(timed, nameOf).map(
    (group): TimeSeries => ({
      name: nameOf(group[0] as Timed),
      kind: 'measured',
      points: group.map(({ n, medianMs: ms, lowMs, highMs }) => ({ n, ms, lowMs, highMs }) as TimePoint),
    }),
  );
  const others = grouped(peers.filter(measured), peerLabel).map(
    (group): TimeSeries => ({
      name: peerLabel(group[0] as TimedPeer),
      kind: 'measured',
      points: group.map(({ n, medianMs: ms }) => ({ n, ms }) as TimePoint),
    }),
  );
  const bounds = grouped(present(timed.map(({ bound }) => bound)), ({ n }) => String(n));
  const name = several ? 'hardware limit, the lowest of the settings' : 'hardware limit: field products alone';
  const points = bounds.map((group) => group.reduce((a, b) => (b.ms < a.ms ? b : a)));
  return [...own, ...others, ...(points.length > 0 ? [{ name, kind: 'bound' as const, points }] : [])];
}

/** Returns bars of one size: every setting, the peers, and the roofline of a single setting. */
function sideBySide(
  timed: readonly Timed[],
  peers: readonly TimedPeer[],
  nameOf: (each: Timed) => string,
  several: boolean,
): Bar[] {
  const bar = (label: string, { medianMs, lowMs, highMs }: Timed | TimedPeer) =>
    ({ label, medianMs, lowMs, highMs }) as Bar;
  const ms = several ? undefined : timed[0]?.bound?.ms;
  const bound = { label: 'hardware limit: field products alone', bound: true };
  return [
    ...timed.map((each) => bar(nameOf(each), each)),
    ...peers.filter(measured).map((each) => bar(peerLabel(each), each)),
    ...(ms === undefined ? [] : [{ ...bound, medianMs: ms, lowMs: ms, highMs: ms }]),
  ];
}

function timesTable(timed: readonly Timed[], peers: readonly TimedPeer[], several: boolean): Part {
  // rows of another version may have another kind of address
  const [curve, group, points, scalars] = ['curve', 'group', 'points', 'scalars'].map((name) =>
    inCase((timed[0] as Timed).case, name),
  );
  const onGpu = timed.some(({ on }) => on !== 'cpu');
  const ifGpu = (...columns: readonly Column<Timed>[]): readonly Column<Timed>[] => (onGpu ? columns : []);
  const where = `${curve ?? defaultCurve}${(group ?? defaultGroup) === defaultGroup ? '' : `, ${group}`}`;
  const beside = [...new Set(peers.map(({ peer }) => peer))].map((name) => {
    const of = (one: Timed) => peers.find((each) => each.peer === name && each.case === one.case);
    return [
      `${name}, ms`,
      (one: Timed) => (of(one)?.wrong ? verdict(false) : formatMs(of(one)?.medianMs ?? null)),
    ] as const;
  });
  return tableOf(
    `Total times on ${where}, medians of the repetitions; points: ${points}, scalars: ${scalars}`,
    timed,
    [
      ['n', ({ n }) => shortSize(n)],
      ['Result', ({ wrong }) => verdict(!wrong)],
      several ? ['Setting', settingOf] : null,
      ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
      ['Range, ms', fromTo],
      ...ifGpu(['GPU, ms', ({ gpuMs }) => formatMs(gpuMs)]),
      ...beside,
      ...ifGpu(
        [
          'Share of the limit',
          (one) => (one.boundExceeded ? 'no limit' : one.ofBound ? formatPercent(one.ofBound) : '–'),
        ],
        ['Scratch', ({ warmUp }) => (warmUp === null ? '–' : formatBytes(warmUp.scratchBytes))],
      ),
    ],
    { words: several ? 3 : 2, of: ({ wrong }) => (wrong ? { is: 'failed' } : {}) },
  );
}

const repetitionTable = (rows: readonly StampedRow[]): Part =>
  tableOf(
    'In execution order',
    rows.filter((row) => row.event === 'warm-up' || row.event === 'repetition' || row.event === 'peer'),
    [
      ['n', (row) => shortSize(Number(inCase(row.case, 'n')))],
      ['Subject', (row) => (row.event === 'peer' ? row.peer : row.setting)],
      ['Run', (row) => (row.event === 'warm-up' ? 'first' : String(row.repetition))],
      ['Total, ms', ({ wallMs }) => formatMs(wallMs)],
      ['GPU, ms', (row) => formatMs(row.event === 'repetition' ? row.gpuMs : null)],
      ['Result', ({ agrees }) => verdict(agrees)],
    ],
    { long: true, of: ({ event, agrees }) => ({ is: !agrees ? 'failed' : event === 'warm-up' ? 'aside' : undefined }) },
  );

export const msmBench = benchMode({
  title: 'Benchmark',
  about:
    'checks the result, then times repetitions at each size, against noble and the hardware limit: how fast is it?',
  takes: '10 to 30 s',
  example: 'run --logn 10..16 --reps 7',
  runsOn: 'either',
  ...ofMsm,
  defaults: {},
  knobs: { peers: peersKnob(peerNames, 'automatic, by size') },
  run: (bench, knobs) => runTimings(bench, knobs, { bounded: true, peers: knobs.peers }),
  show: timingsResult,
});

export const sweep = benchMode({
  title: 'Sweep',
  about: 'times every combination of the listed knobs, in turns: which setting is best?',
  takes: '10 to 20 s a setting',
  example: 'run --logn 14 --walkertpb 32,64,128 --c 10..13',
  limits: 'Each knob of the engine may have a list of values: 32,64,128 or 8..12. At most 64 settings.',
  runsOn: 'either',
  settings: 'lists',
  ...ofMsm,
  defaults: { reps: 7 },
  knobs: {},
  run: (bench, knobs) => runTimings(bench, knobs, { bounded: true }),
  show: timingsResult,
});

declare module '../rows.js' {
  interface Rows {
    /** Comparison of A and B over the pairs of a case. */
    readonly comparison: ReturnType<typeof compare>;
  }
}

export const accumAb = benchMode({
  title: 'A against B',
  about:
    'times two settings in turns and tests whether they differ by more than noise: does private or workgroup scratch win?',
  takes: '15 to 40 s',
  example: 'run --logn 12 --a.walkerpriv 1 --b.walkerpriv 0',
  limits: 'A verdict needs 6 pairs. Peers and the hardware limit are left out.',
  runsOn: 'either',
  settings: 'sides',
  ...ofMsm,
  defaults: { reps: 12 },
  knobs: {},
  run: (bench, knobs) =>
    runTimings(bench, knobs, {
      labels: ['A', 'B'],
      conclude: (address, times) => compare(address, times as readonly [Times, Times], knobs.seed),
    }),
  show(rows) {
    const [a = 'A', b = 'B'] = rowsOf(rows, 'init')[0]?.settings ?? [];
    const timed = summarise(rows).toSorted((x, y) => x.setting.localeCompare(y.setting));
    const comparisons = rowsOf(rows, 'comparison');
    const cases = grouped(timed, ({ case: name }) => withoutGroup(name));
    return [
      cases.length > 1 && comparisons.length > 0 ? overAll(comparisons, cases.length) : null,
      ...cases.map((sides) => {
        const ofBoth = withoutGroup((sides[0] as Timed).case);
        const told = comparisons.find((row) => withoutGroup(row.case) === ofBoth);
        return sectionOf(sides, { A: a, B: b }, { told, isOnlyOne: cases.length === 1 });
      }),
    ];
  },
});

function overAll(comparisons: readonly RowOf<'comparison'>[], of: number): Part {
  const said = grouped(comparisons, verdictText).map((rows) => {
    const sizes = rows.map(({ n }) => shortSize(n)).join(', ');
    return `${verdictText(rows[0] as RowOf<'comparison'>)} at ${sizes}`;
  });
  const text = `${said.length > 1 ? 'it depends on the size: ' : ''}${said.join('; ')}`;
  const sofar = comparisons.length < of ? ` (${comparisons.length} of ${of} sizes so far)` : '';
  return headline(`${text.charAt(0).toUpperCase()}${text.slice(1)}${sofar}.`);
}

/** Returns the case without its group, because A and B may be in different groups. */
const withoutGroup = (name: string): string => formatCaseAddress({ ...parseCaseAddress(name), group: defaultGroup });

/** Compares the pairs of A and B. @throws Error if the clock is too coarse */
function compare(address: CaseAddress, [a, b]: readonly [Times, Times], seed: number) {
  const { n } = address;
  if ([...a.wallTimesMs, ...b.wallTimesMs].some((ms) => ms <= 0)) {
    throw new Error(
      `n = ${n} takes less than one tick of the clock, so the settings cannot be compared; use more points`,
    );
  }
  const wallTimes = ratioOfMedians(a.wallTimesMs, b.wallTimesMs, { seed });
  return {
    event: 'comparison' as const,
    case: formatCaseAddress(address),
    n,
    aMs: median(a.wallTimesMs) as number,
    bMs: median(b.wallTimesMs) as number,
    a: a.subject.setting.name,
    b: b.subject.setting.name,
    pairs: a.wallTimesMs.length,
    /** B ÷ A of the wall times. */
    wallTimes,
  };
}

/** Returns the times of a case: with its verdict if it is the only case, else with its ratio. */
function sectionOf(
  sides: readonly Timed[],
  names: Readonly<Record<string, string>>,
  { told, isOnlyOne }: { readonly told: RowOf<'comparison'> | undefined; readonly isOnlyOne: boolean },
): Part {
  const [first] = sides as readonly [Timed];
  const wrong = sides.filter((side) => side.wrong).map(({ setting }) => setting);
  const labelOf = ({ setting }: Timed): string => `${setting}: ${names[setting]}`;
  const ratio: Tile = told
    ? ['B/A', told.wallTimes.ratio.toFixed(3), `95 % CI ${intervalText(told.wallTimes, 3)}, ${told.pairs} pairs`]
    : ['B/A', '–', `${first.repetitions} pairs so far`];
  const onGpu = sides.some(({ gpuMs }) => gpuMs !== null);
  const parts: Parts = [
    told && isOnlyOne ? headline(comparisonText(told)) : null,
    tiles(...sides.map(({ setting, medianMs }): Tile => [setting, `${formatMs(medianMs)} ms`, names[setting]]), ratio),
    tableOf('Total times; every result was checked', sides, [
      ['Setting', labelOf],
      ['Median, ms', ({ medianMs }) => formatMs(medianMs)],
      ['Range, ms', fromTo],
      onGpu ? ['GPU, ms', ({ gpuMs }) => formatMs(gpuMs)] : null,
      ['Runs', ({ repetitions }) => String(repetitions)],
    ]),
    notes(...remarks(sides)),
    {
      kind: 'distribution',
      caption: 'Distribution of the total times',
      summary: 'Share of the runs that took at most a given time, for A and for B.',
      data: { series: sides.map((side) => ({ name: labelOf(side), values: side.wallTimesMs })) },
    },
    ...whereItGoes(sides, ({ setting }) => setting),
  ];
  const failed = tiles(['Result', verdict(false), `${wrong.join(', ')}; no times are reported`]);
  return { kind: 'section', caption: pointsOf(first), parts: wrong.length > 0 ? [failed] : parts };
}

export const msmTrace = benchMode({
  title: 'Trace',
  about: 'shows the passes of one MSM on a timeline: where does the time go?',
  takes: '5 to 15 s',
  example: 'run --logn 14 --trace dev/results/trace.json',
  limits: 'Passes have times where the device has timestamps. Peers and the hardware limit are left out.',
  runsOn: 'gpu',
  ...ofMsm,
  defaults: {},
  knobs: {},
  problemOf: (query) =>
    query.get('backend') === 'cpu'
      ? 'backend: "cpu" has no passes to trace; use autorun=msm-bench to time the CPU'
      : null,
  run: (bench, knobs) => runTimings(bench, knobs, { traced: true }),
  show: (rows) => {
    const told = rowsOf(rows, 'trace');
    return summarise(rows).map((timed) =>
      traceSection(
        timed,
        told.filter((row) => row.case === timed.case),
      ),
    );
  },
});

function traceSection(timed: Timed, rows: readonly RowOf<'trace'>[]): Part {
  const caption = pointsOf(timed);
  const middle = medianRepetition(rows);
  if (timed.wrong || middle === null) {
    return { kind: 'section', caption, parts: [tiles(['Result', verdict(false), 'no times are reported'])] };
  }
  const phases = timed.on === 'gpu' ? timed.phases : null;
  const gpuMs = sumOnGpu(phases);
  const most = phases?.filter(isOnGpu).sort((a, b) => b.ms - a.ms)[0];
  const clocks = `The timeline shows repetition ${middle.repetition}, the median by total time. Host and GPU have separate clocks; it assumes that the GPU started right after the submit.`;
  return {
    kind: 'section',
    caption,
    parts: [
      gpuMs && most
        ? headline(
            `A sum of ${pointsOf(timed)} takes ${formatMs(timed.typicalMs)} ms. The slowest pass is ${most.name}, with ${formatPercent(most.ms / gpuMs)} of the GPU time.`,
          )
        : null,
      tiles(
        ['Total time', `${formatMs(timed.typicalMs)} ms`, `median of ${timed.repetitions}: ${fromTo(timed)}`],
        gpuMs === null ? null : ['GPU time', `${formatMs(gpuMs)} ms`, 'all passes'],
        gpuMs && most ? ['Slowest pass', most.name, `${formatPercent(most.ms / gpuMs)} of the GPU time`] : null,
      ),
      timed.on === 'cpu'
        ? null
        : {
            kind: 'timeline',
            caption: 'One MSM, from the call to the result',
            summary: 'Timeline of the host and the GPU.',
            data: { blocks: blocksOf(middle) },
          },
      notes(...(timed.on === 'cpu' ? [] : [clocks]), ...remarks([timed])),
      ...whereItGoes([timed], ({ n }) => shortSize(n)),
    ],
  };
}

/**
 * Returns the host's three phases in sequence, and the passes of the GPU from the first submit on.
 * Host and GPU clocks are unrelated. The layout assumes that the GPU starts at once, or early
 * enough to be done when the result arrives.
 */
export function blocksOf({
  hostTimes,
  timeline,
  phases,
}: Pick<RowOf<'trace'>, 'hostTimes' | 'timeline' | 'phases'>): Block[] {
  const blocks: Block[] = [];
  const gpuMs = Math.max(0, ...(timeline ?? []).map(({ startMs, ms }) => startMs + ms));
  // with several submits, the first is sent before the last is encoded
  const gpuStart =
    hostTimes === null
      ? 0
      : Math.max(0, Math.min(hostTimes.encodeMs, hostTimes.encodeMs + hostTimes.submitToResultMs - gpuMs));
  if (hostTimes !== null) {
    const { encodeMs, submitToResultMs, readBackMs } = hostTimes;
    const combineMs = phases?.find(({ name }) => name === 'combine windows (CPU)')?.ms ?? 0;
    blocks.push({ lane: 'host', name: 'encode', startMs: 0, ms: encodeMs });
    blocks.push({ lane: 'host', name: 'submit to result', startMs: encodeMs, ms: submitToResultMs });
    const readBack = Math.max(0, readBackMs - combineMs);
    blocks.push({ lane: 'host', name: 'read back', startMs: encodeMs + submitToResultMs, ms: readBack });
    blocks.push({
      lane: 'host',
      name: 'combine windows (CPU)',
      startMs: encodeMs + submitToResultMs + readBack,
      ms: combineMs,
    });
  }
  for (const { name, startMs, ms } of timeline ?? [])
    blocks.push({ lane: 'GPU', name, startMs: gpuStart + startMs, ms });
  return blocks;
}
