/** Sources of compressed and Edwards points: the same points and faults as without WebAssembly. */
import { describe, expect, test, vi } from 'vitest';
import { oracleOf } from '../../dev/oracle/curves.js';
import { makeKnownBases, Random } from '../../dev/oracle/known-bases.js';
import type { CurveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import type { PointSource, RootSign } from '../../src/curves/point-source.js';
import { writeElement } from '../../src/field/field.js';
import { checkPoints, decodePoints, type WrongPoint } from '../../src/msm/cpu/load-points.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { bytesOf, compress, edwardsWords, pointsOf, type Words } from '../support/decoding.js';

const nothing = (): void => undefined;

/** Checks a source in WebAssembly and on BigInts. */
const bothWays = async (curve: CurveContext, source: PointSource): Promise<PointSource | WrongPoint> => {
  const given = source.bytes.slice();
  const decoded = await decodePoints(curve, source, new TimeSlice(nothing), nothing);
  expect(await checkPoints(curve, source, false, new TimeSlice(nothing), nothing)).toEqual(decoded);
  const forbidden = vi.spyOn(WebAssembly, 'Module').mockImplementation(function refuse(): never {
    throw new WebAssembly.CompileError('refused by a policy');
  });
  try {
    // a curve without a decoder yet
    const own = { ...curve, constants: { ...curve.constants } };
    expect(await decodePoints(own, source, new TimeSlice(nothing), nothing)).toBeNull();
    expect(await checkPoints(own, source, false, new TimeSlice(nothing), nothing)).toEqual(decoded);
  } finally {
    forbidden.mockRestore();
  }
  expect(source.bytes).toEqual(given);
  return decoded as PointSource | WrongPoint;
};

const compressedSource = (words: Words, sign: RootSign): PointSource => ({
  bytes: bytesOf(words),
  scale: 1n,
  encoding: sign === 'odd' ? 'aztec-compressed' : 'ark-compressed',
  sign,
});

describe('compressed points', () => {
  test.each([1, 2, 3, 127, 130, 511, 513])('%s of pallas', async (n) => {
    const curve = await openCurve('pallas', 'g1');
    const { given, expected } = compress(curve, pointsOf({ curve: 'pallas', group: 'g1' }, curve, n), 'larger');
    const source = compressedSource(given, 'larger');
    expect(await bothWays(curve, source)).toEqual({ bytes: bytesOf(expected), scale: 1n, encoding: 'le' });
  });

  test.each(['bn254', 'bls12-377'] as const)('with random bytes, of %s', async (name) => {
    for (const group of ['g1', 'g2'] as const) {
      const curve = await openCurve(name, group);
      const { field, coordinates, pointBytes } = curve;
      const random = new Random(12);
      const points = pointsOf({ curve: name, group }, curve, 12);
      const faults = new Set<string>();
      for (let i = 0; i < 24; i++) {
        const bytes = bytesOf(compress(curve, points, 'larger').given);
        const at = (i >> 1) * pointBytes + (i % coordinates.degree) * field.bytes;
        // often below p, and often not
        for (let k = 0; k < field.bytes - (i % 4); k++) bytes[at + k] = Number(random.bits(8));
        const checked = await bothWays(curve, compressedSource(new Uint32Array(bytes.buffer), 'larger'));
        faults.add('wrong' in checked ? checked.wrong : 'none');
      }
      expect([...faults].sort()).toEqual(['a coordinate', 'none', 'off the curve']);
    }
  });

  test('with an x of p and more', async () => {
    const curve = await openCurve('bn254', 'g1');
    const { given } = compress(curve, pointsOf({ curve: 'bn254', group: 'g1' }, curve, 5), 'odd');
    for (const x of [curve.p, curve.p + 1n, 2n ** 256n - 1n]) {
      const words = given.slice();
      writeElement(curve.coordinates, words, 2 * curve.pointWords, x);
      expect(await bothWays(curve, compressedSource(words, 'odd'))).toEqual({ index: 2, wrong: 'a coordinate' });
    }
  });
});

describe('Edwards points', () => {
  test('in Montgomery form, and wrong ones', async () => {
    const curve = await openCurve('ed25519', 'g1');
    const { p, pointWords, coordinates: f } = curve;
    const scale = 2n ** 256n % p;
    const { points } = makeKnownBases(oracleOf({ curve: 'ed25519', group: 'g1' }), 140, 3);
    const words = edwardsWords(curve, points, scale);
    const sourceOf = (own: Words): PointSource => ({
      bytes: bytesOf(own),
      scale: 1n,
      encoding: 'le-montgomery',
      edwards: { scale },
    });
    expect(await bothWays(curve, sourceOf(words))).toMatchObject({ scale: 1n, encoding: 'le' });
    for (const at of [0, 127, 128, 139]) {
      const wrong = words.slice();
      wrong[at * pointWords] = (wrong[at * pointWords] as number) ^ 1;
      expect(await bothWays(curve, sourceOf(wrong))).toEqual({ index: at, wrong: 'off the curve' });
      writeElement(f, wrong, at * pointWords + f.words, p);
      expect(await bothWays(curve, sourceOf(wrong))).toEqual({ index: at, wrong: 'a coordinate' });
    }
  });
});

test('a long list is decoded in turns', async () => {
  const curve = await openCurve('bls12-381', 'g2');
  const { given } = compress(curve, pointsOf({ curve: 'bls12-381', group: 'g2' }, curve, 1200), 'larger');
  let turns = 0;
  const seen: number[] = [];
  const slices = new TimeSlice(() => void turns++);
  await decodePoints(curve, compressedSource(given, 'larger'), slices, (done) => seen.push(done));
  expect(turns).toBeGreaterThan(1);
  expect(seen).toHaveLength(turns);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});
