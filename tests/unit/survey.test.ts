/**
 * The survey of scalars: the bits of the longest must be an upper bound for every input, the rest
 * is an estimate.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { bls12381, p256Curve } from '../../dev/oracle/curves.js';
import { bn254G1, encodeScalars } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { dividedByLength } from '../../src/msm/cpu/short-scalars.js';
import {
  blocksOf,
  expectedDigits,
  fullWorkload,
  loadedTables,
  NO_TABLES,
  shareOf,
  survey,
  together,
} from '../../src/msm/plan/workload.js';
import { finish } from '../../src/scheduling/time-slice.js';

const curve = curveContext(bn254);
const bitsOf = (value: bigint): number => (value === 0n ? 0 : value.toString(2).length);

/** Returns the bits of a scalar after decompose, on curves with and without a cofactor. */
const trueBits = ({ order, name }: CurveContext, scalar: bigint): number => {
  const reduced = scalar % order;
  return bitsOf(name !== bls12381.name && 2n * reduced > order ? order - reduced : reduced);
};

const look = (of: CurveContext, scalars: readonly bigint[]) => {
  const { load } = survey(of, encodeScalars(bn254G1, scalars), NO_TABLES, false);
  const longest = Math.max(0, ...scalars.map((scalar) => trueBits(of, scalar)));
  const { bits: full } = fullWorkload(1, of);
  expect(load).toMatchObject({ vectors: 1, n: scalars.length, picked: false });
  expect(load.bits).toBeGreaterThanOrEqual(longest);
  // a scalar that is not reduced counts as a long one; every other is measured exactly
  expect(load.bits).toBe(scalars.some((scalar) => scalar > of.order) ? full : longest);
  expect([...load.lengths.values()].reduce((sum, count) => sum + count, 0)).toBeCloseTo(scalars.length);
  return load;
};

describe.each([bn254, bls12381, p256Curve].map((each) => [each.name, curveContext(each)] as const))('%s', (_, of) => {
  const near = [0n, 1n, 2n, 3n, of.order - 1n, of.order, of.order + 1n, 2n * of.order, of.order / 2n];
  const edges = [...near, of.order / 2n + 1n, 2n ** 256n - 1n].filter((value) => value < 2n ** 256n);

  test('measures each edge case alone', () => {
    for (const edge of edges) look(of, [edge]);
    for (let k = 0n; k < 256n; k++) {
      for (const value of [2n ** k - 1n, 2n ** k, of.order - 2n ** k]) if (value >= 0n) look(of, [value]);
    }
  });

  test('measures random scalars', () => {
    const scalar = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: of.order - 1n }));
    const short = fc.bigInt({ min: 0n, max: 2n ** 64n });
    fc.assert(
      fc.property(fc.array(fc.oneof(scalar, short), { minLength: 1, maxLength: 50 }), (all) => {
        look(of, all);
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test('finds a scalar that is one bit longer than the sample', () => {
    // the last of 1026 scalars is not in the sample of 1024
    const n = 1026;
    for (let bits = 0; bits < of.signedBits; bits++) {
      const scalars = new Array<bigint>(n).fill(2n ** BigInt(bits) - 1n);
      look(of, scalars.with(n - 1, 2n ** BigInt(bits)));
    }
  });

  test('finds a scalar that is one bit longer in any word, also if its other words are 0', () => {
    const words = of.scalarBytes / 4;
    for (let word = 1; word < words; word++) {
      for (let below = 0; below < word; below++) {
        const scalars = new Array<bigint>(1026).fill(2n ** BigInt(32 * below));
        look(of, scalars.with(1025, 2n ** BigInt(32 * word)));
      }
    }
  });

  test('finds a long scalar among many short ones at any index', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1025, max: 5000 }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.bigInt({ min: 0n, max: of.order - 1n }),
        fc.integer({ min: 0, max: 70 }),
        (n, where, long, shortBits) => {
          const scalars = Array.from({ length: n }, (_, i) => BigInt(i * 0x9e3779b1) % 2n ** BigInt(shortBits));
          scalars[Math.floor(n * where)] = long;
          look(of, scalars);
        },
      ),
      { numRuns: 50, seed: 2 },
    );
  });
});

test.each(Object.keys(scalarDistributions) as ScalarDistributionName[])('workloads of %s are bounded', (name) => {
  for (const n of [1, 1000, 3000]) look(curve, scalarDistributions[name].make(n, 7).values);
});

test.each([0, 1, 0.4, 0.6, 0.9, 0.999])(
  'nonzero scalars are picked out if zeros are the majority: a share of %d',
  (share) => {
    for (const n of [1, 10, 1024, 3000]) {
      const scalars = Array.from({ length: n }, (_, i) =>
        (i * 7919) % 1000 < 1000 * share ? 0n : BigInt(i + 1) ** 9n,
      );
      const { load, scalars: kept, indices } = survey(curve, encodeScalars(bn254G1, scalars), NO_TABLES);
      const there = scalars.flatMap((scalar, i) => (scalar === 0n ? [] : [i]));
      expect(load.picked).toBe(indices !== null);
      expect(load.n).toBe(indices === null ? n : there.length);
      if (n >= 1024) expect(load.picked).toBe(share > 0.5);
      if (indices === null) continue;
      expect([...indices]).toEqual(there);
      expect(kept).toEqual(
        encodeScalars(
          bn254G1,
          there.map((i) => scalars[i] as bigint),
        ),
      );
    }
  },
);

test.each([0, 1, 99])('picks out the only nonzero scalar of 100, at index %i', (index) => {
  const scalars = new Array<bigint>(100).fill(0n).with(index, 5n);
  const { load, scalars: kept, indices } = survey(curve, encodeScalars(bn254G1, scalars), NO_TABLES);
  expect(load).toMatchObject({ vectors: 1, n: 1, bits: 3, picked: true });
  expect([...(indices ?? [])]).toEqual([index]);
  expect(kept).toEqual(encodeScalars(bn254G1, [5n]));
});

describe('vectors of mostly short scalars', () => {
  const { order } = curve;
  const surveyed = (scalars: readonly bigint[], picks: boolean) => ({
    ...survey(curve, encodeScalars(bn254G1, scalars), NO_TABLES, picks),
    offset: 7,
  });
  /** Lengths around the longest short one, and negative numbers, which are short as well. */
  const edges = [2n ** 16n - 1n, 2n ** 16n, 2n ** 17n, order - 1n, order - 2n ** 16n, order, order + 1n, 2n ** 255n];

  test.each([true, false])('are divided without loss: zeros picked out %s', (picks) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 256, max: 4000 }),
        fc.integer({ min: 1, max: 17 }),
        fc.integer({ min: 2, max: 9 }),
        fc.array(fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: order - 1n })), { maxLength: 40 }),
        (n, shortBits, oneOf, others) => {
          const scalars = Array.from({ length: n }, (_, i) =>
            i % oneOf === 0 ? BigInt((i * 0x9e3779b1) % 2 ** shortBits) : 0n,
          );
          for (const [k, other] of others.entries()) scalars[(k * 7919) % n] = other;
          const vector = surveyed(scalars, picks);
          const parts = finish(dividedByLength(curve, vector));
          const placed = parts.flatMap(({ load, scalars: kept, indices, offset }) => {
            const words = new DataView(kept.buffer, kept.byteOffset);
            expect(offset).toBe(7);
            const own = Array.from({ length: load.n }, (_, i) => {
              const scalar = [3, 2, 1, 0].reduce(
                (sum, w) => (sum << 64n) + words.getBigUint64(32 * i + 8 * w, true),
                0n,
              );
              return [indices === null ? i : (indices[i] as number), scalar] as const;
            });
            expect(own.filter(([, scalar]) => trueBits(curve, scalar) > load.bits)).toEqual([]);
            return own;
          });
          const there = placed.filter(([, scalar]) => scalar % order !== 0n).sort(([a], [b]) => a - b);
          const expected = scalars.flatMap((scalar, i) => (scalar % order === 0n ? [] : [[i, scalar] as const]));
          expect(there).toEqual(expected);
        },
      ),
      { numRuns: 30, seed: 3 },
    );
  });

  test('have windows of their own, and few long ones others', () => {
    const bits = Array.from({ length: 3000 }, (_, i) => BigInt(i % 3 === 0));
    const parts = finish(dividedByLength(curve, surveyed(bits.with(1, 3n).with(2999, order / 3n), false)));
    expect(parts.map(({ load: { n, bits: longest } }) => [n, longest])).toEqual([
      [1000, 1],
      [2, trueBits(curve, order / 3n)],
    ]);
  });

  test('stay whole if they are few, if all are short, or too many are long', () => {
    const short = new Array<bigint>(3000).fill(1n);
    const isLong = (scalar: bigint, i: number): bigint => (i % 4 === 0 ? order / 3n : scalar);
    for (const scalars of [
      short.slice(0, 255).with(1, order / 3n),
      short,
      short.map(isLong),
      new Array(300).fill(0n),
    ]) {
      const vector = surveyed(scalars, false);
      expect(finish(dividedByLength(curve, vector))).toEqual([vector]);
    }
  });
});

test('expects digits only where scalars have bits', () => {
  const digits = (name: ScalarDistributionName): number =>
    expectedDigits(look(curve, scalarDistributions[name].make(4096, 7).values), 8);
  expect(digits('random') / (4096 * 32)).toBeCloseTo(1, 1);
  expect(digits('mostly-zero') / (4096 * 32)).toBeCloseTo(0.1, 1);
  // half of the scalars have their 32nd bit set and lend to a fifth window
  expect(digits('short-32') / (4096 * 4.5)).toBeCloseTo(1, 1);
  expect(digits('r-minus-one') / 4096).toBeCloseTo(1, 1);
  expect(digits('all-zero')).toBe(0);
});

test('workloads are divided, and combined', () => {
  const load = fullWorkload(1000, curve);
  expect(load).toMatchObject({ vectors: 1, n: 1000, tables: NO_TABLES, picked: false });
  expect(expectedDigits(shareOf(load, 250), 8)).toBeCloseTo(expectedDigits(load, 8) / 4);
  const few = survey(curve, encodeScalars(bn254G1, [5n, 0n]), NO_TABLES).load;
  const both = together([few, load]);
  expect(both).toMatchObject({ vectors: 2, n: 1000, bits: load.bits });
  expect(expectedDigits(both, 8)).toBeCloseTo(expectedDigits(load, 8) + expectedDigits(few, 8));
});

test('tables cover the longest scalar and one bit more, and no scalar takes more tables than it needs', () => {
  for (const of of [bn254, bls12381, p256Curve].map((each) => curveContext(each))) {
    const full = fullWorkload(1, of).bits;
    expect(loadedTables(of, 1)).toBe(NO_TABLES);
    for (let most = 2; most <= 64; most++) {
      const tables = loadedTables(of, most);
      expect(tables.count).toBeLessThanOrEqual(most);
      // the fewest bits that the number of tables allows, and no unused table
      expect(tables.bits).toBe(Math.ceil((full + 1) / most));
      expect((tables.count - 1) * tables.bits).toBeLessThan(full + 1);
      const edges = [0, 1, 2].flatMap((off) => Array.from({ length: most }, (_, t) => (t + 1) * tables.bits - off));
      for (const bits of [0, full, ...edges.filter((edge) => edge < full)]) {
        const pieces = blocksOf({ bits, tables });
        expect(pieces.count).toBeLessThanOrEqual(tables.count);
        expect(pieces.bits).toBe(bits < tables.bits ? bits + 1 : tables.bits);
        expect((pieces.count - 1) * pieces.bits).toBeLessThan(bits + 1);
        expect(pieces.count * pieces.bits).toBeGreaterThan(bits);
      }
    }
    expect(blocksOf({ bits: full, tables: NO_TABLES })).toEqual({ count: 1, bits: full + 1 });
  }
});
