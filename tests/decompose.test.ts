/** The digits of a scalar, against what they must add up to: Σ d_j·2^(jc) = s mod r, exactly and for every width of a window. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bn254 } from '../src/curves/bn254.js';
import { type Curve, type CurveContext, curveContext } from '../src/curves/curve.js';
import { writeWords } from '../src/field/modulus.js';
import { groupsFor } from '../src/gpu/recording.js';
import { Runner } from '../src/gpu/runner.js';
import { DECOMPOSE_THREADS, DecomposeConfig, decomposeKernel, reductionMultiples } from '../src/stages/decompose.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../src/stages/entry.js';
import { windowCount } from '../src/tuning.js';
import { decompose } from '../src/twins/decompose.js';
import { bls12381, p256Curve } from './support/curves.js';
import { getDevice } from './support/gpu.js';

const top = 2n ** 256n;
const allWidths = Array.from({ length: 15 }, (_, i) => i + 2);

/** Every power of two and its neighbours, the multiples of r and theirs, and digits that all are, or all but, lend to the next. */
const edgeScalars = ({ order }: Curve): bigint[] => {
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

/** Checks a stream of entries against the scalars that it was made of, digit by digit. */
const check = (
  curve: CurveContext,
  scalars: readonly bigint[],
  entries: Uint32Array,
  shape: { windowBits: number; windows: number; firstBase: number },
): void => {
  const { windowBits: c, windows, firstBase } = shape;
  const n = scalars.length;
  expect(entries.length).toBe(ENTRY_WORDS * n * windows);
  scalars.forEach((scalar, i) => {
    let sum = 0n;
    for (let j = 0; j < windows; j++) {
      const [key, handle] = entries.subarray(ENTRY_WORDS * (j * n + i)) as unknown as readonly [number, number];
      if (handle === ABSENT) continue;
      if (key >= 2 ** (c - 1)) throw new RangeError(`c = ${c}: 0x${scalar.toString(16)} has key ${key} in window ${j}`);
      if ((handle & INDEX_MASK) !== firstBase + i) throw new RangeError(`handle ${handle} of scalar ${i}`);
      const magnitude = BigInt(key + 1);
      sum += (handle >= NEGATE ? -magnitude : magnitude) << BigInt(j * c);
    }
    if (sum !== scalar % curve.order) {
      throw new Error(`c = ${c}: the digits of 0x${scalar.toString(16)} add up to 0x${sum.toString(16)}`);
    }
  });
};

describe.each([bn254, bls12381, p256Curve].map((curve) => [curve.name, curve] as const))('%s', (_, constants) => {
  const curve = curveContext(constants);
  const edges = edgeScalars(curve);
  const shapeOf = (windowBits: number, firstBase = 0) => ({
    windowBits,
    windows: windowCount(curve.scalarBits, windowBits),
    firstBase,
  });

  test('the multiples of r that are subtracted reach down from any 256-bit value', () => {
    const multiples = reductionMultiples(curve);
    expect(multiples.at(-1)).toBe(curve.order);
    expect(2n * (multiples[0] as bigint)).toBeGreaterThanOrEqual(top);
    multiples.forEach((multiple, i) => {
      if (i > 0) expect(2n * multiple).toBe(multiples[i - 1]);
    });
  });

  test.each(allWidths)('CPU twin, c = %i: edges and random scalars', (windowBits) => {
    check(curve, edges, decompose(curve, pack(edges), shapeOf(windowBits)), shapeOf(windowBits));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: top - 1n }), fc.integer({ min: 0, max: 2 ** 30 }), (scalar, firstBase) => {
        const shape = shapeOf(windowBits, firstBase);
        check(curve, [scalar], decompose(curve, pack([scalar]), shape), shape);
      }),
      { numRuns: 100, seed: windowBits },
    );
  });

  describe('GPU', () => {
    let runner: Runner;
    beforeAll(async () => {
      runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
    });
    afterAll(() => runner.destroy());
    const kernel = decomposeKernel(curve);

    /** The entries of `windows` windows, from the first one or a later one on. */
    const run = async (
      scalars: Uint32Array,
      { windowBits, windows, firstBase }: ReturnType<typeof shapeOf>,
      firstWindow = 0,
    ): Promise<Uint32Array> => {
      const n = scalars.length / 8;
      const words = ENTRY_WORDS * n * windows;
      const { data } = await runner.run({
        scratch: { scalars: scalars.byteLength, entries: 4 * words },
        uploads: [
          { to: { buffer: 'scalars' }, data: scalars },
          // an entry that nobody writes shows: its key is out of range
          { to: { buffer: 'entries' }, data: new Uint32Array(words).fill(0xdeadbeef) },
        ],
        commands: [
          {
            kind: 'dispatch',
            phase: 'decompose',
            kernel,
            config: DecomposeConfig.pack({
              scalars: n,
              window_bits: windowBits,
              first_window: firstWindow,
              windows,
              first_base: firstBase,
            }),
            bindings: { scalars: { buffer: 'scalars' }, entries: { buffer: 'entries' } },
            groups: groupsFor(n, DECOMPOSE_THREADS),
          },
        ],
        read: [{ buffer: 'entries', size: 4 * words }],
      });
      return data[0] as Uint32Array;
    };

    // every width where the twin is proved; on the GPU those that fill, divide and straddle the words of a scalar
    test.each([2, 3, 8, 13, 15, 16])('c = %i: edges and random scalars, as their twin has them', async (windowBits) => {
      const shape = shapeOf(windowBits, 12345);
      const random = fc.sample(fc.bigInt({ min: 0n, max: top - 1n }), { numRuns: 200, seed: windowBits });
      const scalars = [...edges, ...random];
      const entries = await run(pack(scalars), shape);
      check(curve, scalars, entries, shape);
      // the same signs, too: digits ±2^(c-1) could be said in two ways. The key of an absent digit means nothing.
      const twin = decompose(curve, pack(scalars), shape);
      const same = (word: number, i: number): boolean =>
        word === twin[i] || (i % ENTRY_WORDS === 0 && twin[i + 1] === ABSENT);
      expect(entries.findIndex((word, i) => !same(word, i))).toBe(-1);
    });

    test.each([3, 8, 16])('c = %i: groups of windows make what all of them at once make', async (windowBits) => {
      // what a window lends to the next one is read off the scalar, also where the next one is in another group
      const shape = shapeOf(windowBits, 7);
      const scalars = pack(edges);
      const all = await run(scalars, shape);
      for (const most of [1, 5]) {
        for (let first = 0; first < shape.windows; first += most) {
          const windows = Math.min(most, shape.windows - first);
          const entries = await run(scalars, { ...shape, windows }, first);
          const expected = all.subarray(
            ENTRY_WORDS * edges.length * first,
            ENTRY_WORDS * edges.length * (first + windows),
          );
          expect(
            entries.findIndex((word, i) => word !== expected[i]),
            `windows from ${first}`,
          ).toBe(-1);
        }
      }
    });

    test.each([1, 63, 64, 65, 127, 129])('n = %i: threads beyond the last scalar write nothing', async (n) => {
      const shape = shapeOf(7);
      const scalars = edges.slice(-n);
      check(curve, scalars, await run(pack(scalars), shape), shape);
    });
  });
});
