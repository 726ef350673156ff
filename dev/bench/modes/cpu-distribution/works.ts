/** Works of `cpu-distribution`, and the ways to share them. */
import { type CaseAddress, maxPoints } from '../../../cases/address.js';
import type { ScalarDistributionName } from '../../../cases/scalar-distributions.js';
import { makeSetting, type Setting } from '../../settings.js';

/** Rows of a chunk that are tried; 0 for the library's choice by size. */
const CHUNKS = [2, 4, 8, 16, 32, 64, 128, 256, 0];

/** Rows of the strided chunks of a static distribution. */
const STRIDES = [2, 8, 16];

/** Name of the way that the others are compared with: one contiguous range for each thread. */
export const STATIC = 'static';

export interface Way {
  readonly name: string;
  readonly setting: Setting;
}

export const waysOf = (workers: number): Way[] => {
  const way = (name: string, knobs: readonly (readonly [string, string])[]): Way => ({
    name,
    setting: makeSetting(new Map([...knobs, ['backend', 'cpu'], ['workers', String(workers)]])),
  });
  return [
    way(STATIC, [['cpudist', 'static']]),
    ...STRIDES.map((rows) =>
      way(`static, strided ${rows} rows`, [
        ['cpudist', 'static'],
        ['cpuchunk', String(rows)],
      ]),
    ),
    ...CHUNKS.map((rows) =>
      way(`dynamic, ${rows === 0 ? 'by size' : `${rows} rows`}`, [
        ['cpudist', 'dynamic'],
        ['cpuchunk', String(rows)],
      ]),
    ),
  ];
};

/** A sum to compute. */
export interface Work {
  readonly name: string;
  readonly scalars: ScalarDistributionName;
  /** Factor on the number of points, for works most of whose scalars are zero. */
  readonly times: number;
  readonly isOneSlowed: boolean;
}

const even: Work = { name: 'even', scalars: 'random', times: 1, isOneSlowed: false };

export const WORKS: readonly Work[] = [
  even,
  { ...even, name: 'sparse', scalars: 'mostly-zero', times: 10 },
  { ...even, name: 'one bucket and noise', scalars: 'one-bucket-and-noise' },
  { ...even, name: 'all scalars equal', scalars: 'all-equal' },
  { ...even, name: 'even, one worker slowed', isOneSlowed: true },
];

export const addressOf = (address: CaseAddress, { scalars, times }: Work): CaseAddress => ({
  ...address,
  scalars,
  n: Math.min(maxPoints, address.n * times),
});

/** Workers beside the own thread on machines that provers run on. */
const USUAL_WORKERS = [3, 7, 15];

/** Returns the numbers of workers to measure: all cores but one, and the usual ones that fit. */
export const workerCountsOf = (cores: number): number[] =>
  [...new Set([...USUAL_WORKERS.filter((workers) => workers < cores), Math.max(1, cores - 1)])].sort((a, b) => a - b);
