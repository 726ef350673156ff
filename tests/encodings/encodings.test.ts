/**
 * Points and scalars in the encodings of others: the same sums as in ours, on the GPU and on the
 * CPU.
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { hexToBytes, numberToBytesBE } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { type CurveName, curveNames, oracles } from '../../dev/oracle/curves.js';
import { pointsIn, scalarsIn } from '../../dev/oracle/encodings.js';
import { type AffinePoint, expectedMsm, groupOrder, INFINITY, makeKnownBases } from '../../dev/oracle/known-bases.js';
import { curveContext, isOnCurve } from '../../src/curves/curve.js';
import { bls12377 } from '../../src/curves/pairing-friendly.js';
import { Y_EVEN, Y_ODD } from '../../src/curves/point-source.js';
import { readElement, writeElement } from '../../src/field/field.js';
import type { MsmEngine, PointEncoding, ScalarEncoding } from '../../src/index.js';
import { decompression } from '../../src/msm/stages/point-programs.js';
import { runProgram } from '../reference/program.js';
import { eip196, eip2537, type Vector } from '../support/eip-vectors.js';
import { keptEngine, openEngine } from '../support/engines.js';

/** One of each curve for the GPU, and one that takes everything to the CPU. */
const engineOf = (curve: CurveName, cpuBelow: number): Promise<MsmEngine<bigint>> =>
  keptEngine({ curve, group: 'g1' }, { tuning: { cpuBelow } });

const encoded = (curve: CurveName, points: readonly AffinePoint[], encoding: PointEncoding): Uint8Array =>
  pointsIn(oracles[curve], points, encoding);

const n = 40;
const knownOf = (curve: CurveName) => {
  const { points, logs } = makeKnownBases(oracles[curve], n, 21);
  return {
    points: points.map((point, i) => (i % 7 === 3 ? INFINITY : point)),
    logs: logs.map((log, i) => (i % 7 === 3 ? 0n : log)),
  };
};

const givesTheSame = async (curve: CurveName, encoding: PointEncoding): Promise<void> => {
  const known = knownOf(curve);
  const bytes = encoded(curve, known.points, encoding);
  const expected = expectedMsm(oracles[curve], known.logs, known.logs);
  for (const cpuBelow of [0, 2 ** 16]) {
    const engine = await engineOf(curve, cpuBelow);
    const bases = await engine.loadBases(bytes, { encoding });
    expect(bases.length).toBe(n);
    expect(await engine.msm(bases, known.logs)).toEqual(expected);
    expect(engine.lastRun?.on).toBe(cpuBelow === 0 ? 'gpu' : 'cpu');
    expect(await engine.msm(bases, known.logs.slice(5), { offset: 5, verify: true })).toEqual(
      expectedMsm(oracles[curve], known.logs.slice(5), known.logs.slice(5)),
    );
    bases.destroy();
  }
};

describe('encoded points', () => {
  const common = ['be', 'le-montgomery'] as const;
  const first: CurveName[] = ['bn254'];
  const others = curveNames.filter((name) => !first.includes(name));
  const pairs = (names: readonly CurveName[]) =>
    names.flatMap((name) => common.map((encoding) => [name, encoding] as const));

  test.each([...pairs(first), ['bn254', 'eip196'] as const])('of %s in %s give the same sums', givesTheSame);
  test.each([...pairs(others), ['bls12-381', 'eip2537'] as const])(
    'of %s in %s give the same sums',
    { tags: 'long' },
    givesTheSame,
  );

  test('of bls12-381 as noble writes them give the same sums', { tags: 'long' }, async () => {
    const { Point } = bls12_381.G1;
    const { points, logs } = knownOf('bls12-381');
    const bytes = points.map(({ x, y, infinity }) =>
      (infinity ? Point.ZERO : Point.fromAffine({ x, y })).toBytes(false),
    );
    const engine = await engineOf('bls12-381', 0);
    const bases = await engine.loadBases(Buffer.concat(bytes), { encoding: 'zcash' });
    expect(await engine.msm(bases, logs)).toEqual(expectedMsm(oracles['bls12-381'], logs, logs));
    bases.destroy();
  });

  test('with tables give the same sums', async () => {
    const { points, logs } = knownOf('bn254');
    const engine = await engineOf('bn254', 0);
    const bases = await engine.loadBases(encoded('bn254', points, 'le-montgomery'), {
      encoding: 'le-montgomery',
      precompute: 2,
    });
    expect(await engine.msm(bases, logs)).toEqual(expectedMsm(oracles.bn254, logs, logs));
    bases.destroy();
  });
});

describe('published vectors', () => {
  const givesWhatItSays = async (
    curve: CurveName,
    encoding: PointEncoding,
    { input, expected }: Vector,
  ): Promise<void> => {
    const bytes = hexToBytes(input);
    const pointBytes = encoding === 'eip2537' ? 128 : 64;
    const pairs = Array.from({ length: bytes.length / (pointBytes + 32) }, (_, i) =>
      bytes.subarray(i * (pointBytes + 32), (i + 1) * (pointBytes + 32)),
    );
    const points = Buffer.concat(pairs.map((pair) => pair.subarray(0, pointBytes)));
    const scalars = Buffer.concat(pairs.map((pair) => pair.subarray(pointBytes)));
    const half = expected.length / 2;
    const [x, y] = [expected.slice(0, half), expected.slice(half)].map((text) => BigInt(`0x${text}`)) as [
      bigint,
      bigint,
    ];
    for (const cpuBelow of [0, 2 ** 16]) {
      const engine = await engineOf(curve, cpuBelow);
      const bases = await engine.loadBases(points, { encoding });
      expect(await engine.msm(bases, scalars, { scalarEncoding: 'be' })).toEqual({
        x,
        y,
        infinity: x === 0n && y === 0n,
      });
      bases.destroy();
    }
  };
  test.each(eip196.map((vector) => [vector.name, vector] as const))('EIP-196: %s', (_, vector) =>
    givesWhatItSays('bn254', 'eip196', vector),
  );
  test.each(eip2537.map((vector) => [vector.name, vector] as const))('EIP-2537: %s', { tags: 'long' }, (_, vector) =>
    givesWhatItSays('bls12-381', 'eip2537', vector),
  );
});

test('scalars in every encoding give the same sums, one vector and several', async () => {
  const { points, logs } = knownOf('bn254');
  const order = groupOrder(oracles.bn254);
  const scalars = [...logs.slice(0, -2), 2n ** 256n - 1n, order];
  const expected = expectedMsm(oracles.bn254, logs, scalars);
  const engine = await engineOf('bn254', 0);
  const bases = await engine.loadBases(points);
  for (const scalarEncoding of ['le', 'be', 'le-montgomery'] as const) {
    const bytes = scalarsIn(oracles.bn254, scalars, scalarEncoding);
    const given = bytes.slice();
    expect(await engine.msm(bases, given, { scalarEncoding, verify: true }), scalarEncoding).toEqual(expected);
    expect(await engine.msmBatch(bases, [given, given.subarray(0, 64)], { scalarEncoding })).toEqual([
      expected,
      expectedMsm(oracles.bn254, logs, scalars.slice(0, 2)),
    ]);
    // what is the caller's stays as it was
    expect(given).toEqual(bytes);
  }
  bases.destroy();
});

// x = −1 on y² = x³ + 1, a point of order 2
describe.each([
  ['ark-compressed', (x: bigint) => [...numberToBytesBE(x, 48)].reverse(), 47, 0x00, 0x80],
  ['gnark-compressed', (x: bigint) => [...numberToBytesBE(x, 48)], 0, 0x80, 0xa0],
] as const)('a y of 0 in %s', (encoding, write, at, smaller, larger) => {
  const { p } = bls12377;
  const withFlag = (flag: number): Uint8Array => {
    const bytes = Uint8Array.from(write(p - 1n));
    bytes[at] = (bytes[at] as number) | flag;
    return bytes;
  };
  const isTold = async (backend: 'cpu' | 'gpu'): Promise<void> => {
    const engine = await openEngine({ curve: 'bls12-377', backend, maxWorkers: 0 });
    const bases = await engine.loadBases(withFlag(smaller), { encoding });
    expect(await engine.msm(bases, [3n])).toEqual({ x: p - 1n, y: 0n, infinity: false });
    await expect(engine.loadBases(withFlag(larger), { encoding })).rejects.toMatchObject({
      code: 'not-on-curve',
      message: 'points[0] is not on bls12-377',
    });
  };

  test('has one sign, that of the smaller y', () => isTold('cpu'));
  test('has one sign, that of the smaller y, on a GPU', { tags: 'long' }, () => isTold('gpu'));

  test('has one sign in the CPU reference of the GPU program', () => {
    const curve = curveContext(bls12377);
    const program = decompression(curve, 'larger');
    for (const [flag, isPoint] of [
      [Y_EVEN, true],
      [Y_ODD, false],
    ] as const) {
      const words = new Uint32Array(curve.pointWords);
      writeElement(curve.coordinates, words, 0, p - 1n);
      words[curve.coordinates.words] = flag;
      const config = { begin: 0, end: 1, first: 0, steps: program.steps.length, writes: 1, refused: 0 };
      runProgram(curve, config, program, words);
      const [x, y] = [0, curve.coordinates.words].map((from) => readElement(curve.coordinates, words, from));
      expect(x).toBe(p - 1n);
      expect(isOnCurve(curve, x as bigint, y as bigint)).toBe(isPoint);
    }
  });
});

describe('invalid encoded points are rejected', () => {
  const bytesOf = (encoding: PointEncoding, change: (bytes: Uint8Array) => void, curve: CurveName = 'bn254') => {
    const bytes = encoded(curve, knownOf(curve).points, encoding);
    change(bytes);
    return bytes;
  };
  const zcash = (change: (bytes: Uint8Array) => void): Uint8Array => {
    const bytes = bytesOf('be', () => undefined, 'bls12-381');
    for (const i of [3, 10, 17, 24, 31, 38]) bytes[96 * i] = 0x40;
    change(bytes);
    return bytes;
  };
  const cases: [string, CurveName, PointEncoding, Uint8Array | readonly AffinePoint[], string, RegExp][] = [
    [
      'an encoding of another curve',
      'bn254',
      'zcash',
      new Uint8Array(64),
      'bad-argument',
      /options.encoding: 'zcash' is not an encoding of bn254; there are le, be, le-montgomery, eip196, ark, /,
    ],
    [
      'no encoding',
      'bn254',
      'toString' as PointEncoding,
      new Uint8Array(64),
      'bad-argument',
      /'toString' is not an encoding of/,
    ],
    [
      'points that are no bytes',
      'bn254',
      'be',
      [INFINITY],
      'bad-argument',
      /points must be bytes, as options.encoding is for bytes, got Array/,
    ],
    [
      'half a point',
      'bls12-381',
      'eip2537',
      new Uint8Array(192),
      'bad-argument',
      /192 bytes are not a whole number of points of 128 bytes in eip2537/,
    ],
    [
      'padding that is not zero',
      'bls12-381',
      'eip2537',
      bytesOf('eip2537', (bytes) => bytes.fill(1, 128 * 2 + 64 + 15, 128 * 2 + 64 + 16), 'bls12-381'),
      'bad-argument',
      /points\[2\]: the 16 bytes in front/,
    ],
    [
      'a coordinate of p',
      'bn254',
      'be',
      bytesOf('be', (bytes) => bytes.set(numberToBytesBE(oracles.bn254.Point.Fp.ORDER, 32), 64)),
      'bad-argument',
      /points\[1\]: a coordinate is not below the prime of bn254$/,
    ],
    [
      'a point off the curve',
      'bn254',
      'be',
      bytesOf('be', (bytes) => bytes.set([...bytes.subarray(64, 96)], 64 + 32)),
      'not-on-curve',
      /points\[1\] is not on bn254$/,
    ],
    [
      'a point off the curve, in Montgomery form',
      'bn254',
      'le-montgomery',
      bytesOf('le-montgomery', (bytes) => bytes.set([...bytes.subarray(64, 96)], 64 + 32)),
      'not-on-curve',
      /points\[1\] is not on bn254$/,
    ],
    ['little-endian points as big-endian ones', 'bn254', 'be', encodedLittle(), 'bad-argument', /points\[\d\]/],
    [
      'a compressed point',
      'bls12-381',
      'zcash',
      zcash((bytes) => {
        bytes[96] = 0x80 | (bytes[96] as number);
      }),
      'bad-argument',
      /points\[1\] is compressed, which is another encoding/,
    ],
    [
      'a sign',
      'bls12-381',
      'zcash',
      zcash((bytes) => {
        bytes[0] = 0x20 | (bytes[0] as number);
      }),
      'bad-argument',
      /points\[0\] has invalid flags/,
    ],
    [
      'infinity that is none',
      'bls12-381',
      'zcash',
      zcash((bytes) => {
        bytes[96 * 2] = 0x40 | (bytes[96 * 2] as number);
      }),
      'bad-argument',
      /points\[2\]: the flag of infinity requires zero coordinates/,
    ],
    [
      'zeros without the flag',
      'bls12-381',
      'zcash',
      zcash((bytes) => {
        bytes[96 * 3] = 0;
      }),
      'bad-argument',
      /points\[3\]: the flag of infinity requires zero coordinates/,
    ],
  ];
  test.each(cases)('%s', async (_, curve, encoding, points, code, message) => {
    const engine = await engineOf(curve, 0);
    await expect(engine.loadBases(points, { encoding })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(engine.memory.bases).toBe(0);
  });

  test('invalid encoded scalars are rejected', async () => {
    const engine = await engineOf('bn254', 0);
    const bases = await engine.loadBases(knownOf('bn254').points);
    for (const [scalars, scalarEncoding, message] of [
      [new Uint8Array(64), 'eb', /options.scalarEncoding must be 'le' or 'be' or 'le-montgomery', got 'eb'/],
      [[1n, 2n], 'be', /scalars must be bytes, as options.scalarEncoding is for bytes, got Array/],
      [new Uint8Array(33), 'be', /33 bytes are not a whole number of scalars of 32 bytes/],
    ] as const) {
      await expect(
        engine.msm(bases, scalars, { scalarEncoding: scalarEncoding as ScalarEncoding }),
      ).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
    }
    bases.destroy();
  });
});

function encodedLittle(): Uint8Array {
  return makeKnownBases(oracles.bn254, n, 21).bytes;
}

describe('encoded results', () => {
  const encodingsOf = (curve: CurveName): readonly PointEncoding[] => [
    ...(['le', 'be', 'le-montgomery'] as const),
    ...(curve === 'bn254' ? (['eip196'] as const) : curve === 'bls12-381' ? (['eip2537'] as const) : []),
  ];
  const areWritten = async (curve: CurveName): Promise<void> => {
    const engine = await engineOf(curve, 2 ** 16);
    const known = knownOf(curve);
    const bases = await engine.loadBases(known.points);
    const vectors = [known.logs, [], known.logs.slice(0, 3)];
    const expected = vectors.map((scalars) => expectedMsm(oracles[curve], known.logs, scalars));
    for (const result of encodingsOf(curve)) {
      const each = expected.map((sum) => pointsIn(oracles[curve], [sum], result));
      expect(await engine.msmBatch(bases, vectors, { result }), result).toEqual(each);
      expect(await engine.msm(bases, known.logs, { result })).toEqual(each[0]);
    }
    expect(await engine.msm(bases, known.logs, { result: 'affine' })).toEqual(expected[0]);
    bases.destroy();
  };
  test('of bn254 equal the oracle', () => areWritten('bn254'));
  test.each(curveNames.filter((name) => name !== 'bn254'))('of %s equal the oracle', { tags: 'long' }, areWritten);

  test('of bls12-381 equal those of noble', { tags: 'long' }, async () => {
    const { Point } = bls12_381.G1;
    const engine = await engineOf('bls12-381', 2 ** 16);
    const { points, logs } = knownOf('bls12-381');
    const bases = await engine.loadBases(points);
    const sum = Point.BASE.multiply(Point.Fn.create(logs.reduce((total, log) => total + log * log, 0n)));
    expect(await engine.msm(bases, logs, { result: 'zcash' })).toEqual(sum.toBytes(false));
    expect(await engine.msm(bases, [0n], { result: 'zcash' })).toEqual(Point.ZERO.toBytes(false));
    bases.destroy();
  });

  test('in an unknown encoding are rejected before any computation', async () => {
    const engine = await engineOf('bn254', 2 ** 16);
    const bases = await engine.loadBases(knownOf('bn254').points);
    const { lastRun } = engine;
    await expect(engine.msm(bases, [1n], { result: 'aztec-compressed' })).rejects.toMatchObject({
      code: 'bad-argument',
      message: "options.result: 'aztec-compressed' cannot represent infinity, which a sum may be",
    });
    for (const result of ['eip2537', 'x', 7, null]) {
      await expect(engine.msm(bases, [1n], { result } as never)).rejects.toMatchObject({
        code: 'bad-argument',
        message: `options.result: '${result}' is not an encoding of bn254; there are le, be, le-montgomery, eip196, ark, ark-compressed, gnark, gnark-compressed, aztec, aztec-compressed`,
      });
    }
    expect(engine.lastRun).toBe(lastRun);
    bases.destroy();
  });
});
