/**
 * Decompose: signed digits add up to the scalar, Σ d·2^b = s mod r, exactly and for every window
 * width.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bls12381, p256Curve, secp192r1 } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Curve, type CurveContext, curveContext } from '../../src/curves/curve.js';
import { writeWords } from '../../src/field/modulus.js';
import { Runner } from '../../src/gpu/runner.js';
import { blocksOf, fullWorkload, loadedTables } from '../../src/msm/plan/workload.js';
import {
  DECOMPOSE_THREADS,
  DecomposeConfig,
  decomposeKernel,
  IN_A_ROW,
  reductionMultiples,
} from '../../src/msm/stages/decompose.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../../src/msm/stages/entry.js';
import { digestOf, LANES, sumOfLanes } from '../../src/shaders/hash-chain.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { type Decomposition, decompose } from '../reference/decompose.js';
import { digestOfScalars } from '../reference/digest.js';
import { getDevice } from '../support/gpu.js';
import { smallCurve } from '../support/small-curve.js';

const top = 2n ** 256n;
const allWidths = Array.from({ length: 15 }, (_, i) => i + 2);

/**
 * Powers of two, multiples of r, the neighbours of both, and scalars whose digits all, or almost
 * all, lend to the next digit.
 */
const edgeScalars = ({ order }: Pick<Curve, 'order'>): bigint[] => {
  const values: bigint[] = [0n, 1n, 2n, top - 1n, top - 2n, (order - 1n) / 2n, (order + 1n) / 2n];
  for (let k = 0n; k < 256n; k++) for (const d of [-1n, 0n, 1n]) values.push(2n ** k + d);
  for (let multiple = order; multiple < top; multiple += order) values.push(multiple - 1n, multiple, multiple + 1n);
  for (let c = 2n; c <= 16n; c++) {
    const repeat = (digit: bigint): bigint => {
      let value = 0n;
      for (let bit = 0n; bit < 256n; bit += c) value |= digit << bit;
      return value % order;
    };
    const half = 2n ** (c - 1n);
    values.push(repeat(half - 1n), repeat(half), repeat(half + 1n), repeat(2n * half - 1n), repeat(1n));
  }
  return values.filter((value) => value >= 0n && value < top);
};

const pack = (scalars: readonly bigint[]): Uint32Array<ArrayBuffer> => {
  const words = new Uint32Array(8 * scalars.length);
  scalars.forEach((scalar, i) => {
    writeWords(words, 8 * i, 8, scalar);
  });
  return words;
};

/** A vector of scalars whose first scalar multiplies base `firstBase`. */
interface Vector {
  readonly scalars: readonly bigint[];
  readonly firstBase: number;
  /** How far behind it the others are. */
  readonly picks?: readonly number[];
}

const packed = (vectors: readonly Vector[]) =>
  vectors.map(({ scalars, ...rest }) => ({ scalars: pack(scalars), ...rest }));

/** Checks the entries of window rows against their scalars, digit by digit. */
const check = (curve: CurveContext, vectors: readonly Vector[], entries: Uint32Array, shape: Decomposition): void => {
  const { windowBits: c, vectorWindows, blocks, blockBits, tables } = shape;
  const longest = Math.max(...vectors.map(({ scalars }) => scalars.length));
  const rowLength = longest * blocks;
  expect(entries.length).toBe(ENTRY_WORDS * rowLength * vectorWindows * vectors.length);
  vectors.forEach(({ scalars, firstBase, picks }, v) => {
    for (let i = 0; i < longest; i++) {
      let sum = 0n;
      for (let j = 0; j < vectorWindows; j++) {
        for (let t = 0; t < blocks; t++) {
          const at = ENTRY_WORDS * ((v * vectorWindows + j) * rowLength + i * blocks + t);
          const [key, pointRef] = entries.subarray(at) as unknown as readonly [number, number];
          if (pointRef === ABSENT) continue;
          if (key >= 2 ** (c - 1)) throw new RangeError(`c = ${c}: scalar ${i} has key ${key} in window ${j}`);
          const point = pointRef & INDEX_MASK;
          if (point !== (firstBase + (picks?.[i] ?? i)) * tables + t)
            throw new RangeError(`handle ${pointRef} of scalar ${i}`);
          const magnitude = BigInt(key + 1);
          sum += (pointRef >= NEGATE ? -magnitude : magnitude) << BigInt(t * blockBits + j * c);
        }
      }
      const scalar = (scalars[i] ?? 0n) % curve.order;
      const shorter = curve.negatesScalars && 2n * scalar > curve.order ? scalar - curve.order : scalar;
      if (sum !== shorter) throw new Error(`c = ${c}: the digits of 0x${scalar.toString(16)} add up to ${sum}`);
    }
  });
};

test('scalars are negated only on curves without a cofactor', () => {
  const folds = Object.fromEntries(
    [bn254, p256Curve, secp192r1, bls12381, smallCurve].map((each) => [each.name, curveContext(each).negatesScalars]),
  );
  // BLS12-381 has a cofactor; the small curve states an order that is not its own
  expect(folds).toEqual({ bn254: true, p256: true, secp192r1: true, 'bls12-381': false, small: false });
});

/**
 * A curve with a cofactor, so that scalars are not negated, and an order of 256 bits: the topmost
 * bit may lend to a window without bits.
 */
const fullOrder: Curve = { ...bls12381, name: 'an order of all 256 bits', order: 2n ** 256n - 189n };

test.each([
  ['an even order that folds', { ...secp192r1, order: 2n ** 192n }, 192],
  ['an order of a power of two and one', { ...bn254, order: 2n ** 200n + 1n }, 201],
  ['an order that is a power of two', { ...bn254, order: 2n ** 200n }, 200],
  ['BN254', bn254, 253],
  ['BLS12-381', bls12381, 255],
  ['an order of all 256 bits that does not fold', fullOrder, 256],
])('the longest scalar after decompose: %s', (_, constants, bits) => {
  const { negatesScalars, signedBits, order } = curveContext(constants);
  const largest = negatesScalars ? order / 2n : order - 1n;
  expect(signedBits).toBe(bits);
  expect([largest >> BigInt(bits), largest >> BigInt(bits - 1)]).toEqual([0n, 1n]);
});

describe.each([bn254, bls12381, p256Curve, fullOrder].map((curve) => [curve.name, curve] as const))(
  '%s',
  (_, constants) => {
    const curve = curveContext(constants);
    const edges = edgeScalars(curve);

    /** Shape for windows of c bits of scalars in `tables` blocks. */
    const shapeOf = (windowBits: number, tables = 1): Decomposition => {
      const load = fullWorkload(1, curve, loadedTables(curve, tables));
      const { count: blocks, bits: blockBits } = blocksOf(load);
      return { windowBits, vectorWindows: Math.ceil(blockBits / windowBits), blocks, blockBits, tables };
    };

    test('the subtracted multiples of r reduce every 256-bit value', () => {
      const multiples = reductionMultiples(curve);
      expect(multiples.at(-1)).toBe(curve.order);
      expect(2n * (multiples[0] as bigint)).toBeGreaterThanOrEqual(top);
      multiples.forEach((multiple, i) => {
        if (i > 0) expect(2n * multiple).toBe(multiples[i - 1]);
      });
    });

    test.each(allWidths)('CPU reference, c = %i: edges and random scalars', (windowBits) => {
      for (const tables of [1, 2, 3, 16]) {
        const shape = shapeOf(windowBits, tables);
        const vectors = [{ scalars: edges, firstBase: 0 }];
        check(curve, vectors, decompose(curve, packed(vectors), shape), shape);
      }
      fc.assert(
        fc.property(
          fc.array(fc.bigInt({ min: 0n, max: top - 1n }), { minLength: 1, maxLength: 4 }),
          fc.array(fc.bigInt({ min: 0n, max: top - 1n }), { maxLength: 4 }),
          fc.integer({ min: 0, max: 2 ** 25 }),
          fc.integer({ min: 1, max: 20 }),
          (scalars, others, firstBase, tables) => {
            const shape = shapeOf(windowBits, tables);
            const vectors = [
              { scalars, firstBase },
              { scalars: others, firstBase: 7 },
            ];
            check(curve, vectors, decompose(curve, packed(vectors), shape), shape);
          },
        ),
        { numRuns: 50, seed: windowBits },
      );
    });

    test('blocks cover the bits of the tables, and short scalars take one block', () => {
      for (let tables = 1; tables <= 64; tables++) {
        const load = fullWorkload(1, curve, loadedTables(curve, tables));
        const { count, bits } = blocksOf(load);
        expect(count).toBeLessThanOrEqual(tables);
        expect(count * bits).toBeGreaterThan(load.bits);
        expect(blocksOf({ bits: 3, tables: load.tables })).toEqual({ count: 1, bits: 4 });
      }
    });

    describe('GPU', () => {
      let runner: Runner;
      beforeAll(async () => {
        runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
      });
      afterAll(() => runner.destroy());
      const kernel = decomposeKernel(curve);

      /** Returns the entries of all window rows, or of `windows` rows from a later one on. */
      const run = async (
        vectors: readonly Vector[],
        { windowBits, vectorWindows, blocks, blockBits, tables }: Decomposition,
        firstWindow = 0,
        windows = vectors.length * vectorWindows,
      ): Promise<Uint32Array> => {
        const n = Math.max(...vectors.map(({ scalars }) => scalars.length));
        const words = ENTRY_WORDS * n * blocks * windows;
        const allPicks = vectors.flatMap(({ picks }) => picks ?? []);
        let picked = 0;
        const firstPick = ({ picks }: Vector): number => {
          picked += picks?.length ?? 0;
          return picks === undefined ? IN_A_ROW : picked - picks.length;
        };
        const { data, accounts } = await runner.run({
          scratch: {
            scalars: 32 * n * vectors.length,
            vectors: 12 * vectors.length,
            picks: Math.max(16, 4 * allPicks.length),
            entries: 4 * words,
          },
          uploads: [
            // arbitrary data beyond the end of a shorter vector
            { to: { buffer: 'scalars' }, data: new Uint32Array(8 * n * vectors.length).fill(0xdeadbeef) },
            ...vectors.map(({ scalars }, v) => ({
              to: { buffer: 'scalars', offset: 32 * n * v },
              data: pack(scalars),
            })),
            {
              to: { buffer: 'vectors' },
              data: Uint32Array.from(vectors.flatMap((v) => [v.scalars.length, v.firstBase, firstPick(v)])),
            },
            { to: { buffer: 'picks' }, data: Uint32Array.from(allPicks) },
            // a key out of range marks entries that no thread writes
            { to: { buffer: 'entries' }, data: new Uint32Array(words).fill(0xdeadbeef) },
          ],
          accounts: 8 * LANES,
          commands: [
            {
              kind: 'dispatch',
              phase: 'decompose',
              kernel,
              config: DecomposeConfig.pack({
                scalars: n,
                window_bits: windowBits,
                blocks,
                block_bits: blockBits,
                tables,
                vector_windows: vectorWindows,
                first_window: firstWindow,
                windows,
                scalars_account: 0,
                entries_account: LANES,
              }),
              bindings: {
                vectors: { buffer: 'vectors' },
                picks: { buffer: 'picks' },
                scalars: { buffer: 'scalars' },
                entries: { buffer: 'entries' },
              },
              groups: groupsFor(n * vectors.length, DECOMPOSE_THREADS),
            },
          ],
          read: [{ buffer: 'entries', size: 4 * words }],
        });
        const entries = data[0] as Uint32Array;
        expect(sumOfLanes(accounts, 0)).toBe(scalarsSum(vectors, vectorWindows, firstWindow, windows));
        expect(sumOfLanes(accounts, LANES)).toBe(entriesSum(entries, n * blocks, windowBits, firstWindow));
        return entries;
      };

      /**
       * Returns the digest that decompose must report of the scalars: of vectors with a window row
       * in the group.
       */
      const scalarsSum = (vectors: readonly Vector[], vectorWindows: number, first: number, windows: number): number =>
        vectors.reduce((sum, { scalars, firstBase, picks }, v) => {
          if ((v + 1) * vectorWindows <= first || v * vectorWindows >= first + windows) return sum;
          const baseOf = (i: number): number => firstBase + (picks === undefined ? i : (picks[i] as number));
          return (sum + digestOfScalars(pack(scalars), 8, v, 0, baseOf)) >>> 0;
        }, 0);

      /**
       * Returns the digest that decompose must report of the entries, with the keys that the sort
       * will give them.
       */
      const entriesSum = (entries: Uint32Array, rowLength: number, windowBits: number, firstWindow: number): number => {
        let sum = 0;
        for (let i = 0; i < entries.length / ENTRY_WORDS; i++) {
          const [key, pointRef] = entries.subarray(i * ENTRY_WORDS) as unknown as readonly [number, number];
          const window = firstWindow + Math.floor(i / rowLength);
          if (pointRef !== ABSENT) sum = (sum + digestOf(window * 2 ** (windowBits - 1) + key, pointRef)) >>> 0;
        }
        return sum;
      };

      /**
       * Expects equal entries and signs, as digits ±2^(c-1) have two encodings. Keys of absent
       * digits are ignored.
       */
      const expectSame = (got: Uint32Array, expected: Uint32Array, what = ''): void => {
        expect(got.length).toBe(expected.length);
        const same = (word: number, i: number): boolean =>
          word === expected[i] || (i % ENTRY_WORDS === 0 && expected[i + 1] === ABSENT);
        expect(
          got.findIndex((word, i) => !same(word, i)),
          what,
        ).toBe(-1);
      };

      // the CPU reference is tested with every width; the GPU with widths that fill, divide and
      // straddle the words of a scalar
      test.each([
        [2, 1],
        [3, 1],
        [8, 1],
        [13, 1],
        [15, 1],
        [16, 1],
        [13, 2],
        [16, 4],
        [5, 7],
        [16, 16],
      ])('c = %i, %i tables: edges and random scalars equal the CPU reference', async (windowBits, tables) => {
        const shape = shapeOf(windowBits, tables);
        const random = fc.sample(fc.bigInt({ min: 0n, max: top - 1n }), { numRuns: 200, seed: windowBits });
        const vectors = [{ scalars: [...edges, ...random], firstBase: 12345 }];
        const entries = await run(vectors, shape);
        check(curve, vectors, entries, shape);
        expectSame(entries, decompose(curve, packed(vectors), shape));
      });

      test.each([1, 3])('several vectors, %i tables: each with its own length and bases', async (tables) => {
        const shape = shapeOf(9, tables);
        const vectors = [
          { scalars: edges.slice(0, 65), firstBase: 3 },
          { scalars: [], firstBase: 0 },
          { scalars: edges.slice(-130), firstBase: 1 },
          { scalars: edges.slice(7, 8), firstBase: 2 ** 20 },
          { scalars: edges.slice(9, 12), firstBase: 5, picks: [0, 9, 2 ** 20] },
          { scalars: edges.slice(0, 66), firstBase: 0, picks: edges.slice(0, 66).map((_, i) => 3 * i + 1) },
        ];
        const entries = await run(vectors, shape);
        check(curve, vectors, entries, shape);
        expectSame(entries, decompose(curve, packed(vectors), shape));
      });

      const makesTheSame = async (windowBits: number): Promise<void> => {
        // a window reads the bit lent to it from the scalar, also at the beginning of a group
        for (const tables of [1, 3]) {
          const shape = shapeOf(windowBits, tables);
          const vectors = [
            { scalars: edges.slice(0, 200), firstBase: 7 },
            { scalars: edges.slice(-99), firstBase: 0 },
          ];
          const all = await run(vectors, shape);
          const rowLength = 200 * shape.blocks;
          const rowLengths = 2 * shape.vectorWindows;
          for (const most of [1, 5]) {
            for (let first = 0; first < rowLengths; first += most) {
              const windows = Math.min(most, rowLengths - first);
              const expected = all.subarray(
                ENTRY_WORDS * rowLength * first,
                ENTRY_WORDS * rowLength * (first + windows),
              );
              expectSame(await run(vectors, shape, first, windows), expected, `window rows from ${first}`);
            }
          }
        }
      };
      const title = 'c = %i: groups of windows give the same entries as all windows at once';
      test.each([16])(title, makesTheSame);
      test.each([3, 8])(title, { tags: 'long' }, makesTheSame);

      test.each([1, 63, 64, 65, 127, 129])('n = %i: threads beyond the last scalar write nothing', async (n) => {
        const shape = shapeOf(7);
        const vectors = [{ scalars: edges.slice(-n), firstBase: 0 }];
        check(curve, vectors, await run(vectors, shape), shape);
      });
    });
  },
);
