/** Classifies additions P + Q by the formula that computes them. */
import { range } from '../../field/straight-line.js';
import type { Local } from '../encoder/code.js';
import { call, isInfinity, type KernelParts } from './kernel-parts.js';

/**
 * `sum`: P ≠ ±Q; `double`: P = Q; `infinity`: P = −Q; `left`: the sum is P; `right`: the sum is Q.
 * Only the first two are computed.
 */
export const KIND = { sum: 0, double: 1, infinity: 2, left: 3, right: 4 } as const;

/**
 * Adds a function (P, mask of its sign, Q, mask of its sign) that returns the kind of ±P ± Q. It is
 * called only where the lowest limbs of x do not rule out the exceptional cases.
 */
export const addClassify = ({ module, elements, memory, temporary }: KernelParts): number =>
  module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const { subtractOne, signedOne, isZero } = elements;
    const { difference, left, right } = temporary;
    const { element, plus } = memory;
    const [P, p, Q, q] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
    const returnIf = (kind: number): void => {
      code.if(() => code.i32(kind).do('return'));
    };
    isInfinity(code, P, element);
    returnIf(KIND.right);
    isInfinity(code, Q, element);
    returnIf(KIND.left);
    call(code, subtractOne, difference, Q, P, plus);
    call(code, isZero, difference);
    code.do('i32.eqz');
    returnIf(KIND.sum);
    for (const [to, point, sign] of [
      [left, P, p],
      [right, Q, q],
    ] as const) {
      call(code, signedOne, to, [point, element], sign);
    }
    call(code, isZero, left);
    returnIf(KIND.infinity);
    call(code, subtractOne, difference, left, right, plus);
    call(code, isZero, difference);
    returnIf(KIND.double);
    code.i32(KIND.infinity);
  });
