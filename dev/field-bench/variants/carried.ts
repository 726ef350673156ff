import { range } from '../../../src/field/straight-line.js';

/** WGSL of s0 …: the columns with what is carried into them, all but the low `width` bits of each still to be masked; '' where there is no column. */
export const carried = (columns: readonly string[], width: number): string[] =>
  columns.map((column, k) => {
    const carry = k > 0 ? `(s${k - 1} >> ${width}u)` : '';
    return `let s${k} = ${[column, carry].filter((term) => term !== '').join(' + ')};`;
  });

/**
 * WGSL that carries columns into limbs of `width` bits and returns these, with no last subtraction. The value is below 2p, and the limbs
 * have room for 4p, so nothing is left above the last one. A column and the carry into it, below 2^(32 − width), must fit a u32 together.
 *
 * @param columns WGSL of each; '' where there is nothing
 */
export const returnCarried = (columns: readonly string[], width: number): string => {
  const last = columns.length - 1;
  const limbs = range(last + 1).map((k) => (k < last ? `s${k} & ${2 ** width - 1}u` : `s${k}`));
  return [...carried(columns, width), `return Limbs(${limbs.join(', ')});`].join('\n');
};
