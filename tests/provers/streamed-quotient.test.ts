/** The quotient of Groth16 with matrices in the file, beside one that is computed with BigInts. */
import { describe, expect, test, vi } from 'vitest';
import { openField } from '../../src/fields/program/open-field.js';
import { openZkey } from '../../src/formats.js';
import { areInOrder, CoefficientSection } from '../../src/groth16/coefficients.js';
import { cosetOf } from '../../src/groth16/prove.js';
import { StreamedQuotient } from '../../src/groth16/streamed-quotient.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';

const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

interface Entry {
  readonly matrix: 0 | 1;
  readonly row: number;
  readonly column: number;
  readonly value: bigint;
}

/** Returns numbers below p, of which some are 0, 1 and p − 1. */
const draw = (seed: bigint) => {
  let state = seed;
  let count = 0;
  return (): bigint => {
    state = (state * 7n ** 80n + 12345n) % P;
    return [0n, 1n, P - 1n][count++ % 11] ?? state;
  };
};

/** Returns a `.zkey` whose points are zeros, which nothing reads. */
const zkeyOf = (n: number, variables: number, entries: readonly Entry[]): Uint8Array => {
  const u32 = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer);
  const header = [u32(32), bytesOf(Q), u32(32), bytesOf(P), u32(variables, 1, n), new Uint8Array(3 * 64 + 3 * 128)];
  const rows = entries.flatMap(({ matrix, row, column, value }) => [
    u32(matrix, row, column),
    bytesOf((value * 2n ** 512n) % P),
  ]);
  const sections: (readonly [number, readonly Uint8Array[]])[] = [
    [1, [u32(1)]],
    [2, header],
    [3, [new Uint8Array(2 * 64)]],
    [4, [u32(entries.length), ...rows]],
    [5, [new Uint8Array(variables * 64)]],
    [6, [new Uint8Array(variables * 64)]],
    [7, [new Uint8Array(variables * 128)]],
    [8, [new Uint8Array((variables - 2) * 64)]],
    [9, [new Uint8Array(n * 64)]],
  ];
  const parts: Uint8Array[] = [new TextEncoder().encode('zkey'), u32(1, sections.length)];
  for (const [id, contents] of sections) {
    const length = contents.reduce((sum, each) => sum + each.length, 0);
    parts.push(u32(id, length, 0), ...contents);
  }
  return Uint8Array.from(Buffer.concat(parts));
};

/** Transforms by the definition, halved again and again. */
const transform = (values: readonly bigint[], root: bigint): bigint[] => {
  if (values.length === 1) return [...values];
  const square = (root * root) % P;
  const even = transform(
    values.filter((_, i) => i % 2 === 0),
    square,
  );
  const odd = transform(
    values.filter((_, i) => i % 2 === 1),
    square,
  );
  let w = 1n;
  const half = even.length;
  const result = new Array<bigint>(values.length);
  for (let i = 0; i < half; i++) {
    const product = (w * (odd[i] as bigint)) % P;
    result[i] = ((even[i] as bigint) + product) % P;
    result[i + half] = ((even[i] as bigint) - product + P) % P;
    w = (w * root) % P;
  }
  return result;
};

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % P;
    if (bit === '1') result = (result * base) % P;
  }
  return result;
};

/** Returns L'·R' − (L·R)' by its definition. */
const expectedOf = (n: number, entries: readonly Entry[], witness: readonly bigint[], coset: bigint): bigint[] => {
  const sides = [new Array<bigint>(n).fill(0n), new Array<bigint>(n).fill(0n)] as const;
  for (const { matrix, row, column, value } of entries) {
    const side = sides[matrix];
    side[row] = ((side[row] as bigint) + value * (witness[column] as bigint)) % P;
  }
  const [left, right] = sides;
  const root = (coset * coset) % P;
  const inverse = power(BigInt(n), P - 2n);
  const there = (values: readonly bigint[]): bigint[] => {
    let factor = inverse;
    const coefficients = transform(values, power(root, P - 2n)).map((value) => {
      const result = (value * factor) % P;
      factor = (factor * coset) % P;
      return result;
    });
    return transform(coefficients, root);
  };
  const product = there(left.map((value, i) => (value * (right[i] as bigint)) % P));
  const [leftThere, rightThere] = [there(left), there(right)];
  return product.map((value, i) => ((((leftThere[i] as bigint) * (rightThere[i] as bigint)) % P) - value + P) % P);
};

/** Returns entries in order: `countOf` for each row of each matrix. */
const entriesOf = (n: number, variables: number, countOf: (row: number, matrix: 0 | 1) => number): Entry[] => {
  const next = draw(BigInt(n));
  const entries: Entry[] = [];
  for (let row = 0; row < n; row++) {
    for (const matrix of [0, 1] as const) {
      for (let i = 0; i < countOf(row, matrix); i++) {
        entries.push({ matrix, row, column: Number(next() % BigInt(variables)), value: next() });
      }
    }
  }
  return entries;
};

const shuffled = (entries: readonly Entry[]): Entry[] => {
  const next = draw(5n);
  return entries
    .map((entry) => ({ entry, key: next() % 1000003n }))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ entry }) => entry);
};

/** A file that can change, and the quotients of its circuit. */
const openStreamed = async (n: number, variables: number, entries: readonly Entry[]) => {
  const bytes = zkeyOf(n, variables, entries);
  const zkey = await openZkey({ byteLength: bytes.length, read: async (from, to) => bytes.slice(from, to) });
  if (zkey.protocol !== 'groth16') throw new Error('not reached');
  const section = await CoefficientSection.open(zkey);
  const isInOrder = await areInOrder(section, new TimeSlice(() => undefined));
  const field = await openField('bn254-fr');
  const coset = cosetOf(field, n);
  const quotient = new StreamedQuotient({ section, field, domainSize: n, coset, isInOrder });
  const next = draw(99n);
  const witness = Array.from({ length: variables }, next);
  const compute = async (check = (): void => undefined): Promise<bigint[]> => {
    const scalars = await quotient.compute(Uint8Array.from(Buffer.concat(witness.map(bytesOf))), check);
    return Array.from({ length: n }, (_, i) =>
      scalars.subarray(32 * i, 32 * i + 32).reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n),
    );
  };
  // behind the points of A, B1, B2, C and H, each section of which has a header of 12 bytes
  const end = bytes.length - (64 * (2 * variables + variables - 2 + n) + 128 * variables + 5 * 12);
  const start = end - 44 * entries.length;
  return { quotient, bytes, start, compute, isInOrder, expected: expectedOf(n, entries, witness, coset) };
};

describe('a quotient with matrices in the file', () => {
  const usual = (row: number, matrix: 0 | 1): number => (row % 3) + matrix;
  test.each([
    ['a domain of 2', 2, () => 1],
    ['a domain of 8', 8, usual],
    ['a domain of 2^10', 2 ** 10, usual],
    ['rows of more entries than are added at a time', 64, (row: number) => (row === 5 ? 500 : 1)],
    ['windows without entries', 2 ** 9, (row: number) => Number(row > 300 && row < 310)],
    ['no entries', 16, () => 0],
    ['one matrix', 32, (_: number, matrix: 0 | 1) => matrix],
  ] as const)('of %s is right, in order and in another order', async (_, n, countOf) => {
    const variables = 50;
    const entries = entriesOf(n, variables, countOf);
    const inOrder = await openStreamed(n, variables, entries);
    expect(inOrder.isInOrder).toBe(true);
    expect(await inOrder.compute()).toEqual(inOrder.expected);
    // the memory of the first serves the second
    expect(await inOrder.compute()).toEqual(inOrder.expected);
    const other = await openStreamed(n, variables, shuffled(entries));
    expect(other.isInOrder).toBe(shuffled(entries).every(({ row }, i, all) => row >= (all[i - 1]?.row ?? 0)));
    expect(await other.compute()).toEqual(inOrder.expected);
  });

  test('keeps its memory until it is trimmed or destroyed', async () => {
    const { quotient, compute, expected } = await openStreamed(8, 5, entriesOf(8, 5, usual));
    expect(quotient.memoryUsed).toBe(0);
    await compute();
    expect(quotient.memoryUsed).toBeGreaterThan(0);
    quotient.trim();
    expect(quotient.memoryUsed).toBe(0);
    expect(await compute()).toEqual(expected);
    quotient.destroy();
    expect(quotient.memoryUsed).toBe(0);
    await expect(compute()).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('refuses a file that changed, by the entry, and is right once it is as before', async () => {
    const entries = entriesOf(64, 10, usual);
    const { bytes, start, compute, expected } = await openStreamed(64, 10, entries);
    const change = async (entry: number, at: number, values: readonly number[], message: RegExp): Promise<void> => {
      const place = bytes.subarray(start + 44 * entry + at, start + 44 * entry + at + values.length);
      const before = place.slice();
      place.set(values);
      await expect(compute()).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
      place.set(before);
      expect(await compute()).toEqual(expected);
    };
    await change(7, 0, [2], /section 4 \(coefficients\): entry 7 is in matrix 2/);
    await change(7, 4, [64], /entry 7 is in matrix \d, row 64/);
    await change(7, 8, [10], /entry 7 is in matrix \d, row \d+, column 10/);
    await change(9, 12, new Array(32).fill(255), /the value of entry 9 is not below the prime/);
  });

  test('refuses a row that comes after later ones, where none did when the key was opened', async () => {
    const entries = entriesOf(64, 10, usual);
    const { bytes, start, compute } = await openStreamed(64, 10, entries);
    const last = entries.length - 1;
    bytes.fill(0, start + 44 * last + 4, start + 44 * last + 8);
    await expect(compute()).rejects.toThrow(`entry ${last} is in a row before those before it; the file changed`);
  });

  test('lets the event loop run in windows without entries, wherever they are', async () => {
    const checksWith = async (row: number): Promise<number> => {
      const { compute } = await openStreamed(2 ** 12, 5, [{ matrix: 0, row, column: 1, value: 3n }]);
      let [now, checks] = [0, 0];
      // a clock by which every step takes longer than a time slice
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
      await compute(() => void checks++);
      clock.mockRestore();
      return checks;
    };
    expect(await checksWith(2 ** 12 - 1)).toBe(await checksWith(0));
  });

  test('ends when it is told to, and the next one is right', async () => {
    const { compute, expected, quotient } = await openStreamed(2 ** 12, 50, entriesOf(2 ** 12, 50, usual));
    const enough = new Error('enough');
    // a clock by which every step takes longer than a time slice, however fast the machine is
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    for (const most of [0, 2, 4]) {
      let checks = 0;
      const computing = compute(() => {
        if (checks++ === most) throw enough;
      });
      await expect(computing).rejects.toBe(enough);
    }
    clock.mockRestore();
    expect(await compute()).toEqual(expected);
    quotient.destroy();
  });
});
