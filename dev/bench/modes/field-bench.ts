/** `field-bench`: measures the field operations on this device against its peaks. */
import { bn254 } from '../../../src/curves/bn254.js';
import { modulus } from '../../../src/field/modulus.js';
import { threadsFor } from '../../field-bench/kernels.js';
import { type FieldBenchRow, fieldBench as measure } from '../../field-bench/run.js';
import type { GpuBench } from '../bench-setup.js';
import { formatMillions, formatOfPeak, formatPeak } from '../format.js';
import { integerKnob, integersKnob, type Knobs, type Values } from '../knob.js';
import { type Bar, headline, notes, type Part, type Parts, tableOf, tiles } from '../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../rows.js';
import { type Fastest, fastestBy, grouped, standingText } from '../summary.js';
import { benchMode } from './mode.js';
import { skippedText } from './msm-modes.js';

declare module '../rows.js' {
  interface Rows {
    /** A measured peak of the device: operations a second, or bytes for a copy. */
    readonly peak: {
      readonly operation: string;
      readonly perSecond: number;
    };
    /** One field operation in one variant. */
    readonly field: FieldBenchRow;
  }
}

const own = {
  chains: integersKnob(['Chains', 'Independent chains a thread.'], [1, 16], [1, 4]),
  threads: integerKnob(
    ['Threads', 'Threads of a dispatch.'],
    [1, 2 ** 20],
    '256 on a software adapter, 65536 on a GPU',
  ),
  ms: integerKnob(['Dispatch, ms', 'Shortest duration of a dispatch.'], [1, 10_000], 50),
};

export const fieldBench = benchMode({
  title: 'Field arithmetic',
  about:
    'times products, squares and inversions against the peak rates of the device: how close to the hardware limit?',
  takes: '20 to 50 s',
  example: 'field --chains 1,2,4,8',
  limits: 'The base field of BN254 only.',
  runsOn: 'gpu',
  uses: ['reps'],
  engine: [],
  defaults: { reps: 7 },
  knobs: own,
  run: runFieldBench,
  show,
});

const NO_PEAK = 'the loop that measures the limit was slower than the product itself';

async function runFieldBench(
  { run, adapter, device, gpu }: GpuBench,
  knobs: Knobs & Values<typeof own>,
): Promise<null> {
  const { chains, reps, threads, ms: leastMs } = knobs;
  const { peaks, rows, skipped, copyBytesPerSecond } = await measure(device, modulus(bn254.p), {
    threads: threads ?? threadsFor(adapter.software),
    ...{ chains, reps, leastMs, features: gpu.wgslLanguageFeatures as ReadonlySet<string> },
    onProgress: (doing, done, total, prepared) => run.progress(doing, done, total, prepared),
  });
  run.signal.throwIfAborted();
  for (const peak of [...peaks, { operation: 'copy', perSecond: copyBytesPerSecond }])
    run.emit({ event: 'peak', ...peak });
  for (const row of rows) run.emit({ event: 'field', ...row });
  for (const { operation, variant, why } of skipped)
    run.emit({ event: 'skipped', variant: `${operation}, ${variant}`, why });
  return null;
}

function show(told: readonly StampedRow[]): Parts {
  const rows = rowsOf(told, 'field');
  const [unit] = rows;
  if (unit === undefined) return [];
  const rate = (variant: string, operation = 'product'): number => bestRow(rows, variant, operation)?.perSecond ?? 0;
  const operations = grouped(rows, nameOf).map((own) => ({ ...(own[0] as Field), own }));
  const fastest = fastestProduct(rows);
  const bar = ({ variant, perSecond }: Field): Bar => {
    const ms = 1e9 / perSecond;
    return { label: variant, medianMs: ms, lowMs: ms, highMs: ms };
  };
  return [
    fastest && {
      kind: 'section',
      caption: 'The base field of BN254',
      parts: [headline(resultOf(fastest, rows)), figures(fastest, rate(unit.variant))],
    },
    notes(
      'Every kernel was compared with BigInts before it was timed. The plain product uses 13-bit limbs, column by column. Chains are independent products that a thread computes at the same time. “× plain” is the rate relative to the plain product, each with its best number of chains. “÷ product” is the cost in products of the same variant. “Share of the limit” is relative to the rate of multiply-adds of this device.',
    ),
    tableOf('Operations, million per second by chains per thread', operations, [
      ['Operation', nameOf],
      ...ascending(rows.map(({ chains }) => chains)).map(
        (count) =>
          [
            `${count} ${count === 1 ? 'chain' : 'chains'}, M/s`,
            ({ own }: Operation) => formatMillions(own.find(({ chains }) => chains === count)?.perSecond ?? null),
          ] as const,
      ),
      [
        '× plain',
        ({ operation, variant }) => (operation === 'product' ? (rate(variant) / rate(unit.variant)).toFixed(2) : '–'),
      ],
      [
        '÷ product',
        ({ operation, variant }) =>
          operation === 'product' ? '–' : (rate(variant) / rate(variant, operation)).toFixed(2),
      ],
      [
        'Share of the limit',
        ({ operation, variant }) => formatOfPeak(bestRow(rows, variant, operation)?.ofPeak ?? null),
      ],
      ['Compile, ms', ({ own }) => longestCompile(own)],
    ]),
    {
      kind: 'settings',
      caption: 'Time of a million products',
      summary: 'Time of a million products by variant.',
      data: {
        settings: products(rows).map(bar),
        fastest: fastest?.notToldApartFrom === null ? fastest.best.variant : null,
      },
    },
    tableOf('Peak rates of this device, from loops of one operation', rowsOf(told, 'peak'), [
      ['Operation', ({ operation }) => operation],
      ['Rate', ({ operation, perSecond }) => formatPeak(operation, perSecond)],
    ]),
    notes(...skippedText(told)),
  ];
}

type Field = RowOf<'field'>;
type Operation = Field & { readonly own: readonly Field[] };

const nameOf = ({ operation, variant }: Field): string => `${operation}, ${variant}`;

const ascending = (counts: readonly number[]): number[] => [...new Set(counts)].sort((a, b) => a - b);

const longestCompile = (rows: readonly { readonly compileMs: number }[]): string =>
  Math.max(...rows.map(({ compileMs }) => compileMs)).toFixed(0);

function resultOf(fastest: Fastest<Field>, rows: readonly Field[]): string {
  const { variant, perSecond } = fastest.best;
  const standing = standingText(fastest, products(rows).length, (one) => one.variant);
  return `The product ${variant} reaches ${formatMillions(perSecond)} million per second: ${standing}.`;
}

function figures({ best: { variant, perSecond, ofPeak } }: Fastest<Field>, plain: number): Part {
  const limit = (ofPeak ?? 0) > 1 ? NO_PEAK : 'limit: multiply-adds of this device';
  return tiles(
    ['Products per second', `${formatMillions(perSecond)} M`, `product, ${variant}`],
    ['Relative to the plain product', `${(perSecond / plain).toFixed(2)} ×`],
    ofPeak === null ? null : ['Share of the hardware limit', formatOfPeak(ofPeak), limit],
  );
}

/** Returns the row of an operation in one variant with the best number of chains. */
const bestRow = (rows: readonly Field[], variant: string, operation: string): Field | undefined =>
  rows
    .filter((row) => row.variant === variant && row.operation === operation)
    .sort((a, b) => b.perSecond - a.perSecond)[0];

/** Returns the best row of each product. */
const products = (rows: readonly Field[]): Field[] => {
  const variants = new Set(rows.filter(({ operation }) => operation === 'product').map(({ variant }) => variant));
  return [...variants].flatMap((variant) => bestRow(rows, variant, 'product') ?? []);
};

const fastestProduct = (rows: readonly Field[]): Fastest<Field> | null =>
  fastestBy(products(rows), ({ rates }) => rates.map((rate) => 1 / rate));
