import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fromMontgomery,
  invert,
  type Modulus,
  mod,
  modulus,
  readWords,
  toMontgomery,
  writeWords,
} from '../../src/field/modulus.js';
import { FloatColumns } from '../../src/field/products.js';
import { StraightLine, within } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { member, WordLine } from '../../src/field/word-line.js';
import { renderShader } from '../../src/shaders/template.js';
import { fieldInverse, fmaRows, productWords } from '../reference/field.js';
import { type Fma, fmas } from '../reference/fma.js';
import checkTemplate from '../support/field-check.wgsl?template';
import { getDevice } from '../support/gpu.js';
import { primes } from '../support/primes.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

/** 0, 1, p−1 and their neighbours, and numbers around every limb and word boundary. */
const edges = (m: Modulus): bigint[] => {
  const values = [0n, 1n, 2n, m.p - 1n, m.p - 2n, (m.p - 1n) / 2n, (m.p + 1n) / 2n, m.r, m.r2];
  for (const width of [13, 14, 15, 24, 32]) {
    for (let bit = width; bit < m.bits; bit += width) {
      const power = 1n << BigInt(bit);
      values.push(power - 1n, power, power + 1n, m.p - power);
    }
  }
  return values.map((value) => mod(value, m.p));
};

const randoms = (m: Modulus, count: number): bigint[] =>
  fc.sample(fc.bigInt({ min: 0n, max: m.p - 1n }), { numRuns: count, seed: 254 });

/** Expected result of each operation, computed with BigInt on plain numbers. */
const operations: Record<string, { expression: string; expected: (m: Modulus, a: bigint, b: bigint) => bigint }> = {
  product: {
    expression: 'field_canonical(field_mul(loose, tight))',
    expected: (m, a, b) => mod(a * b * m.rInverse, m.p),
  },
  product_minus: {
    expression: 'field_canonical(field_mul_minus(loose, tight, a))',
    expected: (m, a, b) => mod(a * b * m.rInverse - a, m.p),
  },
  square: {
    expression: 'field_canonical(field_square(tight))',
    expected: (m, _, b) => mod(b * b * m.rInverse, m.p),
  },
  square_minus: {
    expression: 'field_canonical(field_square_minus(tight, a, b))',
    expected: (m, a, b) => mod(b * b * m.rInverse - a - b, m.p),
  },
  sum: {
    expression: 'field_canonical(field_tighten(field_plus(field_tighten(loose), tight)))',
    expected: (m, a, b) => mod(a + b, m.p),
  },
  difference: {
    expression: 'field_canonical(field_tighten(field_minus(field_tighten(loose), tight)))',
    expected: (m, a, b) => mod(a - b, m.p),
  },
  canonical_difference: {
    expression: 'field_canonical(field_tighten(canonical_minus(a, b)))',
    expected: (m, a, b) => mod(a - b, m.p),
  },
  product_of_differences: {
    expression: 'field_canonical(field_mul(canonical_minus(a, b), field_mul(canonical_minus(b, a), field_one())))',
    expected: (m, a, b) => mod(-(a - b) * (a - b) * m.rInverse, m.p),
  },
  triple_plus: {
    expression: 'field_canonical(field_triple_plus(field_mul(loose, field_one()), tight))',
    expected: (m, a, b) => mod(3n * a + b, m.p),
  },
  minus_twice: {
    expression:
      'field_canonical(field_minus_twice(field_mul(loose, field_one()), field_mul(field_loose(tight), field_one())))',
    expected: (m, a, b) => mod(a - 2n * b, m.p),
  },
  packed_negative: { expression: 'field_unpack(packed_negated(left[id.x], true))', expected: (m, a) => mod(-a, m.p) },
  inverse: {
    expression: 'field_canonical(field_inverse(tight))',
    expected: (m, _, b) => toMontgomery(m, invert(fromMontgomery(m, b), m.p)),
  },
  pack_any: {
    expression:
      'field_canonical(field_tighten(canonical_loose(field_unpack(field_pack_any(field_mul(loose, tight))))))',
    expected: (m, a, b) => mod(a * b * m.rInverse, m.p),
  },
  repack: { expression: 'a', expected: (_, a) => a },
};

/** Operations that are one product, with what is added in its columns. */
const ofOneProduct = ['product', 'product_minus', 'square', 'square_minus'];

/** Operations whose code depends on the kind of product, which the others only call. */
const ofProduct = { unsigned: undefined, dot4: ofOneProduct, fma: [...ofOneProduct, 'inverse'] } as const;

/** Operations on many pairs, against BigInts. */
const onGpu = (m: Modulus, names: readonly string[] = Object.keys(operations)): void => {
  const edge = edges(m);
  const pairs = [
    ...edge.flatMap((a, i) => [0, 1, 5, 11].map((step) => [a, edge[(i + step) % edge.length] as bigint] as const)),
    ...randoms(m, 600).map((a, i, all) => [a, all[(i * 7 + 1) % all.length] as bigint] as const),
  ];
  test.each(Object.entries(operations).filter(([name]) => names.includes(name)))(
    '%s',
    async (operation, { expression, expected }) => {
      const device = await getDevice();
      const code = renderShader(checkTemplate, { ...fieldView(m), operation, expression });
      const pipeline = await compileKernel(device, code, operation);
      const [left, right] = [new Uint32Array(pairs.length * m.words), new Uint32Array(pairs.length * m.words)];
      pairs.forEach(([a, b], i) => {
        writeWords(left, i * m.words, m.words, a);
        writeWords(right, i * m.words, m.words, b);
      });
      const [, , result] = await runKernel(
        device,
        pipeline,
        [{ data: left }, { data: right }, { data: new Uint32Array(left.length) }],
        [Math.ceil(pairs.length / 64)],
      );
      pairs.forEach(([a, b], i) => {
        const got = readWords(result as Uint32Array, i * m.words, m.words);
        expect(got, `${operation}(0x${a.toString(16)}, 0x${b.toString(16)})`).toBe(expected(m, a, b));
      });
    },
  );
};

/** The built-in curve's, and the shortest; those of the second tier are the others. */
const first = ['BN254 base, 254 bits', '2^61 - 1'];

const arithmetic = (name: string, p: bigint): void => {
  const edge = edges(modulus(p));
  const value = fc.oneof(
    fc.constantFrom(...edge, ...edge.map((a) => a + p), p, 2n * p - 1n),
    fc.bigInt({ min: 0n, max: 2n * p - 1n }),
  );

  /** Programs run as text, at 10 ms a product. */
  const numRuns = name === first[0] ? 100 : 40;

  test('2^(p − 1) is 1, as p is prime', () => {
    let [power, square, exponent] = [1n, 2n, p - 1n];
    for (; exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) power = mod(power * square, p);
      square = mod(square * square, p);
    }
    expect(power).toBe(1n);
  });

  describe.each(['unsigned', 'dot4', 'fma'] as const)('products, %s', (product) => {
    const m = modulus(p, product);

    test('CPU reference: below 2p for all below 2p, with the most of every value asserted', () => {
      fc.assert(
        fc.property(value, value, (a, b) => {
          for (const other of [b, null]) {
            const got = productWords(m, a, other);
            expect(mod(got, p)).toBe(mod(a * (other ?? a) * m.rInverse, p));
            expect(got < 2n * p).toBe(true);
          }
        }),
        { numRuns, seed: 17, examples: [[2n * p - 1n, 2n * p - 1n]] },
      );
    });

    if (product === 'fma') {
      test('CPU reference: the product of whole numbers, however a device computes fma', () => {
        fc.assert(
          fc.property(value, value, fc.constantFrom(...(Object.keys(fmas) as Fma[])), (a, b, by) => {
            expect(productWords(m, a, b, by)).toBe(fmaRows(m, a, b));
          }),
          {
            numRuns,
            seed: 19,
            examples: (Object.keys(fmas) as Fma[]).map((by) => [2n * p - 1n, 2n * p - 1n, by]),
          },
        );
      });
    }

    test('CPU reference: inverses below 2p, with every 32-bit bound asserted', () => {
      const canonical = fc.oneof(fc.constantFrom(...edge), fc.bigInt({ min: 0n, max: p - 1n }));
      fc.assert(
        fc.property(canonical, (a) => {
          const inverse = fieldInverse(m, toMontgomery(m, a));
          expect(inverse >= 0n && inverse < 2n * p).toBe(true);
          expect(mod(fromMontgomery(m, mod(inverse, p)) * a, p)).toBe(a === 0n ? 0n : 1n);
        }),
        { numRuns: 24, seed: 15, examples: [[0n], [1n], [p - 1n]] },
      );
    });

    // SwiftShader takes a second to compile a product of bytes, and does not survive two of more
    // than 256 bits. What operations do beside products is the same code as with unsigned ones.
    if (product === 'dot4' && p > 2n ** 256n) return;
    const names = name === first[0] ? undefined : ofProduct[product];
    describe('GPU', product === 'dot4' ? { tags: 'long' } : {}, () => {
      onGpu(m, names);
    });
  });
};

const fields = Object.entries(primes);
describe.each(fields.filter(([name]) => first.includes(name)))('the field of %s', arithmetic);
describe.each(fields.filter(([name]) => !first.includes(name)))('the field of %s', { tags: 'long' }, arithmetic);

describe('programs', () => {
  test('a program that could overflow is rejected', () => {
    const program = new StraightLine(14);
    program.input('a', within(2 ** 16));
    expect(() => program.sum('b', [['a', 'a']])).toThrow("the sum 'b' could overflow");
    expect(() => program.sum('c', [['d', 1]])).toThrow("'d' is used before it is computed");
  });

  test('columns of products by floats are rejected where their sum could exceed a word', () => {
    const settled = (terms: number, most = 2 ** 24 - 1): void => {
      const columns = new FloatColumns(new WordLine());
      const factor = columns.factor('a', member('a', 'w0', most));
      columns.add(0, 'c', new Array(terms).fill([factor, factor]));
      columns.gather(0);
      columns.settle(0);
    };
    // a product takes three units, and a shift is rounded up to whole limbs
    settled(42);
    expect(() => settled(43)).toThrow(/could overflow/);
    expect(() => settled(1, 2 ** 24)).toThrow("'a' could have more than 24 bits");
  });
});
