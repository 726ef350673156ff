/** Points in the formats of other tools are refused, and the message says which format it is. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { bls12381 } from '../../dev/oracle/curves.js';
import type { MsmEngine } from '../../src/index.js';
import { openEngine } from '../support/engines.js';

const curves = [
  ['bn254', 'bn254', bn254.G1.Point, 32] as const,
  [bls12381.name, bls12381, bls12_381.G1.Point, 48] as const,
];

describe.each(curves)('%s', (name, curve, { BASE, Fp }, bytes) => {
  const R = 2n ** BigInt(8 * bytes);
  const points = [2n, 3n, 5n, 7n].map((factor) => BASE.multiply(factor).toAffine());
  let engine: MsmEngine;

  beforeAll(async () => {
    engine = await openEngine({ curve });
  });

  /** Points as bytes, each coordinate by a writing. */
  const write = (writing: (value: bigint) => Uint8Array): Uint8Array =>
    Uint8Array.from(points.flatMap(({ x, y }) => [...writing(x), ...writing(y)]));
  const bigEndian = (value: bigint): Uint8Array =>
    Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex'));
  const littleEndian = (value: bigint): Uint8Array => bigEndian(value).reverse();
  const montgomery = (value: bigint): bigint => Fp.mul(value, Fp.create(R));
  const load = (given: Uint8Array): Promise<unknown> => engine.loadBases(given).catch((error: unknown) => error);

  test.each<[string, (value: bigint) => Uint8Array]>([
    ['big-endian bytes', bigEndian],
    [`little-endian bytes in Montgomery form (R = 2^${8 * bytes})`, (value) => littleEndian(montgomery(value))],
    [`big-endian bytes in Montgomery form (R = 2^${8 * bytes})`, (value) => bigEndian(montgomery(value))],
  ])('%s', async (format, writing) => {
    const error = await load(write(writing));
    expect(error).toMatchObject({ name: 'MsmError', code: expect.stringMatching(/^(bad-argument|not-on-curve)$/) });
    const { message } = error as Error;
    expect(message.startsWith('points[0]'), message).toBe(true);
    expect(message).toContain(name);
    expect(message.endsWith(`, but read as ${format} it is on the curve; convert before you load`), message).toBe(true);
  });

  test('the point in the error is the point that was checked', async () => {
    const given = write(littleEndian);
    given.set(write((value) => littleEndian(montgomery(value))).subarray(4 * bytes, 6 * bytes), 4 * bytes);
    expect(await load(given)).toMatchObject({
      code: 'not-on-curve',
      message: `points[2] is not on ${name}, but read as little-endian bytes in Montgomery form (R = 2^${8 * bytes}) it is on the curve; convert before you load`,
    });
  });

  test('the error is right also in a later slice', { tags: 'long' }, async () => {
    // tables of at most 64 points are made at a time
    const own = await openEngine({ curve, tuning: { additionsPerSubmit: 1024 } });
    const one = write(littleEndian).subarray(0, 2 * bytes);
    const given = new Uint8Array(70 * one.length);
    for (let i = 0; i < 70; i++) given.set(one, i * one.length);
    given.set(write(bigEndian).subarray(0, one.length), 66 * one.length);
    await expect(own.loadBases(given, { precompute: 2 })).rejects.toMatchObject({
      message: expect.stringMatching(/^points\[66\].*, but read as big-endian bytes it is on the curve/),
    });
  });

  test('a point in no known format is rejected without a guess', async () => {
    const given = write(littleEndian);
    given[2 * bytes] = (given[2 * bytes] as number) ^ 1;
    expect(await load(given)).toMatchObject({ code: 'not-on-curve', message: `points[1] is not on ${name}` });
    given.fill(0xff, 0, bytes);
    expect(await load(given)).toMatchObject({
      code: 'bad-argument',
      message: `points[0]: a coordinate is not below the prime of ${name}`,
    });
  });

  test('the error is right with tables, and for points as values', { tags: 'long' }, async () => {
    const given = write((value) => littleEndian(montgomery(value)));
    const format = `read as little-endian bytes in Montgomery form (R = 2^${8 * bytes}) it is on the curve`;
    const message = expect.stringContaining(format);
    await expect(engine.loadBases(given, { precompute: 2 })).rejects.toMatchObject({ code: 'not-on-curve', message });
    const values = points.map(({ x, y }) => ({ x: montgomery(x), y: montgomery(y), infinity: false }));
    await expect(engine.loadBases(values)).rejects.toMatchObject({ code: 'not-on-curve', message });
  });
});
