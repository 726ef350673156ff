/**
 * Programs that points run through when they are loaded: the CPU reference against noble, the
 * kernel against the CPU reference.
 */
import { describe, expect, test } from 'vitest';
import { groupsOf, oracleOf, weierstrassNames } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  encodePoints,
  groupOrder,
  makeKnownBases,
  numbersOf,
  Random,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import {
  type AnyCurve,
  type CurveContext,
  cubic,
  curveContext,
  isOnCurve,
  withProduct,
} from '../../src/curves/curve.js';
import { imageOf, weierstrassOf } from '../../src/curves/edwards.js';
import { curveNamed, type Group, registry, type WeierstrassName } from '../../src/curves/more-curves.js';
import { type RootSign, Y_EVEN, Y_ODD } from '../../src/curves/point-source.js';
import { type FieldProduct, readWords, writeWords } from '../../src/field/modulus.js';
import { squareRootIn } from '../../src/field/powers.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { pipelineFor } from '../../src/gpu/device.js';
import { DispatchChain } from '../../src/gpu/submission.js';
import { NONE_REJECTED, rejectedIn } from '../../src/msm/stages/import.js';
import { decompression, edwardsImage, membershipTest } from '../../src/msm/stages/point-programs.js';
import { PROGRAM_THREADS, type Program, ProgramConfig, programKernel } from '../../src/msm/stages/program.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { importPoints } from '../reference/import.js';
import { readPoint } from '../reference/points.js';
import { runProgram } from '../reference/program.js';
import { getDevice } from '../support/gpu.js';
import { cofactorOf, outsidePoints, groupsWithCofactor as tests } from '../support/outside-points.js';
import { runKernel } from '../support/run-kernel.js';

const curveOf = (name: WeierstrassName, group: Group, product: FieldProduct = 'unsigned'): CurveContext => {
  const constants = name === 'bn254' && group === 'g1' ? bn254 : (curveNamed(name, group) as AnyCurve);
  return withProduct(curveContext(constants, quadraticField), product);
};

/**
 * Returns the resulting points and the first rejected one by the CPU reference, and expects the
 * same of the GPU.
 */
const run = async (
  curve: CurveContext,
  program: Program,
  given: Uint32Array,
  writes: boolean,
  { begin = 0, end = given.length / curve.pointWords, first = 0, pads = false } = {},
): Promise<{ points: Uint32Array; refused: number }> => {
  const steps = program.steps.length;
  const points = given.slice();
  const config = { begin, end, first, steps, writes: Number(writes), refused: 0 };
  const refused = runProgram(curve, config, program, points);

  const device = await getDevice();
  const kernel = programKernel(curve, pads);
  const groups = groupsFor(end - begin, PROGRAM_THREADS);
  const command = { phase: 'program', kernel, config: ProgramConfig.pack(config), bindings: {}, groups };
  const call = 7;
  const { configs } = new DispatchChain(call, 1, [command]);
  const buffers = [
    { data: Uint32Array.from(configs[0] as ArrayLike<number>), usage: 'uniform' as const },
    ...[program.steps, program.constants, given, Uint32Array.of(0, call, 0, 0)].map((data) => ({ data })),
  ];
  const left = await runKernel(device, await pipelineFor(device, kernel), buffers, groups);
  expect(rejectedIn((left[4] as Uint32Array)[0] as number)).toBe(refused);
  const got = left[3] as Uint32Array;
  const at = got.findIndex((word, i) => word !== points[i]);
  expect(at < 0 ? null : `point ${Math.floor(at / curve.pointWords)}, word ${at % curve.pointWords}`).toBeNull();
  return { points, refused };
};

/** Returns whether y is the root that a sign stands for, by definition. */
const isLarger = (p: bigint, y: Coordinate): boolean => {
  const leading = [...numbersOf(y)].reverse().find((value) => value !== 0n) ?? 0n;
  return leading > p - leading;
};

const decompresses = async (
  name: WeierstrassName,
  group: Group,
  product: FieldProduct,
  sign: RootSign,
  pads = false,
): Promise<void> => {
  const oracle = oracleOf({ curve: name, group });
  const curve = curveOf(name, group, product);
  const { points } = makeKnownBases(oracle, 20, 5);
  const all = points.flatMap(({ x, y }): AffinePoint<Coordinate>[] => [
    { x, y, infinity: false },
    { x, y: oracle.Point.Fp.neg(y), infinity: false },
  ]);
  const expected = new Uint32Array(encodePoints(oracle, all).buffer);
  const given = expected.slice();
  for (const [i, { y }] of all.entries()) {
    const isOdd = sign === 'larger' ? isLarger(curve.p, y) : (numbersOf(y)[0] as bigint) % 2n === 1n;
    given.fill(0, i * curve.pointWords + curve.coordinates.words, (i + 1) * curve.pointWords);
    given[i * curve.pointWords + curve.coordinates.words] = isOdd ? Y_ODD : Y_EVEN;
  }
  const { points: found, refused } = await run(curve, decompression(curve, sign), given, true, { pads });
  expect(refused).toBe(NONE_REJECTED);
  expect(found).toEqual(expected);
};

const groups = weierstrassNames.flatMap((name) => groupsOf(name).map((group) => [name, group] as const));

describe('compressed points get their y', () => {
  const isQuick = ([name, group]: (typeof groups)[number]): boolean => group === 'g1' || name === 'bn254';
  const title = '%s %s';
  test.each(groups.filter(isQuick))(title, (name, group) => decompresses(name, group, 'unsigned', 'larger'));
  test.each(groups.filter((each) => !isQuick(each)))(title, { tags: 'long' }, (name, group) =>
    decompresses(name, group, 'unsigned', 'larger'),
  );
  test('by parity', () => decompresses('bn254', 'g1', 'unsigned', 'odd'));
  test('with a padded array', () => decompresses('bn254', 'g1', 'unsigned', 'larger', true));
  // products of bytes take 20 s to compile for pairs of long fields: a long one, and pairs, are
  // there once
  test.each(
    (['unsigned', 'dot4', 'fma'] as const).flatMap((product) => [
      ['bn254', 'g1', product] as const,
      [product === 'dot4' ? 'bn254' : 'bls12-377', 'g2', product] as const,
    ]),
  )('%s %s, %s products', { tags: 'long' }, (name, group, product) => decompresses(name, group, product, 'larger'));

  test('an x without a point becomes a point off the curve; infinity and coordinates that are not canonical stay', async () => {
    const curve = curveOf('bn254', 'g1');
    const f = curve.coordinates;
    const xs = Array.from({ length: 40 }, (_, i) => BigInt(i));
    const given = new Uint32Array((xs.length + 2) * curve.pointWords);
    for (const [i, x] of xs.entries()) given.set([Number(x), ...new Array(7).fill(0), Y_EVEN], i * curve.pointWords);
    given.set([...new Array(8).fill(0xffffffff), Y_ODD], xs.length * curve.pointWords);
    const { points } = await run(curve, decompression(curve, 'larger'), given, true);
    expect(points.slice(xs.length * curve.pointWords)).toEqual(given.slice(xs.length * curve.pointWords));
    const whole = points.slice(0, xs.length * curve.pointWords);
    for (const [i, x] of xs.entries()) {
      const one = whole.slice(i * curve.pointWords, (i + 1) * curve.pointWords);
      const [, offCurve] = importPoints(curve, one, 0);
      expect(offCurve === NONE_REJECTED, `x = ${x}`).toBe(squareRootIn(f, cubic(curve, x)) !== null);
    }
  });
});

test('points of Edwards form become their Weierstrass images, and points off the curve are rejected', async () => {
  for (const [name, scale] of [
    ['baby-jubjub', 1n],
    ['ed25519', 2n ** 256n],
  ] as const) {
    const curve = curveContext(weierstrassOf(registry[name].g1));
    const { p } = curve;
    const { x, y } = registry[name].g1.edwards.generator;
    const good = [
      [x, y],
      [0n, 1n],
      [0n, p - 1n],
      [p - x, y],
      [x, p - y],
    ] as const;
    const bad = [
      [x, x],
      [0n, 2n],
      [1n, 1n],
    ] as const;
    const given = new Uint32Array(8 * 2 * (good.length + bad.length + 1));
    for (const [i, [x, y]] of [...good, ...bad].entries()) {
      for (const [at, value] of [x, y].entries()) writeWords(given, 16 * i + 8 * at, 8, (value * scale) % p);
    }
    const { points, refused } = await run(curve, edwardsImage(curve, scale), given, true, { first: 30 });
    expect(refused).toBe(30 + good.length);
    for (const [i, [x, y]] of good.entries()) {
      const image = imageOf(curve, x, y) ?? { x: 0n, y: 0n };
      expect(readWords(points, 16 * i, 8)).toBe(image.x);
      expect(readWords(points, 16 * i + 8, 8)).toBe(image.y);
      expect(image.x === 0n || isOnCurve(curve, image.x, image.y)).toBe(true);
    }
    expect(points.subarray(16 * good.length).every((word) => word === 0)).toBe(true);
  }
});

const tellsApart = async (
  name: WeierstrassName,
  group: Group,
  product: FieldProduct,
  byOrder: boolean,
): Promise<void> => {
  const oracle = oracleOf({ curve: name, group });
  const named = curveOf(name, group, product);
  const curve = byOrder ? { ...named, membership: undefined } : named;
  const r = groupOrder(oracle);
  const { Point } = oracle;
  const random = new Random(8);
  const others = outsidePoints(oracle, curve, name, group, random);
  const inside = [1n, 2n, 3n, r - 1n, r - 2n, (r - 1n) / 2n, ...[0, 1, 2].map(() => random.belowBig(r))].map((k) =>
    Point.BASE.multiply(k).toAffine(),
  );
  const stored = (points: readonly { readonly x: Coordinate; readonly y: Coordinate }[]): Uint32Array => {
    const affine = points.map((point) => ({ ...point, infinity: false }));
    const words = new Uint32Array(encodePoints(oracle, affine).buffer);
    expect([...importPoints(curve, words, 0)]).toEqual([NONE_REJECTED, NONE_REJECTED]);
    return words;
  };
  const program = membershipTest(curve);
  const good = stored(inside);
  const passed = await run(curve, program, good, false);
  expect(passed).toEqual({ points: good, refused: NONE_REJECTED });
  const mixed = stored(inside.flatMap((point, i) => [point, others[i % others.length] as typeof point]));
  const told = await run(curve, program, mixed, false, { first: 100 });
  expect(told.refused).toBe(101);
  inside.forEach((_, i) => {
    expect(readPoint(curve, told.points, 2 * i)).not.toBeNull();
    expect(readPoint(curve, told.points, 2 * i + 1), `${i % others.length}`).toBeNull();
  });
};

describe('the membership test tells points of the group from other points of the curve', () => {
  const isFirst = ([name]: (typeof tests)[number]): boolean => name !== 'bls12-377';
  const isTold = (name: WeierstrassName, group: Group): Promise<void> => tellsApart(name, group, 'unsigned', false);
  test.each(tests.filter(isFirst))('%s %s, as it is fast', isTold);
  test.each(tests.filter((each) => !isFirst(each)))('%s %s, as it is fast', { tags: 'long' }, isTold);
  test.each([['bls12-381', 'g1'] as const])('%s %s, by the order', (name, group) =>
    tellsApart(name, group, 'unsigned', true),
  );
  test.each(tests)('%s %s, by the order', { tags: 'long' }, (name, group) => tellsApart(name, group, 'unsigned', true));
  const inBytes = [
    ['bn254', 'g2'],
    ['bls12-381', 'g1'],
  ] as const;
  test.each(inBytes)('%s %s, dot4 products', { tags: 'long' }, (name, group) => tellsApart(name, group, 'dot4', false));

  test('the fast membership test is right: an endomorphism equals k in the group, and in no larger group', () => {
    const greatest = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatest(b, a % b));
    for (const [name, group] of tests) {
      const { coordinates: f, membership, p, order, b } = curveOf(name, group);
      if (membership === undefined) throw new Error(`${name} ${group} has none`);
      const { x, y, multiple: k, conjugates } = membership;
      const conjugate = (a: Coordinate): Coordinate => {
        const [c0, c1] = f.coefficients(a) as [bigint, bigint];
        return conjugates ? f.of([c0, -c1]) : a;
      };
      const square = f.product(y, y);
      // (X, Y) to (x·X, y·Y) takes the curve to itself where x³ = y² = b / b̄
      expect(f.isZero(f.difference(square, f.product(f.product(x, x), x)))).toBe(true);
      expect(f.isZero(f.difference(f.product(square, conjugate(b)), b))).toBe(true);
      // φ² + φ + 1 = 0 in G1, ψ² − t·ψ + p = 0 in G2, and so is the same polynomial of k times P;
      // it is the order, or what has nothing else in common with the curve's
      if (!conjugates) {
        expect(x).not.toBe(1n);
        expect(k * k + k + 1n).toBe(order);
      } else {
        const curveOrder = p - k;
        expect(k * k - (k + 1n) * k + p).toBe(curveOrder);
        expect(curveOrder % order).toBe(0n);
        expect(greatest(curveOrder / order, cofactorOf(name, group))).toBe(1n);
      }
    }
  });
});
