/**
 * Numbers in limbs of floats: conversion from words, the check that points are on the curve, and
 * inversion by the division steps of ../arithmetic/inverse.ts.
 */

import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { wasmField } from '../arithmetic/field-programs.js';
import { addInverse } from '../arithmetic/inverse.js';
import { pushBits, splitNumber } from '../arithmetic/numbers.js';
import type { Address, Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { FloatField, FloatMemory } from './float-field.js';
import { areZero, FloatFunctions, type FloatParts } from './float-functions.js';
import { PointPrograms, settled } from './point-programs.js';

/** Splits a number below 2^(8·wordBytes) into limbs that are not centred. */
export const splitFloats = (
  code: Code,
  format: Parameters<typeof splitNumber>[1],
  from: readonly [Local, number],
  to: Address,
): void => splitNumber(code, format, from, to, (j) => code.do('f64.convert_i64_s').at('f64.store', 8 * j));

/** Adds the function `enter` of `KernelExports`. @param unit address of the factor */
export const addFloatEnter = ({ module, memory, programs }: FloatParts, wordBytes: number, unit: number): void => {
  const field = { ...programs.field, degree: 1 as const };
  const numbers = new FloatFunctions(module, memory, new PointPrograms(field, 0, null, true));
  const raw = [memory.take(field.bytes), memory.take(field.bytes)] as const;
  const multiply = numbers.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
    c.store(to, c.multiply(c.load(a, { most: 1, terms: 2 }), c.load(b), [], true)),
  );
  module.add('enter', { parameters: ['i32', 'i32', 'i32'] }, (code, to, from, count) => {
    code.countPast(
      count,
      () => {
        for (const [lane, at] of raw.entries())
          splitFloats(code, { ...field, wordBytes }, [from, lane * wordBytes], at);
        code.call(multiply, to, [to, field.bytes], ...raw, unit, unit);
        code.increase(to, 2 * field.bytes);
        code.increase(from, 2 * wordBytes);
      },
      2,
    );
  });
};

/** Adds (words, a): writes an element, which is between −p and p, as a number below p. */
export const addFloatJoin = (module: WasmModule, field: FloatField, wordBytes: number): number => {
  const { p, width, limbs } = field;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, words, a) => {
    const signed = loadIntegers(code, field, a);
    const { isNegative, carry } = code.named('i64', 'isNegative', 'carry');
    code.get(signed.at(-1) as Local).i64(63);
    code.do('i64.shr_s').set(isNegative);
    const digitsOfP = digitsOf(p, width, limbs);
    const digits = range(limbs).map((i) => {
      const digit = code.local('i64');
      code.i64(digitsOfP[i] as number).get(isNegative);
      code.do('i64.and').get(signed[i] as Local);
      code.do('i64.add');
      if (i > 0) code.get(carry).do('i64.add');
      code.set(digit);
      code.get(digit).i64(width).do('i64.shr_s').set(carry);
      if (i < limbs - 1) {
        code.get(digit).i64((1n << BigInt(width)) - 1n);
        code.do('i64.and').set(digit);
      }
      return digit;
    });
    for (const j of range(wordBytes / 4)) {
      code.get(words);
      pushBits(code, { values: digits, width }, { bit: 32 * j, count: 32, isTop: false });
      code.at('i64.store32', 4 * j);
    }
  });
};

/** Adds the function `leave` of `KernelExports`. @param unit address of the factor */
export const addFloatLeave = ({ module, memory, programs }: FloatParts, wordBytes: number, unit: number): void => {
  const field = { ...programs.field, degree: 1 as const };
  const numbers = new FloatFunctions(module, memory, new PointPrograms(field, 0, null, true));
  const products = [memory.take(field.bytes), memory.take(field.bytes)] as const;
  const multiply = numbers.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
    c.store(to, c.multiply(c.load(a), c.load(b), [], true)),
  );
  const join = addFloatJoin(module, field, wordBytes);
  module.add('leave', { parameters: ['i32', 'i32', 'i32'] }, (code, to, from, count) => {
    code.countPast(
      count,
      () => {
        code.call(multiply, ...products, from, [from, field.bytes], unit, unit);
        for (const [lane, product] of products.entries()) code.call(join, [to, lane * wordBytes], product);
        code.increase(to, 2 * wordBytes);
        code.increase(from, 2 * field.bytes);
      },
      2,
    );
  });
};

/** Adds the function `images` of `KernelExports`. */
export const addFloatImages = ({ module, memory, functions }: FloatParts): void => {
  const y = memory.coordinate;
  const multiply = functions.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
    c.store(to, c.multiply(c.conjugate(c.load(a)), c.load(b), [], true)),
  );
  module.add('images', { parameters: ['i32', 'i32', 'i32', 'i32'] }, (code, to, from, factors, count) => {
    code.countDown(count, () => {
      code.call(multiply, to, [to, y], from, [from, y], factors, [factors, y]);
      for (const pointer of [to, from]) code.increase(pointer, 2 * y);
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
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code, points, count) => {
    const { index, other } = code.named('i32', 'index', 'other');
    code.loop((again) => {
      // the last point of an odd number is checked twice
      code.get(points).get(points);
      code.i32(2 * memory.coordinate).do('i32.add');
      code.get(index).i32(1).do('i32.add').get(count).do('i32.eq', 'select').set(other);
      code.call(residue, first, second, points, other, b, b);
      for (const [at, point] of [
        [first, points],
        [second, other],
      ] as const) {
        areZero(code, at, floats);
        areZero(code, point, 2 * floats);
        code.do('i32.or', 'i32.eqz').if(() => code.get(index).do('return'));
        code.increase(index, 1);
      }
      code.increase(points, 4 * memory.coordinate);
      code.get(index).get(count).do('i32.lt_s');
      again();
    });
    code.get(count);
  });
};

/** Loads limbs of floats as integers, all but the last non-negative. */
const loadIntegers = (code: Code, { limbs, width }: FloatField, from: Address): Local[] => {
  const carry = code.local('i64');
  return range(limbs).map((i) => {
    const limb = code.local('i64');
    code.push(from);
    code.at('f64.load', 8 * i).do('i64.trunc_f64_s');
    if (i > 0) code.get(carry).do('i64.add');
    code.set(limb);
    if (i === limbs - 1) return limb;
    code.get(limb).i64(width).do('i64.shr_s').set(carry);
    code.get(limb).i64((1n << BigInt(width)) - 1n);
    code.do('i64.and').set(limb);
    return limb;
  });
};

/**
 * Stores a number between −2p and p, given as digits, times a sign, as floats within p.
 *
 * @param sign −1 or 1
 */
const storeFloats = (
  code: Code,
  { p, width, limbs }: FloatField,
  to: Local,
  digits: { readonly values: readonly Local[]; readonly width: number },
  sign: Local,
): void => {
  const { limb, carry, isNegative } = code.named('i64', 'limb', 'carry', 'isNegative');
  code.get(digits.values.at(-1) as Local).i64(63);
  code.do('i64.shr_s').set(isNegative);
  const digitsOfP = digitsOf(p, width, limbs);
  for (const i of range(limbs)) {
    const isTop = i === limbs - 1;
    pushBits(code, digits, { bit: i * width, count: width, isTop });
    code.get(carry).do('i64.add').get(isNegative);
    code.i64(digitsOfP[i] as number).do('i64.and', 'i64.add');
    code.set(limb);
    if (!isTop) {
      // limbs are centred
      code.get(limb).i64(1n << BigInt(width - 1));
      code.do('i64.add').i64(width).do('i64.shr_s').set(carry);
      code.get(limb).get(carry).i64(width).do('i64.shl', 'i64.sub').set(limb);
    }
    code.get(to).get(limb).get(sign);
    code.do('i64.mul', 'f64.convert_i64_s').at('f64.store', 8 * i);
  }
};

/**
 * Adds a function (to, from) that inverts a number in Montgomery form. The result is within p.
 *
 * @returns its index in the module
 */
export const addFloatInverse = (module: WasmModule, field: FloatField, memory: FloatMemory): number => {
  const { p, r } = field;
  const digits = wasmField(p, 1);
  const start = memory.take(digits.bytes);
  memory.constants.set(start, digitsOf(mod(r * r, p), digits.width, digits.limbs));
  const own = { start, work: memory.take(digits.bytes), sign: memory.take(4) };
  const source = memory.take(digits.bytes);
  const invert = addInverse(module, digits, own, (code, to) => {
    const values = range(digits.limbs).map((i) => {
      const digit = code.local('i64');
      code.i32(own.work).at('i64.load32_s', 4 * i);
      code.set(digit);
      return digit;
    });
    const sign = code.local('i64');
    code.i32(own.sign).at('i64.load32_s', 0).i64(1).do('i64.or').set(sign);
    storeFloats(code, field, to, { values, width: digits.width }, sign);
  });
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, to, from) => {
    const integers = loadIntegers(code, field, from);
    for (const i of range(digits.limbs)) {
      code.i32(source);
      const bits = { bit: i * digits.width, count: digits.width, isTop: i === digits.limbs - 1 };
      pushBits(code, { values: integers, width: field.width }, bits);
      code.at('i64.store32', 4 * i);
    }
    code.get(to).i32(source).call(invert);
  });
};
