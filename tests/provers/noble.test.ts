/** Sums of noble's own points, beside noble's own arithmetic. */
import { weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { babyjubjub, jubjub } from '@noble/curves/misc.js';
import { p256, p384 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { type NoblePoint, type NoblePointClass, nobleMsm } from '../../src/noble.js';
import { getDevice } from '../support/gpu.js';

/** A point of noble's, as far as the test computes with it. */
interface Point extends NoblePoint<Point> {
  add(other: Point): Point;
  negate(): Point;
  multiplyUnsafe(scalar: bigint): Point;
}
type Class = NoblePointClass<Point>;

/** Curve without a known name: field and equation of secp256k1, with another generator. */
const unknown = (() => {
  const { p, n, h, a, b } = secp256k1.Point.CURVE();
  const { x: Gx, y: Gy } = secp256k1.Point.BASE.multiply(7n).toAffine();
  return weierstrass({ p, n, h, a, b, Gx, Gy });
})();

const classes: Readonly<Record<string, Class>> = Object.fromEntries(
  Object.entries({
    'bn254 G1': bn254.G1.Point,
    'bn254 G2': bn254.G2.Point,
    'BLS12-381 G1': bls12_381.G1.Point,
    'BLS12-381 G2': bls12_381.G2.Point,
    secp256k1: secp256k1.Point,
    'P-256': p256.Point,
    ed25519: ed25519.Point,
    Jubjub: jubjub.Point,
    'Baby Jubjub': babyjubjub.Point,
    'a curve without a name': unknown,
  }).map(([name, point]) => [name, point as unknown as Class]),
);

/** Points that are equal, opposite, infinite, and with any Z; and what they come to. */
const inputOf = (of: Class, n: number, seed: number) => {
  const random = new Random(seed);
  const points: Point[] = [];
  for (let i = 0; i < n; i++) {
    const last = points.at(-1) ?? of.BASE;
    const kind = random.below(5);
    if (kind === 0) points.push(of.ZERO);
    else if (kind === 1) points.push(last.negate());
    else if (kind === 2) points.push(last);
    // sums have a Z of their own
    else points.push(last.add(of.BASE));
  }
  const scalars = points.map(() => (random.below(6) === 0 ? 0n : random.belowBig(of.Fn.ORDER)));
  const sum = points.reduce((total, point, i) => total.add(point.multiplyUnsafe(scalars[i] as bigint)), of.ZERO);
  return { points, scalars, sum };
};

describe.each(Object.entries(classes))('%s', (_, of) => {
  test('sums equal noble’s', async () => {
    const msm = await nobleMsm(of, { backend: 'cpu' });
    for (const n of [0, 1, 2, 40]) {
      const { points, scalars, sum } = inputOf(of, n, n + 1);
      expect((await msm(points, scalars)).equals(sum), `${n} points`).toBe(true);
    }
    expect((await msm([of.BASE, of.BASE], [1n, of.Fn.ORDER - 1n])).equals(of.ZERO)).toBe(true);
    msm.destroy();
  });
});

test('loaded points are right on the GPU, and are freed', { tags: 'long' }, async () => {
  const { points, scalars, sum } = inputOf(classes['bn254 G1'] as Class, 50, 3);
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  const msm = await nobleMsm(classes['bn254 G1'] as Class, { backend: 'gpu', device: await getDevice(), tuning });
  const bases = await msm.load(points);
  expect(bases.length).toBe(50);
  for (let i = 0; i < 2; i++) expect((await msm(bases, scalars, { verify: true })).equals(sum)).toBe(true);
  expect(msm.engine.lastRun).toMatchObject({ on: 'gpu', n: 50, verified: true });
  expect((await msm(points, scalars)).equals(sum)).toBe(true);
  expect(msm.engine.memory.bases).toBe(50 * 64);
  bases.destroy();
  expect(msm.engine.memory.bases).toBe(0);
  await expect(msm(bases, scalars)).rejects.toMatchObject({ code: 'destroyed' });
  msm.destroy();
});

test('other curves and invalid points are rejected', async () => {
  const wrong = { code: 'bad-argument' };
  // an order of 384 bits
  await expect(nobleMsm(p384.Point as unknown as Class)).rejects.toMatchObject(wrong);
  for (const none of [undefined, {}, secp256k1]) await expect(nobleMsm(none as never)).rejects.toMatchObject(wrong);
  const of = classes.secp256k1 as Class;
  const msm = await nobleMsm(of, { backend: 'cpu' });
  await expect(msm([of.BASE, {} as Point], [1n, 2n])).rejects.toMatchObject({
    ...wrong,
    message: expect.stringContaining('points[1]'),
  });
  await expect(msm('points' as never, [1n])).rejects.toMatchObject(wrong);
  await expect(msm([of.BASE], [1n, 2n])).rejects.toMatchObject(wrong);
  await expect(msm([of.BASE], [-1n])).rejects.toMatchObject(wrong);
  const controller = new AbortController();
  controller.abort();
  await expect(msm([of.BASE], [1n], { signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' });
  msm.destroy();
});
