/**
 * Curves of twisted Edwards form, in the coordinates of the caller's, against their own addition
 * law.
 */
import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { babyjubjub, jubjub } from '@noble/curves/misc.js';
import { numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { edwardsNames, oracles } from '../../dev/oracle/curves.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { type EdwardsName, registry } from '../../src/curves/more-curves.js';
import { squareRoot } from '../../src/field/powers.js';
import { createMsmEngine, type MsmEngine, type PointEncoding } from '../../src/index.js';
import { keptEngine } from '../support/engines.js';
import { inProject } from '../support/run-script.js';
import { type EdwardsPoint, TextbookEdwards } from '../support/textbook-edwards.js';

const mod = (a: bigint, p: bigint): bigint => ((a % p) + p) % p;
/** By Fermat. */
const inverse = (a: bigint, p: bigint): bigint => {
  let power = 1n;
  for (const bit of (p - 2n).toString(2)) power = (power * power * (bit === '1' ? mod(a, p) : 1n)) % p;
  return power;
};
const textbookOf = (name: EdwardsName): TextbookEdwards => {
  const { p, edwards } = registry[name].g1;
  return new TextbookEdwards({ p, ...edwards });
};
const multipleOf = (name: EdwardsName, k: bigint): EdwardsPoint =>
  textbookOf(name).combine([{ k, point: registry[name].g1.edwards.generator }]) as EdwardsPoint;

describe('constants of Edwards curves', () => {
  test.each([
    ['baby-jubjub', babyjubjub],
    ['jubjub', jubjub],
    ['ed25519', ed25519],
  ] as const)('%s is noble’s', (name, { Point }) => {
    const { p, order, edwards } = registry[name].g1;
    const { a, d, n, Gx, Gy } = Point.CURVE();
    expect({ p, order, ...edwards }).toEqual({ p: Point.Fp.ORDER, order: n, a, d, generator: { x: Gx, y: Gy } });
    for (const k of [2n, 3n, order - 1n, 0x123456789abcdefn]) {
      expect(multipleOf(name, k)).toEqual(Point.BASE.multiply(k).toAffine());
    }
  });

  test.each(['jubjub', 'bandersnatch'] as const)('of %s equal those of arkworks', (name) => {
    const text = readFileSync(inProject('tests/vectors/arkworks.json'), 'utf8');
    const { edwards: all } = JSON.parse(text) as {
      edwards: {
        curve: string;
        p: string;
        a: string;
        d: string;
        order: string;
        k: string[];
        points: [string, string][];
      }[];
    };
    const theirs = all.find(({ curve }) => curve === name);
    const { p, order, edwards } = registry[name].g1;
    expect([theirs?.p, theirs?.order, theirs?.a, theirs?.d]).toEqual([p, order, edwards.a, edwards.d].map(String));
    expect(theirs?.k.map((k) => multipleOf(name, BigInt(k))).map(({ x, y }) => [String(x), String(y)])).toEqual(
      theirs?.points,
    );
    // the tools' own oracle
    const { Point } = oracles[name];
    expect([Point.Fp.ORDER, Point.Fn.ORDER].map(String)).toEqual([theirs?.p, theirs?.order]);
    const multiples = theirs?.k.map((k) => Point.BASE.multiplyUnsafe(BigInt(k)).toAffine());
    expect(multiples?.map(({ x, y }) => [String(x), String(y)])).toEqual(theirs?.points);
  });
});

const engineOf = (curve: EdwardsName, cpuBelow: number): Promise<MsmEngine<bigint>> =>
  keptEngine({ curve, group: 'g1' }, { tuning: { cpuBelow } });

const NEUTRAL = { x: 0n, y: 1n, infinity: true };
const publicPoint = ({ x, y }: EdwardsPoint) => ({ x, y, infinity: x === 0n && y === 1n });

/** Points of the group, and what may be special about them. */
const knownOf = (name: EdwardsName) => {
  const { order: r, p } = registry[name].g1;
  const random = new Random(6);
  const logs = [0n, 1n, 2n, r - 1n, 1n, 0n, ...Array.from({ length: 30 }, () => random.belowBig(r))];
  const points = logs.map((log) => multipleOf(name, log));
  const scalars = [5n, r - 1n, r, 2n ** 256n - 1n, ...logs.slice(4).map(() => random.belowBig(2n ** 256n))];
  const sum = logs.reduce((total, log, i) => (total + log * (scalars[i] as bigint)) % r, 0n);
  return { p, r, logs, points, scalars, expected: publicPoint(multipleOf(name, sum)) };
};

const bytesIn = (points: readonly EdwardsPoint[], p: bigint, encoding: PointEncoding): Uint8Array => {
  const write = (value: bigint): Uint8Array => {
    if (encoding === 'be') return numberToBytesBE(value, 32);
    return numberToBytesLE(encoding === 'le' ? value : (value * 2n ** 256n) % p, 32);
  };
  return Uint8Array.from(points.flatMap(({ x, y }) => [...write(x), ...write(y)]));
};

const multiplies = async (name: EdwardsName): Promise<void> => {
  const { p, points, scalars, expected } = knownOf(name);
  for (const cpuBelow of [0, 2 ** 16]) {
    const engine = await engineOf(name, cpuBelow);
    const objects = points.map((point) => ({ ...point, infinity: false }));
    for (const [given, options] of [
      [objects, {}],
      [bytesIn(points, p, 'le'), { checkSubgroup: true }],
      [bytesIn(points, p, 'be'), { encoding: 'be', precompute: 3 }],
      [bytesIn(points, p, 'le-montgomery'), { encoding: 'le-montgomery' }],
    ] as const) {
      const bases = await engine.loadBases(given, options);
      expect(await engine.msm(bases, scalars), JSON.stringify(options)).toEqual(expected);
      expect(engine.lastRun?.on).toBe(cpuBelow === 0 ? 'gpu' : 'cpu');
      bases.destroy();
    }
    const bases = await engine.loadBases(objects);
    expect(await engine.msm(bases, scalars, { verify: true })).toEqual(expected);
    for (const result of ['le', 'be', 'le-montgomery'] as const) {
      expect(await engine.msm(bases, scalars, { result })).toEqual(bytesIn([expected], p, result));
      expect(await engine.msm(bases, [1n], { result })).toEqual(bytesIn([{ x: 0n, y: 1n }], p, result));
    }
    expect(await engine.msmBatch(bases, [[], [7n], [0n, 1n, 2n], [0n, 1n, 0n, 1n]])).toEqual([
      NEUTRAL,
      NEUTRAL,
      publicPoint(multipleOf(name, 5n)),
      NEUTRAL,
    ]);
    bases.destroy();
  }
};

describe('sums on Edwards curves', () => {
  test('are right on baby-jubjub', () => multiplies('baby-jubjub'));
  test.each(edwardsNames.filter((name) => name !== 'baby-jubjub'))('are right on %s', { tags: 'long' }, multiplies);

  test('accept infinity as zeros or as `infinity: true`', async () => {
    const engine = await engineOf('baby-jubjub', 2 ** 16);
    const { p, points } = knownOf('baby-jubjub');
    const P = points[2] as EdwardsPoint;
    const bytes = bytesIn([{ x: 0n, y: 0n }, P], p, 'le');
    const objects = [{ x: 0n, y: 0n, infinity: true }, NEUTRAL, { ...P, infinity: false }];
    for (const [given, scalars] of [
      [bytes, [3n, 1n]],
      [objects, [3n, 4n, 1n]],
    ] as const) {
      const bases = await engine.loadBases(given);
      expect(await engine.msm(bases, scalars)).toEqual(publicPoint(P));
      bases.destroy();
    }
  });

  const withOutsiders = async (name: EdwardsName): Promise<void> => {
    const { p, edwards } = registry[name].g1;
    const textbook = textbookOf(name);
    // of order 2, and of order 4 where a is a square
    const points: EdwardsPoint[] = [{ x: 0n, y: p - 1n }];
    const x = squareRoot(inverse(edwards.a, p), p);
    if (x !== null) points.push({ x, y: 0n });
    for (let y = 2n; points.length < 6; y++) {
      const square = (1n - y * y) * inverse(edwards.a - edwards.d * y * y, p);
      const x = squareRoot(square, p);
      if (x !== null) points.push({ x, y });
    }
    for (const point of points) expect(textbook.isOn(point)).toBe(true);
    const engine = await engineOf(name, 0);
    const bases = await engine.loadBases(points.map((point) => ({ ...point, infinity: false })));
    for (const scalars of [
      [1n],
      [2n],
      [0n, 1n, 2n, 3n],
      points.map((_, i) => BigInt(i) ** 5n + 1n),
      points.map((_, i) => 2n ** BigInt(30 * i)),
    ]) {
      const terms = scalars.map((k, i) => ({ k, point: points[i] as EdwardsPoint }));
      const expected = textbook.combine(terms);
      const sum = engine.msm(bases, scalars);
      if (expected === null) await expect(sum).rejects.toMatchObject({ code: 'not-in-subgroup' });
      else expect(await sum).toEqual(publicPoint(expected));
    }
    bases.destroy();
    await expect(
      engine.loadBases(
        [{ ...edwards.generator, infinity: false }, ...points.map((point) => ({ ...point, infinity: false }))],
        {
          checkSubgroup: true,
        },
      ),
    ).rejects.toMatchObject({
      code: 'not-in-subgroup',
      message: `points[1] is on ${name}, but not in its group of order r`,
    });
  };
  test('are right for points outside the group of baby-jubjub', () => withOutsiders('baby-jubjub'));
  test.each(['jubjub', 'ed25519'] as const)(
    'are right for points outside the group of %s',
    { tags: 'long' },
    withOutsiders,
  );

  test('reject if the sum has no affine coordinates', async () => {
    // neither a nor d is a square, so that a·d is one, and there are points of order 2 that are not
    // affine: one of them plus the generator is (1 / (√(a·d)·x), √(a / d) / y), for one of the
    // roots each, and affine
    const { p, edwards } = registry.bandersnatch.g1;
    const engine = await engineOf('bandersnatch', 2 ** 16);
    const { x, y } = edwards.generator;
    const root = squareRoot(edwards.a * edwards.d, p) as bigint;
    const shifted = { x: inverse(root * x, p), y: mod(edwards.a * inverse(root * y, p), p) };
    expect(textbookOf('bandersnatch').isOn(shifted)).toBe(true);
    const bases = await engine.loadBases([
      { ...shifted, infinity: false },
      { x: p - x, y, infinity: false },
      { x, y, infinity: false },
    ]);
    const sums = await Promise.allSettled([engine.msm(bases, [1n, 1n]), engine.msm(bases, [1n, 0n, 1n])]);
    expect(sums.some(({ status }) => status === 'rejected')).toBe(true);
    for (const sum of sums) {
      if (sum.status === 'rejected') {
        expect(sum.reason).toMatchObject({
          code: 'not-in-subgroup',
          message: 'the sum has no affine coordinates on bandersnatch: a base is not in the group of order r',
        });
      }
    }
    bases.destroy();
  });
});

describe('invalid points of Edwards curves are rejected', () => {
  const { p, edwards } = registry['baby-jubjub'].g1;
  const G = edwards.generator;
  const cases: [string, readonly EdwardsPoint[], string, RegExp][] = [
    ['a point off the curve', [G, G, { x: G.x, y: G.x }, G], 'not-on-curve', /^points\[2\] is not on baby-jubjub$/],
    ['one with x = 0', [G, { x: 0n, y: 5n }], 'not-on-curve', /^points\[1\] is not on baby-jubjub$/],
    ['one with y = 1', [{ x: 5n, y: 1n }], 'not-on-curve', /^points\[0\] is not on baby-jubjub$/],
    [
      'a coordinate of p',
      [G, { x: 0n, y: p + 1n }],
      'bad-argument',
      /^points\[1\]: a coordinate is not below the prime/,
    ],
    ['x of p', [G, G, { x: p, y: 1n }], 'bad-argument', /^points\[2\]: a coordinate is not below the prime/],
  ];
  test.each(cases)('%s', async (_, points, code, message) => {
    const engine = await engineOf('baby-jubjub', 0);
    await expect(engine.loadBases(bytesIn(points, p, 'le'))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(engine.memory.bases).toBe(0);
  });

  test('an unknown group is rejected', async () => {
    await expect(createMsmEngine({ curve: 'jubjub', group: 'g2' } as never)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^curve: 'jubjub' is unknown; give one of bn254/),
    });
  });
});
