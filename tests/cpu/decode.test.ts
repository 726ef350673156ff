/**
 * Points decoded in WebAssembly: compressed ones against noble on every curve and group, others and
 * those of Edwards curves against the reader on BigInts.
 */
import { describe, expect, test } from 'vitest';
import { everyGroup } from '../../dev/cases/select.js';
import { oracleOf } from '../../dev/oracle/curves.js';
import { type Coordinate, makeKnownBases, Random } from '../../dev/oracle/known-bases.js';
import { type AnyCurve, type CurveContext, curveContext } from '../../src/curves/curve.js';
import type { Affine } from '../../src/curves/jacobian.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { type RootSign, writePoint, Y_EVEN, Y_ODD } from '../../src/curves/point-source.js';
import { mod } from '../../src/field/modulus.js';
import { squareRoot } from '../../src/field/powers.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { checkedReader } from '../../src/msm/cpu/load-points.js';
import type { PointDecoder } from '../../src/wasm/decode/decoder.js';
import {
  bytesOf,
  compress,
  decoderFor,
  edwardsWords,
  isEdwards,
  named,
  pointsOf,
  writeCompressed,
} from '../support/decoding.js';
import { isProbablyPrime, primes } from '../support/primes.js';

const lanes = [1, 2] as const;
const signs = ['odd', 'larger'] as const;

/** Returns the compressed point with this x as the reader on BigInts has it, or its fault. */
const readOne = (curve: CurveContext, x: Coordinate, mark: number, sign: RootSign) => {
  const words = new Uint32Array(curve.pointWords);
  writeCompressed(curve, words, 0, x, mark);
  return checkedReader(curve, { bytes: bytesOf(words), scale: 1n, encoding: 'le', sign })(0);
};

/** Compares some points with the reader on BigInts. @returns how many of them are right */
const decodesAsBigInts = (
  curve: CurveContext,
  decoder: PointDecoder,
  sign: RootSign,
  given: readonly Coordinate[],
): number => {
  let right = 0;
  for (const x of given) {
    for (const mark of [Y_EVEN, Y_ODD]) {
      const [words, expected] = [new Uint32Array(curve.pointWords), new Uint32Array(curve.pointWords)];
      const point = readOne(curve, x, mark, sign);
      writeCompressed(curve, words, 0, x, mark);
      if (typeof point === 'string') writeCompressed(curve, expected, 0, x, mark);
      else writePoint(curve, expected, 0, point);
      const isRight = typeof point !== 'string';
      expect(
        decoder.decode(words, 1n, sign === 'odd'),
        JSON.stringify(x, (_, value) => String(value)),
      ).toBe(isRight ? 1 : 0);
      expect(words).toEqual(expected);
      if (isRight) right++;
    }
  }
  return right;
};

const randomX = ({ coordinates: f, field }: CurveContext, n: number, seed: number): Coordinate[] => {
  const random = new Random(seed);
  const number = (): bigint => random.bits(field.bits + 20) % field.p;
  return Array.from({ length: n }, () => f.of([number(), number()].slice(0, f.degree)));
};

const compressedGroups = named(everyGroup.filter((of) => !isEdwards(of)));

describe.each(lanes)('compressed points, %s at a time', (lanes) => {
  test.each(compressedGroups)('of %s are those of noble', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    const decoder = await decoderFor(curve, lanes);
    const points = pointsOf(of, curve, decoder.mostPoints);
    for (const sign of signs) {
      for (const n of [0, 1, 2, 3, decoder.mostPoints - 1, decoder.mostPoints]) {
        const { given, expected } = compress(curve, points.slice(0, n), sign);
        expect(decoder.decode(given, 1n, sign === 'odd')).toBe(n);
        expect(given).toEqual(expected);
      }
    }
  });

  test.each(compressedGroups)('of %s: the first wrong one is found at every position', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    const decoder = await decoderFor(curve, lanes);
    const n = 7;
    const { given } = compress(curve, pointsOf(of, curve, n), 'larger');
    const off = randomX(curve, 20, 1).find((x) => typeof readOne(curve, x, Y_EVEN, 'larger') === 'string');
    for (let first = 0; first < n; first++) {
      const words = given.slice();
      for (const at of [first, n - 1]) writeCompressed(curve, words, at, off as Coordinate, Y_EVEN);
      const before = words.slice();
      expect(decoder.decode(words, 1n, false)).toBe(first);
      expect(words).toEqual(before);
    }
  });

  test.each(compressedGroups)('of %s: random x are decoded as on BigInts', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    const decoder = await decoderFor(curve, lanes);
    for (const sign of signs) expect(decodesAsBigInts(curve, decoder, sign, randomX(curve, 20, 3))).toBeGreaterThan(0);
  });
});

/** Returns a prime odd·2^twos + 1 with a small odd. */
const primeWith = (twos: bigint): bigint => {
  for (let odd = 3n; ; odd += 2n) {
    const candidate = odd * 2n ** twos + 1n;
    if (isProbablyPrime(candidate)) return candidate;
  }
};

/** Returns the curve with a = 5 through a point, over a prime or over pairs. */
const curveThrough = (p: bigint, nonResidue: bigint | null, x: bigint, y: bigint): CurveContext => {
  const [a, b] = [5n, mod(y * y - x ** 3n - 5n * x, p)];
  const common = { name: 'some', p, order: 2n ** 255n - 19n };
  if (nonResidue === null) return curveContext({ ...common, a, b, generator: { x, y } });
  const pair = (c0: bigint) => ({ c0, c1: 0n });
  const constants = { ...common, nonResidue, a: pair(a), b: pair(b), generator: { x: pair(x), y: pair(y) } };
  return curveContext(constants as AnyCurve, quadraticField);
};

const nonResidueOf = (p: bigint): bigint | undefined =>
  [-1n, 2n, 3n, -2n, -3n, 5n, -5n, 6n, -6n].find((value) => squareRoot(mod(value, p), p) === null);

describe('compressed points over other primes', () => {
  const twoAdic = [45n, 60n, 121n, 301n].map((twos) => [`2-adicity ${twos}`, primeWith(twos)] as const);
  const others = [...Object.entries(primes), ...twoAdic];
  test.each(others)('%s', async (_, p) => {
    const curve = curveThrough(p, null, 3n, 7n);
    for (const count of lanes) {
      const decoder = await decoderFor(curve, count);
      expect(decodesAsBigInts(curve, decoder, 'larger', randomX(curve, 20, 8))).toBeGreaterThan(0);
    }
  });

  const withPairs = others.filter(([, p]) => nonResidueOf(p) !== undefined);
  test.each(withPairs)('pairs over %s', async (_, p) => {
    const curve = curveThrough(p, nonResidueOf(p) as bigint, 3n, 7n);
    for (const count of lanes) {
      const decoder = await decoderFor(curve, count);
      expect(decodesAsBigInts(curve, decoder, 'larger', randomX(curve, 10, 9))).toBeGreaterThan(0);
      // y² in the prime field, and so a root with one coefficient that is 0
      const inPrime = Array.from({ length: 10 }, (_, i) => ({ c0: BigInt(i), c1: 0n }));
      expect(decodesAsBigInts(curve, decoder, 'larger', inPrime)).toBe(20);
    }
  });

  test.each([null, -1n])('y = 0 has no other sign (nonResidue %s)', async (nonResidue) => {
    const curve = curveThrough(2n ** 61n - 1n, nonResidue, 2n, 0n);
    for (const count of lanes) {
      const decoder = await decoderFor(curve, count);
      for (const sign of signs) expect(decodesAsBigInts(curve, decoder, sign, [curve.generator.x])).toBe(1);
    }
  });
});

describe.each(lanes)('Edwards points, %s at a time', (lanes) => {
  test.each(named(everyGroup.filter(isEdwards)))('of %s are decoded as on BigInts', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    const { p, pointWords } = curve;
    const decoder = await decoderFor(curve, lanes);
    // the neutral point, that of order 2, and zeros, which are infinity
    const special = [1n, p - 1n, 0n].map((y) => ({ x: 0n, y }));
    const points = makeKnownBases<Coordinate>(oracleOf(of), decoder.mostPoints, 3).points.map((point, i) =>
      i % 5 === 2 ? (special[Math.floor(i / 5) % 3] as (typeof special)[number]) : point,
    );
    for (const scale of [1n, 2n ** 256n % p]) {
      for (const n of [0, 1, 2, 3, decoder.mostPoints - 1, decoder.mostPoints]) {
        const words = edwardsWords(curve, points.slice(0, n), scale);
        const source = { bytes: bytesOf(words.slice()), scale: 1n, encoding: 'le', edwards: { scale } } as const;
        const read = checkedReader(curve, source);
        const expected = new Uint32Array(n * pointWords);
        for (let i = 0; i < n; i++) writePoint(curve, expected, i, read(i) as Affine);
        expect(decoder.decode(words, scale, false)).toBe(n);
        expect(words).toEqual(expected);
      }
    }
    const wrong = [
      { x: 0n, y: 2n },
      { x: 1n, y: 1n },
      { x: 1n, y: 0n },
      { x: points[3]?.x as bigint, y: points[4]?.y as bigint },
    ];
    for (let at = 0; at < 7; at++) {
      for (const point of wrong) {
        const words = edwardsWords(curve, [...points.slice(0, at), point, ...points.slice(at + 1, 7)], 1n);
        const before = words.slice();
        expect(decoder.decode(words, 1n, false)).toBe(at);
        expect(words).toEqual(before);
      }
    }
  });
});
