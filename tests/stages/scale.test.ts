/**
 * Multiples of points by few scalars: the CPU reference against noble, the kernel against the CPU
 * reference.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { bls12381, bls12381Oracle, oraclesOfG2 } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  bn254G1,
  type Coordinate,
  type Fp2,
  makeKnownBases,
  type OracleCurve,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type AnyCurve, type CurveContext, curveContext, withProduct } from '../../src/curves/curve.js';
import { halvingOf } from '../../src/curves/halving.js';
import { bls12381G2, bn254G2 } from '../../src/curves/pairing-friendly.js';
import { writeElement } from '../../src/field/field.js';
import { mod, writeWords } from '../../src/field/modulus.js';
import { power } from '../../src/field/powers.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { pipelineFor } from '../../src/gpu/device.js';
import { DispatchChain } from '../../src/gpu/submission.js';
import {
  digitWordsOf,
  planeWordsOf,
  SCALE_THREADS,
  type ScalarDigits,
  ScaleConfig,
  scalarDigits,
  scaleKernel,
} from '../../src/msm/stages/scale.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { writePoint } from '../reference/points.js';
import { scalePoints } from '../reference/scale.js';
import { getDevice } from '../support/gpu.js';
import { runKernel } from '../support/run-kernel.js';

type Point = AffinePoint<Coordinate>;

/** Marks words that no kernel wrote: no coordinate below p. */
const POISON = 0xffffffff;

/** Points behind the products, which no dispatch may change. */
const SPARE = 3;

const bn = curveContext(bn254);
const bls = curveContext(bls12381);
const infinityOf = ({ coordinates: f }: CurveContext): Point => ({ x: f.zero, y: f.zero, infinity: true });

/** The buffers of a dispatch. */
interface Buffers {
  readonly config: Parameters<typeof ScaleConfig.pack>[0];
  readonly points: Uint32Array;
  readonly which: Uint32Array;
  readonly digits: Uint32Array;
  readonly factors: Uint32Array;
}

/** @param which index of the scalar of each point; default: they take turns */
const buffersOf = (
  curve: CurveContext,
  points: readonly Point[],
  { words: digits, positions, planeWords = planeWordsOf(curve) }: ScalarDigits & { readonly planeWords?: number },
  factors: readonly bigint[] = [1n],
  which?: readonly number[],
): Buffers => {
  const { coordinates: f, pointWords } = curve;
  // at least one point, as WebGPU binds no empty array
  const stored = new Uint32Array(Math.max(1, points.length) * pointWords);
  for (const [i, { x, y, infinity }] of points.entries()) writePoint(curve, stored, i, infinity ? null : { x, y });
  const scalars = digits.length / (4 * planeWords);
  const own = new Uint32Array(factors.length * f.words);
  for (const [k, factor] of factors.entries()) writeElement(f, own, k * f.words, f.multiple(f.one, factor));
  return {
    config: { points: points.length, positions, plane_words: planeWords, factors: factors.length },
    points: stored,
    which: Uint32Array.from({ length: Math.max(1, points.length) }, (_, i) => which?.[i] ?? i % scalars),
    digits,
    factors: own,
  };
};

/** Returns a buffer for products, with a pattern everywhere. */
const untouched = (curve: CurveContext, { config }: Buffers): Uint32Array =>
  new Uint32Array((config.points * config.factors + SPARE) * curve.pointWords).fill(POISON);

const byReference = (curve: CurveContext, buffers: Buffers): Uint32Array => {
  const products = untouched(curve, buffers);
  scalePoints(curve, buffers.config, buffers, products);
  return products;
};

const byKernel = async (
  curve: CurveContext,
  buffers: Buffers,
  { pads = false, rows = 1 }: { readonly pads?: boolean; readonly rows?: number } = {},
): Promise<Uint32Array> => {
  const device = await getDevice();
  const kernel = scaleKernel(curve, pads);
  const [all] = groupsFor(buffers.config.points, SCALE_THREADS);
  const groups = [Math.ceil(all / rows), rows] as const;
  const call = 7;
  const config = ScaleConfig.pack(buffers.config);
  const { configs } = new DispatchChain(call, 0, [{ phase: 'scale', kernel, config, bindings: {}, groups }]);
  const told = Uint32Array.from(configs[0] as ArrayLike<number>);
  const { points, which, digits, factors } = buffers;
  const bound = [points, which, digits, factors, untouched(curve, buffers), Uint32Array.of(call, 0, 0)];
  const inputs = [{ data: told, usage: 'uniform' as const }, ...bound.map((data) => ({ data }))];
  return (await runKernel(device, await pipelineFor(device, kernel), inputs, groups)).at(-2) as Uint32Array;
};

/** Compares kernel and CPU reference in all words, and reports the first point that differs. */
const compare = async (
  curve: CurveContext,
  buffers: Buffers,
  how?: Parameters<typeof byKernel>[2],
): Promise<Uint32Array> => {
  const expected = byReference(curve, buffers);
  const got = await byKernel(curve, buffers, how);
  expect(got.length).toBe(expected.length);
  const at = got.findIndex((word, k) => word !== expected[k]);
  if (at >= 0) throw new Error(`product ${Math.floor(at / curve.pointWords)} of ${buffers.config.points} differs`);
  return got;
};

/** Returns digits of halves of any size, which need not be in non-adjacent form. */
const digitsOfHalves = (halves: readonly (readonly [bigint, bigint])[]) => {
  const planeWords = 10;
  const words = new Uint32Array(halves.length * 4 * planeWords);
  for (const [i, pair] of halves.entries()) {
    for (const [h, half] of pair.entries()) {
      const plane = 4 * i + 2 * h + (half < 0n ? 1 : 0);
      writeWords(words, plane * planeWords, planeWords, half < 0n ? -half : half);
    }
  }
  return { words, planeWords, positions: 300 };
};

/** Returns scalars at the edges of the order, multiples by φ and others. */
const scalarsOf = (curve: CurveContext): bigint[] => {
  const { order: r } = curve;
  // a root of unity of order 3, which multiplies as φ or as its square
  const root = [2n, 3n, 5n].map((base) => power(base, (r - 1n) / 3n, r)).find((each) => each !== 1n) as bigint;
  const roots = [root, r - root, root + 1n, mod(1n - root, r), (root * root) % r];
  const others = [3n, 2n ** 127n, 2n ** 128n - 1n, 2n ** 253n + 12345n, r / 2n, r / 3n];
  return [0n, 1n, 2n, r - 1n, r - 2n, ...roots, ...others];
};

/** A group, its oracle, and points of it. */
interface Case<Of extends Coordinate> {
  readonly name: string;
  readonly constants: AnyCurve;
  readonly oracle: OracleCurve<Of>;
}
const cases: (Case<bigint> | Case<Fp2>)[] = [
  { name: 'BN254 G1', constants: bn254, oracle: bn254G1 },
  { name: 'BLS12-381 G1', constants: bls12381, oracle: bls12381Oracle },
  { name: 'BN254 G2', constants: bn254G2, oracle: oraclesOfG2.bn254 },
  { name: 'BLS12-381 G2', constants: bls12381G2, oracle: oraclesOfG2['bls12-381'] },
];
const contextOf = (constants: AnyCurve): CurveContext =>
  curveContext(constants, constants.nonResidue === undefined ? undefined : quadraticField);
const knownPoints = ({ oracle }: Case<bigint> | Case<Fp2>, count: number): Point[] =>
  makeKnownBases(oracle as OracleCurve<Coordinate>, count, 31).points.slice();

describe.each(cases)('the CPU reference of scale, $name', (each) => {
  test('equals noble', () => {
    const curve = contextOf(each.constants);
    const { coordinates: f, pointWords } = curve;
    const scalars = scalarsOf(curve);
    const given = knownPoints(each, 2);
    const points = scalars.flatMap(() => [...given, infinityOf(curve)]);
    const which = points.map((_, i) => Math.floor(i / 3));
    const factor = 2n ** 256n % curve.p;
    const buffers = buffersOf(curve, points, scalarDigits(curve, scalars), [1n, factor], which);
    const products = byReference(curve, buffers);
    const { Point } = each.oracle as OracleCurve<Coordinate>;
    for (const [i, { x, y, infinity }] of points.entries()) {
      const scalar = scalars[which[i] as number] as bigint;
      const expected = infinity ? Point.ZERO : Point.fromAffine({ x, y }).multiplyUnsafe(scalar);
      const affine = expected.is0() ? { x: f.zero, y: f.zero } : expected.toAffine();
      for (const [k, by] of [1n, factor].entries()) {
        const words = new Uint32Array(pointWords);
        writeElement(f, words, 0, f.reduced(f.multiple(affine.x, by)));
        writeElement(f, words, f.words, f.reduced(f.multiple(affine.y, by)));
        const at = (k * points.length + i) * pointWords;
        expect(products.subarray(at, at + pointWords), `point ${i}, factor ${k}`).toEqual(words);
      }
    }
    expect(products.subarray(2 * points.length * pointWords).every((word) => word === POISON)).toBe(true);
  });
});

test('digits are in non-adjacent form, and add up to the scalar', () => {
  for (const curve of [bn, bls]) {
    const scalars = scalarsOf(curve);
    const { words, positions } = scalarDigits(curve, scalars);
    const planeWords = planeWordsOf(curve);
    expect(words.length).toBe(scalars.length * digitWordsOf(curve));
    const digit = (scalar: number, half: number, at: number): number =>
      [0, 1].reduce((sum, minus) => {
        const word = words[(4 * scalar + 2 * half + minus) * planeWords + (at >> 5)] as number;
        return sum + (minus === 1 ? -1 : 1) * ((word >>> (at & 31)) & 1);
      }, 0);
    for (const [i, scalar] of scalars.entries()) {
      const halves = [0, 1].map((half) => {
        let sum = 0n;
        for (let at = 0; at < 32 * planeWords; at++) {
          const own = digit(i, half, at);
          sum += BigInt(own) << BigInt(at);
          if (own !== 0) expect(at).toBeLessThan(positions);
          if (own !== 0 && at > 0) expect(digit(i, half, at - 1)).toBe(0);
        }
        return sum;
      });
      expect(halves).toEqual(halvingOf(curve).split(scalar));
    }
  }
  expect(scalarDigits(bn, [0n])).toEqual({ words: new Uint32Array(digitWordsOf(bn)), positions: 0 });
});

describe.each(['unsigned', 'fma'] as const)('scale, %s products', (product) => {
  const curve = withProduct(bn, product);
  const pool = knownPoints(cases[0] as Case<bigint>, 200);
  const some = scalarDigits(curve, [0x1234567n ** 9n % curve.order]);
  const few = scalarDigits(curve, [0n, 1n, 5n, curve.order - 1n, 2n ** 20n + 1n]);

  beforeAll(async () => {
    await pipelineFor(await getDevice(), scaleKernel(curve));
  });

  test('points by one scalar', async () => {
    await compare(curve, buffersOf(curve, pool.slice(0, 40), some));
  });

  // around threads and workgroups
  test.each([0, 1, 2, 63, 64, 65, 127, 128, 129, 200])('%i points', async (count) => {
    await compare(curve, buffersOf(curve, pool.slice(0, count), few));
  });

  test('each scalar at the edges, and several factors', async () => {
    const scalars = scalarsOf(curve);
    const points = Array.from({ length: 2 * scalars.length }, (_, i) => pool[i % 3] as Point);
    const factors = [2n ** 256n % curve.p, 1n, 0n, curve.p - 1n];
    await compare(curve, buffersOf(curve, points, scalarDigits(curve, scalars), factors));
  });

  test('no scalar but 0', async () => {
    const got = await compare(curve, buffersOf(curve, pool.slice(0, 5), scalarDigits(curve, [0n])));
    expect(got.subarray(0, 5 * curve.pointWords).every((word) => word === 0)).toBe(true);
  });

  test('infinity at any index, and only infinity', async () => {
    for (const spoiled of [[0], [15], [1, 2, 3], Array.from({ length: 16 }, (_, i) => i)]) {
      const points = pool.slice(0, 16).map((point, i) => (spoiled.includes(i) ? infinityOf(curve) : point));
      await compare(curve, buffersOf(curve, points, few, [1n, 7n]));
    }
  });

  test('sums that meet the point, its negative and infinity', async () => {
    const r = curve.order;
    const meeting = [r, r + 1n, r + 2n, 2n * r, 2n * r + 1n, 3n * r - 1n, 1n, 0n];
    const halves = meeting.flatMap((a) => meeting.map((b) => [a, -b] as const));
    const digits = digitsOfHalves([...halves, ...halves.map(([a, b]) => [-a, b] as const)]);
    const count = digits.words.length / (4 * digits.planeWords);
    const points = Array.from({ length: count }, (_, i) => pool[i % 5] as Point);
    await compare(curve, buffersOf(curve, points, digits));
  });

  test('digits that are not in non-adjacent form', async () => {
    const digits = digitsOfHalves([
      [2n ** 100n - 1n, 2n ** 100n - 1n],
      [-(2n ** 64n - 1n), 2n ** 64n - 1n],
      [0n, -(2n ** 33n - 1n)],
    ]);
    await compare(curve, buffersOf(curve, pool.slice(0, 9), digits));
  });

  test('equal and opposite points', async () => {
    const { x, y } = pool[5] as AffinePoint;
    const points = Array.from({ length: 33 }, (_, i) => ({ x, y: i < 20 ? y : curve.p - y, infinity: false }));
    await compare(curve, buffersOf(curve, points, some));
  });
});

test('a padded array of matrices changes no product', async () => {
  const points = knownPoints(cases[0] as Case<bigint>, 70);
  await compare(bn, buffersOf(bn, points, scalarDigits(bn, [3n, 2n ** 250n])), { pads: true });
});

test('scale runs workgroups in two rows of a dispatch', async () => {
  const some = knownPoints(cases[0] as Case<bigint>, 20);
  const points = Array.from({ length: 6 * SCALE_THREADS - 1 }, (_, i) => some[i % 20] as Point);
  await compare(bn, buffersOf(bn, points, scalarDigits(bn, [5n, 9n])), { rows: 2 });
});

test('points of order 3, whose image is the point, and others outside the group', async () => {
  const { p, coordinates: f } = bls;
  const three = [2n, p - 2n].map((y): Point => ({ x: 0n, y, infinity: false }));
  const outside: Point[] = [];
  // p is 3 modulo 4
  for (let x = 1n; outside.length < 2; x++) {
    const square = mod(x ** 3n + 4n, p);
    const y = power(square, (p + 1n) / 4n, p);
    if ((y * y) % p === square) outside.push({ x, y, infinity: false });
  }
  const points = [...three, ...outside, ...three];
  expect(f.isZero(three[0]?.x as bigint)).toBe(true);
  for (const scalars of [[1n, 2n, 3n], scalarsOf(bls)]) {
    const repeated = points.flatMap((point) => scalars.map(() => point));
    await compare(bls, buffersOf(bls, repeated, scalarDigits(bls, scalars)));
  }
});

describe('other groups', { tags: 'long' }, () => {
  test.each(cases.slice(1))('$name', async (each) => {
    const context = contextOf(each.constants);
    const scalars = scalarsOf(context);
    const given = knownPoints(each, 4);
    const points = Array.from({ length: 3 * scalars.length }, (_, i) =>
      i % 7 === 3 ? infinityOf(context) : (given[i % 4] as Point),
    );
    const products = context.coordinates.degree === 1 ? (['unsigned', 'fma'] as const) : (['unsigned'] as const);
    for (const product of products) {
      const curve = withProduct(context, product);
      const factors = [2n ** BigInt(8 * curve.field.bytes) % curve.p, 1n];
      await compare(curve, buffersOf(curve, points, scalarDigits(curve, scalars), factors));
    }
  });
});
