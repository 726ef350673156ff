/** Curves by name. */
import { bn254 as noble } from '@noble/curves/bn254.js';
import { expect, test } from 'vitest';
import { resolveCurve } from '../src/curves/named.js';

test.each(['bn254', 'BN254', 'bn128', 'alt_bn128'])('%s is BN254 G1, as noble has it', (name) => {
  const {
    Point,
    Point: { BASE },
  } = noble.G1;
  const { p, order, a, b, generator } = resolveCurve(name);
  expect({ p, order, a, b, generator }).toEqual({
    p: Point.Fp.ORDER,
    order: Point.Fn.ORDER,
    a: Point.CURVE().a,
    b: Point.CURVE().b,
    generator: { x: BASE.x, y: BASE.y },
  });
});

test.each(['bn256', 'Bn254', '', 'toString', '__proto__'])('%j is refused by all names that there are', (name) => {
  expect(() => resolveCurve(name)).toThrow(
    expect.objectContaining({
      name: 'MsmError',
      code: 'bad-argument',
      message: `curve: '${name}' is unknown; give one of bn254 (also BN254, bn128, alt_bn128) or a Curve object`,
    }),
  );
});
