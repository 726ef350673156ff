/** Scalars of callers: copied and checked at the call, converted in turns, and each once. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { convertScalars, copyScalars } from '../../src/engine/call-inputs.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { passFrames } from '../support/time.js';

const curve = curveContext(bn254);
const n = 5000;
const numbers = Array.from({ length: n }, (_, i) => BigInt(i) ** 18n % curve.order);

const bytesOf = (values: readonly bigint[], isBigEndian = false): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(32 * values.length);
  for (const [i, value] of values.entries()) {
    const own = bytes.subarray(32 * i, 32 * (i + 1));
    for (let k = 0; k < 32; k++) own[k] = Number((value >> BigInt(8 * k)) & 0xffn);
    if (isBigEndian) own.reverse();
  }
  return bytes;
};
const expected = bytesOf(numbers);
const montgomery = bytesOf(numbers.map((value) => (value << 256n) % curve.order));

const vectorOf = (given: readonly bigint[] | Uint8Array, encoding: 'le' | 'be' | 'le-montgomery') => ({
  ...copyScalars(curve, given, encoding, 'scalars'),
  ...{ n, offset: 0, loaded: null },
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each([
  ['numbers', 'le', () => numbers],
  ['big-endian bytes', 'be', () => bytesOf(numbers, true)],
  ['bytes in Montgomery form', 'le-montgomery', () => montgomery],
] as const)('%s', (_, encoding, give) => {
  test('are converted some at a time', async () => {
    const vector = vectorOf(give(), encoding);
    passFrames();
    const done: number[] = [];
    await convertScalars(curve, [vector], encoding, new TimeSlice(() => void done.push(vector.unread?.done ?? 0)));
    expect(vector.scalars).toEqual(expected);
    expect(done).toEqual([2048, 4096, 5000]);
  });

  test('are converted once, where a call ends midway or is computed again', async () => {
    const vector = vectorOf(give(), encoding);
    passFrames();
    const abort = new TimeSlice(() => {
      throw new Error('aborted');
    });
    await expect(convertScalars(curve, [vector], encoding, abort)).rejects.toThrow('aborted');
    for (let i = 0; i < 2; i++) await convertScalars(curve, [vector], encoding, new TimeSlice(() => undefined));
    expect(vector.scalars).toEqual(expected);
  });
});

test('an array may be changed right after the call', async () => {
  const given = [...numbers];
  const vector = vectorOf(given, 'le');
  given.fill(1n);
  given.length = 3;
  await convertScalars(curve, [vector], 'le', new TimeSlice(() => undefined));
  expect(vector.scalars).toEqual(expected);
});

test.each([
  [[1n, 2n, -1n], 'scalars[2] must be in [0, 2^256), got one below'],
  [[1n, 1n << 256n], 'scalars[1] must be in [0, 2^256), got one above'],
  [[1n, 2], 'scalars[1] must be a bigint, got number'],
  [new Array(2), 'scalars[0] must be a bigint, got undefined'],
])('a wrong number is refused at the call', (given, message) => {
  expect(() => copyScalars(curve, given as bigint[], 'le', 'scalars')).toThrow(message);
});
