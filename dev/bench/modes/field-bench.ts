/** `field-bench`: what the operations of the field cost on this device, beside the device's peaks, and inversions in batches. */
import { bn254 } from '../../../src/curves/bn254.js';
import { modulus } from '../../../src/field/modulus.js';
import { hasSlowShifts } from '../../../src/gpu/device.js';
import { batchInversions } from '../../field-bench/batch-inverse/kernel.js';
import { fieldOperations, libraryOperations, threadsFor } from '../../field-bench/kernels.js';
import { fieldBench as measure } from '../../field-bench/run.js';
import { BenchDevice } from '../bench-device.js';
import type { Host } from '../environment.js';
import { bestRow, fastestProduct, productWords } from '../field-rates.js';
import { formatMillions, formatOfPeak, formatPeak } from '../format.js';
import type { Knobs } from '../knobs.js';
import { rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { tableLines } from '../table.js';
import type { BenchMode } from './mode.js';

export const fieldBench: BenchMode = { run: runFieldBench, report };

/** Lanes that compute in lockstep on most GPUs. */
const USUAL_LANES = 32;

async function runFieldBench(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { chains, variants, reps, threads, leastMs } = knobs;
  const all = variants === 'all';
  const bench = await BenchDevice.open(run, host, knobs);
  try {
    const { adapter, device } = bench;
    const { peaks, rows, batches, skipped, copyBytesPerSecond } = await measure(device, modulus(bn254.p), {
      threads: threads ?? threadsFor(adapter.software),
      chains,
      reps,
      leastMs,
      operations: all ? fieldOperations : libraryOperations,
      batches: all
        ? batchInversions(hasSlowShifts(adapter) ? 'float' : 'shift', device.adapterInfo.subgroupMinSize || USUAL_LANES)
        : [],
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

function report(told: readonly StampedRow[]): string[] {
  const rows = rowsOf(told, 'field');
  const [unit] = rows;
  if (unit === undefined) return [];
  const rate = (variant: string, operation: string): number => bestRow(rows, variant, operation)?.perSecond ?? 0;
  const chains = [...new Set(rows.map((row) => row.chains))].sort((a, b) => a - b);
  const names = new Map(rows.map((row) => [`${row.operation}, ${row.variant}`, row]));
  const operations = [...names].map(([name, { variant, operation }]) => {
    const own = rows.filter((row) => row.variant === variant && row.operation === operation);
    const isProduct = operation === 'product';
    return [
      name,
      ...chains.map((count) => {
        const found = own.find((row) => row.chains === count);
        return found === undefined ? '' : formatMillions(found.perSecond);
      }),
      isProduct ? (rate(variant, operation) / rate(unit.variant, operation)).toFixed(2) : '',
      isProduct ? '' : (rate(variant, 'product') / rate(variant, operation)).toFixed(2),
      formatOfPeak(bestRow(rows, variant, operation)?.ofPeak ?? null),
      Math.max(...own.map(({ compileMs }) => compileMs)).toFixed(0),
    ];
  });
  const heads = [
    'M/s, by chains a thread',
    ...chains.map(String),
    '× plain',
    '÷ product',
    'of the peak',
    'compile, ms',
  ];
  const fastest = fastestProduct(rows);
  return [
    ...tableLines([heads, ...operations]),
    '',
    ...(fastest === null ? [] : [`product, ${fastest.best.variant}: ${productWords(fastest, rows)}`, '']),
    ...tableLines(
      rowsOf(told, 'peak').map(({ operation, perSecond }) => [operation, formatPeak(operation, perSecond)]),
    ),
    ...batchLines(told, (variant) => rate(variant, 'product')),
    '',
    '× plain: the rate of a product beside that of the plain one, each at its best. ÷ product: what one costs in products of its own kind.',
    'Every kernel was right.',
  ];
}

function batchLines(told: readonly StampedRow[], productsPerSecond: (variant: string) => number): string[] {
  const batches = rowsOf(told, 'batch');
  if (batches.length === 0) return [];
  const sizes = [...new Set(batches.map(({ batch }) => batch.size))].sort((a, b) => a - b);
  const lines = [...new Set(batches.map(({ name }) => name))].map((name) => {
    const own = batches.filter((row) => row.name === name);
    const costs = sizes.map((size) => {
      const row = own.find(({ batch }) => batch.size === size);
      return row === undefined ? '' : (productsPerSecond(row.variant) / row.perSecond).toFixed(2);
    });
    return [name, ...costs, Math.max(...own.map(({ compileMs }) => compileMs)).toFixed(0)];
  });
  const heads = ['inverting S numbers a thread, products each', ...sizes.map((size) => `S = ${size}`), 'compile, ms'];
  return ['', ...tableLines([heads, ...lines])];
}
