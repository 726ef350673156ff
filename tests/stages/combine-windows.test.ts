/**
 * Combining windows: the weighted sum of the window sums, and the rejection of sums that are no
 * canonical points of the curve.
 */
import { describe, expect, test } from 'vitest';
import { type AffinePoint, bn254G1, groupOrder, INFINITY, toAffinePoint } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { MsmError } from '../../src/errors.js';
import { readWords, writeWords } from '../../src/field/modulus.js';
import { combineWindows } from '../../src/msm/stages/combine-windows.js';
import { bitsExponents, reduceShape } from '../../src/msm/stages/reduce.js';
import { writePoint } from '../reference/points.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const curve = curveContext(bn254);
const { field, pointWords } = curve;
const { Point } = bn254G1;
const r = groupOrder(bn254G1);

const windowBits = 5;
const vectorWindows = 3;
const vectors = 2;
const count = windowBits * vectorWindows * vectors;
const plan = { tuning: { windowBits }, vectorWindows, reduce: reduceShape(windowBits, vectorWindows * vectors, 4) };

/** Sum i is (i² + 1)·G; every seventh is infinity. */
const logs = Array.from({ length: count }, (_, i) => (i % 7 === 3 ? 0n : BigInt(i * i + 1)));
const makeSums = (): Uint32Array => {
  const sums = new Uint32Array(count * pointWords);
  logs.forEach((log, i) => {
    writePoint(curve, sums, i, log === 0n ? null : Point.BASE.multiplyUnsafe(log).toAffine());
  });
  return sums;
};

test('the result is Σ 2^exponent · sum for each vector', () => {
  for (let vector = 0; vector < vectors; vector++) {
    let log = 0n;
    for (let window = 0; window < vectorWindows; window++) {
      for (let i = 0; i < windowBits; i++) {
        const own = logs[(vector * vectorWindows + window) * windowBits + i] as bigint;
        for (const e of bitsExponents(windowBits, plan.reduce, i)) log += own << BigInt(window * windowBits + e);
      }
    }
    expect(combineWindows(curve, plan, makeSums(), vector)).toEqual(toAffinePoint(Point.BASE.multiplyUnsafe(log % r)));
  }
  expect(combineWindows(curve, plan, new Uint32Array(count * pointWords), 0)).toEqual(INFINITY);
});

/** y² = x³ + 7·x − 160, with (5, 0) of order 2; and y² = x³ + 5·x + 9, with (0, ±3). */
test.each([
  { a: 7n, b: bn254.p - 160n, special: { x: 5n, y: 0n, infinity: false } },
  { a: 5n, b: 9n, special: { x: 0n, y: 3n, infinity: false } },
])('combines points with a coordinate 0, equal sums and opposite sums: %o', ({ a, b, special }) => {
  const own = curveContext({ ...bn254, name: 'special', a, b, generator: special });
  const textbook = new TextbookCurve({ p: bn254.p, a });
  const other = textbook.somePoint(b, 1000n);
  const opposite = (point: AffinePoint): AffinePoint => ({ ...point, y: (bn254.p - point.y) % bn254.p });
  const pool = [INFINITY, special, special, opposite(special), other, textbook.add(special, other), opposite(other)];
  for (let seed = 1; seed < 20; seed++) {
    const sums = new Uint32Array(count * pointWords);
    let expected = INFINITY as AffinePoint;
    for (let index = 0; index < windowBits * vectorWindows; index++) {
      const point = pool[(index ** 2 * seed + (index >> 1)) % pool.length] as AffinePoint;
      writePoint(own, sums, index, point.infinity ? null : point);
      for (const e of bitsExponents(windowBits, plan.reduce, index % windowBits)) {
        const exponent = BigInt(Math.floor(index / windowBits) * windowBits + e);
        expected = textbook.add(expected, textbook.multiply(point, 2n ** exponent));
      }
    }
    expect(combineWindows(own, plan, sums, 0)).toEqual(expected);
  }
});

describe('a wrong sum at any index is rejected', () => {
  const places = Array.from({ length: windowBits * vectorWindows }, (_, i) => i);
  const spoil = (index: number, coordinate: 0 | 1, change: (value: bigint) => bigint): Uint32Array => {
    const sums = makeSums();
    const at = index * pointWords + coordinate * field.words;
    writeWords(sums, at, field.words, change(readWords(sums, at, field.words)));
    return sums;
  };
  const refusal = (sums: Uint32Array): unknown => {
    try {
      return combineWindows(curve, plan, sums, 0);
    } catch (error) {
      return error;
    }
  };
  const expectRefused = (sums: Uint32Array, index: number): void => {
    const error = refusal(sums);
    expect(error).toBeInstanceOf(MsmError);
    expect(error).toMatchObject({
      code: 'internal',
      message: expect.stringContaining(`window sum ${index} is not on`),
    });
  };

  test.each([0, 1] as const)('if its coordinate %i has p added, and is not canonical', (coordinate) => {
    // 2p is below 2^256: it fits the words
    expect(2n * field.p < 2n ** BigInt(32 * field.words)).toBe(true);
    for (const index of places)
      expectRefused(
        spoil(index, coordinate, (value) => value + field.p),
        index,
      );
  });

  test.each([0, 1] as const)('if its coordinate %i has a flipped bit', (coordinate) => {
    for (const index of places)
      expectRefused(
        spoil(index, coordinate, (value) => value ^ (1n << BigInt((17 * index) % 254))),
        index,
      );
  });

  test('if it has the value of the buffer before a run', () => {
    expectRefused(new Uint32Array(count * pointWords).fill(0xffffffff), 0);
  });
});
