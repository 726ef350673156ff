/** Montgomery's products on limbs of u32, row by row, as WGSL: what the variants in unsigned limbs have in common. */
import { digitsOf, lazyLimbs, type Modulus, montgomeryFactor } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';

/** The most that a u32 holds. */
const LIMIT = 2 ** 32 - 1;

/** A column of a product: what it is in WGSL, '' where there is nothing, and the most that it can be. */
interface Column {
  readonly wgsl: string;
  readonly most: number;
}

const NOTHING: Column = { wgsl: '', most: 0 };

const sumOf = (...terms: readonly string[]): string => terms.filter((term) => term !== '').join(' + ');

/**
 * Statements of s0 …, what a·b/R comes to below 2p, with all but the low `width` bits of each still to be masked. Operands are below 2p and their limbs
 * canonical. Rows are interleaved (CIOS): row i adds a_i·b and makes the lowest column 0. The generator knows the most that each column can be; just
 * before a row that would take a column beyond a u32, what that column has above its limb is carried into the next one: all such columns at once, none
 * waiting for another. That is never for 13 bits; of 14 bits, below 2^29, 8 rows fit between two carries; of 15 bits, below 2^31 − 2^16, 2 rows.
 */
export const montgomeryRows = (m: Modulus, width: number): string[] => {
  const n = lazyLimbs(m, width);
  const p = digitsOf(m.p, width, n);
  const [n0, mask] = [montgomeryFactor(m.p, width), 2 ** width - 1];
  const most = range(n).map((k) => (k < n - 1 ? mask : Number((2n * m.p - 1n) >> BigInt(width * k))));
  const lines: string[] = [];

  const checked = (name: string, wgsl: string, most: number): Column => {
    if (most > LIMIT) throw new RangeError(`${name} of a product in limbs of ${width} bits can be ${most}`);
    lines.push(`let ${name} = ${wgsl};`);
    return { wgsl: name, most };
  };

  const above = ({ wgsl, most }: Column): Column => ({
    wgsl: `(${wgsl} >> ${width}u)`,
    most: Math.floor(most / 2 ** width),
  });

  /** The same number in columns to each of which `added` can be added. */
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
    // every column moves down by one, as the lowest is 0 now
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

/** Limbs of s0 …, with no last subtraction: the value is below 2p, and the limbs have room for 4p, so nothing is left above the last one. */
export const returnLimbs = (m: Modulus, width: number): string => {
  const last = lazyLimbs(m, width) - 1;
  const limbs = range(last + 1).map((k) => (k < last ? `s${k} & ${2 ** width - 1}u` : `s${k}`));
  return `return Limbs(${limbs.join(', ')});`;
};
