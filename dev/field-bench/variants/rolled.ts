/** The plain product as a loop: little code, and few registers. */
import { digitsOf } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant } from '../representation.js';
import { returnCarried } from './carried.js';
import { limbsFor, montgomeryFactor, plain, unsignedLimbs } from './plain.js';

const WIDTH = 13;

/**
 * One row of code for all rows. Only the limbs of `a` are in an array, as WGSL can index nothing else by a variable; compilers put that into
 * memory of the thread. What the row computes on has names, and so may live in registers: the columns, b, and one q. Bounds are those of
 * the plain product, whose rows these are.
 */
export const rolled: ProductVariant = {
  name: '13-bit, rolled',
  representation: (m) => {
    const n = limbsFor(m, WIDTH);
    const p = digitsOf(m.p, WIDTH, n);
    const [n0, mask] = [montgomeryFactor(m, WIDTH), 2 ** WIDTH - 1];
    const columns = range(n - 1).map((k) => `t${k}`);
    const row = columns.map(
      (column, k) =>
        `${column} = ${k + 1 < n - 1 ? `t${k + 1} + ` : ''}limb * b.l${k + 1} + q * ${p[k + 1]}u${k === 0 ? ' + carry' : ''};`,
    );
    const body = [
      `var rows = array<u32, ${n}>(${range(n)
        .map((i) => `a.l${i}`)
        .join(', ')});`,
      ...columns.map((column) => `var ${column} = 0u;`),
      `for (var i = 0u; i < ${n}u; i++) {`,
      'let limb = rows[i];',
      'let u = t0 + limb * b.l0;',
      `let q = (u * ${n0}u) & ${mask}u;`,
      `let carry = (u + q * ${p[0]}u) >> ${WIDTH}u;`,
      ...row,
      '}',
      returnCarried([...columns, ''], WIDTH),
    ];
    return unsignedLimbs(m, WIDTH, `fn product(a: Limbs, b: Limbs) -> Limbs {\n${body.join('\n')}\n}`);
  },
  multiplications: plain.multiplications,
};
