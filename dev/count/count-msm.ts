import type { Tuning } from '../../src/api/device.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { tableLines } from '../bench/table.js';
import { engineIn } from '../cases/engine-in.js';
import { makeCase } from '../cases/msm-case.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import type { ScalarDistributionName } from '../cases/scalar-distributions.js';
import { type CurveGroup, oracleOf } from '../oracle/curves.js';
import { samePoint } from '../oracle/known-bases.js';
import { CountingDevice } from './counting-device.js';
import { type Counts, counted } from './instrument.js';

export interface MsmCounts {
  readonly n: number;
  readonly points: PointDistributionName;
  readonly scalars: ScalarDistributionName;
  readonly windows: number;
  readonly windowBits: number;
  /** Non-zero digits. */
  readonly entries: number;
  readonly phases: Readonly<Record<string, Counts>>;
}

export interface CountOptions {
  readonly n: number;
  readonly points?: PointDistributionName;
  readonly scalars?: ScalarDistributionName;
  readonly tuning?: Partial<Tuning>;
}

/**
 * Counts MSMs of a group on a device, and instruments the kernels of that device. Results are
 * checked before they count.
 */
export const makeCounter = (device: GPUDevice, where: CurveGroup = { curve: 'bn254', group: 'g1' }) => {
  const counting = new CountingDevice(device, oracleOf(where).coordinateBytes / 2);
  return async ({ n, points = 'distinct', scalars = 'random', tuning = {} }: CountOptions): Promise<MsmCounts> => {
    const options = { device, tuning: { ...tuning, cpuBelow: 0 }, selfTest: false };
    const engine = await engineIn(createMsmEngine, where, options);
    try {
      const made = makeCase({ ...where, points, scalars, n, seed: 1 });
      const bases = await engine.loadBases(made.points.bytes);
      counting.reset();
      const sum = await engine.msm(bases, made.scalars.bytes);
      if (!samePoint(sum, made.expected)) throw new Error(`WRONG at n = ${n}: the counted MSM gave a wrong result`);
      const { windows, windowBits, entries } = engine.lastRun as NonNullable<typeof engine.lastRun>;
      const phases = await counting.read();
      // phases of loading are counted in load-products.ts
      for (const phase of ['image', 'import', 'digest']) phases.delete(phase);
      return { n, points, scalars, windows, windowBits, entries, phases: Object.fromEntries(phases) };
    } finally {
      engine.destroy();
    }
  };
};

/** Products that a squaring counts as, as in the targets. */
export const SQUARE = 0.8;

const sum = (counts: readonly Counts[]): Counts =>
  Object.fromEntries(
    counted.map((what) => [what, counts.reduce((total, own) => total + own[what], 0)]),
  ) as unknown as Counts;

export const countTable = ({ n, windows, windowBits, entries, phases }: MsmCounts): string => {
  const irreducible = 6 * n * windows;
  const cells = (name: string, { products, squares, inversions, coordinates, words }: Counts): string[] => {
    const work = products + SQUARE * squares;
    const number = (value: number): string => Math.round(value).toLocaleString('en');
    return [
      name,
      number(products),
      number(squares),
      number(inversions),
      (work / irreducible).toFixed(3),
      number(coordinates / 2),
      number(words * 4),
    ];
  };
  const rows = [
    ['stage', 'products', 'squares', 'inversions', '÷ 6nT', 'points moved', 'bytes moved'],
    ...Object.entries(phases).map(([name, counts]) => cells(name, counts)),
    cells('all', sum(Object.values(phases))),
  ];
  const digits = n * windows;
  return [
    `n = ${n.toLocaleString('en')}, c = ${windowBits}, T = ${windows}, 6nT = ${irreducible.toLocaleString('en')}; ` +
      `${entries.toLocaleString('en')} of ${digits.toLocaleString('en')} digits are not zero`,
    ...tableLines(rows),
  ].join('\n');
};
