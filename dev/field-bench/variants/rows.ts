/**
 * Generates Montgomery products on u32 limbs, row by row, as WGSL. All variants with unsigned limbs
 * use it.
 */
import { digitsOf, lazyLimbs, type Modulus, montgomeryFactor } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';

/** Largest u32. */
const LIMIT = 2 ** 32 - 1;

/** A column of a product: its WGSL, '' if empty, and its largest value. */
interface Column {
  readonly wgsl: string;
  readonly most: number;
}

const NOTHING: Column = { wgsl: '', most: 0 };

const sumOf = (...terms: readonly string[]): string => terms.filter((term) => term !== '').join(' + ');

/**
 * Returns statements for s0 …, the columns of a·b/R below 2p; all but the low `width` bits of each
 * must still be masked. Operands are below 2p with canonical limbs. Rows are interleaved (CIOS):
 * row i adds a_i·b, and makes the lowest column 0. The generator tracks the largest value of each
 * column. Before a row that would overflow a u32, it carries what a column has above its limb into
 * the next one, for all such columns at once and independently. With 13 bits that never happens;
 * with 14 bits, below 2^29, 8 rows fit between two carries; with 15 bits, below 2^31 − 2^16, 2
 * rows.
 */
export const montgomeryRows = (m: Modulus, width: number): string[] => {
  const n = lazyLimbs(m, width);
  const p = digitsOf(m.p, width, n);
  const [n0, mask] = [montgomeryFactor(m.p, width), 2 ** width - 1];
  const most = range(n).map((k) => (k < n - 1 ? mask : Number((2n * m.p - 1n) >> BigInt(width * k))));
  const lines: string[] = [];

  const checked = (name: string, wgsl: string, most: number): Column => {
    if (most > LIMIT)
      throw new RangeError(`${name} of a product with ${width}-bit limbs can reach ${most}, above 2^32 − 1`);
    lines.push(`let ${name} = ${wgsl};`);
    return { wgsl: name, most };
  };

  const above = ({ wgsl, most }: Column): Column => ({
    wgsl: `(${wgsl} >> ${width}u)`,
    most: Math.floor(most / 2 ** width),
  });

  /** Returns the same number in columns to each of which `added` can be added. */
  const withRoom = (columns: readonly Column[], name: string, added: (k: number) => number): readonly Column[] => {
    let carry = NOTHING;
    return columns.map((column, k) => {
      const carryIn = carry;
      const full = column.most + carryIn.most + added(k) > LIMIT;
      carry = full ? above(column) : NOTHING;
      if (!full && carryIn === NOTHING) return column;
      const kept = full ? { wgsl: `(${column.wgsl} & ${mask}u)`, most: Math.min(mask, column.most) } : column;
      return checked(`${name}_${k}`, sumOf(kept.wgsl, carryIn.wgsl), kept.most + carryIn.most);
    });
  };

  let columns: readonly Column[] = range(2 * n).map(() => NOTHING);
  for (const i of range(n)) {
    const product = (k: number): string => `a.l${i} * b.l${k}`;
    const added = (k: number): number =>
      k < n ? (most[i] as number) * (most[k] as number) + mask * (p[k] as number) : 0;
    // the carry out of column 0 goes into column 1
    const [low = NOTHING, ...rest] = withRoom(columns, `r${i}`, (k) => added(k) + (k === 1 ? LIMIT >>> width : 0));
    lines.push(`let u${i} = ${sumOf(low.wgsl, product(0))};`, `let q${i} = (u${i} * ${n0}u) & ${mask}u;`);
    const carry = above(checked(`v${i}`, `u${i} + q${i} * ${p[0]}u`, low.most + added(0)));
    // every column moves down by one, because the lowest is now 0
    columns = rest.map((column, below) => {
      const k = below + 1;
      if (k >= n) return column;
      const carryIn = k === 1 ? carry : NOTHING;
      const terms = sumOf(column.wgsl, product(k), `q${i} * ${p[k]}u`, carryIn.wgsl);
      return checked(`t${i}_${k}`, terms, column.most + added(k) + carryIn.most);
    });
  }
  for (const [k, { wgsl }] of withRoom(columns, 'r', () => LIMIT >>> width).entries())
    lines.push(`let s${k} = ${sumOf(wgsl, k > 0 ? `(s${k - 1} >> ${width}u)` : '')};`);
  return lines;
};

/**
 * Returns limbs of s0 … without a final subtraction. The value is below 2p and the limbs hold 4p,
 * so nothing remains above the last limb.
 */
export const returnLimbs = (m: Modulus, width: number): string => {
  const last = lazyLimbs(m, width) - 1;
  const limbs = range(last + 1).map((k) => (k < last ? `s${k} & ${2 ** width - 1}u` : `s${k}`));
  return `return Limbs(${limbs.join(', ')});`;
};
