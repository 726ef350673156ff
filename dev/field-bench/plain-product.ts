/**
 * The unit of product equivalents: a Montgomery product in 13-bit limbs, unrolled, canonical on
 * input and output. It was the product of the first version of this library, and stays as it is so
 * that costs of different runs can be compared.
 */
import { digitsOf, joinLimbs, lazyLimbs, type Modulus, montgomeryFactor } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { type FieldOperation, productOf } from './operation.js';

/** Width of limbs with which no column of any product overflows a u32. */
const WIDTH = 13;
const MASK = 2 ** WIDTH - 1;

/**
 * Returns statements for s0 …, the columns of a·b/R below 2p, of which all but the low bits must
 * still be masked. Rows are interleaved (CIOS): row i adds a_i·b, and makes the lowest column 0, so
 * that every column moves down by one.
 */
const montgomeryRows = (m: Modulus): string[] => {
  const n = lazyLimbs(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const sumOf = (...terms: readonly (string | undefined)[]): string => terms.filter(Boolean).join(' + ');
  const lines: string[] = [];
  let columns: readonly string[] = [];
  for (const i of range(n)) {
    lines.push(`let u${i} = ${sumOf(columns[0], `a.l${i} * b.l0`)};`);
    lines.push(`let q${i} = (u${i} * ${montgomeryFactor(m.p, WIDTH)}u) & ${MASK}u;`);
    lines.push(`let v${i} = u${i} + q${i} * ${p[0]}u;`);
    const above = range(n).slice(1);
    for (const k of above) {
      const carry = k === 1 ? `(v${i} >> ${WIDTH}u)` : '';
      lines.push(`let t${i}_${k} = ${sumOf(columns[k], `a.l${i} * b.l${k}`, `q${i} * ${p[k]}u`, carry)};`);
    }
    columns = above.map((k) => `t${i}_${k}`);
  }
  for (const k of range(n)) lines.push(`let s${k} = ${sumOf(columns[k], k > 0 ? `(s${k - 1} >> ${WIDTH}u)` : '')};`);
  return lines;
};

/** Returns statements that subtract p once if possible, and return. */
const conditionalSubtraction = (m: Modulus): string[] => {
  const n = lazyLimbs(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const differences = range(n).map(
    (i) => `let d${i} = (s${i} & ${MASK}u) - ${p[i]}u${i > 0 ? ` - (d${i - 1} >> 31u)` : ''};`,
  );
  const limbs = range(n).map((i) => `(s${i} & ${MASK}u & keep) | (d${i} & ${MASK}u & ~keep)`);
  return [...differences, `let keep = 0u - (d${n - 1} >> 31u);`, `return Limbs(${limbs.join(',\n')});`];
};

export const plainProduct: FieldOperation = {
  ...{ variant: '13-bit, plain', name: 'product' },
  representation: (m) => {
    const limbs = lazyLimbs(m, WIDTH);
    const struct = `struct Limbs {\n${range(limbs)
      .map((i) => `  l${i}: u32,\n`)
      .join('')}}\n`;
    const body = [...montgomeryRows(m), ...conditionalSubtraction(m)].join('\n');
    return {
      declarations: `${struct}fn product(a: Limbs, b: Limbs) -> Limbs {\n${body}\n}`,
      ...{ type: 'Limbs', limbs, r: 1n << BigInt(WIDTH * limbs) },
      encode: (value) => digitsOf(value, WIDTH, limbs),
      decode: (digits) => joinLimbs(digits, WIDTH),
    };
  },
  wgsl: (x) => `${x} = product(${x}, y);`,
  multiplyAdds: (m) => 2 * lazyLimbs(m, WIDTH) ** 2,
  apply: productOf,
};
