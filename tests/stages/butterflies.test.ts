/** Butterflies: one stage of a transform, compared with BigInts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import {
  type FieldProduct,
  fromMontgomery,
  mod,
  modulus,
  readWords,
  toMontgomery,
  writeWords,
} from '../../src/field/modulus.js';
import { power } from '../../src/field/square-root.js';
import { range } from '../../src/field/straight-line.js';
import {
  BUTTERFLY_THREADS,
  ButterfliesConfig,
  butterfliesKernel,
  butterflyKinds,
  butterflyPasses,
} from '../../src/fields/stages/butterflies.js';
import { Runner } from '../../src/gpu/runner.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { getDevice } from '../support/gpu.js';

let runner: Runner;
beforeAll(async () => {
  runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
});
afterAll(() => runner.destroy());

const p = bn254.order;
/** Elements of the transform, and of the table of twiddles for transforms of twice as many. */
const [LOG, LENGTH] = [6, 64];
/** A root of unity of 2^(LOG + 1) elements: 5 is no square. */
const root = power(5n, (p - 1n) >> BigInt(LOG + 1), p);

const numbers = range(LENGTH).map((i) => {
  const edges = [0n, 1n, p - 1n, p / 2n, p / 3n, p - 2n, 2n ** 31n];
  return i < 21 ? (edges[(i * i) % edges.length] as bigint) : BigInt(i) ** 43n % p;
});

/** Returns one stage by BigInts. */
const stageOf = (distance: number, inTime: boolean, w: bigint): bigint[] => {
  const all = [...numbers];
  for (let at = 0; at < LENGTH; at++) {
    const j = at % (2 * distance);
    if (j >= distance) continue;
    const [a, b] = [numbers[at] as bigint, numbers[at + distance] as bigint];
    const factor = power(w, BigInt(j * (LENGTH / (2 * distance))), p);
    [all[at], all[at + distance]] = (inTime ? [a + b * factor, a - b * factor] : [a + b, (a - b) * factor]).map(
      (each) => mod(each, p),
    ) as [bigint, bigint];
  }
  return all;
};

/** Compares stages on the GPU, in both directions, with those of BigInts. */
const compare = async (product: FieldProduct): Promise<void> => {
  const field = modulus(p, product);
  const { words, bytes } = field;
  const packed = (values: readonly bigint[]): Uint32Array => {
    const all = new Uint32Array(values.length * words);
    for (const [i, value] of values.entries()) {
      const element = toMontgomery(field, value);
      // memory may have a number above the prime
      const isAbove = i % 5 === 0 && element + p < p + (p >> 13n);
      writeWords(all, i * words, words, isAbove ? element + p : element);
    }
    return all;
  };
  const data = packed(numbers);
  const twiddles = packed(range(LENGTH).map((i) => power(root, BigInt(i), p)));
  for (const kind of butterflyKinds) {
    const kernel = butterfliesKernel(field, kind);
    for (const inverse of [0, 1]) {
      for (const [stage, pass] of butterflyPasses(LOG, inverse === 1).entries()) {
        if (kind === 'sum' ? pass.distance > 1 : stage % 2 === 1) continue;
        const { data: read } = await runner.run({
          scratch: { data: bytes * LENGTH, twiddles: bytes * LENGTH },
          uploads: [
            { to: { buffer: 'data' }, data },
            { to: { buffer: 'twiddles' }, data: twiddles },
          ],
          commands: [
            {
              ...{
                kind: 'dispatch',
                phase: 'butterflies',
                kernel,
                groups: groupsFor(pass.threads, BUTTERFLY_THREADS),
              },
              config: ButterfliesConfig.pack({ ...pass, inverse, stride: 1 }),
              bindings: { data: { buffer: 'data' }, twiddles: { buffer: 'twiddles' } },
            },
          ],
          read: [{ buffer: 'data', offset: 0, size: bytes * LENGTH }],
        });
        const found = range(LENGTH).map((i) =>
          fromMontgomery(field, readWords(read[0] as Uint32Array, i * words, words)),
        );
        const w = power(root, inverse === 0 ? 2n : BigInt(2 * LENGTH - 2), p);
        expect(found, `${kind} ${JSON.stringify(pass)}`).toEqual(stageOf(pass.distance, kind === 'time', w));
      }
    }
  }
};

test.each(['signed', 'unsigned', 'fma'] as const)('stages with %s products equal BigInts', compare);

// SwiftShader takes seconds to compile products of bytes
test('stages with products of bytes equal BigInts', { tags: 'long' }, () => compare('dot4'));

test('each element is in one butterfly of a stage, and each thread has one', () => {
  for (const logLength of range(13).map((i) => i + 1)) {
    for (const isOther of [false, true]) {
      for (const pass of butterflyPasses(logLength, isOther)) {
        const counts = range(2 ** logLength).map(() => 0);
        for (let thread = 0; thread < pass.threads; thread++) {
          let own = 0;
          for (let j = thread % pass.twiddle_threads; j < pass.distance; j += pass.twiddle_threads) {
            const step = pass.threads / pass.twiddle_threads;
            for (let k = Math.floor(thread / pass.twiddle_threads); k < pass.blocks; k += step) {
              own++;
              for (const at of [0, pass.distance]) {
                const index = 2 * pass.distance * k + j + at;
                counts[index] = (counts[index] as number) + 1;
              }
            }
          }
          expect(own).toBe(2 ** (logLength - 1) / pass.threads);
        }
        expect(counts.every((count) => count === 1)).toBe(true);
      }
    }
  }
});
