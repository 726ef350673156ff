/** Inversion of a number in limbs of floats, by the division steps of ../arithmetic/inverse.ts. */

import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { type Address, pushAddress } from '../arithmetic/addresses.js';
import { wasmField } from '../arithmetic/field-programs.js';
import { addInverse } from '../arithmetic/inverse.js';
import { pushBits } from '../arithmetic/push-bits.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { FloatField } from './float-field.js';
import type { FloatMemory } from './float-memory.js';

/** Loads limbs of floats as integers, all but the last non-negative. */
export const loadIntegers = (code: Code, { limbs, width }: FloatField, from: Address): Local[] => {
  const carry = code.local('i64');
  return range(limbs).map((i) => {
    const limb = code.local('i64');
    pushAddress(code, from);
    code.at('f64.load', 8 * i).do('i64.trunc_f64_s');
    if (i > 0) code.get(carry).do('i64.add');
    code.set(limb);
    if (i === limbs - 1) return limb;
    code.get(limb).i64(width).do('i64.shr_s').set(carry);
    code
      .get(limb)
      .i64((1n << BigInt(width)) - 1n)
      .do('i64.and')
      .set(limb);
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
  code
    .get(digits.values.at(-1) as Local)
    .i64(63)
    .do('i64.shr_s')
    .set(isNegative);
  for (const i of range(limbs)) {
    const isTop = i === limbs - 1;
    pushBits(code, digits.values, digits.width, i * width, width, isTop);
    code.get(carry).do('i64.add').get(isNegative);
    code
      .i64((p >> BigInt(i * width)) & ((1n << BigInt(width)) - 1n))
      .do('i64.and', 'i64.add')
      .set(limb);
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
      code
        .i32(own.work)
        .at('i64.load32_s', 4 * i)
        .set(digit);
      return digit;
    });
    const sign = code.local('i64');
    code.i32(own.sign).at('i64.load32_s', 0).i64(1).do('i64.or').set(sign);
    storeFloats(code, field, to, { values, width: digits.width }, sign);
  });
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [to, from] = [code.parameter(0), code.parameter(1)];
    const integers = loadIntegers(code, field, from);
    for (const i of range(digits.limbs)) {
      code.i32(source);
      pushBits(code, integers, field.width, i * digits.width, digits.width, i === digits.limbs - 1);
      code.at('i64.store32', 4 * i);
    }
    code.get(to).i32(source).call(invert);
  });
};
