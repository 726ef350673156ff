/**
 * Points as other software writes them (tests/vectors/): read, written, decompressed on the GPU,
 * and multiplied.
 */
import { readFileSync } from 'node:fs';
import { hexToBytes } from '@noble/curves/utils.js';
import { afterAll, describe, expect, test } from 'vitest';
import { type CurveGroup, oracleOf } from '../../dev/oracle/curves.js';
import { type Coordinate, expectedMsm, Random } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type AnyCurve, type CurveContext, curveContext } from '../../src/curves/curve.js';
import { curveNamed } from '../../src/curves/more-curves.js';
import type { WeierstrassName } from '../../src/curves/names.js';
import { readerOf } from '../../src/curves/point-source.js';
import { readPoints, writerOf } from '../../src/encodings/encodings.js';
import { encodePoints } from '../../src/engine/arguments.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { createMsmEngine, type MsmEngine, type PointEncoding } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
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
    const read = readerOf(curve, readPoints(curve, bytesOf(vectors.points), encoding));
    const write = encoding === 'aztec-compressed' ? null : writerOf(curve, encoding);
    for (const [i, k] of vectors.k.entries()) {
      const point = multiple(vectors, k);
      expect(read(i), `${k} times the generator`).toEqual(point.infinity ? null : { x: point.x, y: point.y });
      if (write !== null) expect(write(encodePoints(curve, [point]))).toEqual(hexToBytes(vectors.points[i] as string));
    }
  });
});

describe('vectors of other software, on the GPU', () => {
  const engines = new Map<string, Promise<MsmEngine<Coordinate>>>();
  const engineOf = async ({ curve, group }: CurveGroup): Promise<MsmEngine<Coordinate>> => {
    const key = `${curve} ${group}`;
    const options = {
      device: await getDevice(),
      selfTest: false,
      tuning: { cpuBelow: 0, walkerSlots: 2, walkerThreadsPerWorkgroup: 8 },
    };
    const made = engines.get(key) ?? createMsmEngine({ curve, group, ...options } as never);
    engines.set(key, made as Promise<MsmEngine<Coordinate>>);
    return made as Promise<MsmEngine<Coordinate>>;
  };
  afterAll(async () => {
    for (const engine of engines.values()) (await engine).destroy();
  });

  const multiplies = async (vectors: Vectors): Promise<void> => {
    const engine = await engineOf(vectors);
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
