/**
 * Readers of prover files: points equal those of the software that wrote them, from every kind of
 * source; other files are rejected.
 */
import { createHash } from 'node:crypto';
import { closeSync, openAsBlob, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 as nobleBn254 } from '@noble/curves/bn254.js';
import { bytesToNumberBE, concatBytes, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import fc from 'fast-check';
import type { Coordinates, PointObject } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oracles, oraclesOfG2 } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import {
  type AffinePoint,
  type AnyOracle,
  type Coordinate,
  type Fp2,
  infinityOf,
  knownBases,
  numbersOf,
  type OracleCurve,
  toAffinePoint,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import type { PairingName } from '../../src/curves/more-curves.js';
import { bls12381 } from '../../src/curves/pairing-friendly.js';
import {
  type FileSource,
  type Groth16Zkey,
  openAztecCrs,
  openGnarkSrs,
  openHalo2Params,
  openPtau,
  openZkey,
  type PointSection,
  type RandomAccess,
} from '../../src/formats.js';
import { type MsmEngine, MsmError } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { inProject } from '../support/run-script.js';
import {
  binfile,
  POWER,
  readZkey,
  type SnarkjsFiles,
  sectionsOf,
  snarkjsFiles,
  VARIABLES,
} from '../support/snarkjs-files.js';

const vector = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(inProject(`tests/vectors/files/${name}`)));

const oracleOf = (curve: PairingName, group: 'g1' | 'g2'): AnyOracle =>
  group === 'g1' ? oracles[curve] : oraclesOfG2[curve];

/** Point of G1 or G2. */
type OnePoint = AffinePoint<Coordinate>;

/** Points of either group, as bytes. */
const encoded = (
  oracle: AnyOracle,
  points: readonly AffinePoint<Coordinate>[],
  encoding: 'be' | 'eip196' | 'le-montgomery',
): Uint8Array => pointsIn(oracle as OracleCurve<Coordinate>, points, encoding);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const refusal = (message: string | RegExp) =>
  expect.objectContaining({
    name: 'MsmError',
    code: 'bad-argument',
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  });
const isRefused = async (opened: Promise<unknown>, message: string | RegExp): Promise<void> => {
  await expect(opened).rejects.toEqual(refusal(message));
};

/**
 * Imports points on the GPU and multiplies them on the CPU; that on the GPU is for the second tier.
 */
let engine: MsmEngine;
let files: SnarkjsFiles;

beforeAll(async () => {
  engine = await openEngine({ tuning: { cpuBelow: 2 ** 16 } });
  files = await snarkjsFiles('bn128');
});

/** Σ (i + 2)·P_i of BN254, by the engine and by noble. */
const multipliesAs = async (section: PointSection, points: readonly AffinePoint[], by = engine): Promise<void> => {
  expect([section.curve, section.group, section.count]).toEqual(['bn254', 'g1', points.length]);
  const { Point } = oracles.bn254;
  const scalars = points.map((_, i) => BigInt(i + 2));
  const bases = await by.loadBases(await section.points(), { encoding: section.encoding });
  const sum = points.reduce<WeierstrassPoint<bigint>>(
    (all, { x, y, infinity }, i) =>
      infinity ? all : all.add(Point.fromAffine({ x, y }).multiplyUnsafe(scalars[i] as bigint)),
    Point.ZERO,
  );
  expect(await by.msm(bases, scalars)).toEqual(toAffinePoint(sum));
  bases.destroy();
};

describe('readers of snarkjs files', () => {
  const coordinateOf = (coordinates: Coordinates): Coordinate => {
    if (!Array.isArray(coordinates)) return BigInt(coordinates);
    const [c0, c1] = coordinates.map(BigInt) as [bigint, bigint];
    return { c0, c1 };
  };

  /** Returns a point that snarkjs read, in affine coordinates. */
  const affine = (oracle: AnyOracle, [x, y, z]: PointObject): AffinePoint<Coordinate> =>
    numbersOf(coordinateOf(z)).every((number) => number === 0n)
      ? infinityOf((oracle as OracleCurve<Coordinate>).Point)
      : { x: coordinateOf(x), y: coordinateOf(y), infinity: false };

  const isAsRead = async (section: PointSection, points: readonly PointObject[]): Promise<void> => {
    const oracle = oracleOf(section.curve, section.group);
    expect([section.count, section.encoding], section.name).toEqual([points.length, 'le-montgomery']);
    expect(section.byteLength).toBe(section.count * section.pointBytes);
    const expected = encoded(
      oracle,
      points.map((point) => affine(oracle, point)),
      'le-montgomery',
    );
    expect(hex(await section.points()), section.name).toBe(hex(expected));
  };

  const readsAsSnarkjs = (curve: 'bn254' | 'bls12-381', made: () => SnarkjsFiles): void => {
    const { pairing, fields } = curve === 'bn254' ? nobleBn254 : bls12_381;
    /** e(a, b) = e(c, d), for the first point of each that is given. */
    const pairsAs = (a: OnePoint, b: OnePoint, c: OnePoint, d: OnePoint): boolean => {
      const [P, Q] = [oracles[curve].Point, oraclesOfG2[curve].Point];
      const of = (g1: OnePoint, g2: OnePoint) =>
        pairing(P.fromAffine(g1 as AffinePoint), Q.fromAffine(g2 as AffinePoint<Fp2>));
      return fields.Fp12.eql(of(a, b), of(c, d));
    };

    test('give points of a ceremony from a .ptau, prepared or not', async () => {
      const { ptau, prepared, curve: theirs } = made();
      for (const file of [ptau, prepared]) {
        const { sections, ...rest } = await openPtau(file);
        expect(rest).toEqual({ curve, power: POWER, ceremonyPower: POWER });
        const n = 2 ** POWER;
        const counts = { tauG1: 2 * n - 1, tauG2: n, alphaTauG1: n, betaTauG1: n, betaG2: 1 };
        expect(Object.keys(sections)).toEqual(Object.keys(counts));
        for (const [name, count] of Object.entries(counts)) {
          const section = sections[name as keyof typeof counts];
          expect(section).toMatchObject({ name, count });
          const bytes = await section.points();
          const group = section.group === 'g1' ? theirs.G1 : theirs.G2;
          await isAsRead(
            section,
            Array.from({ length: count }, (_, i) =>
              group.toObject(bytes.subarray(i * section.pointBytes, (i + 1) * section.pointBytes)),
            ),
          );
        }
      }
    });

    test('give the sections of a .ptau that pairings confirm', async () => {
      const { ptau, curve: theirs } = made();
      const { sections } = await openPtau(ptau);
      const at = async (name: keyof typeof sections, i: number): Promise<OnePoint> => {
        const section = sections[name];
        const group = section.group === 'g1' ? theirs.G1 : theirs.G2;
        return affine(oracleOf(curve, section.group), group.toObject(await section.points(i, i + 1)));
      };
      const [G1, G2, tauG2] = await Promise.all([at('tauG1', 0), at('tauG2', 0), at('tauG2', 1)]);
      expect(G1).toEqual(toAffinePoint(oracles[curve].Point.BASE));
      expect(G2).toEqual(toAffinePoint(oraclesOfG2[curve].Point.BASE));
      for (const [name, last] of [
        ['tauG1', 126],
        ['alphaTauG1', 63],
        ['betaTauG1', 63],
      ] as const) {
        expect(pairsAs(await at(name, last), G2, await at(name, last - 1), tauG2), name).toBe(true);
      }
      expect(pairsAs(G1, await at('tauG2', 63), await at('tauG1', 63), G2)).toBe(true);
      expect(pairsAs(G1, await at('betaG2', 0), await at('betaTauG1', 0), G2)).toBe(true);
      const { sections: keys } = (await openZkey(made().groth16)) as Groth16Zkey;
      expect(await keys.alpha1.points()).toEqual(await sections.alphaTauG1.points(0, 1));
    });

    test('give the points of a .zkey of Groth16', async () => {
      const { groth16 } = made();
      const read = (await readZkey(groth16)) as Record<string, unknown>;
      const { sections, ...rest } = (await openZkey(groth16)) as Groth16Zkey;
      expect(rest).toEqual({
        protocol: 'groth16',
        curve,
        variables: VARIABLES,
        publicSignals: 1,
        domainSize: 8,
      });
      const all = { a: 'A', b1: 'B1', b2: 'B2', h: 'hExps', ic: 'IC' } as const;
      for (const [name, theirs] of Object.entries(all)) {
        await isAsRead(sections[name as keyof typeof all], read[theirs] as PointObject[]);
      }
      // snarkjs leaves a gap for the public ones
      await isAsRead(sections.c, (read.C as PointObject[]).filter((point) => point !== null).slice(-sections.c.count));
      for (const name of ['alpha', 'beta', 'gamma', 'delta']) {
        for (const group of [1, 2]) {
          const section = (sections as unknown as Record<string, PointSection>)[`${name}${group}`];
          if (section === undefined) expect(['alpha2', 'gamma1']).toContain(`${name}${group}`);
          else await isAsRead(section, [read[`vk_${name}_${group}`] as PointObject]);
        }
      }
    });

    test.each([
      ['plonk', 8 + 6],
      ['fflonk', 9 * 8 + 18],
    ] as const)('a .zkey of %s', async (protocol, count) => {
      const opened = await openZkey(made()[protocol]);
      const { sections, ...rest } = opened;
      expect(rest).toMatchObject({ protocol, curve, publicSignals: 1, domainSize: 8 });
      expect(Object.keys(sections)).toEqual(['ptau']);
      const { ptau } = sections as { ptau: PointSection };
      const { sections: ceremony } = await openPtau(made().prepared);
      expect(ptau).toMatchObject({ name: 'ptau', group: 'g1', curve, count });
      expect(hex(await ptau.points())).toBe(hex(await ceremony.tauG1.points(0, count)));
    });
  };

  describe('a .ptau of bn254', () => {
    readsAsSnarkjs('bn254', () => files);

    const multiplies = async (by: MsmEngine): Promise<void> => {
      const { sections } = (await openZkey(files.groth16)) as Groth16Zkey;
      const read = (await readZkey(files.groth16)) as Record<string, PointObject[]>;
      for (const [section, theirs] of [
        [sections.a, 'A'],
        [sections.h, 'hExps'],
      ] as const) {
        const points = (read[theirs] as PointObject[]).map((point) => affine(oracles.bn254, point) as AffinePoint);
        await multipliesAs(section, points, by);
      }
    };

    test('gives points that multiply right', async () => {
      await multiplies(engine);
    });

    test('gives points that multiply right on the GPU', { tags: 'long' }, async () => {
      const onGpu = await openEngine();
      await multiplies(onGpu);
      expect(onGpu.lastRun?.on).toBe('gpu');
    });
  });

  describe('a .ptau of bls12-381', { tags: 'long' }, () => {
    let of381: SnarkjsFiles;
    beforeAll(async () => {
      of381 = await snarkjsFiles('bls12381');
    });
    readsAsSnarkjs('bls12-381', () => of381);
  });

  test.each([bn254, bls12381])('a .zkey with the primes of $name is accepted', async ({ name, p, order }) => {
    const bytes = name === 'bn254' ? 32 : 48;
    const header = concatBytes(
      numberToBytesLE(bytes, 4),
      numberToBytesLE(p, bytes),
      numberToBytesLE(32, 4),
      numberToBytesLE(order, 32),
    );
    const file = binfile('zkey', [
      [1, numberToBytesLE(1, 4)],
      [2, concatBytes(header, new Uint8Array(12))],
    ]);
    // it got past them
    await isRefused(openZkey(file), '0 public signals of 0 variables');
  });
});

/** α^i·G, i < n. */
const powers = <Of extends Coordinate>(
  oracle: OracleCurve<Of>,
  base: bigint,
  n: number,
): readonly AffinePoint<Of>[] => {
  const { Point } = oracle;
  const logs = Array.from({ length: n }, (_, i) => Point.Fn.create(base ** BigInt(i)));
  return knownBases(
    oracle,
    logs,
    logs.map((log) => Point.BASE.multiplyUnsafe(log)),
  ).points;
};

describe('readers of Aztec files', () => {
  const g1 = vector('aztec-g1.dat');
  const compressed = vector('aztec-g1-compressed.dat');
  const g2 = vector('aztec-g2.dat');
  // tests/vectors/make/aztec-crs/make.mjs
  const known = powers(oracles.bn254, 0xa27ecn, 8);

  test('give the points of g1.dat', async () => {
    const { curve, sections } = await openAztecCrs(g1);
    expect([curve, sections.g2]).toEqual(['bn254', null]);
    expect(sections.g1).toMatchObject({ count: 8, pointBytes: 64, encoding: 'be' });
    expect(hex(await sections.g1.points())).toBe(hex(encoded(oracles.bn254, known, 'be')));
    await multipliesAs(sections.g1, known);
  });

  test('give the points of g1_compressed.dat: x, and y’s lowest bit as the topmost', async () => {
    const { sections } = await openAztecCrs(compressed);
    expect(sections.g1).toMatchObject({ count: 8, pointBytes: 32, encoding: 'aztec-compressed' });
    const numbers = known.map(({ x, y }) => x | ((y & 1n) << 255n));
    expect(hex(await sections.g1.points())).toBe(
      hex(concatBytes(...numbers.map((number) => numberToBytesBE(number, 32)))),
    );
    await multipliesAs(sections.g1, known);
  });

  test('give the point of g2.dat, which is in the group', async () => {
    const { sections } = await openAztecCrs(g1, g2);
    expect(sections.g2).toMatchObject({ count: 1, pointBytes: 128, encoding: 'be', group: 'g2', curve: 'bn254' });
    const bytes = await sections.g2.points();
    const [x0, x1, y0, y1] = [0, 32, 64, 96].map((at) => bytesToNumberBE(bytes.subarray(at, at + 32)));
    const { Point } = oraclesOfG2.bn254;
    const point = Point.fromAffine({ x: { c0: x0, c1: x1 } as Fp2, y: { c0: y0, c1: y1 } as Fp2 });
    point.assertValidity();
    expect(point.isTorsionFree()).toBe(true);
  });

  test.each([
    ['nothing', new Uint8Array(), 'g1.dat: the file must begin with the generator'],
    ['half a point', g1.subarray(0, 31), 'g1.dat: the file must begin with the generator'],
    ['not the first point', g1.subarray(64), 'g1.dat: the file must begin with the generator'],
    ['cut off', g1.subarray(0, -1), 'g1.dat: 511 bytes are not a whole number of points of 64'],
    ['cut off, compressed', compressed.subarray(0, -1), 'g1.dat: 255 bytes are not a whole number of points of 32'],
  ])('%s is refused', async (_, bytes, message) => {
    await isRefused(openAztecCrs(bytes), message);
  });

  test('reject g2.dat of another length', async () => {
    await isRefused(
      openAztecCrs(g1, g2.subarray(1)),
      'g2.dat: the file must have 128 bytes, which is one point; it has 127',
    );
  });
});

describe('readers of halo2 files', () => {
  const raw = vector('halo2-bn254-raw.params');
  /** Output of the program that wrote the files, in the notation of Rust. */
  const printed = readFileSync(inProject('tests/vectors/files/halo2-bn254.txt'), 'utf8');
  const numbersIn = (name: string): bigint[] =>
    [...(new RegExp(`^${name} = (.*)$`, 'm').exec(printed)?.[1] ?? '').matchAll(/0x[0-9a-f]{64}/g)].map(([number]) =>
      BigInt(number),
    );
  const g: AffinePoint[] = numbersIn('g').flatMap((x, i, all) =>
    i % 2 === 0 ? [{ x, y: all[i + 1] as bigint, infinity: false }] : [],
  );
  const inG2 = (name: string): AffinePoint<Fp2> => {
    const [a, b, c, d] = numbersIn(name) as [bigint, bigint, bigint, bigint];
    return { x: { c0: a, c1: b }, y: { c0: c, c1: d }, infinity: false };
  };

  test('give the points of params', async () => {
    const { curve, k, sections } = await openHalo2Params(raw);
    expect([curve, k]).toEqual(['bn254', 3]);
    expect(g).toHaveLength(8);
    expect(hex(await sections.g.points())).toBe(hex(encoded(oracles.bn254, g, 'le-montgomery')));
    for (const [section, name] of [
      [sections.g2, 'g2'],
      [sections.sG2, 's_g2'],
    ] as const) {
      expect(section).toMatchObject({ name, group: 'g2', count: 1 });
      expect(hex(await section.points())).toBe(hex(encoded(oraclesOfG2.bn254, [inG2(name)], 'le-montgomery')));
    }
    await multipliesAs(sections.g, g);
  });

  test('give g in Lagrange’s base, whose sum is the commitment to 1', async () => {
    const { sections } = await openHalo2Params(raw);
    const bases = await engine.loadBases(await sections.gLagrange.points(), { encoding: sections.gLagrange.encoding });
    expect(await engine.msm(bases, Array(8).fill(1n))).toEqual({ x: 1n, y: 2n, infinity: false });
    bases.destroy();
  });

  test.each([
    ['nothing', new Uint8Array(), 'must have 4 bytes of k; it has 0'],
    ['compressed points', vector('halo2-bn254-processed.params'), 'write them in SerdeFormat::RawBytes'],
    ['cut off', raw.subarray(0, -1), 'with k = 3 the file must have 1284 bytes; it has 1283'],
    ['k too large', concatBytes(Uint8Array.of(29, 0, 0, 0), raw.subarray(4)), 'k must be at most 28'],
    ['another k', concatBytes(Uint8Array.of(4, 0, 0, 0), raw.subarray(4)), 'with k = 4 the file must have 2308 bytes'],
  ])('%s is refused', async (_, bytes, message) => {
    await isRefused(openHalo2Params(bytes), message);
  });
});

describe('readers of gnark files', () => {
  const alpha = 0xa1fan;
  const n = 8;
  const curves = ['bn254', 'bls12-381', 'bls12-377'] as const;
  const forms = ['compressed', 'raw', 'dump'] as const;
  /** A file as it was written: what is cut out of it, the lines, is put back in. */
  const written = (curve: PairingName, form: string): Uint8Array<ArrayBuffer> => {
    const name = `gnark-${curve}-${form}.srs`;
    const index = readFileSync(inProject('tests/vectors/files/gnark.sha256'), 'utf8');
    const [, hash, at] = new RegExp(`^(\\w+)  (\\d+)  ${name}$`, 'm').exec(index) as unknown as [
      string,
      string,
      string,
    ];
    const rest = vector(name);
    const whole = concatBytes(rest.subarray(0, Number(at)), vector(`gnark-${curve}.lines`), rest.subarray(Number(at)));
    expect(createHash('sha256').update(whole).digest('hex')).toBe(hash);
    return whole;
  };

  const bytesOf = (oracle: AnyOracle): number => oracle.coordinateBytes / (oracle.group === 'g1' ? 1 : 2);
  const isLarger = (oracle: AnyOracle, y: Coordinate): boolean => {
    const prime = oracles[oracle.name as PairingName].Point.Fp.ORDER;
    const [first, ...rest] = numbersOf(y).reverse() as [bigint, ...bigint[]];
    return 2n * (first === 0n ? (rest[0] as bigint) : first) > prime;
  };
  /** Big-endian, c1 before c0. */
  const rawPoint = (oracle: AnyOracle, { x, y }: AffinePoint<Coordinate>): Uint8Array =>
    concatBytes(
      ...[x, y]
        .flatMap((coordinate) => numbersOf(coordinate).reverse())
        .map((number) => numberToBytesBE(number, bytesOf(oracle))),
    );
  /**
   * Encodes a point by its x. The topmost bit marks a compressed point; the next one (on BN254) or
   * the one after it (elsewhere) chooses y.
   */
  const compressedPoint = (oracle: AnyOracle, point: AffinePoint<Coordinate>): Uint8Array => {
    const bytes = rawPoint(oracle, point).slice(0, oracle.coordinateBytes);
    bytes[0] = (bytes[0] as number) | 0x80 | (isLarger(oracle, point.y) ? (oracle.name === 'bn254' ? 0x40 : 0x20) : 0);
    return bytes;
  };
  const inForm = (oracle: AnyOracle, points: readonly AffinePoint<Coordinate>[], form: string): string =>
    hex(
      form === 'dump'
        ? encoded(oracle, points, 'le-montgomery')
        : concatBytes(...points.map((point) => (form === 'raw' ? rawPoint : compressedPoint)(oracle, point))),
    );

  const encodings = { raw: 'gnark', compressed: 'gnark-compressed', dump: 'le-montgomery' } as const;

  test.each(curves.flatMap((curve) => forms.map((form) => [curve, form] as const)))(
    'give the points of an SRS of %s, %s',
    async (curve, form) => {
      const srs = await openGnarkSrs(written(curve, form), { curve });
      expect(srs).toMatchObject({ curve, form });
      const { g1, g2 } = srs.sections;
      expect(g1).toMatchObject({ count: n, group: 'g1', curve });
      expect(g1.encoding).toBe(encodings[form]);
      expect(hex(await g1.points())).toBe(inForm(oracles[curve], powers(oracles[curve], alpha, n), form));
      expect(g2).toMatchObject({
        count: 2,
        group: 'g2',
        curve,
        encoding: encodings[form === 'dump' ? 'raw' : form],
      });
      const ofG2 = inForm(oraclesOfG2[curve], powers(oraclesOfG2[curve], alpha, 2), form === 'dump' ? 'raw' : form);
      expect(hex((await g2?.points()) as Uint8Array)).toBe(ofG2);
    },
  );

  test('give the points of bls12-381 that noble reads', async () => {
    const { g1 } = (await openGnarkSrs(written('bls12-381', 'compressed'), { curve: 'bls12-381' })).sections;
    const { Point } = bls12_381.G1;
    expect(Point.fromBytes(await g1.points(3, 4)).equals(Point.BASE.multiply(alpha ** 3n))).toBe(true);
  });

  test.each([
    ['gnark-0.9-bn254.srs', 'bn254', true],
    ['gnark-0.9-bls12-381.srs', 'bls12-381', true],
    ['gnark-0.12-bn254.srs', 'bn254', true],
    ['gnark-0.12-bn254.pk', 'bn254', false],
    ['gnark-0.12-bls12-381.srs', 'bls12-381', true],
  ] as const)('%s, of a version without lines or keys', async (name, curve, hasG2) => {
    const { form, sections } = await openGnarkSrs(vector(name), { curve });
    expect([form, sections.g1.count, sections.g2 !== null]).toEqual(['compressed', n, hasG2]);
    expect(hex(await sections.g1.points())).toBe(
      inForm(oracles[curve], powers(oracles[curve], alpha, n), 'compressed'),
    );
    if (sections.g2 === null) return;
    expect(sections.g2).toMatchObject({ count: 2, group: 'g2', curve, encoding: 'gnark-compressed' });
    expect(hex(await sections.g2.points())).toBe(
      inForm(oraclesOfG2[curve], powers(oraclesOfG2[curve], alpha, 2), 'compressed'),
    );
  });

  test.each(['raw', 'dump', 'compressed'])('give points that multiply right, %s', async (form) => {
    await multipliesAs((await openGnarkSrs(written('bn254', form))).sections.g1, powers(oracles.bn254, alpha, n));
  });

  test('reject contents that fit no format', async () => {
    const raw = written('bn254', 'raw');
    const dump = written('bn254', 'dump');
    await isRefused(openGnarkSrs(new Uint8Array()), 'must have more than 4 bytes, which is its header; it has 0');
    await isRefused(openGnarkSrs(raw.subarray(0, -1)), /34627 bytes do not fit an SRS of bn254 with 8 points of 64/);
    await isRefused(
      openGnarkSrs(raw, { curve: 'bls12-381' }),
      /an SRS of bls12-381 with 8 points of 96 .* another curve/,
    );
    await isRefused(openGnarkSrs(Uint8Array.of(127, 255, 255, 255, 0)), /with 2147483647 points .* v0.11 to v0.22/);
    await isRefused(openGnarkSrs(Uint8Array.of(255, 255, 255, 255, 0)), /up to v0.10 wrote it, but 5 bytes/);
    const oldest = vector('gnark-0.9-bn254.srs');
    await isRefused(openGnarkSrs(oldest.subarray(0, -1)), /up to v0.10 wrote it, but 387 bytes .* with 8 points/);
    await isRefused(openGnarkSrs(oldest, { curve: 'bls12-381' }), /an SRS of bls12-381 .* another curve/);
    await isRefused(openGnarkSrs(dump.subarray(0, -1)), 'the dump says 8 points of 64 bytes, and 511 are left');
    await isRefused(
      // @ts-expect-error: no such curve
      openGnarkSrs(raw, { curve: 'toString' }),
      "options.curve must be 'bn254' or 'bls12-381' or 'bls12-377', got 'toString'",
    );
    // @ts-expect-error: no options
    await isRefused(openGnarkSrs(raw, null), 'options must be an object, got null');
  });
});

describe('sources of files', () => {
  const path = join(tmpdir(), `webgpu-msm-readers-${process.pid}.zkey`);
  let file: Uint8Array<ArrayBuffer>;
  let descriptor: number;
  beforeAll(() => {
    file = new Uint8Array(files.groth16);
    writeFileSync(path, file);
    descriptor = openSync(path, 'r');
  });
  afterAll(() => {
    closeSync(descriptor);
    rmSync(path);
  });

  const readAt = (from: number, to: number): Uint8Array => {
    const bytes = new Uint8Array(to - from);
    readSync(descriptor, bytes, 0, to - from, from);
    return bytes;
  };
  const openA = async (source: FileSource): Promise<PointSection> =>
    ((await openZkey(source)) as Groth16Zkey).sections.a;
  const inParts = (read: RandomAccess['read']): RandomAccess => ({ byteLength: file.length, read });

  test.each([
    ['an ArrayBuffer', async () => file.buffer],
    ['a view in the middle of a buffer', async () => concatBytes(new Uint8Array(3), file).subarray(3)],
    ['a DataView', async () => new DataView(file.buffer)],
    ['a Buffer', async () => readFileSync(path)],
    [
      'a SharedArrayBuffer',
      async () => {
        const shared = new SharedArrayBuffer(file.length);
        new Uint8Array(shared).set(file);
        return shared;
      },
    ],
    ['a Blob', async () => new Blob([file])],
    ['a Blob of Node’s, of a file', () => openAsBlob(path)],
    ['what reads at once', async () => inParts(readAt)],
    ['what takes time', async () => inParts(async (from, to) => readAt(from, to))],
  ] as [string, () => Promise<FileSource>][])('%s', async (_, open) => {
    const source = await open();
    const a = await openA(source);
    const expected = await (await openA(file)).points();
    expect(hex(await a.points())).toBe(hex(expected));
    expect(hex(await a.points(2, 5))).toBe(hex(expected.subarray(128, 320)));
    expect(await a.points(3, 3)).toHaveLength(0);
  });

  test('in memory are not copied', async () => {
    const a = await openA(file);
    for (const bytes of [await a.points(1), a.pages().slice(0, 64) as Uint8Array])
      expect(bytes.buffer).toBe(file.buffer);
  });

  test('are read in chunks of whole points, and the last chunk has the rest', async () => {
    const a = await openA(inParts(async (from, to) => readAt(from, to)));
    const lengths = async (chunkBytes: number, from?: number, to?: number): Promise<number[]> => {
      const all: number[] = [];
      for await (const chunk of a.chunks({
        chunkBytes,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      })) {
        all.push(chunk.length / 64);
      }
      return all;
    };
    expect(await lengths(200)).toEqual([3, 3]);
    expect(await lengths(1)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(await lengths(2 ** 30)).toEqual([6]);
    expect(await lengths(150, 1)).toEqual([2, 2, 1]);
    expect(await lengths(150, 1, 1)).toEqual([]);
    const collected: Uint8Array[] = [];
    for await (const chunk of a.chunks({ chunkBytes: 130 })) collected.push(chunk);
    expect(hex(concatBytes(...collected))).toBe(hex(await a.points()));
  });

  test('are not read for an empty range', async () => {
    const asked: number[] = [];
    const a = await openA(
      inParts((from, to) => {
        asked.push(to - from);
        return readAt(from, to);
      }),
    );
    await a.points(2, 2);
    for await (const _ of a.chunks({ from: 6 })) expect.fail('there is no chunk');
    expect(asked).not.toContain(0);
  });

  test('are not read for points when opened', async () => {
    let most = 0;
    let sum = 0;
    await openZkey(
      inParts((from, to) => {
        most = Math.max(most, to - from);
        sum += to - from;
        return readAt(from, to);
      }),
    );
    // container, eleven sections' heads, and a header with points of its own
    expect([most <= 4096, sum < 1200]).toEqual([true, true]);
  });

  test('give pages that the engine takes without a copy', async () => {
    const a = await openA(inParts(readAt));
    const [fromPages, fromPoints] = await Promise.all([
      engine.loadBases(a.pages(1, 5), { encoding: 'le-montgomery' }),
      engine.loadBases(await a.points(1, 5), { encoding: 'le-montgomery' }),
    ]);
    const scalars = [5n, 6n, 7n, 8n];
    expect(await engine.msm(fromPages, scalars)).toEqual(await engine.msm(fromPoints, scalars));
    fromPages.destroy();
    fromPoints.destroy();
  });

  test('give no pages if they are asynchronous, and leave no promise unhandled', async () => {
    const slow = await openA(inParts(async (from, to) => readAt(from, to)));
    const blob = await openA(new Blob([file]));
    for (const section of [slow, blob]) {
      expect(() => section.pages().slice(0, 64)).toThrow(
        refusal(/pages\(\) needs a synchronous source; use points\(\) or chunks\(\)/),
      );
    }
    let broken = false;
    const breaks = await openA(
      inParts(async (from, to) => (broken ? Promise.reject(new Error('gone')) : readAt(from, to))),
    );
    broken = true;
    expect(() => breaks.pages().slice(0, 64)).toThrow(refusal('needs a synchronous source'));
  });

  test('are read beyond 2^32, a chunk at a time: a ceremony of 2^28', async () => {
    const header = concatBytes(
      numberToBytesLE(32, 4),
      numberToBytesLE(bn254.p, 32),
      numberToBytesLE(28, 4),
      numberToBytesLE(28, 4),
    );
    const sizes = [header.length, (2 ** 29 - 1) * 64, 2 ** 28 * 128, 2 ** 28 * 64, 2 ** 28 * 64, 128];
    const heads = sizes.map((size, i) => concatBytes(numberToBytesLE(i + 1, 4), numberToBytesLE(size, 8)));
    const start = binfile(
      'ptau',
      sizes.map(() => [0, new Uint8Array()] as const),
    ).subarray(0, 12);
    let at = 12;
    const placed: [number, Uint8Array][] = [[0, start]];
    for (const [i, size] of sizes.entries()) {
      placed.push([at, heads[i] as Uint8Array]);
      if (i === 0) placed.push([at + 12, header]);
      at += 12 + (size as number);
    }
    const asked: [number, number][] = [];
    const { sections } = await openPtau({
      byteLength: at,
      read: (from, to) => {
        asked.push([from, to]);
        const known = placed.find(([place, bytes]) => from >= place && to <= place + bytes.length);
        return known === undefined ? new Uint8Array(to - from) : known[1].subarray(from - known[0], to - known[0]);
      },
    });
    expect(sections.betaTauG1).toMatchObject({ count: 2 ** 28, byteLength: 2 ** 34 });
    asked.length = 0;
    await sections.betaTauG1.points(2 ** 28 - 1);
    const end = at - 12 - 128;
    expect(asked).toEqual([[end - 64, end]]);
    asked.length = 0;
    const points = await sections.tauG2.points(5, 5 + 2 ** 18);
    expect(points).toHaveLength(2 ** 25);
    expect(asked.map(([from, to]) => to - from)).toEqual([2 ** 24, 2 ** 24]);
  });

  test.each([
    ['', 'the file must be bytes, a Blob, or have byteLength and read(), got '],
    [null, 'got null'],
    [7, 'got 7'],
    [{}, 'got Object'],
    [{ byteLength: -1, read: () => new Uint8Array() }, 'byteLength of the file must be a non-negative integer, got -1'],
    [{ byteLength: 2 ** 53, read: () => new Uint8Array() }, 'byteLength of the file must be a non-negative integer'],
    [{ byteLength: 100, read: () => new Uint8Array(3) }, 'reading [0, 12) must return 12 bytes, got 3'],
    [{ byteLength: 100, read: () => 'text' }, 'reading [0, 12) must return a Uint8Array, got string'],
    [{ byteLength: 100, read: async () => null }, 'reading [0, 12) must return a Uint8Array, got null'],
  ])('%j is refused', async (source, message) => {
    for (const open of [openZkey, openPtau]) await isRefused(open(source as FileSource), message);
  });

  test('are rejected if their buffer was transferred', async () => {
    const bytes = new Uint8Array(file);
    const a = await openA(bytes);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    await isRefused(a.points(), 'its bytes cannot be read');
    await isRefused(openZkey(bytes), 'its bytes cannot be read');
  });

  test('are rejected, with the cause, if a Blob cannot be read', async () => {
    const cause = new Error('gone');
    const blob = new Blob([file]);
    Object.defineProperty(blob, 'slice', { value: () => ({ arrayBuffer: () => Promise.reject(cause) }) });
    await expect(openZkey(blob)).rejects.toMatchObject({ code: 'bad-argument', cause });
  });

  test('are read at their beginning once', async () => {
    const reads: number[] = [];
    const read = (from: number, to: number): Uint8Array => {
      reads.push(from);
      return file.slice(from, to);
    };
    for (const open of [openZkey, openPtau]) {
      reads.length = 0;
      await open({ byteLength: file.length, read }).catch(() => undefined);
      expect(reads.filter((from) => from === 0)).toEqual([0]);
    }
  });

  test('pass on errors of `read` unchanged', async () => {
    const mine = new RangeError('mine');
    const read = (): never => {
      throw mine;
    };
    await expect(openZkey({ byteLength: 100, read })).rejects.toBe(mine);
  });

  test('are rejected for ranges outside the section', async () => {
    const a = await openA(file);
    for (const [from, to] of [[-1], [0, 7], [5, 4], [0.5], [Number.NaN], [0, Infinity]]) {
      await isRefused(a.points(from, to), /points \[.*\) of A are not in \[0, 6\)/);
      expect(() => a.pages(from, to)).toThrow(refusal('of A are not in'));
    }
    for (const chunkBytes of [0, -1, 1.5, Number.NaN]) {
      expect(() => a.chunks({ chunkBytes })).toThrow(refusal('chunkBytes must be a positive integer'));
    }
    expect(() => a.chunks({ from: 9 })).toThrow(refusal('of A are not in'));
  });

  test('give pages of their points alone', async () => {
    const a = await openA(file);
    const pages = a.pages(1, 3);
    expect(pages.byteLength).toBe(128);
    expect(hex((await pages.slice(0, 128)) as Uint8Array)).toBe(hex(await a.points(1, 3)));
    const outside = [[-64, 0], [64, 192], [128, 129], [64, 0], [0.5, 1], ['0', 64], [undefined, 64], [0]];
    for (const [from, to] of outside as [number, number][])
      expect(() => pages.slice(from, to)).toThrow(refusal(/bytes \[.*\) of A are not in \[0, 128\)/));
  });

  test('are rejected with options that are no object', async () => {
    const a = await openA(file);
    for (const options of [null, 5, 'all', true] as never[])
      expect(() => a.chunks(options)).toThrow(refusal('options must be an object, got'));
  });
});

describe('files of other formats', () => {
  const changed = (bytes: Uint8Array, at: number, by: Uint8Array): Uint8Array<ArrayBuffer> => {
    const copy = new Uint8Array(bytes);
    copy.set(by, at);
    return copy;
  };
  const u32 = (value: number): Uint8Array => numberToBytesLE(value, 4);
  /** A zkey with another section in the place of one, or with none. */
  const zkeyWith = (id: number, change: (bytes: Uint8Array) => Uint8Array | null): Uint8Array => {
    const sections = [...sectionsOf(files.groth16)].flatMap(([own, bytes]) => {
      const now = own === id ? change(bytes) : bytes;
      return now === null ? [] : [[own, now] as const];
    });
    return binfile('zkey', sections);
  };
  const header = (at: number, by: Uint8Array) => () => zkeyWith(2, (bytes) => changed(bytes, at, by));

  test('sections may come in any order', async () => {
    const backwards = binfile('zkey', [...sectionsOf(files.groth16)].reverse());
    const { sections } = (await openZkey(backwards)) as Groth16Zkey;
    const { sections: forwards } = (await openZkey(files.groth16)) as Groth16Zkey;
    for (const name of ['a', 'c', 'h'] as const) {
      expect(hex(await sections[name].points())).toBe(hex(await forwards[name].points()));
    }
  });

  test.each<[string, () => Uint8Array, string]>([
    ['nothing', () => new Uint8Array(), 'zkey: the header takes 12 bytes, and the file has 0'],
    ['a ptau', () => files.ptau, 'zkey: the file must begin with the letters zkey'],
    ['version 0', () => changed(files.groth16, 4, u32(0)), 'zkey: version 0 is unknown; 1 to 2 are known'],
    ['version 3', () => changed(files.groth16, 4, u32(3)), 'zkey: version 3 is unknown'],
    [
      'too many sections',
      () => changed(files.groth16, 8, u32(2 ** 32 - 1)),
      'says 4294967295 sections, and at most 64',
    ],
    ['one section more', () => changed(files.groth16, 8, u32(11)), 'it ends before section 11 of 11 begins'],
    [
      '2^64 − 1 bytes',
      () => changed(files.groth16, 16, new Uint8Array(8).fill(255)),
      'section 1 says 18446744073709551615 bytes',
    ],
    ['cut off', () => files.groth16.subarray(0, -1), 'are left: is it cut off?'],
    [
      'a section twice',
      () => concatBytes(changed(files.groth16, 8, u32(11)), u32(5), new Uint8Array(8)),
      'section 5 occurs twice',
    ],
    ['no A', () => zkeyWith(5, () => null), 'zkey: section 5 (A) is missing'],
    ['no header', () => zkeyWith(2, () => null), 'zkey: section 2 (header) is missing'],
    ['no protocol', () => zkeyWith(1, () => null), 'zkey: section 1 (protocol) is missing'],
    [
      'a protocol of no bytes',
      () => zkeyWith(1, () => new Uint8Array()),
      'section 1 (protocol) is cut off: it has 0 bytes',
    ],
    ['another protocol', () => zkeyWith(1, () => u32(3)), 'zkey: protocol 3 is unknown'],
    ['another prime', header(4, Uint8Array.of(0)), 'that is not that of bn254 or bls12-381'],
    ['a prime of no bytes', header(0, u32(0)), 'the header has a prime of 0 bytes'],
    ['a prime of 2^32 − 1 bytes', header(0, u32(2 ** 32 - 1)), 'the header has a prime of 4294967295 bytes'],
    ['another order', header(40, Uint8Array.of(0)), 'the header has an order of 32 bytes that is not that of bn254'],
    [
      'a variable more',
      header(72, u32(VARIABLES + 1)),
      'section 5 (A) has 384 bytes, but the header says 7 points of 64',
    ],
    ['all variables public', header(76, u32(VARIABLES)), 'says 6 public signals of 6 variables'],
    ['a public signal more', header(76, u32(2)), 'section 8 (C) has 256 bytes, but the header says 3 points of 64'],
    ['a domain that is none', header(80, u32(7)), 'a domain of 7; it must be a power of two'],
    ['a domain of 0', header(80, u32(0)), 'a domain of 0'],
    ['a larger domain', header(80, u32(2 ** 31)), 'section 9 (H) has 512 bytes, but the header says 2147483648 points'],
    ['half a point', () => zkeyWith(6, (bytes) => bytes.subarray(32)), 'section 6 (B1) has 352 bytes'],
    ['a header that is cut off', () => zkeyWith(2, (bytes) => bytes.subarray(0, -1)), 'section 2 (header) is cut off'],
    ['a header with more', () => zkeyWith(2, (bytes) => concatBytes(bytes, Uint8Array.of(0))), 'has 1 bytes too many'],
    [
      'a header of 1 MB',
      () => zkeyWith(2, () => new Uint8Array(2 ** 20)),
      'has 1048576 bytes, and at most 4096 are read',
    ],
  ])('%s is refused', async (_, bytes, message) => {
    await isRefused(openZkey(bytes()), message);
  });

  test.each([
    ['zkey', openZkey, () => files.groth16],
    ['ptau', openPtau, () => files.ptau],
  ] as const)('bytes behind the last section of a %s are ignored with a warning', async (what, open, bytes) => {
    const warnings: string[] = [];
    const onWarning = (message: string): never => {
      warnings.push(message);
      throw new Error('mine');
    };
    const expected = await open(bytes(), { onWarning });
    expect(warnings).toEqual([]);
    const opened = await open(concatBytes(bytes(), new Uint8Array(5)), { onWarning });
    expect(JSON.stringify(opened)).toBe(JSON.stringify(expected));
    expect(warnings).toEqual([`webgpu-msm: ${what}: 5 bytes follow the last section and are ignored`]);
    await isRefused(open(bytes(), { onWarning: 5 as never }), 'options.onWarning must be a function');
  });

  test.each([
    ['a larger power', 36 + 24, 7, 'power 7 of 6'],
    ['a smaller power', 36 + 24, 5, 'section 2 (tauG1) has 8128 bytes, but the header says 63 points of 64'],
    [
      'a power of 2^32 − 1',
      40 + 24,
      2 ** 32 - 1,
      'power 6 of 4294967295: the first must be at most the second, and the second at most 32',
    ],
  ])('a ptau of %s is refused', async (_, at, value, message) => {
    await isRefused(openPtau(changed(files.ptau, at, u32(value))), message);
  });

  test.each(['plonk', 'fflonk'] as const)(
    'a zkey of %s with points of another domain is rejected',
    async (protocol) => {
      const sections = [...sectionsOf(files[protocol])];
      const smaller = sections.map(([id, bytes]) => [id, id === 2 ? changed(bytes, 80, u32(4)) : bytes] as const);
      await isRefused(
        openZkey(binfile('zkey', smaller)),
        /\(ptau\) has \d+ bytes, but the header says \d+ points of 64/,
      );
      const none = sections.filter(([id]) => id !== (protocol === 'plonk' ? 14 : 16));
      await isRefused(openZkey(binfile('zkey', none)), '(ptau) is missing');
    },
  );

  const openers: readonly [string, (source: FileSource) => Promise<unknown>, () => Uint8Array][] = [
    ['zkey', openZkey, () => files.groth16],
    ['zkey of plonk', openZkey, () => files.plonk],
    ['zkey of fflonk', openZkey, () => files.fflonk],
    ['ptau', openPtau, () => files.ptau],
    ['g1.dat', (source) => openAztecCrs(source), () => vector('aztec-g1.dat')],
    ['g2.dat', (source) => openAztecCrs(vector('aztec-g1.dat'), source), () => vector('aztec-g2.dat')],
    ['halo2', openHalo2Params, () => vector('halo2-bn254-raw.params')],
    ['gnark', (source) => openGnarkSrs(source), () => vector('gnark-0.12-bn254.srs')],
    ['gnark 0.9', (source) => openGnarkSrs(source), () => vector('gnark-0.9-bn254.srs')],
    [
      'gnark of bls12-381',
      (source) => openGnarkSrs(source, { curve: 'bls12-381' }),
      () => vector('gnark-0.12-bls12-381.srs'),
    ],
  ];
  const isMsmError = (error: unknown): true => {
    if (!(error instanceof MsmError) || error.code !== 'bad-argument') throw error;
    return true;
  };

  test.each(openers)('a file of %s that is cut off anywhere is rejected', async (name, open, file) => {
    const whole = file();
    // what ends with a point is a file of fewer points, or of none but those of the proving key
    const fits = (length: number): boolean =>
      (name === 'g1.dat' && length % 32 === 0) ||
      (name === 'gnark' && length === 4 + 8 * 32) ||
      (name === 'gnark of bls12-381' && length === 4 + 8 * 48);
    const step = Math.max(1, Math.floor(whole.length / 700));
    for (let length = 0; length < whole.length; length += length < 200 ? 1 : step) {
      const taken = await open(whole.subarray(0, length)).then(
        () => true,
        (error) => !isMsmError(error),
      );
      if (taken && !fits(length)) expect.fail(`${length} of ${whole.length} bytes were taken`);
    }
  });

  test.each(openers)(
    'flipped or random bytes in a file of %s give no error but bad-argument',
    async (_, open, file) => {
      const whole = file();
      const refusedOrTaken = async (bytes: Uint8Array): Promise<boolean> => open(bytes).then(() => true, isMsmError);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(Math.min(whole.length, 400) - 1), fc.integer({ min: 1, max: 255 })), {
            minLength: 1,
            maxLength: 4,
          }),
          fc.nat(whole.length),
          async (flips, kept) => {
            const bytes = new Uint8Array(whole);
            for (const [at, mask] of flips) bytes[at] = (bytes[at] as number) ^ mask;
            return (await refusedOrTaken(bytes)) && (await refusedOrTaken(bytes.subarray(0, kept)));
          },
        ),
        { numRuns: 100 },
      );
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          const magic = whole.subarray(0, 4);
          return (await refusedOrTaken(bytes)) && (await refusedOrTaken(concatBytes(magic, bytes)));
        }),
        { numRuns: 100 },
      );
    },
  );
});
