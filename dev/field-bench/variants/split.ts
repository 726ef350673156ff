/** A product in limbs of 16 bits: the fewest multiplications of 32 bits there are, and additions for it. */
import { digitsOf, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant } from '../representation.js';
import { returnCarried } from './carried.js';
import { limbsFor, montgomeryFactor, unsignedLimbs } from './plain.js';

const WIDTH = 16;

/**
 * Interleaved rows (CIOS). Products of 16 bits fill a u32, so a column must keep their low and high halves apart: the low ones belong
 * to it, the high ones to the next. It does with two sums: `s`, of whole products, which wraps around, and `h`, of their high halves.
 * The sum of the low halves is s − 2^16·h modulo 2^32, and small enough to be told by that. One mask a product is saved.
 *
 * A column comes to 2n low halves of its own, 2n high ones of the column below, and what that one has above 16 bits, all told less than
 * (4n + 1)·2^16: below 2^23 for 24 limbs, which 381 bits take.
 */
const product = (m: Modulus): string => {
  const n = limbsFor(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const rows = range(n).flatMap((i) => {
    // every row leaves a column 0 that is 0, and so what was column k + 1 of the row before is column k now
    const before = (sum: 's' | 'h', k: number): string => (i > 0 && k < n - 1 ? `${sum}${i - 1}_${k + 1} + ` : '');
    const products = range(n).map((k) => [
      `let x${i}_${k} = a.l${i} * b.l${k};`,
      // the low 16 bits of column 0 are those of its s, as what is below has been carried
      ...(k === 0
        ? [`let u${i} = ${before('s', 0)}x${i}_0;`, `let q${i} = (u${i} * ${montgomeryFactor(m, WIDTH)}u) & 65535u;`]
        : []),
      `let y${i}_${k} = q${i} * ${p[k]}u;`,
      `let h${i}_${k} = ${before('h', k)}(x${i}_${k} >> 16u) + (y${i}_${k} >> 16u);`,
    ]);
    return [
      ...products.flat(),
      `let c${i} = h${i}_0 + ((u${i} + y${i}_0 - (h${i}_0 << 16u)) >> 16u);`,
      ...range(n)
        .slice(1)
        .map((k) => `let s${i}_${k} = ${before('s', k)}x${i}_${k} + y${i}_${k}${k === 1 ? ` + c${i}` : ''};`),
    ];
  });
  const own = (k: number): string => `s${n - 1}_${k + 1} - (h${n - 1}_${k + 1} << 16u)`;
  const below = (k: number): string => `h${n - 1}_${k}`;
  const columns = range(n).map((k) => {
    if (k === 0) return own(k);
    return k < n - 1 ? `${own(k)} + ${below(k)}` : below(k);
  });
  return `fn product(a: Limbs, b: Limbs) -> Limbs {\n${[...rows, returnCarried(columns, WIDTH)].join('\n')}\n}`;
};

export const split: ProductVariant = {
  name: '16-bit, split',
  representation: (m) => unsignedLimbs(m, WIDTH, product(m)),
  multiplications: (m) => 2 * limbsFor(m, WIDTH) ** 2,
};
