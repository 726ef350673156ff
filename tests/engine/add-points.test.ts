/** Sums of points that callers have split, against noble and against one sum. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import { type AffinePoint, addPoints, createMsmEngine, type Fp2 } from '../../src/index.js';

const INFINITY = { x: 0n, y: 0n, infinity: true } as const;

const ofG1 = (point: { toAffine(): { x: bigint; y: bigint }; is0(): boolean }): AffinePoint =>
  point.is0() ? INFINITY : { ...point.toAffine(), infinity: false };

type Pair = { readonly c0: bigint; readonly c1: bigint };
const ofG2 = (point: { toAffine(): { x: Pair; y: Pair } }): AffinePoint<Fp2> => {
  const { x, y } = point.toAffine();
  return { x: { c0: x.c0, c1: x.c1 }, y: { c0: y.c0, c1: y.c1 }, infinity: false };
};

describe('points', () => {
  test('are added up with infinity, equal and opposite ones', async () => {
    const G = bn254.G1.Point.BASE;
    const cases: readonly (readonly bigint[])[] = [[], [0n], [5n], [5n, 5n], [5n, -5n], [1n, 2n, 3n, 0n, -6n, 9n]];
    for (const factors of cases) {
      const multiple = (factor: bigint) =>
        factor === 0n ? bn254.G1.Point.ZERO : factor < 0n ? G.multiply(-factor).negate() : G.multiply(factor);
      const points = factors.map(multiple);
      const expected = points.reduce((sum, point) => sum.add(point), bn254.G1.Point.ZERO);
      expect(await addPoints({ curve: 'bn254' }, points.map(ofG1))).toEqual(ofG1(expected));
    }
  });

  test('of G2 and of Edwards curves are added up', async () => {
    const G2 = bls12_381.G2.Point.BASE;
    const two = [G2.multiply(7n), G2.multiply(11n)].map(ofG2);
    expect(await addPoints({ curve: 'bls12-381', group: 'g2' }, two)).toEqual(ofG2(G2.multiply(18n)));
    const E = ed25519.Point.BASE;
    const edwards = [3n, 4n].map((factor) => ({ ...E.multiply(factor).toAffine(), infinity: false }));
    const expected = { ...E.multiply(7n).toAffine(), infinity: false };
    expect(await addPoints({ curve: 'ed25519' }, edwards)).toEqual(expected);
    const neutral = { x: 0n, y: 1n, infinity: true };
    expect(await addPoints({ curve: 'ed25519' }, [])).toEqual(neutral);
    expect(await addPoints({ curve: 'ed25519' }, [neutral, expected])).toEqual(expected);
  });

  test('are the sums of parts of bases', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu' });
    const { bytes, logs } = makeKnownBases(bn254G1, 30, 5);
    const scalars = makeRandomScalars(bn254G1, 30, 6);
    const sums: AffinePoint[] = [];
    for (let from = 0; from < 30; from += 7) {
      const bases = await engine.loadBases(bytes.slice(64 * from, 64 * (from + 7)));
      sums.push(await engine.msm(bases, scalars.slice(from, from + 7)));
      bases.destroy();
    }
    expect(await addPoints({ curve: 'bn254' }, sums)).toEqual(expectedMsm(bn254G1, logs, scalars));
    engine.destroy();
  });

  test('that are wrong are refused by name, and so are other arguments', async () => {
    const good = { x: 1n, y: 2n, infinity: false };
    const refused = (points: unknown, group: unknown = { curve: 'bn254' }) =>
      addPoints(group as { curve: 'bn254' }, points as AffinePoint[]).catch((error: unknown) => error);
    for (const [points, code, message] of [
      [[good, { x: 1n, y: 3n, infinity: false }], 'not-on-curve', 'points[1] is not on bn254'],
      [[good, { ...good, x: 1 }], 'bad-argument', 'points[1].x must be a bigint'],
      [[good, null], 'bad-argument', 'points[1] must be'],
      [[{ x: 0n, y: 0n, infinity: false }], 'bad-argument', 'points[0] is (0, 0)'],
      [good, 'bad-argument', 'points must be an array'],
      [new Uint8Array(64), 'bad-argument', 'points must be an array'],
    ] as const) {
      expect(await refused(points)).toMatchObject({ code, message: expect.stringContaining(message) });
    }
    for (const [group, message] of [
      [{ curve: 'bn255' }, 'bn255'],
      [{ curve: 'bn254', group: 'g3' }, "group must be 'g1' or 'g2'"],
      [{ curve: 'bn254', backend: 'cpu' }, 'group.backend is not an option'],
      [{}, 'curve: undefined is unknown'],
      [null, 'group must be an object'],
    ] as const) {
      expect(await refused([good], group)).toMatchObject({
        ...{ code: 'bad-argument', message: expect.stringContaining(message) },
      });
    }
  });
});
