/** Products in wider limbs: fewer multiply-adds, and columns that must be carried now and then. */
import { digitsOf, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant } from '../representation.js';
import { returnCarried } from './carried.js';
import { limbsFor, montgomeryFactor, unsignedLimbs } from './plain.js';

/** The most that a u32 holds. */
const LIMIT = 2 ** 32 - 1;

/** A column of a product: what it is in WGSL, and the most that it can be. */
interface Column {
  readonly wgsl: string;
  readonly most: number;
}

const NOTHING: Column = { wgsl: '', most: 0 };

const sumOf = (...terms: readonly string[]): string => terms.filter((term) => term !== '').join(' + ');

/**
 * Interleaved rows (CIOS) with the last subtraction left out. The generator knows the most that each column can be, as operands are below
 * 2p, their limbs canonical, and p is p. Just before a row that would take a column beyond a u32, what that column has above its limb is
 * carried into the next one: all such columns at once, none waiting for another. Two products of 14 bits are below 2^29, so 8 rows
 * fit between two such passes; of 15 bits, below 2^31 − 2^16, 2 rows.
 */
const product = (m: Modulus, width: number): string => {
  const n = limbsFor(m, width);
  const p = digitsOf(m.p, width, n);
  const [n0, mask] = [montgomeryFactor(m, width), 2 ** width - 1];
  const limbMost = range(n).map((k) => (k < n - 1 ? mask : Number((2n * m.p - 1n) >> BigInt(width * k))));
  const lines: string[] = [];

  const checked = (name: string, wgsl: string, most: number): Column => {
    if (most > LIMIT) throw new RangeError(`${name} of a product in limbs of ${width} bits can be ${most}`);
    lines.push(`let ${name} = ${wgsl};`);
    return { wgsl: name, most };
  };

  /** The same number in columns to each of which `added` can be added. */
  const withRoom = (columns: readonly Column[], name: string, added: (k: number) => number): readonly Column[] => {
    let carry = NOTHING;
    return columns.map((column, k) => {
      const carryIn = carry;
      const full = column.most + carryIn.most + added(k) > LIMIT;
      carry = full ? { wgsl: `(${column.wgsl} >> ${width}u)`, most: Math.floor(column.most / 2 ** width) } : NOTHING;
      if (!full && carryIn === NOTHING) return column;
      const kept = full ? { wgsl: `(${column.wgsl} & ${mask}u)`, most: Math.min(mask, column.most) } : column;
      return checked(`${name}_${k}`, sumOf(kept.wgsl, carryIn.wgsl), kept.most + carryIn.most);
    });
  };

  let columns: readonly Column[] = range(n).map(() => NOTHING);
  for (const i of range(n)) {
    const added = (k: number): number => (limbMost[i] as number) * (limbMost[k] as number) + mask * (p[k] as number);
    // the carry out of column 0 goes into column 1
    const from = withRoom(columns, `r${i}`, (k) => added(k) + (k === 1 ? LIMIT >>> width : 0));
    const before = (k: number): Column => from[k] as Column;
    lines.push(`let u${i} = ${sumOf(before(0).wgsl, `a.l${i} * b.l0`)};`, `let q${i} = (u${i} * ${n0}u) & ${mask}u;`);
    const lowest = checked(`v${i}`, `u${i} + q${i} * ${p[0]}u`, before(0).most + added(0));
    const carry: Column = { wgsl: `(${lowest.wgsl} >> ${width}u)`, most: Math.floor(lowest.most / 2 ** width) };
    columns = range(n).map((k) => {
      // every column moves down by one, as the lowest is 0 now
      if (k === n - 1) return NOTHING;
      const { wgsl, most } = before(k + 1);
      const carryIn = k === 0 ? carry : NOTHING;
      const terms = sumOf(wgsl, `a.l${i} * b.l${k + 1} + q${i} * ${p[k + 1]}u`, carryIn.wgsl);
      return checked(`t${i}_${k}`, terms, most + added(k + 1) + carryIn.most);
    });
  }
  const last = withRoom(columns, 'r', () => LIMIT >>> width);
  lines.push(
    returnCarried(
      last.map(({ wgsl }) => wgsl),
      width,
    ),
  );
  return `fn product(a: Limbs, b: Limbs) -> Limbs {\n${lines.join('\n')}\n}`;
};

const unsigned = (width: number): ProductVariant => ({
  name: `${width}-bit, unsigned`,
  representation: (m) => unsignedLimbs(m, width, product(m, width)),
  multiplications: (m) => 2 * limbsFor(m, width) ** 2,
});

export const unsigned14 = unsigned(14);
export const unsigned15 = unsigned(15);
