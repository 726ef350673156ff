/** Checks that points are on the curve. */
import type { Code, Local } from '../encoder/code.js';
import type { Elements } from './elements.js';
import { call, isInfinity, type KernelParts } from './kernel-parts.js';

/** Values of a module that the function is written with. */
interface CheckParts extends Pick<KernelParts, 'module' | 'curve' | 'memory' | 'temporary'> {
  readonly elements: Pick<Elements, 'multiplyOne' | 'subtractOne' | 'isZero'>;
}

/** Adds the function `check` of `KernelExports`. */
export const addCheck = (parts: CheckParts): void => {
  const { module, memory } = parts;
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [points, count] = [code.parameter(0), code.parameter(1)];
    const index = code.local('i32');
    const wrong = code.local('i32');
    code.i32(0).set(index);
    code.loop((again) => {
      code.i32(0).set(wrong);
      isInfinity(code, points, memory.element);
      code.do('i32.eqz').if(() => {
        isOnCurve(code, parts, points);
        code.do('i32.eqz').set(wrong);
      });
      code.get(wrong).if(() => code.get(index).do('return'));
      code
        .get(points)
        .i32(2 * memory.element)
        .do('i32.add')
        .set(points);
      code.get(index).i32(1).do('i32.add').tee(index).get(count).do('i32.lt_s');
      again();
    });
    code.get(index);
  });
};

/** Leaves whether x³ + a·x + b − y² is 0. */
const isOnCurve = (code: Code, { curve, elements, memory, temporary }: CheckParts, point: Local): void => {
  const { multiplyOne, subtractOne, isZero } = elements;
  const { difference, left, right } = temporary;
  const { element, a, b, plus, minus } = memory;
  call(code, multiplyOne, left, point, point);
  call(code, multiplyOne, left, left, point);
  if (curve.a.some((value) => value !== 0n)) {
    call(code, multiplyOne, right, a, point);
    call(code, subtractOne, left, left, right, minus);
  }
  call(code, subtractOne, left, left, b, minus);
  call(code, multiplyOne, right, [point, element], [point, element]);
  call(code, subtractOne, difference, left, right, plus);
  call(code, isZero, difference);
};
