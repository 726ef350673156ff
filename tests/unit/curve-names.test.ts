/** Curves by name, and by constants. */
import { expect, test } from 'vitest';
import { edwardsNames, oracles, p256Curve, weierstrassNames } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext, type KnownCurve } from '../../src/curves/curve.js';
import { registry, type WeierstrassName } from '../../src/curves/more-curves.js';
import { openCurve, resolveCurve } from '../../src/curves/open-curve.js';
import { isProbablyPrime } from '../support/primes.js';

/** A named G1 needs no extension, and its constants no check. */

const owners = {
  bn254: ['bn254', 'BN254', 'bn128', 'alt_bn128'],
  'bls12-381': ['bls12-381', 'bls12381'],
  'bls12-377': ['bls12-377', 'bls12377'],
  p256: ['p256', 'secp256r1'],
  grumpkin: ['grumpkin'],
  pallas: ['pallas'],
  vesta: ['vesta'],
  secp256k1: ['secp256k1'],
} as const;
const names = Object.entries(owners).flatMap(([own, all]) =>
  all.map((name) => [name, own as WeierstrassName] as const),
);

test('every named curve has an oracle', () => {
  expect(weierstrassNames.toSorted()).toEqual(Object.keys(owners).toSorted());
  expect([...weierstrassNames, ...edwardsNames].toSorted()).toEqual(Object.keys(registry).toSorted());
});

test.each(names)('the constants of %s are those of the %s of the oracle', async (name, own) => {
  const { Point } = oracles[own];
  const { BASE } = Point;
  const curve = (await resolveCurve(name, 'g1')) as KnownCurve;
  expect(curve).toMatchObject({
    name: own,
    p: Point.Fp.ORDER,
    order: Point.Fn.ORDER,
    a: Point.CURVE().a,
    b: Point.CURVE().b,
    generator: { x: BASE.x, y: BASE.y },
  });
  const [byConstants, byName] = await Promise.all([openCurve(curve, undefined), openCurve(name, 'g1')]);
  // a field has functions, which are made anew
  expect({ ...byConstants, coordinates: null }).toEqual({ ...byName, coordinates: null, membership: undefined });
  for (const prime of [curve.p, curve.order]) expect(isProbablyPrime(prime), prime.toString(16)).toBe(true);
  expect(Point.fromAffine(curve.generator).multiplyUnsafe(Point.Fn.create(-1n)).equals(BASE.negate())).toBe(true);
});

test.each(['bn256', 'Bn254', '', 'toString', '__proto__'])(
  '%j is rejected with an error that lists all names',
  async (name) => {
    await expect(resolveCurve(name, 'g1')).rejects.toThrow(
      expect.objectContaining({
        name: 'MsmError',
        code: 'bad-argument',
        message: `curve: '${name}' is unknown; give one of bn254 (also BN254, bn128, alt_bn128), bls12-381 (also bls12381), bls12-377 (also bls12377), grumpkin, pallas, vesta, secp256k1, p256 (also secp256r1), baby-jubjub (also babyjubjub), jubjub, bandersnatch, ed25519 or a Curve object`,
      }),
    );
  },
);

const { p, order, b, generator } = bn254;

test.each([
  ['a', { a: -1n }],
  ['a', { a: p }],
  ['b', { b: -1n }],
  ['b', { b: b + p }],
  ['b', { b: 0n }],
  ['order', { order: 2n }],
  ['order', { order: 2n ** 256n }],
  ['generator.x', { generator: { ...generator, x: generator.x + p } }],
  ['generator.x', { generator: { x: p, y: 1n }, b: 1n }],
  ['generator.y', { generator: { ...generator, y: generator.y - p } }],
  ['generator.y', { generator: { x: 1n, y: p }, b: p - 1n }],
])('%s that is none is refused: %o', (name, change) => {
  expect(() => curveContext({ ...bn254, ...change })).toThrow(new RegExp(`curve 'bn254': ${name} `));
});

test('scalars are negated only where the order is that of the whole curve, which halves their range', () => {
  // #E = p + 1 − t with |t| ≤ 2·√p, Hasse
  const most = 2n * BigInt(Math.floor(Math.sqrt(Number(p256Curve.p))));
  const context = (order: bigint) => curveContext({ ...p256Curve, order: order % 2n ** 256n });
  expect(context(p256Curve.p + 1n - most / 2n)).toMatchObject({
    negatesScalars: true,
    scalarBits: 256,
    signedBits: 255,
  });
  expect(context(p256Curve.p + 1n - most - most / 2n).negatesScalars).toBe(false);
  expect(context(2n ** 64n)).toMatchObject({ negatesScalars: false, scalarBits: 65, signedBits: 64 });
  expect(context(2n ** 64n + 1n)).toMatchObject({ negatesScalars: false, scalarBits: 65, signedBits: 65 });
  expect(curveContext(bn254)).toMatchObject({ negatesScalars: true, scalarBits: order.toString(2).length });
  expect(context(3n)).toMatchObject({ negatesScalars: false, signedBits: 2 });
});
