/**
 * Points as other software writes them (tests/vectors/): read, written, decompressed on the GPU,
 * and multiplied.
 */
import { readFileSync } from 'node:fs';
import { hexToBytes } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { type Coordinate, expectedMsm, Random } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type AnyCurve, type CurveContext, curveContext } from '../../src/curves/curve.js';
import { curveNamed, type WeierstrassName } from '../../src/curves/more-curves.js';
import { readerOf } from '../../src/curves/point-source.js';
import { readPoints, writerOf } from '../../src/encodings/encodings.js';
import { encodePoints } from '../../src/engine/arguments.js';
import { quadraticField } from '../../src/field/quadratic.js';
import type { PointEncoding, Tuning } from '../../src/index.js';
import { finish } from '../../src/scheduling/time-slice.js';
import { keptEngine } from '../support/engines.js';
import { inProject } from '../support/run-script.js';

interface PointSet extends CurveGroup {
  readonly curve: WeierstrassName;
  readonly k: readonly string[];
  /** In hex; null where there is no such thing. */
  readonly encodings: Readonly<Record<string, readonly (string | null)[]>>;
}

const sets = ['arkworks', 'gnark', 'zkcrypto', 'aztec', 'halo2curves'].flatMap((software) => {
  const text = readFileSync(inProject(`tests/vectors/${software}.json`), 'utf8');
  const { curves } = JSON.parse(text) as { curves: readonly PointSet[] };
  return curves.flatMap(({ encodings, k, ...set }) =>
    Object.entries(encodings).map(([encoding, written]) => {
      const there = k.flatMap((log, i) => (written[i] == null ? [] : [{ log, point: written[i] }]));
      return { software, ...set, encoding, k: there.map(({ log }) => log), points: there.map(({ point }) => point) };
    }),
  );
});
/**
 * Sets whose encoding has a name. Where primes leave no room for flags, `gnark` equals `be` and has
 * no name; the encodings of halo2 are those of files.
 */
const named = sets.filter(
  ({ curve, encoding }) =>
    !encoding.startsWith('halo2') && !(encoding === 'gnark' && ['secp256k1', 'p256'].includes(curve)),
);
type Vectors = (typeof named)[number];

const contextOf = ({ curve, group }: Pick<PointSet, 'curve' | 'group'>): CurveContext => {
  const constants = curve === 'bn254' && group === 'g1' ? bn254 : (curveNamed(curve, group) as AnyCurve);
  return curveContext(constants, quadraticField);
};
const bytesOf = (points: readonly string[]) => Uint8Array.from(points.flatMap((point) => [...hexToBytes(point)]));
const multiple = ({ curve, group }: CurveGroup, k: string) =>
  expectedMsm<Coordinate>(oracleOf({ curve, group }), [1n], [BigInt(k)]);

const title = '$software: $encoding of $curve $group';

describe('vectors of other software, on the CPU', () => {
  test.each(named)(title, (vectors) => {
    const curve = contextOf(vectors);
    const encoding = vectors.encoding as PointEncoding;
    const read = readerOf(curve, finish(readPoints(curve, bytesOf(vectors.points), encoding)));
    const write = encoding === 'aztec-compressed' ? null : writerOf(curve, encoding);
    for (const [i, k] of vectors.k.entries()) {
      const point = multiple(vectors, k);
      expect(read(i), `${k} times the generator`).toEqual(point.infinity ? null : { x: point.x, y: point.y });
      if (write !== null) expect(write(encodePoints(curve, [point]))).toEqual(hexToBytes(vectors.points[i] as string));
    }
  });
});

describe('many points are decoded in steps', () => {
  const n = 5000;
  const steps = Math.ceil(n / 2048);
  const firstOf = (encoding: string): readonly Vectors[] =>
    named.filter((each) => each.encoding === encoding).slice(0, 1);

  test.each(named)(title, (vectors) => {
    const curve = contextOf(vectors);
    const encoding = vectors.encoding as PointEncoding;
    const few = finish(readPoints(curve, bytesOf(vectors.points), encoding));
    const all = Array.from({ length: n }, (_, i) => vectors.points[i % vectors.points.length] as string);
    const decoding = readPoints(curve, bytesOf(all), encoding);
    for (let i = 0; i < steps; i++) expect(decoding.next().done).toBe(false);
    const { done, value } = decoding.next();
    expect(done).toBe(true);
    const { bytes, ...rest } = value as typeof few;
    const repeated = Array.from({ length: n }, (_, i) => {
      const at = (i % vectors.points.length) * curve.pointBytes;
      return few.bytes.subarray(at, at + curve.pointBytes);
    });
    expect(Buffer.compare(bytes, Buffer.concat(repeated))).toBe(0);
    expect(rest).toEqual({ scale: few.scale, encoding, ...(few.sign && { sign: few.sign }) });
  });

  test.each([...firstOf('gnark-compressed'), ...firstOf('aztec'), ...firstOf('ark')])(`${title}: errors`, (vectors) => {
    const curve = contextOf(vectors);
    const encoding = vectors.encoding as PointEncoding;
    const all = bytesOf(Array.from({ length: n }, () => vectors.points[1] as string));
    const size = all.length / n;
    // zeros are not compressed and no point of aztec; all ones are no flags of arkworks
    all.fill(encoding === 'ark' ? 0xff : 0, 4000 * size, 4001 * size);
    expect(() => finish(readPoints(curve, all, encoding))).toThrow('points[4000]');
  });
});

describe('vectors of other software, on the GPU', () => {
  const multiplies = async (vectors: Vectors): Promise<void> => {
    // unsigned products compile in a third of the time; groups.test.ts has the signed ones
    const isSlow = vectors.curve === 'bls12-381' && vectors.group === 'g2';
    const tuning: Partial<Tuning> = isSlow ? { fieldProduct: 'unsigned' } : {};
    const engine = await keptEngine(vectors, { selfTest: false, tuning });
    const bytes = bytesOf(vectors.points);
    const encoding = vectors.encoding as PointEncoding;
    const bases = await engine.loadBases(bytes, { encoding, checkSubgroup: true });
    expect(bases.length).toBe(vectors.k.length);
    const random = new Random(4);
    const scalars = vectors.k.map(() => random.belowBig(2n ** 256n));
    const expected = expectedMsm<Coordinate>(oracleOf(vectors), vectors.k.map(BigInt), scalars);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(engine.lastRun?.on).toBe('gpu');
    bases.destroy();
  };
  const few = named.filter((of) => of.curve === 'bn254' && of.group === 'g1' && of.encoding === 'gnark-compressed');
  test.each(few)(title, multiplies);
  test.each(named.filter((vectors) => !few.includes(vectors)))(title, { tags: 'long' }, multiplies);
});
