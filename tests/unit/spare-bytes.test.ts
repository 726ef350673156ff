/** Memory of copies: a later copy uses it only after it was given back, and for its length. */
import { expect, test } from 'vitest';
import { SpareBytes } from '../../src/engine/arguments.js';

const LENGTH = 2 ** 16;
const drawn = (seed: number, length = LENGTH): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Math.imul(i + seed, 0x9e3779b9) >>> 24);

test('copies do not share memory before one is given back', () => {
  const spare = new SpareBytes();
  const [first, second] = [spare.copy(drawn(1)), spare.copy(drawn(2))];
  expect(first.buffer).not.toBe(second.buffer);
  expect([first, second]).toEqual([drawn(1), drawn(2)]);
});

test('a later copy of the same length uses the memory, once', () => {
  const spare = new SpareBytes();
  const first = spare.copy(drawn(1));
  spare.giveBack(first);
  spare.giveBack(first);
  const [second, third] = [spare.copy(drawn(2)), spare.copy(drawn(3))];
  expect(second.buffer).toBe(first.buffer);
  expect(third.buffer).not.toBe(first.buffer);
  expect([second, third]).toEqual([drawn(2), drawn(3)]);
});

test('copies of other lengths, or of a part of a buffer, have their own memory', () => {
  const spare = new SpareBytes();
  const first = spare.copy(drawn(1));
  spare.giveBack(first);
  const other = spare.copy(drawn(2).subarray(1));
  expect(other.buffer).not.toBe(first.buffer);
  expect(other.buffer.byteLength).toBe(LENGTH - 1);
  expect(other).toEqual(drawn(2).slice(1));
  const part = spare.copy(drawn(3, LENGTH + 5).subarray(5));
  expect(part.buffer).toBe(first.buffer);
  expect(part).toEqual(drawn(3, LENGTH + 5).slice(5));
});

test('memory that was not made here is left alone', () => {
  const spare = new SpareBytes();
  const given = drawn(1).slice();
  spare.giveBack(given as Uint8Array<ArrayBuffer>);
  expect(spare.copy(drawn(2)).buffer).not.toBe(given.buffer);
  expect(given).toEqual(drawn(1));
});

test('small copies are not kept, and of large ones only the last few', () => {
  const spare = new SpareBytes();
  const small = spare.copy(drawn(1, LENGTH - 1));
  spare.giveBack(small);
  expect(spare.copy(drawn(1, LENGTH - 1)).buffer).not.toBe(small.buffer);
  const copies = Array.from({ length: 6 }, (_, i) => spare.copy(drawn(i)));
  for (const copy of copies) spare.giveBack(copy);
  const later = copies.map((_, i) => spare.copy(drawn(10 + i)).buffer);
  expect(later.filter((buffer) => copies.some((copy) => copy.buffer === buffer))).toHaveLength(4);
});
