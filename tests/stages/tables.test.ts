/**
 * Tables of multiples of bases: the CPU reference against noble and a textbook, the kernels against
 * the CPU reference.
 */
import { p384 } from '@noble/curves/nist.js';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  bls12381,
  bls12381Oracle,
  p256Curve,
  p256Oracle,
  secp192r1,
  secp192r1Oracle,
} from '../../dev/oracle/curves.js';
import { type AffinePoint, bn254G1, makeKnownBases, type OracleCurve } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Curve, type CurveContext, curveContext, withProduct } from '../../src/curves/curve.js';
import { encodePoints } from '../../src/engine/arguments.js';
import { pipelineFor } from '../../src/gpu/device.js';
import { DispatchChain } from '../../src/gpu/submission.js';
import {
  DoubleConfig,
  SpreadConfig,
  TABLES_THREADS,
  type TablesKernels,
  tablesKernels,
} from '../../src/msm/stages/tables.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { importPoints } from '../reference/import.js';
import { readPoint } from '../reference/points.js';
import { doubleTable, spreadPoints } from '../reference/tables.js';
import { getDevice } from '../support/gpu.js';
import { runKernel } from '../support/run-kernel.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';

type Doubling = Parameters<typeof DoubleConfig.pack>[0];

const infinity: AffinePoint = { x: 0n, y: 0n, infinity: true };
const products = ['unsigned', 'fma'] as const;
/** Bases behind a slice, which no dispatch may change. */
const SPARE = 3;
/** Marks words that no kernel wrote: no coordinate below p. */
const POISON = 0xffffffff;

/** Returns points as the import leaves them. */
const imported = (curve: CurveContext, points: readonly AffinePoint[]): Uint32Array => {
  const words = new Uint32Array(encodePoints(curve, points).slice().buffer);
  importPoints(curve, words, 0);
  return words;
};

/** Returns the interleaved buffer with table 0, and a pattern everywhere else. */
const withTable0 = (curve: CurveContext, points: Uint32Array, tables: number): Uint32Array => {
  const count = points.length / curve.pointWords;
  const buffer = new Uint32Array((count + SPARE) * tables * curve.pointWords).fill(POISON);
  spreadPoints(curve, { points: count, tables }, points, buffer);
  return buffer;
};

const runOn = async (
  kernel: Kernel,
  config: Uint32Array,
  buffers: readonly Uint32Array[],
  groups: readonly [number, number],
): Promise<Uint32Array> => {
  const device = await getDevice();
  const call = 7;
  const { configs } = new DispatchChain(call, 0, [{ phase: 'tables', kernel, config, bindings: {}, groups }]);
  const told = Uint32Array.from(configs[0] as ArrayLike<number>);
  const chain = Uint32Array.of(call, 0, 0);
  const all = [{ data: told, usage: 'uniform' as const }, ...[...buffers, chain].map((data) => ({ data }))];
  return (await runKernel(device, await pipelineFor(device, kernel), all, groups)).at(-2) as Uint32Array;
};

const runDouble = ({ double }: TablesKernels, config: Doubling, tables: Uint32Array): Promise<Uint32Array> =>
  runOn(double, DoubleConfig.pack(config), [tables], groupsFor(config.points, TABLES_THREADS));

/** Compares all words, and reports the first point that differs. */
const expectSame = (curve: CurveContext, got: Uint32Array, expected: Uint32Array, what: string): void => {
  const at = got.findIndex((word, i) => word !== expected[i]);
  if (at < 0 && got.length === expected.length) return;
  const index = Math.floor(at / curve.pointWords);
  const spell = (from: Uint32Array): string =>
    Array.from(from.subarray(index * curve.pointWords, (index + 1) * curve.pointWords), (word) =>
      word.toString(16),
    ).join(' ');
  throw new Error(`${what}: point ${index} differs\n  reference: ${spell(expected)}\n  GPU:  ${spell(got)}`);
};

/** Runs kernel and CPU reference on the same buffer, compares the results, and returns them. */
const compare = async (
  curve: CurveContext,
  kernels: TablesKernels,
  config: Doubling,
  buffer: Uint32Array,
): Promise<Uint32Array> => {
  const expected = buffer.slice();
  doubleTable(curve, config, expected);
  expectSame(curve, await runDouble(kernels, config, buffer), expected, JSON.stringify(config));
  return expected;
};

/** Returns all tables of points by the CPU reference, s doublings apart. */
const referenceTables = (curve: CurveContext, points: Uint32Array, tables: number, s: number): Uint32Array => {
  const buffer = withTable0(curve, points, tables);
  for (let t = 1; t < tables; t++) {
    const config = { points: points.length / curve.pointWords, tables, from_table: t - 1, to_table: t, doublings: s };
    doubleTable(curve, config, buffer);
  }
  return buffer;
};

/** Points of BN254. */
const known = makeKnownBases(bn254G1, 600, 21);

describe('the CPU reference of tables', () => {
  test.each([1, 13, 127])('equals noble, %i doublings from table to table', (s) => {
    const bn = curveContext(bn254);
    const points = [known.points[0], infinity, known.points[1], known.points[2]] as AffinePoint[];
    const buffer = referenceTables(bn, imported(bn, points), 3, s);
    points.forEach((point, i) => {
      for (let t = 0; t < 3; t++) {
        const multiple = point.infinity
          ? bn254G1.Point.ZERO
          : bn254G1.Point.fromAffine(point).multiplyUnsafe(2n ** BigInt(t * s) % bn.order);
        const expected = multiple.is0() ? null : multiple.toAffine();
        expect(readPoint(bn, buffer, 3 * i + t), `base ${i}, table ${t}`).toEqual(expected);
      }
    });
    // no word behind the bases was written
    expect(buffer.subarray(3 * points.length * bn.pointWords).every((word) => word === POISON)).toBe(true);
  });

  test('equals a textbook on the small curve', () => {
    const curve = curveContext(smallCurve);
    const { points } = smallCase(9);
    const textbook = new TextbookCurve(smallCurve);
    const buffer = referenceTables(curve, imported(curve, points), 2, 5);
    points.forEach((point, i) => {
      const { x, y } = textbook.multiply(point, 32n);
      expect(readPoint(curve, buffer, 2 * i + 1)).toEqual({ x, y });
    });
  });
});

describe('tables_spread', () => {
  const curve = curveContext(smallCurve);
  const { spread } = tablesKernels(curve);
  const size = TABLES_THREADS;
  const most = imported(curve, smallCase(5 * size + 1).points);

  test.each([0, 1, size - 1, size, size + 1, 5 * size + 1])(
    '%i points are written, and no other memory',
    async (points) => {
      const source = most.slice(0, points * curve.pointWords);
      for (let tables = 1; tables <= 5; tables++) {
        const untouched = new Uint32Array((points + SPARE) * tables * curve.pointWords).fill(POISON);
        const config = SpreadConfig.pack({ points, tables });
        // at least one point, as WebGPU binds no empty array
        const bound = points === 0 ? most.slice(0, curve.pointWords) : source;
        const [groups] = groupsFor(points, size);
        for (const rows of [1, 2]) {
          const got = await runOn(spread, config, [bound, untouched], [Math.ceil(groups / rows), rows]);
          expectSame(curve, got, withTable0(curve, source, tables), `${tables} tables, ${rows} rows`);
        }
      }
    },
  );
});

describe.each(products)('tables_double, %s products', (product) => {
  const bn = withProduct(curveContext(bn254), product);
  const kernels = tablesKernels(bn);
  const pool = imported(bn, known.points);
  const firstOf = (count: number): Uint32Array => pool.slice(0, count * bn.pointWords);

  beforeAll(async () => {
    await pipelineFor(await getDevice(), kernels.double);
  });

  // around slots, threads and workgroups
  test.each([0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 257, 511, 512, 513, 600])('%i points', async (points) => {
    const config = { points, tables: 3, from_table: 0, to_table: 2, doublings: 2 };
    await compare(bn, kernels, config, withTable0(bn, firstOf(points), 3));
  });

  test.each([1, 2, 3, 4, 5])('each of %i tables is doubled into the next', async (tables) => {
    const points = 19;
    let buffer = withTable0(bn, firstOf(points), tables);
    for (let t = 1; t < tables; t++) {
      buffer = await compare(bn, kernels, { points, tables, from_table: t - 1, to_table: t, doublings: 3 }, buffer);
    }
    expectSame(bn, buffer, referenceTables(bn, firstOf(points), tables, 3), 'all tables');
    // a single table is doubled in place
    await compare(bn, kernels, { points, tables, from_table: 0, to_table: 0, doublings: 1 }, buffer);
  });

  test.each([...Array.from({ length: 21 }, (_, i) => i), 127])('%i doublings', async (doublings) => {
    const config = { points: 11, tables: 2, from_table: 0, to_table: 1, doublings };
    await compare(bn, kernels, config, withTable0(bn, firstOf(11), 2));
  });

  test('several dispatches give the result of one', async () => {
    const shape = { points: 70, tables: 2, to_table: 1 };
    const before = withTable0(bn, firstOf(70), 2);
    let split = before;
    for (const [index, doublings] of [1, 5, 0, 7].entries()) {
      split = await runDouble(kernels, { ...shape, from_table: Math.min(index, 1), doublings }, split);
    }
    expectSame(bn, split, await runDouble(kernels, { ...shape, from_table: 0, doublings: 13 }, before), 'split');
  });

  test('tables_double leaves bases behind `points` unchanged', async () => {
    const buffer = withTable0(bn, firstOf(40), 2);
    for (const points of [0, 1, 17, 39]) {
      await compare(bn, kernels, { points, tables: 2, from_table: 0, to_table: 1, doublings: 1 }, buffer);
    }
  });

  test('doubles infinity at any index, and only infinity', async () => {
    const config = { tables: 2, from_table: 0, to_table: 1, doublings: 4 };
    for (const spoiled of [[0], [15], [1, 2, 3], [0, 7, 8, 9, 14, 15], Array.from({ length: 16 }, (_, i) => i)]) {
      const points = known.points.slice(0, 16).map((point, i) => (spoiled.includes(i) ? infinity : point));
      await compare(bn, kernels, { ...config, points: 16 }, withTable0(bn, imported(bn, points), 2));
    }
  });

  test('doubles equal and opposite points', async () => {
    const point = known.points[5] as AffinePoint;
    const points = Array.from({ length: 33 }, (_, i) => (i < 30 ? point : { ...point, y: bn.p - point.y }));
    const config = { points: 33, tables: 2, from_table: 0, to_table: 1, doublings: 6 };
    await compare(bn, kernels, config, withTable0(bn, imported(bn, points), 2));
  });
});

test.each(products)('a padded array of matrices changes no table, %s products', async (product) => {
  const bn = withProduct(curveContext(bn254), product);
  const config = { points: 70, tables: 2, from_table: 0, to_table: 1, doublings: 5 };
  await compare(
    bn,
    tablesKernels(bn, true),
    config,
    withTable0(bn, imported(bn, known.points).slice(0, 70 * bn.pointWords), 2),
  );
});

test('tables_double runs workgroups in two rows of a dispatch', async () => {
  const curve = curveContext(smallCurve);
  const kernels = tablesKernels(curve);
  const some = smallCase(50).points;
  const points = Array.from({ length: 6 * TABLES_THREADS - 1 }, (_, i) => some[i % 50] as AffinePoint);
  const config = { points: points.length, tables: 1, from_table: 0, to_table: 0, doublings: 1 };
  const before = withTable0(curve, imported(curve, points), 1);
  const expected = before.slice();
  doubleTable(curve, config, expected);
  expectSame(curve, await runOn(kernels.double, DoubleConfig.pack(config), [before], [3, 2]), expected, 'rows');
});

/** Returns the first multiples of a point. */
const multiplesOf = (curve: Curve, count: number): AffinePoint[] => {
  const textbook = new TextbookCurve(curve);
  const generator = { ...curve.generator, infinity: false };
  return Array.from({ length: count }, (_, i) => textbook.multiply(generator, BigInt(i + 1)));
};

describe('points of small order', () => {
  const { p, order } = smallCurve;
  /** (x − 2)·(x² + 2x + 17): (2, 0) has order 2 and (7, ±20) order 4. */
  const even: Curve = { name: 'even', p, order, a: 13n, b: p - 34n, generator: { x: 7n, y: 20n } };
  /** (0, ±4) has order 3: each doubling negates its y. */
  const threefold: Curve = { name: 'threefold', p, order, a: 0n, b: 16n, generator: { x: 0n, y: 4n } };

  test.each([
    ['2 and 4', even, 4],
    ['3', threefold, 3],
  ] as const)('%s, among others', async (_, constants, order) => {
    const cyclic = multiplesOf(constants, order);
    expect(cyclic.map((point) => point.infinity).indexOf(true)).toBe(order - 1);
    const textbook = new TextbookCurve(constants);
    const other = textbook.somePoint(constants.b, 1000n);
    const members = [...cyclic, other, ...cyclic.map((point) => textbook.add(point, other))];
    const points = Array.from({ length: 41 }, (_, i) => members[(i * i + (i >> 2)) % members.length] as AffinePoint);
    for (const product of products) {
      const curve = withProduct(curveContext(constants), product);
      const kernels = tablesKernels(curve);
      for (const doublings of [1, 2, 3, 8]) {
        const config = { points: points.length, tables: 2, from_table: 0, to_table: 1, doublings };
        const buffer = await compare(curve, kernels, config, withTable0(curve, imported(curve, points), 2));
        points.forEach((point, i) => {
          const { x, y, infinity } = textbook.multiply(point, 2n ** BigInt(doublings));
          expect(readPoint(curve, buffer, 2 * i + 1)).toEqual(infinity ? null : { x, y });
        });
      }
    }
  });
});

describe('other curves', { tags: 'long' }, () => {
  const P384 = p384.Point.CURVE();
  /**
   * 384 bits, so that words and limbs are full, and a = −3. Its order is too long for the library,
   * which the tables never look at.
   */
  const full: Curve = {
    name: 'p384',
    p: P384.p,
    order: bn254.order,
    a: P384.a,
    b: P384.b,
    generator: { x: P384.Gx, y: P384.Gy },
  };
  const oracles: [string, Curve, OracleCurve][] = [
    ['BLS12-381', bls12381, bls12381Oracle],
    ['P-256, a = −3', p256Curve, p256Oracle],
    ['secp192r1, a = −3', secp192r1, secp192r1Oracle],
  ];
  const cases: [string, Curve, readonly AffinePoint[]][] = [
    ...oracles.map(([name, curve, oracle]): (typeof cases)[number] => [
      name,
      curve,
      makeKnownBases(oracle, 20, 22).points,
    ]),
    ['P-384, a = −3', full, multiplesOf(full, 20)],
    ['small, a = 2', smallCurve, smallCase(20).points],
  ];

  test.each(cases)('%s', async (_, constants, some) => {
    const points = some.map((point, i) => (i % 7 === 3 ? infinity : point));
    for (const product of products) {
      const curve = withProduct(curveContext(constants), product);
      const kernels = tablesKernels(curve);
      let buffer = withTable0(curve, imported(curve, points), 3);
      for (const to_table of [1, 2]) {
        const config = { points: points.length, tables: 3, from_table: to_table - 1, to_table, doublings: 17 };
        buffer = await compare(curve, kernels, config, buffer);
      }
    }
  });
});
