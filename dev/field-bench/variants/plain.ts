import { digitsOf, invert, joinLimbs, type Modulus, mod } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant, Representation } from '../representation.js';
import { carried, returnCarried } from './carried.js';

/** Limbs of `width` bits for numbers below 4p. */
export const limbsFor = (m: Modulus, width: number): number => Math.ceil((m.bits + 2) / width);

export const limbsStruct = (limbs: number, element: string): string =>
  `struct Limbs {\n${range(limbs)
    .map((i) => `  l${i}: ${element},`)
    .join('\n')}\n}`;

/** Canonical limbs of `width` bits, and Montgomery's R for them. */
export const unsignedLimbs = (m: Modulus, width: number, product: string): Representation => {
  const limbs = limbsFor(m, width);
  return {
    declarations: `${limbsStruct(limbs, 'u32')}\n${product}`,
    type: 'Limbs',
    element: 'u32',
    limbs,
    r: 1n << BigInt(width * limbs),
    encode: (value) => digitsOf(value, width, limbs),
    decode: (digits) => joinLimbs(digits, width),
  };
};

/** −p⁻¹ mod 2^width. */
export const montgomeryFactor = (m: Modulus, width: number): number => {
  const one = 1n << BigInt(width);
  return Number(mod(-invert(m.p, one), one));
};

/**
 * The rows of an interleaved Montgomery product (CIOS) in limbs of 13 bits, as WGSL statements, and the columns that they come to, below 2p
 * together. No column exceeds a u32: 40 products of 26 bits.
 */
const plainRows = (m: Modulus): { rows: string[]; columns: string[] } => {
  const [width, n] = [13, limbsFor(m, 13)];
  const p = digitsOf(m.p, width, n);
  const [n0, mask] = [montgomeryFactor(m, width), 2 ** width - 1];
  const rows = range(n).map((i) => {
    const before = (k: number): string => (i > 0 && k < n - 1 ? `t${i - 1}_${k} + ` : '');
    return [
      `let u${i} = ${before(0)}a.l${i} * b.l0;`,
      `let q${i} = (u${i} * ${n0}u) & ${mask}u;`,
      `let c${i} = (u${i} + q${i} * ${p[0]}u) >> ${width}u;`,
      ...range(n - 1).map(
        (k) =>
          `let t${i}_${k} = ${before(k + 1)}a.l${i} * b.l${k + 1} + q${i} * ${p[k + 1]}u${k === 0 ? ` + c${i}` : ''};`,
      ),
    ].join('\n');
  });
  return { rows, columns: range(n).map((k) => (k < n - 1 ? `t${n - 1}_${k}` : '')) };
};

/** Subtracts p once if that is possible, and returns. */
const conditionalSubtraction = (m: Modulus, width: number): string => {
  const n = limbsFor(m, width);
  const p = digitsOf(m.p, width, n);
  const mask = 2 ** width - 1;
  const differences = range(n).map(
    (i) => `let d${i} = (s${i} & ${mask}u) - ${p[i]}u${i > 0 ? ` - (d${i - 1} >> 31u)` : ''};`,
  );
  const limbs = range(n).map((i) => `(s${i} & ${mask}u & keep) | (d${i} & ${mask}u & ~keep)`);
  return [...differences, `let keep = 0u - (d${n - 1} >> 31u);`, `return Limbs(${limbs.join(',\n')});`].join('\n');
};

/**
 * The product of the first version of this library, and what others are measured in: 13-bit limbs, unrolled, canonical in and out. The
 * unit of "product equivalents".
 */
export const plain: ProductVariant = {
  name: '13-bit, plain',
  representation: (m) => {
    const { rows, columns } = plainRows(m);
    const body = [...rows, ...carried(columns, 13), conditionalSubtraction(m, 13)];
    return unsignedLimbs(m, 13, `fn product(a: Limbs, b: Limbs) -> Limbs {\n${body.join('\n')}\n}`);
  },
  multiplications: (m) => 2 * limbsFor(m, 13) ** 2,
};

/** The same without the last subtraction: in and out below 2p, as R > 4p. */
export const lazy: ProductVariant = {
  name: '13-bit, lazy',
  representation: (m) => {
    const { rows, columns } = plainRows(m);
    const body = [...rows, returnCarried(columns, 13)];
    return unsignedLimbs(m, 13, `fn product(a: Limbs, b: Limbs) -> Limbs {\n${body.join('\n')}\n}`);
  },
  multiplications: plain.multiplications,
};
