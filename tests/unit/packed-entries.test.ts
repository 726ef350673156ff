/** Entries of matrices, packed with each value once, and sorted by row in steps. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortEntries } from '../../src/fields/cpu/rows.js';
import { type SortedRows, sortRows } from '../../src/fields/gpu/rows.js';
import { ENTRIES_PER_STEP, packEntries, ValueTable } from '../../src/fields/program/entries.js';
import { createFieldEngine } from '../../src/fields.js';

/** Runs all steps. @returns the result, and how many pauses were offered */
const finish = <Result>(steps: Generator<void, Result>): { result: Result; pauses: number } => {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
};

const PER_NUMBER = 2;

/** Sizes of a device that binds whole matrices. */
const wholeSizes = { perNumber: PER_NUMBER, elementBytes: 32, mostBytes: Number.POSITIVE_INFINITY };

/** Entries of a matrix of 7 × 9 with few values and with many. */
const entries = fc.array(
  fc.record({
    row: fc.nat(6),
    column: fc.nat(8),
    value: fc.tuple(fc.nat(3), fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 ** 32 - 1 }))),
  }),
  { maxLength: 400 },
);

/** The entries as a multiset of texts. */
const textOf = (all: readonly { row: number; column: number; value: readonly number[] }[]): string[] =>
  all.map(({ row, column, value }) => `${row} ${column} ${value}`).sort();

test('are the same after packing and sorting, for the CPU and for the GPU', () => {
  fc.assert(
    fc.property(entries, (given) => {
      const column = (name: 'row' | 'column') => Uint32Array.from(given, (entry) => entry[name]);
      const words = Uint32Array.from(given.flatMap(({ value }) => value));
      const shape = { rows: 7, columns: 9, row: column('row'), column: column('column') };
      const { result: packed } = finish(packEntries(shape, words, PER_NUMBER));
      const valueAt = (index: number): number[] => [
        ...packed.values.subarray(index * PER_NUMBER, (index + 1) * PER_NUMBER),
      ];
      const different = new Set(given.map(({ value }) => String(value)).concat('0,0'));
      expect(packed.values.length).toBe(different.size * PER_NUMBER);

      const { list, values } = finish(sortEntries(packed)).result;
      expect(values).toBe(packed.values);
      const triples = Array.from({ length: list.length / 3 }, (_, i) => [...list.subarray(3 * i, 3 * i + 3)]);
      expect(triples.length % 2).toBe(0);
      const filled = triples.filter(([row]) => row !== 7);
      const told = filled.map(([row, value, of]) => ({
        row: row as number,
        column: of as number,
        value: valueAt(value as number),
      }));
      expect(textOf(told)).toEqual(textOf(given));
      // each lane is in order, and the lanes share no row
      const lanes = [0, 1].map((lane) => triples.filter((_, i) => i % 2 === lane).map(([row]) => row as number));
      for (const lane of lanes) expect(lane).toEqual([...lane].sort((left, right) => left - right));
      const [first, second] = lanes.map((lane) => new Set(lane.filter((row) => row !== 7)));
      expect([...(first as Set<number>)].some((row) => second?.has(row))).toBe(false);

      const [whole, ...others] = finish(sortRows(packed, wholeSizes)).result;
      const { levels, columns, valueIndices, values: valuesOnGpu } = whole as SortedRows;
      expect([others, valuesOnGpu]).toEqual([[], packed.values]);
      const starts = levels[0] as Uint32Array;
      expect(starts.at(-1)).toBe(given.length);
      const onGpu = Array.from(columns, (of, i) => ({ column: of, value: valueAt(valueIndices[i] as number) }));
      expect(textOf(onGpu.map((entry) => ({ row: 0, ...entry })))).toEqual(
        textOf(given.map((entry) => ({ ...entry, row: 0 }))),
      );
    }),
    { numRuns: 200, seed: 51 },
  );
});

/** Bytes of a part in a buffer, each list where a binding may begin. */
const bytesOfPart = ({ values, columns, valueIndices, levels }: SortedRows): number =>
  [values.length * (32 / PER_NUMBER), columns.byteLength, valueIndices.byteLength, ...levels.map((l) => l.byteLength)]
    .map((bytes) => 256 * Math.ceil(Math.max(4, bytes) / 256))
    .reduce((sum, bytes) => sum + bytes);

/** Returns the entries of parts, by their first level of sums: those of each row in order. */
const entriesOfParts = (parts: readonly SortedRows[]): string[] =>
  parts.flatMap(({ first, rows, levels, columns, valueIndices, values }) => {
    // each level has the sums of the level before, and the last one those of rows
    const bounds = levels.reduceRight<number[]>(
      (ends, level) => ends.map((end) => level[end] as number),
      Array.from({ length: rows + 1 }, (_, i) => i),
    );
    return Array.from(columns, (column, i) => {
      const row = first + bounds.findLastIndex((bound, k) => k < rows && bound <= i);
      const index = valueIndices[i] as number;
      return `${row} ${column} ${values.subarray(index * PER_NUMBER, (index + 1) * PER_NUMBER)}`;
    });
  });

test('are cut into parts that a device binds, or refused by the rows that are too long', () => {
  const rows = 45;
  const many = fc.array(
    fc.record({
      row: fc.oneof(fc.nat(rows - 1), fc.constant(19)),
      column: fc.nat(8),
      value: fc.oneof(fc.nat(3), fc.nat(10_000)),
    }),
    { maxLength: 600, size: 'max' },
  );
  let [cut, refused] = [0, 0];
  fc.assert(
    fc.property(many, fc.integer({ min: 8, max: 40 }), (given, blocks) => {
      const column = (name: 'row' | 'column') => Uint32Array.from(given, (entry) => entry[name]);
      const shape = { rows, columns: 9, row: column('row'), column: column('column') };
      const words = Uint32Array.from(given.flatMap(({ value }) => [value, 0]));
      const packed = finish(packEntries(shape, words, PER_NUMBER)).result;
      const mostBytes = 256 * blocks;
      let parts: SortedRows[];
      try {
        parts = finish(sortRows(packed, { ...wholeSizes, mostBytes })).result;
      } catch (error) {
        refused++;
        expect(error).toMatchObject({ code: 'out-of-memory', message: expect.stringMatching(/^rows \d+ to \d+ of/) });
        return;
      }
      if (parts.length > 1) cut++;
      for (const part of parts) {
        expect(bytesOfPart(part)).toBeLessThanOrEqual(mostBytes);
        expect(32 * ((part.levels[0] as Uint32Array).length - 1)).toBeLessThanOrEqual(mostBytes);
        expect((32 * part.first) % 256).toBe(0);
      }
      expect(parts.map(({ first, rows: count }) => [first, first + count])).toEqual(
        parts.map(({ first }, k) => [first, parts[k + 1]?.first ?? rows]),
      );
      const expected = given.map((entry) => `${entry.row} ${entry.column} ${entry.value},0`);
      expect(entriesOfParts(parts).sort()).toEqual(expected.sort());
    }),
    { numRuns: 200, seed: 52 },
  );
  expect(Math.min(cut, refused)).toBeGreaterThan(10);
});

test('of many different values are found again', () => {
  const table = new ValueTable(1);
  const count = 10_000;
  const words = Uint32Array.from({ length: count }, (_, i) => Math.imul(i + 1, 2 ** 16 + 1));
  const indices = Array.from(words, (_, i) => table.indexOf(words, i));
  expect(indices).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  expect(Array.from(words, (_, i) => table.indexOf(words, i))).toEqual(indices);
  expect(table.count).toBe(count + 1);
  expect(table.values()).toEqual(Uint32Array.from([0, ...words]));
});

test('are packed and sorted with pauses', () => {
  const count = 5 * ENTRIES_PER_STEP;
  const row = Uint32Array.from({ length: count }, (_, i) => i);
  const words = new Uint32Array(count).fill(1);
  const packing = finish(packEntries({ rows: count, columns: count, row, column: row }, words, 1));
  expect(packing.pauses).toBe(5);
  expect(finish(sortEntries(packing.result)).pauses).toBeGreaterThanOrEqual(15);
  expect(finish(sortRows(packing.result, { ...wholeSizes, perNumber: 1 })).pauses).toBeGreaterThanOrEqual(15);
  const cut = finish(sortRows(packing.result, { perNumber: 1, elementBytes: 4, mostBytes: 2 ** 18 }));
  expect(cut.result.length).toBeGreaterThan(1);
  expect(cut.pauses).toBeGreaterThanOrEqual(20);
});

test('are loaded while the event loop runs', async () => {
  const count = 2 ** 19;
  const row = Uint32Array.from({ length: count }, (_, i) => (i * 5) % count);
  const values = new Uint8Array(32 * count);
  for (let i = 0; i < count; i++) values[32 * i] = 1 + (i % 200);
  const fr = await createFieldEngine({ backend: 'cpu' });
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  const loading = fr.loadMatrix({ rows: count, columns: count, row, column: row, values });
  turn();
  await loading;
  isOver = true;
  fr.destroy();
  expect(turns).toBeGreaterThan(5);
});
