/**
 * `checkSubgroup` and invalid compressed points: the error names the point, and no buffer remains.
 */
import { readFileSync } from 'node:fs';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { numberToBytesBE } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { type CurveGroup, oracleOf, oracles } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  encodePoints,
  expectedMsm,
  makeKnownBases,
} from '../../dev/oracle/known-bases.js';
import type { MsmEngine, PointEncoding } from '../../src/index.js';
import { keptEngine, openEngine } from '../support/engines.js';
import { getDevice, getGpu } from '../support/gpu.js';
import { inProject } from '../support/run-script.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

interface Outsider {
  readonly x: string | readonly string[];
  readonly y: string | readonly string[];
}
interface Outsiders extends CurveGroup {
  readonly points: readonly Outsider[];
  readonly ofSmallOrder?: readonly Outsider[];
}
/** Points of the curves that arkworks finds in no subgroup. */
const { groups } = JSON.parse(readFileSync(inProject('tests/vectors/outsiders.json'), 'utf8')) as {
  groups: readonly Outsiders[];
};
const coordinate = (of: string | readonly string[]): Coordinate =>
  typeof of === 'string' ? BigInt(of) : { c0: BigInt(of[0] as string), c1: BigInt(of[1] as string) };

const engineOf = (of: CurveGroup): Promise<MsmEngine<Coordinate>> =>
  keptEngine(of, { selfTest: false, tuning: { cpuBelow: 2 ** 10 } });

describe('points outside the group', () => {
  const refuses = async ({ points, ofSmallOrder = [], ...which }: Outsiders): Promise<void> => {
    const oracle = oracleOf(which);
    const engine = await engineOf(which);
    const { points: inside, logs } = makeKnownBases(oracle, 70, 3);
    const outsiders = [...points, ...ofSmallOrder].map(
      ({ x, y }): AffinePoint<Coordinate> => ({ x: coordinate(x), y: coordinate(y), infinity: false }),
    );
    expect(outsiders.length).toBeGreaterThan(3);
    const good = await engine.loadBases(encodePoints(oracle, inside), { checkSubgroup: true });
    expect(await engine.msm(good, logs.slice(0, 3))).toEqual(expectedMsm(oracle, logs, logs.slice(0, 3)));
    good.destroy();
    for (const [i, outsider] of outsiders.entries()) {
      const all = inside.with(65, outsider).with(i % 60, outsider);
      await expect(engine.loadBases(encodePoints(oracle, all), { checkSubgroup: true })).rejects.toMatchObject({
        code: 'not-in-subgroup',
        message: `points[${i % 60}] is on ${oracle.name}${which.group === 'g2' ? ' G2' : ''}, but not in its group of order r`,
      });
      expect(engine.memory.bases).toBe(0);
    }
    // points of the curve they are, for those who do not ask
    const bases = await engine.loadBases(encodePoints(oracle, outsiders));
    bases.destroy();
  };
  const first = ({ curve, group }: CurveGroup): boolean => curve === 'bls12-381' && group === 'g1';
  const title = '$curve $group';
  test.each(groups.filter(first))(title, refuses);
  test.each(groups.filter((each) => !first(each)))(title, { tags: 'long' }, refuses);

  test('are rejected with tables, in compressed points, and after points off the curve', { tags: 'long' }, async () => {
    const which = { curve: 'bls12-381', group: 'g1' } as const;
    const engine = await engineOf(which);
    const { Point } = bls12_381.G1;
    const outsiders = groups.find(first)?.points as readonly Outsider[];
    const [{ x, y }] = outsiders as [Outsider];
    // noble writes no such point
    const outsider = numberToBytesBE(BigInt(x as string), 48);
    outsider[0] = (outsider[0] as number) | (2n * BigInt(y as string) > Point.Fp.ORDER ? 0xa0 : 0x80);
    const points = Array.from({ length: 20 }, (_, i) =>
      i === 13 ? outsider : Point.BASE.multiply(BigInt(i + 1)).toBytes(true),
    );
    const bytes = Uint8Array.from(points.flatMap((point) => [...point]));
    const options = { encoding: 'zcash-compressed', checkSubgroup: true, precompute: 3 } as const;
    await expect(engine.loadBases(bytes, options)).rejects.toMatchObject({
      code: 'not-in-subgroup',
      message: expect.stringMatching(/^points\[13\]/),
    });
    // x = 1 has no point
    bytes.fill(0, 48 * 4 + 1, 48 * 5);
    bytes.fill(0x80, 48 * 4, 48 * 4 + 1);
    bytes.fill(1, 48 * 5 - 1, 48 * 5);
    await expect(engine.loadBases(bytes, options)).rejects.toMatchObject({
      code: 'not-on-curve',
      message: 'points[4] is not on bls12-381',
    });
  });

  test('need no work of the GPU on curves without a cofactor', async () => {
    const engine = await openEngine({ gpu: await getGpu(), selfTest: false });
    const { bytes } = makeKnownBases(oracles.bn254, 5, 1);
    const bases = await engine.loadBases(bytes, { checkSubgroup: true });
    expect(engine.pipelines.map(({ name }) => name)).not.toContain('run_program');
    bases.destroy();
    await expect(engine.loadBases(bytes, { checkSubgroup: 1 } as never)).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'options.checkSubgroup must be true or false, got 1',
    });
  });

  test('are tested only after the self-test of the field product that tests them', { tags: 'long' }, async () => {
    const { bytes } = makeKnownBases(oracleOf({ curve: 'bls12-381', group: 'g1' }), 5, 1);
    for (const checkSubgroup of [false, true]) {
      const device = await getDevice({ label: `a device of its own, ${checkSubgroup}` });
      const engine = await openEngine({ curve: 'bls12-381', device });
      const bases = await engine.loadBases(bytes, { checkSubgroup });
      expect(engine.selfTest === null).toBe(!checkSubgroup);
      bases.destroy();
    }
  });

  test.each(['gpu', 'cpu'] as const)('cannot be found if the order is not prime: on %s it rejects', async (backend) => {
    const gpu = await getGpu();
    const engine = await openEngine({ curve: smallCurve, backend, gpu });
    const { points } = smallCase(3);
    await expect(engine.loadBases(points, { checkSubgroup: true })).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'options.checkSubgroup: the order of small must be prime',
    });
    expect(engine.memory.bases).toBe(0);
  });
});

describe('invalid compressed points', () => {
  const p = oracles.bn254.Point.Fp.ORDER;
  const good = makeKnownBases(oracles.bn254, 6, 2).points.map(({ x }) => x);
  const bigEndian = (flags: readonly number[], xs: readonly bigint[] = good): Uint8Array => {
    const bytes = Uint8Array.from(xs.flatMap((x) => [...numberToBytesBE(x, 32)]));
    for (const [i, flag] of flags.entries()) bytes[32 * i] = (bytes[32 * i] as number) | flag;
    return bytes;
  };
  const flags: number[] = good.map((_, i) => (i % 2 === 0 ? 0x80 : 0xc0));
  const cases: [string, PointEncoding, Uint8Array, string, RegExp][] = [
    [
      'no point with that x',
      'gnark-compressed',
      bigEndian(flags, good.with(3, 0n).with(5, 0n)),
      'not-on-curve',
      /^points\[3\] is not on bn254$/,
    ],
    [
      'an x of p',
      'gnark-compressed',
      bigEndian(flags, good.with(2, p).with(4, p)),
      'bad-argument',
      /^points\[2\]: a coordinate is not below the prime of bn254$/,
    ],
    [
      'a point that is whole',
      'gnark-compressed',
      bigEndian(flags.with(1, 0)),
      'bad-argument',
      /^points\[1\] is not compressed, which is another/,
    ],
    [
      'infinity with an x',
      'gnark-compressed',
      bigEndian(flags.with(4, 0x40)),
      'bad-argument',
      /^points\[4\]: the flag of infinity requires zero coordinates/,
    ],
    [
      'a point and a half',
      'gnark-compressed',
      bigEndian(flags).slice(0, 48),
      'bad-argument',
      /48 bytes are not a whole number of points of 32 bytes/,
    ],
    [
      'the other sign',
      'ark',
      new Uint8Array(64).fill(1, 0, 1).fill(2, 32, 33).fill(0x80, 63),
      'bad-argument',
      /^points\[0\]: the sign of y differs from its flag/,
    ],
    ['two flags', 'ark', new Uint8Array(64).fill(0xc0, 63), 'bad-argument', /^points\[0\] has invalid flags/],
    [
      'zeros without the flag',
      'ark',
      new Uint8Array(64),
      'bad-argument',
      /^points\[0\]: the flag of infinity requires zero coordinates/,
    ],
    [
      'a compressed point of another size',
      'aztec-compressed',
      new Uint8Array(64).fill(0xff),
      'bad-argument',
      /^points\[0\]: a coordinate is not below/,
    ],
  ];
  test.each(cases)('%s', async (_, encoding, bytes, code, message) => {
    const engine = await engineOf({ curve: 'bn254', group: 'g1' });
    await expect(engine.loadBases(bytes, { encoding })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(engine.memory.bases).toBe(0);
  });
});
