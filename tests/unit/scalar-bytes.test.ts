/** Scalars as little-endian bytes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf, numberOf, numbersIn, SCALAR_BYTES } from '../../src/proofs/witness.js';

/** Returns a number as so many bytes, digit by digit. */
const littleEndian = (value: bigint, bytes: number): Uint8Array =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex').reverse());

const scalars = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n),
);

test('are those of their digits, and back, wherever they lie in a buffer', () => {
  fc.assert(
    fc.property(fc.array(scalars, { maxLength: 4 }), fc.nat(9), (values, before) => {
      const expected = values.map((value) => littleEndian(value, SCALAR_BYTES));
      expect(values.map(bytesOf)).toEqual(expected);
      const all = new Uint8Array(before + SCALAR_BYTES * values.length).fill(255, 0, before);
      for (const [i, bytes] of expected.entries()) all.set(bytes, before + SCALAR_BYTES * i);
      expect(numbersIn(all.subarray(before))).toEqual(values);
    }),
    { seed: 41 },
  );
});

test('coordinates of 48 bytes are numbers, too', () => {
  const coordinates = fc.bigInt({ min: 0n, max: 2n ** 384n - 1n });
  fc.assert(
    fc.property(coordinates, (value) => {
      expect(numberOf(littleEndian(value, 48))).toBe(value);
    }),
    { seed: 41 },
  );
});
