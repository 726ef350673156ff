/**
 * `loading`: times loading the same points uncompressed, compressed, and with a subgroup check,
 * interleaved.
 */
import type { PointEncoding } from '../../../src/api/values.js';
import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, formatCaseAddress, parseEncoding } from '../../cases/address.js';
import { encodedPoints, type MsmCase, makeCase, redrawn } from '../../cases/msm-case.js';
import { type LoadProducts, loadProducts } from '../../count/load-products.js';
import { encodingsOf } from '../../oracle/encodings.js';
import type { GpuBench } from '../bench-setup.js';
import { formatMs, formatRatio, formatSize, shortSize } from '../format.js';
import { type Knobs, knob, type Values } from '../knob.js';
import { type EngineUnderTest, interleave, makeEngine, weightOf, wrongResult } from '../measure.js';
import { headline, type Parts, tableOf } from '../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../rows.js';
import type { Setting } from '../settings.js';
import { intervalText, speedText } from '../summary.js';
import { benchMode } from './mode.js';

declare module '../rows.js' {
  interface Rows {
    /**
     * One timed load of the points of a case, in the way `setting` names; an MSM over them was
     * correct.
     */
    readonly loading: {
      readonly case: string;
      readonly n: number;
      readonly setting: string;
      readonly repetition: number;
      readonly wallMs: number;
    };
    readonly loaded: ReturnType<typeof conclude>;
  }
}

/** Default encodings. Edwards curves have only the first. */
const defaultEncodings: readonly PointEncoding[] = ['le', 'ark-compressed'];

const own = {
  encodings: knob(
    [
      'Encodings',
      'Encodings that the points are loaded in, interleaved: be,gnark-compressed. The others are compared with the first.',
    ],
    '',
    `${defaultEncodings.join(',')}, where the curve supports them`,
    (text, name, of) => [...new Set(text.split(',').map((each) => parseEncoding(each.trim(), of, name)))],
    (of) => defaultEncodings.filter((encoding) => encodingsOf(of).includes(encoding)),
  ),
};

export const loading = benchMode({
  title: 'Loading',
  about:
    'times loading of the same points: uncompressed, compressed, and with a subgroup check, in turns: what does each cost?',
  takes: '20 to 60 s',
  example: 'run --phase load --curve bls12-381 --encodings be,zcash-compressed',
  runsOn: 'gpu',
  uses: ['curve', 'group', 'logn', 'n', 'reps', 'seed'],
  engine: [],
  defaults: { logn: [14] },
  knobs: own,
  run: runLoading,
  show,
});

type LoadingKnobs = Knobs & Values<typeof own>;

/** A way to load the points of a case. */
interface Way {
  readonly name: string;
  readonly msmCase: MsmCase;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly checkSubgroup: boolean;
  /** Products a point, from the steps of its programs. */
  readonly products: number;
  readonly wallTimesMs: number[];
}

/**
 * Returns a way for every encoding, and the first encoding with a subgroup check if the curve needs
 * one.
 */
const waysOf = (address: CaseAddress, { encodings }: LoadingKnobs, taken: LoadProducts): Way[] => {
  const made = makeCase(address);
  const { import: every, decompress, subgroup } = taken;
  const way = (encoding: CaseAddress['encoding'], checkSubgroup: boolean): Way => {
    const msmCase = { ...made, address: { ...address, encoding } };
    const bytes = encodedPoints(msmCase);
    const isCompressed = encoding.endsWith('-compressed');
    const root = isCompressed ? (decompress?.[encoding.startsWith('aztec') ? 'odd' : 'larger'] ?? 0) : 0;
    return {
      name: checkSubgroup ? `${encoding}, checkSubgroup` : encoding,
      ...{ msmCase, bytes, checkSubgroup },
      products: every + root + (checkSubgroup ? (subgroup ?? 0) : 0),
      wallTimesMs: [],
    };
  };
  const [first] = encodings;
  return [
    ...encodings.map((encoding) => way(encoding, false)),
    ...(first === undefined || subgroup === null ? [] : [way(first, true)]),
  ];
};

/** Loads the points, and checks an MSM over them. @throws Error if it is wrong */
const loadOnce = async (subject: EngineUnderTest, way: Way, scalars: MsmCase): Promise<number> => {
  const { bytes, checkSubgroup, msmCase, name } = way;
  const ms = await subject.load(msmCase, { bytes, checkSubgroup, again: true });
  const outcome = await subject.compute(scalars);
  if (!outcome.agrees) throw wrongResult(msmCase, name, outcome);
  return ms;
};

async function runLoading(bench: GpuBench, knobs: LoadingKnobs): Promise<null> {
  const { run } = bench;
  const { cases, reps, settings, encodings } = knobs;
  const taken = await loadProducts(knobs);
  const several = encodings.length + Number(taken.subgroup !== null);
  run.plan(cases.flatMap(({ address: { n } }) => Array(several * (reps + 1)).fill(weightOf(n))));
  const loader = bench.own(await makeEngine(bench, knobs, settings[0] as Setting));
  for (const { address } of cases) {
    const { n } = address;
    const size = n.toLocaleString('en');
    await run.next(`Making ${size} points in every encoding`);
    const ways = waysOf(address, knobs, taken);
    for (const way of ways) {
      await run.next(`${way.name}: compiling, loading ${size} points, checking the answer`);
      await loadOnce(loader, way, way.msmCase);
      run.advance(weightOf(n), 'warm-up');
    }
    await interleave(ways, reps, {
      async take(way, repetition) {
        await run.next(`${size} points, ${way.name}: repetition ${repetition} of ${reps}`);
        const wallMs = await loadOnce(loader, way, redrawn(way.msmCase, repetition));
        way.wallTimesMs.push(wallMs);
        const told = { case: formatCaseAddress(address), n, setting: way.name, repetition };
        run.emit({ event: 'loading', ...told, wallMs });
        run.advance(weightOf(n));
      },
    });
    for (const way of ways) run.emit(conclude(address, way, ways[0] as Way));
  }
  return null;
}

function conclude(address: CaseAddress, way: Way, first: Way) {
  const { n } = address;
  return {
    event: 'loaded' as const,
    case: formatCaseAddress(address),
    n,
    setting: way.name,
    /** The way it is compared with, and the ratio to that. */
    beside: first.name,
    medianMs: median(way.wallTimesMs) as number,
    ratio: ratioOfMedians(first.wallTimesMs, way.wallTimesMs),
    products: way.products,
  };
}

type TimesOf = (row: RowOf<'loaded'>) => readonly number[];

function resultOf(loaded: readonly RowOf<'loaded'>[], timesOf: TimesOf): string {
  const most = Math.max(...loaded.map(({ n }) => n));
  const [first, ...others] = loaded.filter(({ n }) => n === most) as [RowOf<'loaded'>, ...RowOf<'loaded'>[]];
  const compared = others.map((row) => `; ${row.setting}: ${speedText(timesOf(row), timesOf(first), first.setting)}`);
  return `Loading ${formatSize(most)} points as ${first.setting} takes ${formatMs(first.medianMs)} ms${compared.join('')}.`;
}

function show(rows: readonly StampedRow[]): Parts {
  const loaded = rowsOf(rows, 'loaded');
  const [one] = loaded;
  if (one === undefined) return [];
  const hostTimes: TimesOf = (row) =>
    rowsOf(rows, 'loading').flatMap(({ case: name, setting, wallMs }) =>
      name === row.case && setting === row.setting ? [wallMs] : [],
    );
  return [
    headline(resultOf(loaded, hostTimes)),
    tableOf(
      'Time to load points, medians of the repetitions; an MSM over the loaded points was checked every time',
      loaded,
      [
        ['n', ({ n }) => shortSize(n)],
        ['Encoding', ({ setting }) => setting],
        ['Median, ms', ({ medianMs }) => ({ text: formatMs(medianMs), as: 'strong' })],
        ['Range, ms', (row) => `${formatMs(Math.min(...hostTimes(row)))} – ${formatMs(Math.max(...hostTimes(row)))}`],
        [`÷ ${one.beside}`, ({ ratio }) => formatRatio(ratio.ratio)],
        ['95 % CI', ({ ratio }) => intervalText(ratio)],
        ['Products per point', ({ products }) => products.toLocaleString('en')],
      ],
      { words: 2 },
    ),
  ];
}
