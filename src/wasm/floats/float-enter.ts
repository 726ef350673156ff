/** Converts numbers from words to elements, and checks that points are on the curve. */
import { range } from '../../field/straight-line.js';
import { type Address, addressPlus, pushAddress } from '../arithmetic/addresses.js';
import type { Code, Local } from '../encoder/code.js';
import { settled } from './coordinates.js';
import { FloatFunctions } from './float-functions.js';
import { areZero, call, type FloatParts, step } from './float-parts.js';
import { PointPrograms } from './point-programs.js';

/** Splits a number below 2^(8·wordBytes) into limbs that are not centred. */
export const splitNumber = (
  code: Code,
  { width, limbs }: { readonly width: number; readonly limbs: number },
  wordBytes: number,
  from: Local,
  offset: number,
  to: Address,
): void => {
  for (const j of range(limbs)) {
    const bit = j * width;
    const bits = Math.min(width, 8 * wordBytes - bit);
    pushAddress(code, addressPlus(to, 8 * j));
    if (bits <= 0) code.i64(0);
    else {
      // 64 bits from this byte on have the limb, and may reach into the next number
      code
        .get(from)
        .at('i64.load', offset + Math.floor(bit / 8))
        .i64(bit % 8)
        .do('i64.shr_u');
      code.i64((1n << BigInt(bits)) - 1n).do('i64.and');
    }
    code.do('f64.convert_i64_s').at('f64.store', 0);
  }
};

/** Adds the function `enter` of `KernelExports`. @param unit address of the factor */
export const addFloatEnter = ({ module, memory, programs }: FloatParts, wordBytes: number, unit: number): void => {
  const field = { ...programs.field, degree: 1 as const };
  const numbers = new FloatFunctions(module, memory, new PointPrograms(field, 0, null, true));
  const raw = [memory.take(field.bytes), memory.take(field.bytes)] as const;
  const multiply = numbers.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
    c.store(to, c.multiply(c.load(a, { most: 1, terms: 2 }), c.load(b), [], true)),
  );
  module.add('enter', { parameters: ['i32', 'i32', 'i32'] }, (code) => {
    const [to, from, count] = range(3).map((i) => code.parameter(i)) as [Local, Local, Local];
    code.loop((again) => {
      for (const [lane, at] of raw.entries()) splitNumber(code, field, wordBytes, from, lane * wordBytes, at);
      call(code, multiply, to, [to, field.bytes], ...raw, unit, unit);
      step(code, to, 2 * field.bytes);
      step(code, from, 2 * wordBytes);
      code.get(count).i32(2).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
      again();
    });
  });
};

/** Adds the function `check` of `KernelExports`. @param b address of the coefficient */
export const addFloatCheck = ({ module, memory, programs, functions }: FloatParts, b: number): void => {
  const floats = memory.coordinate / 8;
  const [first, second] = memory.takeLanes();
  const residue = functions.define(['lanes', 'lanes', 'lanes'], (c, to, point, constant) =>
    c.store(to, programs.residue(c, point, constant), settled),
  );
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [points, count] = [code.parameter(0), code.parameter(1)];
    const { index, other } = code.named('i32', 'index', 'other');
    code.loop((again) => {
      // the last point of an odd number is checked twice
      code
        .get(points)
        .get(points)
        .i32(2 * memory.coordinate)
        .do('i32.add');
      code.get(index).i32(1).do('i32.add').get(count).do('i32.eq', 'select').set(other);
      call(code, residue, first, second, points, other, b, b);
      for (const [at, point] of [
        [first, points],
        [second, other],
      ] as const) {
        areZero(code, at, floats);
        areZero(code, point, 2 * floats);
        code.do('i32.or', 'i32.eqz').if(() => code.get(index).do('return'));
        step(code, index, 1);
      }
      step(code, points, 4 * memory.coordinate);
      code.get(index).get(count).do('i32.lt_s');
      again();
    });
    code.get(count);
  });
};
