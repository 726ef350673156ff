/** The plain product with one level of Karatsuba and Ofman (1962): three products of half the limbs instead of four. */
import { digitsOf, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant } from '../representation.js';
import { returnCarried } from './carried.js';
import { limbsFor, montgomeryFactor, unsignedLimbs } from './plain.js';

const WIDTH = 13;

/** Limbs of the lower half. The upper one has as many, or one less. */
const halfOf = (n: number): number => Math.ceil(n / 2);

/** WGSL of each column of a product. */
const columnsOf = (x: readonly string[], y: readonly string[]): string[] =>
  range(x.length + y.length - 1).map((k) =>
    x.flatMap((limb, i) => (y[k - i] === undefined ? [] : [`${limb} * ${y[k - i]}`])).join(' + '),
  );

/**
 * Statements of z0 …, the columns of a·b: low·low, high·high, and in between (low + high)·(low + high) − low·low − high·high. A u32 may
 * wrap around on the way, in both directions: a column is a sum of at most n products of 13 bits in truth, which fits, and sums modulo
 * 2^32 come out right if what they come to fits.
 */
const wholeProduct = (n: number): string[] => {
  const half = halfOf(n);
  const lower = (operand: string): string[] => range(half).map((i) => `${operand}.l${i}`);
  const upper = (operand: string): string[] => range(n - half).map((i) => `${operand}.l${half + i}`);
  const both = (operand: string): string[] => range(half).map((i) => `${operand}${i}`);
  const sums = ['a', 'b'].flatMap((operand) =>
    range(half).map((i) => `let ${operand}${i} = ${operand}.l${i}${half + i < n ? ` + ${operand}.l${half + i}` : ''};`),
  );
  const low = columnsOf(lower('a'), lower('b'));
  const high = columnsOf(upper('a'), upper('b'));
  const middle = columnsOf(both('a'), both('b')).map(
    (column, k) => `${column} - low${k}${k < high.length ? ` - high${k}` : ''}`,
  );
  const named = { low, middle, high };
  const part = (name: keyof typeof named, k: number): string[] => (k in named[name] ? [`${name}${k}`] : []);
  return [
    ...sums,
    ...low.map((column, k) => `let low${k} = ${column};`),
    ...high.map((column, k) => `let high${k} = ${column};`),
    ...middle.map((column, k) => `let middle${k} = ${column};`),
    ...range(2 * n - 1).map(
      (k) =>
        `let z${k} = ${[...part('low', k), ...part('middle', k - half), ...part('high', k - 2 * half)].join(' + ')};`,
    ),
  ];
};

/**
 * Montgomery's reduction of the columns z0 …, row by row. A column gets n products in it beside those n that it has: 2n·(2^13 − 1)² and
 * a carry of 2^19 are less than 2^32 up to 31 limbs; 381 bits take 30.
 */
const reduction = (m: Modulus, n: number): string[] => {
  const p = digitsOf(m.p, WIDTH, n);
  const [n0, mask] = [montgomeryFactor(m, WIDTH), 2 ** WIDTH - 1];
  const columns: string[] = range(2 * n).map((k) => (k < 2 * n - 1 ? `z${k}` : ''));
  const lines: string[] = [];
  for (const i of range(n)) {
    lines.push(
      `let q${i} = (${columns[i]} * ${n0}u) & ${mask}u;`,
      `let c${i} = (${columns[i]} + q${i} * ${p[0]}u) >> ${WIDTH}u;`,
    );
    for (const k of range(n).slice(1)) {
      lines.push(`let t${i}_${i + k} = ${columns[i + k]} + q${i} * ${p[k]}u${k === 1 ? ` + c${i}` : ''};`);
      columns[i + k] = `t${i}_${i + k}`;
    }
  }
  return [...lines, returnCarried(columns.slice(n), WIDTH)];
};

export const karatsuba: ProductVariant = {
  name: '13-bit, Karatsuba',
  representation: (m) => {
    const n = limbsFor(m, WIDTH);
    const body = [...wholeProduct(n), ...reduction(m, n)].join('\n');
    return unsignedLimbs(m, WIDTH, `fn product(a: Limbs, b: Limbs) -> Limbs {\n${body}\n}`);
  },
  multiplications: (m) => {
    const n = limbsFor(m, WIDTH);
    return 2 * halfOf(n) ** 2 + (n - halfOf(n)) ** 2 + n ** 2;
  },
};
