/** `field-bench`: what the operations of the field cost on this device, beside the device's peaks, and inversions in batches. */
import { bn254 } from '../../../src/curves/bn254.js';
import { modulus } from '../../../src/field/modulus.js';
import { batchInversions } from '../../field-bench/batch-inverse/kernel.js';
import { fieldOperations, libraryOperations, threadsFor } from '../../field-bench/kernels.js';
import { fieldBench as measure } from '../../field-bench/run.js';
import { openBenchDevice } from '../bench-device.js';
import type { Host } from '../environment.js';
import { bestRow, fastestProduct, products, productWords } from '../field-rates.js';
import { formatMillions, formatOfPeak, formatPeak } from '../format.js';
import type { Knobs } from '../knobs.js';
import { type Bar, notes, type Part, type Parts, tableOf, tiles } from '../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { type Fastest, grouped } from '../summary.js';
import type { BenchMode } from './mode.js';
import { skippedWords } from './timings-result.js';

export const fieldBench: BenchMode = { run: runFieldBench, show };

const NO_PEAK = 'the loop that should be the peak of multiply-adds is slower than the product itself';

/** Lanes that compute in lockstep on most GPUs. */
const USUAL_LANES = 32;

async function runFieldBench(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { chains, variants, reps, threads, leastMs } = knobs;
  const all = variants === 'all';
  const bench = await openBenchDevice(run, host, knobs);
  try {
    const { adapter, device } = bench;
    const { peaks, rows, batches, skipped, copyBytesPerSecond } = await measure(device, modulus(bn254.p), {
      threads: threads ?? threadsFor(adapter.software),
      chains,
      reps,
      leastMs,
      operations: all ? fieldOperations : libraryOperations,
      batches: all ? batchInversions(device.adapterInfo.subgroupMinSize || USUAL_LANES) : [],
      features: bench.gpu.wgslLanguageFeatures as ReadonlySet<string>,
      onProgress: (doing, done, total, prepared) => run.progress(doing, done, total, prepared),
    });
    run.signal.throwIfAborted();
    for (const peak of [...peaks, { operation: 'copy', perSecond: copyBytesPerSecond }]) {
      run.tell({ event: 'peak', ...peak }, 'progress', 'results');
    }
    for (const row of rows) run.tell({ event: 'field', ...row }, 'progress', 'results');
    for (const row of batches) run.tell({ event: 'batch', ...row }, 'progress', 'results');
    for (const { operation, variant, why } of skipped) {
      run.tell({ event: 'skipped', variant: `${operation}, ${variant}`, why }, 'progress', 'results');
    }
  } finally {
    bench.destroy();
  }
  await run.end(null);
}

/** Rates of the operations of the field, and how they stand to each other and to the peak. */
function show(told: readonly StampedRow[]): Parts {
  const rows = rowsOf(told, 'field');
  const [unit] = rows;
  if (unit === undefined) return [];
  const rate = (variant: string, operation = 'product'): number => bestRow(rows, variant, operation)?.perSecond ?? 0;
  const operations = grouped(rows, nameOf).map((own) => ({ ...(own[0] as RowOf<'field'>), own }));
  const fastest = fastestProduct(rows);
  const bar = ({ variant, perSecond }: RowOf<'field'>): Bar => {
    const ms = 1e9 / perSecond;
    return { label: variant, medianMs: ms, lowMs: ms, highMs: ms };
  };
  return [
    fastest && {
      kind: 'section',
      caption: 'The base field of BN254',
      parts: [figures(fastest, rows, rate(unit.variant))],
    },
    notes(
      'Every kernel was compared with BigInts before it was timed. A plain product is one of 13-bit limbs, column by column; chains are products that a thread has in flight at once. “× plain” is the rate beside that of the plain product, each at its best; “÷ product” what one costs in products of its own kind; “of the peak” how much of the device’s multiply-adds it uses.',
    ),
    tableOf('Operations, millions a second by chains a thread', operations, [
      ['M/s, by chains a thread', nameOf],
      ...ascending(rows.map(({ chains }) => chains)).map(
        (count) =>
          [
            String(count),
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
      ['Of the peak', ({ operation, variant }) => formatOfPeak(bestRow(rows, variant, operation)?.ofPeak ?? null)],
      ['Compile, ms', ({ own }) => longestCompile(own)],
    ]),
    {
      kind: 'settings',
      caption: 'A million products',
      summary: 'Time of a million products by variant.',
      data: {
        settings: products(rows).map(bar),
        fastest: fastest?.notToldApartFrom === null ? fastest.best.variant : null,
      },
    },
    tableOf('What loops of nothing else reach on this device', rowsOf(told, 'peak'), [
      ['Peak', ({ operation }) => operation],
      ['Rate', ({ operation, perSecond }) => formatPeak(operation, perSecond)],
    ]),
    batchTable(rowsOf(told, 'batch'), rate),
    notes(...skippedWords(told)),
  ];
}

type Operation = RowOf<'field'> & { readonly own: readonly RowOf<'field'>[] };

const nameOf = ({ operation, variant }: RowOf<'field'>): string => `${operation}, ${variant}`;

const ascending = (counts: readonly number[]): number[] => [...new Set(counts)].sort((a, b) => a - b);

const longestCompile = (rows: readonly { readonly compileMs: number }[]): string =>
  Math.max(...rows.map(({ compileMs }) => compileMs)).toFixed(0);

/** The fastest product, if the repetitions say so. */
function figures(fastest: Fastest<RowOf<'field'>>, rows: readonly RowOf<'field'>[], plain: number): Part {
  const { variant, perSecond, ofPeak } = fastest.best;
  const bound = (ofPeak ?? 0) > 1 ? NO_PEAK : 'which is what the device’s multiply-adds allow';
  return tiles(
    ['Products a second', `${formatMillions(perSecond)} M`, `product, ${variant}: ${productWords(fastest, rows)}`],
    ['Beside the plain product', `${(perSecond / plain).toFixed(2)} ×`],
    ofPeak === null ? null : ['Of the roofline', formatOfPeak(ofPeak), bound],
  );
}

function batchTable(batches: readonly RowOf<'batch'>[], productsPerSecond: (variant: string) => number): Part | null {
  if (batches.length === 0) return null;
  const cost = (row: RowOf<'batch'> | undefined): string =>
    row === undefined ? '–' : (productsPerSecond(row.variant) / row.perSecond).toFixed(2);
  return tableOf(
    'Inversions in batches',
    grouped(batches, ({ name }) => name),
    [
      ['inverting S numbers a thread, products each', ([own]) => own?.name ?? ''],
      ...ascending(batches.map(({ batch }) => batch.size)).map(
        (size) =>
          [`S = ${size}`, (own: RowOf<'batch'>[]) => cost(own.find(({ batch }) => batch.size === size))] as const,
      ),
      ['Compile, ms', longestCompile],
    ],
  );
}
