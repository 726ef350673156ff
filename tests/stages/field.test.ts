import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FloatColumns } from '../../src/field/float-columns.js';
import {
  digitsOf,
  fromMontgomery,
  invert,
  joinLimbs,
  LIMB_BITS,
  type Modulus,
  mod,
  modulus,
  readWords,
  toMontgomery,
  writeWords,
} from '../../src/field/modulus.js';
import { limbBounds, montgomeryProduct } from '../../src/field/product.js';
import { StraightLine, tightLimb, within } from '../../src/field/straight-line.js';
import { fieldView } from '../../src/field/wgsl.js';
import { input, WordLine } from '../../src/field/word-line.js';
import { renderShader } from '../../src/shaders/partials.js';
import {
  fieldInverse,
  fmaRows,
  productLimbs,
  productWords,
  type Rounding,
  roundings,
  tightLimbs,
} from '../reference/field.js';
import { type Fma, fmas } from '../reference/fma.js';
import checkTemplate from '../support/field-check.wgsl?template';
import limbsTemplate from '../support/field-limbs-check.wgsl?template';
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

/**
 * The same value in other limbs: what a limb gets, the next one gives.
 *
 * @param most how far from 0 a limb may be
 */
const shuffled = (limbs: readonly number[], most: number, choose: (i: number) => boolean): number[] => {
  const out = [...limbs];
  for (let i = 0; i + 1 < out.length; i++) {
    const way = (out[i] as number) > 0 ? -1 : 1;
    const moved = (out[i] as number) + way * 2 ** LIMB_BITS;
    const next = (out[i + 1] as number) - way;
    if (choose(i) && Math.abs(moved) <= most && Math.abs(next) <= most) [out[i], out[i + 1]] = [moved, next];
  }
  return out;
};

/** Loose and tight limbs at their extremes, whose top limbs keep the values within their bounds. */
const extremes = (m: Modulus): { loose: number[]; tight: number[] }[] => {
  const [most, half] = [limbBounds.loose.most, tightLimb(LIMB_BITS)];
  const below = m.limbs - 1;
  const fill = (f: (i: number) => number): number[] =>
    Array.from({ length: m.limbs }, (_, i) => (i < below ? f(i) : 0));
  const patterns = [(): number => 1, (): number => -1, (i: number): number => (i % 2 === 0 ? 1 : -1)];
  return patterns.flatMap((a) =>
    patterns.map((b) => ({ loose: fill((i) => a(i) * most), tight: fill((i) => b(i) * half) })),
  );
};

/** Around every multiple of p that `field_canonical` may meet, in limbs of all shapes. */
const nearMultiples = (m: Modulus): { value: bigint; limbs: number[] }[] => {
  const most = tightLimb(LIMB_BITS);
  const values: bigint[] = [];
  for (let k = -2n; k <= 2n; k++) {
    for (const offset of [0n, 1n, -1n, 2n ** 13n, -(2n ** 13n), m.p >> 16n, -(m.p >> 16n), m.p >> 14n, -(m.p >> 14n)]) {
      values.push(k * m.p + offset);
    }
    for (const random of randoms(m, 20)) values.push(k * m.p + random);
  }
  values.push(3n * m.p - 1n, 1n - 3n * m.p, 5n - 3n * m.p);
  return values.flatMap((value) =>
    [() => false, () => true, (i: number) => i % 2 === 0, (i: number) => i >= m.limbs - 3].map((choose) => {
      const limbs = shuffled(tightLimbs(m, value), most, choose);
      return { value, limbs };
    }),
  );
};

/** Operations that are one product, with what is added in its columns. */
const ofOneProduct = ['product', 'product_minus', 'square', 'square_minus'];

/** Operations on many pairs, against BigInts. */
const onGpu = (m: Modulus, names = Object.keys(operations)): void => {
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

/** Products of words. */
const inWords = (name: string, p: bigint): void => {
  const edge = edges(modulus(p));
  const value = fc.oneof(
    fc.constantFrom(...edge, ...edge.map((a) => a + p), p, 2n * p - 1n),
    fc.bigInt({ min: 0n, max: 2n * p - 1n }),
  );

  /** Programs run as text, at 10 ms a product. */
  const numRuns = name === first[0] ? 100 : 40;

  describe.each(['unsigned', 'dot4', 'fma'] as const)('products of words, %s', (product) => {
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
    const names = product === 'dot4' && name !== first[0] ? ofOneProduct : undefined;
    describe('GPU', product === 'dot4' ? { tags: 'long' } : {}, () => {
      onGpu(m, names);
    });
  });
};

const arithmetic = (_: string, p: bigint): void => {
  const m = modulus(p);
  const edge = edges(m);

  test('2^(p − 1) is 1, as p is prime', () => {
    let [power, square, exponent] = [1n, 2n, p - 1n];
    for (; exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) power = mod(power * square, p);
      square = mod(square * square, p);
    }
    expect(power).toBe(1n);
  });

  describe.each(Object.keys(roundings) as Rounding[])('CPU reference, carries rounded like %s', (rounding) => {
    const value = fc.oneof(fc.constantFrom(...edge), fc.bigInt({ min: 0n, max: p - 1n }));

    test('products, with every 32-bit bound asserted', () => {
      fc.assert(
        fc.property(value, value, value, fc.integer(), (a, b, c, shape) => {
          const choose = (i: number): boolean => ((shape >> (i & 31)) & 1) === 1;
          const [left, right] = [
            digitsOf(a, LIMB_BITS, m.limbs),
            shuffled(tightLimbs(m, b), tightLimb(LIMB_BITS), choose),
          ];
          const minus = digitsOf(c, LIMB_BITS, m.limbs);
          const product = productLimbs(m, left, right, [minus], rounding);
          expect(mod(joinLimbs(product, LIMB_BITS), p)).toBe(mod(a * b * m.rInverse - c, p));
          const square = productLimbs(m, right, null, [minus, left], rounding);
          expect(mod(joinLimbs(square, LIMB_BITS), p)).toBe(mod(b * b * m.rInverse - c - a, p));
        }),
        { numRuns: 60, seed: 13 },
      );
    });

    test('limbs at their extremes give tight results within p of 0', () => {
      for (const { loose, tight } of extremes(m)) {
        const limbs = productLimbs(m, loose, tight, [], rounding);
        const [a, b, product] = [loose, tight, limbs].map((x) => joinLimbs(x, LIMB_BITS)) as [bigint, bigint, bigint];
        expect(mod(product, p)).toBe(mod(a * b * m.rInverse, p));
        expect(product < p && product > -p).toBe(true);
        for (const limb of limbs) expect(Math.abs(limb)).toBeLessThanOrEqual(tightLimb(LIMB_BITS));
      }
    });

    test('inverses, with every 32-bit bound asserted', () => {
      fc.assert(
        fc.property(value, (a) => {
          const inverse = fieldInverse(m, toMontgomery(m, a), rounding);
          expect(inverse < p && inverse > -p).toBe(true);
          expect(mod(fromMontgomery(m, mod(inverse, p)) * a, p)).toBe(a === 0n ? 0n : 1n);
        }),
        { numRuns: 12, seed: 15, examples: [[0n], [1n], [p - 1n]] },
      );
    });
  });

  describe('GPU', () => {
    onGpu(m);

    const onLimbs = async (expression: string, rows: { loose: number[]; tight: number[] }[]): Promise<bigint[]> => {
      const device = await getDevice();
      const code = renderShader(limbsTemplate, { ...fieldView(m), operation: 'limbs', expression });
      const pipeline = await compileKernel(device, code, 'limbs');
      const data = (name: 'loose' | 'tight'): Uint32Array<ArrayBuffer> =>
        new Uint32Array(Int32Array.from(rows.flatMap((row) => row[name])).buffer);
      const [, , result] = await runKernel(
        device,
        pipeline,
        [{ data: data('loose') }, { data: data('tight') }, { data: new Uint32Array(rows.length * m.words) }],
        [Math.ceil(rows.length / 64)],
      );
      return rows.map((_, i) => readWords(result as Uint32Array, i * m.words, m.words));
    };

    test('products of limbs at their extremes', async () => {
      const rows = extremes(m);
      // both are used, so that the layout has both
      const results = await onLimbs('field_mul(loose, tight)', rows);
      rows.forEach(({ loose, tight }, i) => {
        const [a, b] = [joinLimbs(loose, LIMB_BITS), joinLimbs(tight, LIMB_BITS)];
        expect(results[i]).toBe(mod(a * b * m.rInverse, p));
      });
    });

    test('everything near a multiple of p gets its canonical form', async () => {
      const all = nearMultiples(m);
      const zero = new Array<number>(m.limbs).fill(0);
      const rows = all.map(({ limbs }) => ({ loose: zero, tight: limbs }));
      const results = await onLimbs('field_tighten(field_plus(field_tighten(loose), tight))', rows);
      all.forEach(({ value }, i) => {
        expect(results[i], `${value}`).toBe(mod(value, p));
      });
      const untouched = await onLimbs(sameLimbs(m), rows);
      all.forEach(({ value }, i) => {
        expect(untouched[i], `${value}`).toBe(mod(value, p));
      });
    });
  });
};

const fields = Object.entries(primes);
for (const tests of [arithmetic, inWords]) {
  describe.each(fields.filter(([name]) => first.includes(name)))('the field of %s', tests);
  describe.each(fields.filter(([name]) => !first.includes(name)))('the field of %s', { tags: 'long' }, tests);
}

/**
 * WGSL of the tight limbs as they are; adding the others, which are 0, keeps both bindings in the
 * layout.
 */
const sameLimbs = (m: Modulus): string =>
  `Tight(${Array.from({ length: m.limbs }, (_, i) => `tight.l${i} + loose.l${i}`).join(', ')})`;

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
      const factor = columns.factor('a', input('a.w0', most));
      columns.add(0, 'c', new Array(terms).fill([factor, factor]));
      columns.gather(0);
      columns.settle(0);
    };
    // a product takes three units, and a shift is rounded up to whole limbs
    settled(42);
    expect(() => settled(43)).toThrow(/could overflow/);
    expect(() => settled(1, 2 ** 24)).toThrow("'a' could have more than 24 bits");
  });

  test('a product carries only the columns that need it', () => {
    const carries = (p: bigint): number =>
      montgomeryProduct(modulus(p), false, []).program.statements.filter(
        ({ kind, name }) => kind === 'carry' && name.startsWith('k'),
      ).length;
    expect(carries(primes['2^61 - 1'] as bigint)).toBe(0);
    expect(carries(primes['BN254 base, 254 bits'] as bigint)).toBeGreaterThan(0);
    expect(carries(primes['BN254 base, 254 bits'] as bigint)).toBeLessThan(19);
  });
});
