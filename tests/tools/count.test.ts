/**
 * Work of an MSM, counted by instrumented kernels. The counts equal the definitions, and the
 * committed table, which changes only on purpose:
 * UPDATE_COUNTS=1 npm test -- tests/tools/count.test.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { engineIn, makeCase } from '../../dev/cases/msm-case.js';
import {
  CountingDevice,
  type CountOptions,
  type Counts,
  countTable,
  instrument,
  type MsmCounts,
  makeCounter,
} from '../../dev/count/count.js';
import { loadProducts, loadTable } from '../../dev/count/load-products.js';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import { makeKnownBases } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { createMsmEngine, type PointEncoding } from '../../src/index.js';
import { ABSENT } from '../../src/msm/stages/entry.js';
import { reduceShape } from '../../src/msm/stages/reduce.js';
import { decompose } from '../reference/decompose.js';
import { reduce } from '../reference/reduce.js';
import { getDevice } from '../support/gpu.js';

const curve = curveContext(bn254);
/**
 * Defaults of a software adapter, written down so that the counts are the same on every adapter.
 */
const tuning = {
  walkerPrefixMemory: 'private',
  walkerThreadsPerWorkgroup: 16,
  walkerSlots: 16,
  walkerTasks: 2 ** 12,
  walkerEntriesPerTask: 32,
  walkerLeastThreads: 16,
  additionsPerSubmit: 2 ** 30,
  sortThreadsPerWorkgroup: 8,
  sortEntriesPerThread: 256,
  combineBits: 4,
} as const;
const measured = [
  { n: 1024, points: 'distinct', scalars: 'random' },
  { n: 4096, points: 'distinct', scalars: 'random' },
  { n: 1024, points: 'distinct', scalars: 'mostly-zero' },
  { n: 1024, points: 'distinct', scalars: 'all-equal' },
] as const satisfies readonly CountOptions[];

let results: MsmCounts[];
beforeAll(async () => {
  const counter = makeCounter(await getDevice({ label: 'counting' }));
  results = [];
  for (const options of measured) results.push(await counter({ ...options, tuning }));
});

/**
 * Affine additions: each has six products, and of distinct points with random sums none is a
 * doubling, which would have one more.
 */
const additions = (counts: MsmCounts, phases: readonly string[]): number =>
  phases.reduce((sum, phase) => sum + (counts.phases[phase] as Counts).products, 0) / 6;

/** Returns the additions of a stream: for each run one less than its members. */
const additionsOf = (runs: ReadonlyMap<number, number>): number =>
  [...runs.values()].reduce((sum, members) => sum + members - 1, 0);

/** Members of each run of a stream, of those that `there` says are not infinity. */
const runsOf = (stream: Uint32Array, there: (pointRef: number) => boolean): Map<number, number> => {
  const runs = new Map<number, number>();
  for (let i = 0; i < stream.length; i += 2) {
    const [key, pointRef] = [stream[i] as number, stream[i + 1] as number];
    if (pointRef !== ABSENT && there(pointRef)) runs.set(key, (runs.get(key) ?? 0) + 1);
  }
  return runs;
};

describe.each(measured.map((options, i) => [options.scalars, options.n, i] as const))('%s, n = %i', (_, n, index) => {
  test('additions are those of the digits, and each takes six products', () => {
    const counts = results[index] as MsmCounts;
    const { windowBits, windows } = counts;
    const { scalars } = makeCase({ ...(measured[index] as (typeof measured)[number]), seed: 1 });
    const words = new Uint32Array(scalars.bytes.buffer);
    const digits = decompose(curve, [{ scalars: words, firstBase: 0 }], {
      windowBits,
      vectorWindows: windows,
      blocks: 1,
      blockBits: windows * windowBits,
      tables: 1,
    });
    const keys = digits.map((word, i) => (i % 2 === 0 ? word + Math.floor(i / 2 / n) * 2 ** (windowBits - 1) : word));
    const buckets = runsOf(keys, () => true);
    expect(counts.entries).toBe([...buckets.values()].reduce((sum, members) => sum + members, 0));
    expect(additions(counts, ['walk', 'combine'])).toBe(additionsOf(buckets));
    const streams = reduce(windows, reduceShape(windowBits, windows, tuning.combineBits));
    const split = runsOf(streams.split, (bucket) => buckets.has(bucket));
    const bits = runsOf(streams.bits, (sum) => split.has(sum));
    expect(additions(counts, ['reduce'])).toBe(additionsOf(split) + additionsOf(bits));
    for (const phase of ['walk', 'combine', 'reduce']) {
      const { products, squares, inversions, coordinates, words: moved } = counts.phases[phase] as Counts;
      expect(squares).toBe(0);
      expect(products % 6).toBe(0);
      expect(inversions).toBeLessThanOrEqual(products / 6);
      expect(moved).toBeGreaterThan(coordinates);
    }
  });
});

test('the counts are those of dev/count/counts.json', () => {
  const path = fileURLToPath(new URL('../../dev/count/counts.json', import.meta.url));
  const counts = `${JSON.stringify(results, null, 2)}\n`;
  if (process.env.UPDATE_COUNTS === '1') writeFileSync(path, counts);
  else expect(JSON.parse(readFileSync(path, 'utf8')), 'UPDATE_COUNTS=1 writes them').toEqual(JSON.parse(counts));
});

test('the table has a line for every stage and one for all', () => {
  const counts = results[0] as MsmCounts;
  const lines = countTable(counts).split('\n');
  expect(lines[0]).toContain(`6nT = ${(6 * 1024 * counts.windows).toLocaleString('en')}`);
  expect(lines.slice(2).map((line) => line.split(' ')[0])).toEqual([
    'decompose',
    'sort',
    'partition',
    'walk',
    'combine',
    'reduce',
    'all',
  ]);
});

describe('the products of loading a point', () => {
  const areCounted = async (where: CurveGroup): Promise<void> => {
    const expected = await loadProducts(where);
    const oracle = oracleOf(where);
    const device = await getDevice({ label: `counting loads, ${where.curve} ${where.group}` });
    const counting = new CountingDevice(device, oracle.coordinateBytes / 2);
    const options = { device, backend: 'gpu', selfTest: false, tuning: { fieldProduct: 'unsigned' } } as const;
    const engine = await engineIn(createMsmEngine, where, options);
    const n = 70;
    const { points } = makeKnownBases(oracle, n, 3);
    // a product of pairs is three of the prime's
    const each = n * (where.group === 'g1' ? 1 : 3);
    const productsIn = async (encoding: PointEncoding, checkSubgroup: boolean) => {
      counting.reset();
      const bases = await engine.loadBases(pointsIn(oracle, points, encoding), { encoding, checkSubgroup });
      bases.destroy();
      const phases = await counting.read();
      const of = (phase: string): number | null => {
        const own = phases.get(phase);
        return own === undefined || own.products === 0 ? null : own.products / each;
      };
      // of Edwards form
      const image = of('image') ?? 0;
      return { import: image + (of('import') as number), decompress: of('decompress'), subgroup: of('subgroup') };
    };
    expect(await productsIn('be', true)).toEqual({
      import: expected.import,
      decompress: null,
      subgroup: expected.subgroup,
    });
    if (expected.decompress === null) return engine.destroy();
    expect(await productsIn('ark-compressed', false)).toEqual({
      import: expected.import,
      decompress: expected.decompress.larger,
      subgroup: null,
    });
    engine.destroy();
  };
  test('are counted on bn254', () => areCounted({ curve: 'bn254', group: 'g1' }));
  test.each([
    ['bls12-381', 'g1'],
    ['bls12-377', 'g2'],
    ['baby-jubjub', 'g1'],
  ] as const)('on %s %s', { tags: 'long' }, (curve, group) => areCounted({ curve, group }));

  test('have a line in a table for each operation', async () => {
    const { decompress } = await loadProducts({ curve: 'bn254', group: 'g1' });
    if (decompress === null) throw new Error('bn254 has compressed points');
    // a root of p = 3 modulo 4 is one power: a square a bit, and a product for every few of them
    expect(decompress.larger).toBeGreaterThan(254);
    expect(decompress.larger).toBeLessThan(254 * 1.4);
    const lines = (await loadTable({ curve: 'bn254', group: 'g1' })).split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['loading a point', 'products'],
      ['import', '5'],
      ['y, selected as the larger root', String(decompress.larger)],
      ['y, selected as the odd root', String(decompress.odd)],
      ['checkSubgroup', 'none: all points are in the group'],
    ]);
    const ofEdwards = (await loadTable({ curve: 'baby-jubjub', group: 'g1' })).split('\n');
    expect(ofEdwards.map((line) => line.split(/ {2,}/)[0])).toEqual(['loading a point', 'import', 'checkSubgroup']);
  });
});

describe('invalid cases are rejected', () => {
  const declared = '@group(0) @binding(0) var<storage, read> data: array<u32>;';
  test.each([
    ['fn main() {}', /no entry point/],
    [`${declared.replace('u32', 'Thing')}\n  let a = data[0];`, /array<Thing>/],
    [`${declared}\n  } else if (data[0] == 1u) {`, /no statement/],
    [`${declared}\n  let a = data[\n    0u];`, /must not continue on the next line/],
  ])('%s', (source, message) => {
    expect(() => instrument(source, 16)).toThrow(message);
  });
});

test('in G2 an addition takes 18 products of the prime field', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'counting pairs' });
  const count = makeCounter(device, { curve: 'bn254', group: 'g2' });
  const { phases } = await count({ n: 1024, tuning: { ...tuning, fieldProduct: 'unsigned' } });
  const { products, squares, inversions } = phases.walk as Counts;
  expect(squares).toBe(0);
  // Karatsuba takes three products for each of the six of an addition, and an inversion takes the
  // norm and both coefficients of the conjugate
  const additions = (products - 4 * inversions) / 18;
  expect(Number.isInteger(additions)).toBe(true);
  expect(additions).toBeGreaterThan(37 * 900);
});
