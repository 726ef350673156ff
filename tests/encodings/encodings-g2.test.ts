/**
 * Points of G2 in the encodings of others: read as what they are, by the GPU and by the CPU, and
 * refused where they are none.
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { concatBytes, hexToBytes, numberToBytesBE } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { oracles, oraclesOfG2 } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import { expectedMsm, infinityOf, makeKnownBases, toAffinePoint } from '../../dev/oracle/known-bases.js';
import type { PairingName } from '../../src/curves/more-curves.js';
import type { AffinePoint, Fp2, MsmEngine, PointEncoding } from '../../src/index.js';
import { eip197, eip2537G2, generatorOfEip197, refusedByEip2537, type Vector } from '../support/eip-vectors.js';
import { keptEngine } from '../support/engines.js';

/**
 * Points are always imported on the GPU; compiling the rest of it for fields of pairs takes long.
 */
type Place = 'gpu' | 'cpu';

const engineOf = (curve: PairingName, on: Place): Promise<MsmEngine<Fp2>> => {
  return keptEngine({ curve, group: 'g2' }, { tuning: { cpuBelow: on === 'gpu' ? 0 : 2 ** 16 } });
};

const n = 20;
const knownOf = (curve: PairingName) => {
  const { points, logs } = makeKnownBases(oraclesOfG2[curve], n, 22);
  return {
    points: points.map((point, i) => (i % 7 === 3 ? infinityOf(oraclesOfG2[curve].Point) : point)),
    logs: logs.map((log, i) => (i % 7 === 3 ? 0n : log)),
  };
};

const encoded = (curve: PairingName, encoding: PointEncoding): Uint8Array =>
  pointsIn(oraclesOfG2[curve], knownOf(curve).points, encoding);

const givesTheSame = async (curve: PairingName, encoding: PointEncoding, on: Place): Promise<void> => {
  const { logs } = knownOf(curve);
  const engine = await engineOf(curve, on);
  const bases = await engine.loadBases(encoded(curve, encoding), { encoding });
  expect(bases.length).toBe(n);
  expect(await engine.msm(bases, logs)).toEqual(expectedMsm(oraclesOfG2[curve], logs, logs));
  expect(engine.lastRun?.on).toBe(on);
  bases.destroy();
};

describe('encoded points of G2', () => {
  const cases = [
    ['bn254', 'le'],
    ['bn254', 'be'],
    ['bn254', 'le-montgomery'],
    ['bn254', 'eip196'],
    ['bls12-381', 'le'],
    ['bls12-381', 'be'],
    ['bls12-381', 'le-montgomery'],
    ['bls12-381', 'eip2537'],
    ['bls12-381', 'zcash'],
  ] as const;
  const others = [
    ['bls12-377', 'be'],
    ['bls12-377', 'le-montgomery'],
  ] as const;
  test.each(cases)('of %s in %s give the same sums', (curve, encoding) => givesTheSame(curve, encoding, 'cpu'));
  test.each([...cases, ...others])('of %s in %s give the same sums on the GPU', { tags: 'long' }, (curve, encoding) =>
    givesTheSame(curve, encoding, 'gpu'),
  );

  test.each(['bn254', 'bls12-381'] as const)('of %s are in `be` as noble writes them', (curve) => {
    const { Fp } = oraclesOfG2[curve].Point;
    const bytes = knownOf(curve).points.flatMap(({ x, y }) => [Fp.toBytes(x), Fp.toBytes(y)]);
    expect(encoded(curve, 'be')).toEqual(concatBytes(...bytes));
  });
});

describe('published vectors of G2', () => {
  /** Reads four hexadecimal numbers of the same length as a point of G2; infinity is zeros. */
  const pointOf = (text: string): AffinePoint<Fp2> => {
    const size = text.length / 4;
    const numbers = Array.from({ length: 4 }, (_, i) => BigInt(`0x${text.slice(i * size, (i + 1) * size)}`));
    const [x0, x1, y0, y1] = numbers as [bigint, bigint, bigint, bigint];
    return { x: { c0: x0, c1: x1 }, y: { c0: y0, c1: y1 }, infinity: numbers.every((number) => number === 0n) };
  };

  const givesWhatItSays = async ({ input, expected }: Vector): Promise<void> => {
    const pairs = hexToBytes(input);
    const each = Array.from({ length: pairs.length / 288 }, (_, i) => pairs.subarray(288 * i, 288 * (i + 1)));
    const engine = await engineOf('bls12-381', 'cpu');
    const bases = await engine.loadBases(concatBytes(...each.map((pair) => pair.subarray(0, 256))), {
      encoding: 'eip2537',
    });
    const scalars = concatBytes(...each.map((pair) => pair.subarray(256)));
    expect(await engine.msm(bases, scalars, { scalarEncoding: 'be' })).toEqual(pointOf(expected));
    bases.destroy();
  };
  test.each(eip2537G2.map((vector) => [vector.name, vector] as const))('EIP-2537: %s', (_, vector) =>
    givesWhatItSays(vector),
  );

  test('EIP-197: the generator and its opposite', async () => {
    const engine = await engineOf('bn254', 'cpu');
    const bases = await engine.loadBases(hexToBytes(eip197.join('')), { encoding: 'eip196' });
    const [x1, x0, y1, y0] = generatorOfEip197;
    const generator = { x: { c0: x0, c1: x1 }, y: { c0: y0, c1: y1 }, infinity: false };
    expect(await engine.msm(bases, [1n])).toEqual(generator);
    expect(await engine.msm(bases, [3n, 2n])).toEqual(generator);
    expect(await engine.msm(bases, [1n, 1n])).toEqual(infinityOf(oraclesOfG2.bn254.Point));
    bases.destroy();
  });
});

describe('invalid encoded points of G2 are rejected', () => {
  const refused = async (
    curve: PairingName,
    encoding: PointEncoding,
    points: Uint8Array,
    code: string,
    message: RegExp,
  ): Promise<void> => {
    const engine = await engineOf(curve, 'cpu');
    await expect(engine.loadBases(points, { encoding })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(engine.memory.bases).toBe(0);
  };
  const changed = (
    curve: PairingName,
    encoding: PointEncoding,
    change: (bytes: Uint8Array) => Uint8Array | undefined,
  ): Uint8Array => {
    const bytes = encoded(curve, encoding);
    return change(bytes) ?? bytes;
  };
  const flagged = (at: number, flag: number): Uint8Array =>
    changed('bls12-381', 'zcash', (bytes) => bytes.fill(flag ^ (bytes[at] as number), at, at + 1));
  const primeAt = (curve: PairingName, encoding: PointEncoding, at: number, length: number): Uint8Array =>
    changed(curve, encoding, (bytes) => {
      bytes.set(numberToBytesBE(oracles[curve].Point.Fp.ORDER, length), at);
      return bytes;
    });

  const cases: [string, PairingName, PointEncoding, Uint8Array, string, RegExp][] = [
    [
      'an encoding of another curve',
      'bn254',
      'eip2537',
      new Uint8Array(128),
      'bad-argument',
      /options.encoding: 'eip2537' is not an encoding of bn254 G2; there are le, be, le-montgomery, eip196, ark, ark-compressed, gnark, gnark-compressed, aztec$/,
    ],
    [
      'a curve without an encoding of its own',
      'bls12-377',
      'zcash',
      new Uint8Array(192),
      'bad-argument',
      /'zcash' is not an encoding of bls12-377 G2; there are le, be, le-montgomery, ark, ark-compressed, gnark, gnark-compressed$/,
    ],
    [
      'points of G1',
      'bls12-381',
      'eip2537',
      new Uint8Array(128),
      'bad-argument',
      /128 bytes are not a whole number of points of 256 bytes in eip2537/,
    ],
    ...([0, 1, 2, 3] as const).flatMap((number): (typeof cases)[number][] => [
      [
        `padding that is not zero, number ${number}`,
        'bls12-381',
        'eip2537',
        changed('bls12-381', 'eip2537', (bytes) => bytes.fill(1, 512 + 64 * number + 15, 512 + 64 * number + 16)),
        'bad-argument',
        /points\[2\]: the 16 bytes in front/,
      ],
      [
        `a number of p, number ${number}`,
        'bls12-381',
        'eip2537',
        primeAt('bls12-381', 'eip2537', 512 + 64 * number, 64),
        'bad-argument',
        /points\[2\]: a coordinate is not below the prime of bls12-381 G2$/,
      ],
      [
        `a number of p in EIP-197, number ${number}`,
        'bn254',
        'eip196',
        primeAt('bn254', 'eip196', 128 + 32 * number, 32),
        'bad-argument',
        /points\[1\]: a coordinate is not below the prime of bn254 G2$/,
      ],
    ]),
    [
      'c0 before c1 in EIP-197',
      'bn254',
      'eip196',
      encoded('bn254', 'be'),
      'not-on-curve',
      /points\[0\] is not on bn254 G2$/,
    ],
    [
      'c1 before c0',
      'bls12-381',
      'be',
      changed('bls12-381', 'zcash', (bytes) => bytes.subarray(0, 192)),
      'not-on-curve',
      /points\[0\] is not on bls12-381 G2$/,
    ],
    [
      'a point off the curve, in Montgomery form',
      'bn254',
      'le-montgomery',
      changed('bn254', 'le-montgomery', (bytes) => bytes.copyWithin(128 + 96, 128 + 64, 128 + 96)),
      'not-on-curve',
      /points\[1\] is not on bn254 G2$/,
    ],
    [
      'a compressed point',
      'bls12-381',
      'zcash',
      flagged(192, 0x80),
      'bad-argument',
      /points\[1\] is compressed, which is another encoding/,
    ],
    ['a sign', 'bls12-381', 'zcash', flagged(192 * 2, 0x20), 'bad-argument', /points\[2\] has invalid flags/],
    [
      'infinity that is none',
      'bls12-381',
      'zcash',
      flagged(192 * 2, 0x40),
      'bad-argument',
      /points\[2\]: the flag of infinity requires zero coordinates/,
    ],
    [
      'zeros without the flag',
      'bls12-381',
      'zcash',
      flagged(192 * 3, 0x40),
      'bad-argument',
      /points\[3\]: the flag of infinity requires zero coordinates/,
    ],
    [
      'infinity whose last number is not zero',
      'bls12-381',
      'zcash',
      changed('bls12-381', 'zcash', (bytes) => bytes.fill(1, 192 * 4 - 1, 192 * 4)),
      'bad-argument',
      /points\[3\]: the flag of infinity requires zero coordinates/,
    ],
    ...(
      [
        ['bls_g2msm_violate_top_bytes', 'bad-argument', /points\[0\]: the 16 bytes in front/],
        ['bls_g2msm_invalid_field_element', 'bad-argument', /points\[0\]: a coordinate is not below the prime/],
        ['bls_g2msm_point_not_on_curve', 'not-on-curve', /points\[0\] is not on bls12-381 G2$/],
        ['bls_g2msm_point_in_correct_subgroup_invalid_curve', 'not-on-curve', /points\[0\] is not on bls12-381 G2$/],
      ] as const
    ).map(([name, code, message]): (typeof cases)[number] => [
      `EIP-2537: ${name}`,
      'bls12-381',
      'eip2537',
      hexToBytes(refusedByEip2537[name]),
      code,
      message,
    ]),
  ];
  test.each(cases)('%s', (_, curve, encoding, points, code, message) =>
    refused(curve, encoding, points, code, message),
  );

  test('a point outside the group is accepted, which EIP-2537 rejects', async () => {
    const bytes = hexToBytes(refusedByEip2537.bls_pairing_g2_not_in_correct_subgroup);
    const [x0, x1, y0, y1] = [0, 1, 2, 3].map((i) =>
      BigInt(`0x${Buffer.from(bytes.subarray(64 * i, 64 * (i + 1))).toString('hex')}`),
    ) as [bigint, bigint, bigint, bigint];
    const point = bls12_381.G2.Point.fromAffine({ x: { c0: x0, c1: x1 }, y: { c0: y0, c1: y1 } });
    expect(point.isTorsionFree()).toBe(false);
    const engine = await engineOf('bls12-381', 'cpu');
    const bases = await engine.loadBases(bytes, { encoding: 'eip2537' });
    expect(await engine.msm(bases, [5n])).toEqual(toAffinePoint(point.multiplyUnsafe(5n)));
    bases.destroy();
  });
});

test.each([
  ['bn254', 'le'],
  ['bn254', 'be'],
  ['bn254', 'le-montgomery'],
  ['bn254', 'eip196'],
  ['bls12-381', 'eip2537'],
  ['bls12-381', 'zcash'],
] as const)('results of %s in %s', async (curve, result) => {
  const { points, logs } = knownOf(curve);
  const engine = await engineOf(curve, 'cpu');
  const bases = await engine.loadBases(points);
  for (const scalars of [logs, logs.map(() => 0n)]) {
    const expected = expectedMsm(oraclesOfG2[curve], logs, scalars);
    expect(await engine.msm(bases, scalars, { result })).toEqual(pointsIn(oraclesOfG2[curve], [expected], result));
  }
  bases.destroy();
});
