/**
 * Products in unsigned limbs. Wider limbs need fewer multiply-adds, but columns that are carried
 * now and then.
 */
import { digitsOf, lazyLimbs, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import { type FieldOperation, productVariant } from '../operation.js';
import { unsignedLimbs } from './limbs.js';
import { montgomeryRows, returnLimbs } from './rows.js';

const unsigned = (width: number, kind: string, end: (m: Modulus, width: number) => string): FieldOperation =>
  productVariant({
    variant: `${width}-bit, ${kind}`,
    representation: (m) => unsignedLimbs(m, width, [...montgomeryRows(m, width), end(m, width)]),
    multiplyAdds: (m) => 2 * lazyLimbs(m, width) ** 2,
  });

/** Subtracts p once if possible, and returns. */
const conditionalSubtraction = (m: Modulus, width: number): string => {
  const n = lazyLimbs(m, width);
  const p = digitsOf(m.p, width, n);
  const mask = 2 ** width - 1;
  const differences = range(n).map(
    (i) => `let d${i} = (s${i} & ${mask}u) - ${p[i]}u${i > 0 ? ` - (d${i - 1} >> 31u)` : ''};`,
  );
  const limbs = range(n).map((i) => `(s${i} & ${mask}u & keep) | (d${i} & ${mask}u & ~keep)`);
  return [...differences, `let keep = 0u - (d${n - 1} >> 31u);`, `return Limbs(${limbs.join(',\n')});`].join('\n');
};

/**
 * The unit of product equivalents: 13-bit limbs, unrolled, canonical on input and output. It was
 * the product of the first version of this library.
 */
export const plain = unsigned(13, 'plain', conditionalSubtraction);

/**
 * The plain product without the final subtraction: below 2p on input and output, because R > 4p.
 */
export const lazy = unsigned(13, 'lazy', returnLimbs);
export const unsigned14 = unsigned(14, 'unsigned', returnLimbs);
export const unsigned15 = unsigned(15, 'unsigned', returnLimbs);
