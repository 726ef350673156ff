/** Numbers between words of the public format and limbs: conversions, canonical limbs, signs. */
import { digitsOf } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Address, Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { WasmField } from './field-programs.js';

/** Where the functions are added. */
interface PlainParts {
  readonly module: WasmModule;
  readonly field: WasmField;
  /** Bytes of a number in the public format. */
  readonly wordBytes: number;
}

/** Indices of functions that take the address of one number; some overwrite it. */
interface PlainFunctions {
  /** (a): reduces a number within a quarter of p of [0, p] to [0, p). */
  readonly reduce: number;
  /** (a): p − a, or 0 of 0. */
  readonly negate: number;
  /** (a): whether a reduced number is more than p/2. */
  readonly isLarger: number;
  /** (words, a): writes a reduced number as little-endian words. */
  readonly writeWords: number;
}

/**
 * Carries a sum from limb to limb, in i64.
 *
 * @param term leaves the columns of limb i, added up
 * @returns the limbs; the last has a sign
 */
const carriedSum = (
  code: Code,
  { width, limbs }: WasmField,
  term: (i: number) => void,
  carry = code.local('i64'),
): Local[] => {
  code.i64(0).set(carry);
  return range(limbs).map((i) => {
    const limb = code.local('i64');
    const isLast = i === limbs - 1;
    term(i);
    code.get(carry).do('i64.add').tee(carry);
    if (!isLast) code.i64(2 ** width - 1).do('i64.and');
    code.set(limb);
    if (!isLast) code.get(carry).i64(width).do('i64.shr_s').set(carry);
    return limb;
  });
};

const loadLimb = (code: Code, at: Local, i: number): void => {
  code.get(at).at('i64.load32_s', 4 * i);
};

const storeLimbs = (code: Code, at: Local, limbs: readonly Local[]): void => {
  for (const [i, limb] of limbs.entries()) {
    code.get(at).get(limb);
    code.at('i64.store32', 4 * i);
  }
};

/** Leaves −1 if the number is negative, else 0. */
const signOf = (code: Code, limbs: readonly Local[]): Code =>
  code
    .get(limbs.at(-1) as Local)
    .i64(63)
    .do('i64.shr_s');

export const addReduce = ({ module, field }: PlainParts): number => {
  const p = digitsOf(field.p, field.width, field.limbs);
  return module.add(null, { parameters: ['i32'] }, (code, at) => {
    const [mask, carry] = [code.local('i64'), code.local('i64')];
    loadLimb(code, at, field.limbs - 1);
    code.i64(63).do('i64.shr_s').set(mask);
    const addMasked = (i: number): void => {
      loadLimb(code, at, i);
      code.i64(p[i] as number).get(mask);
      code.do('i64.and', 'i64.add');
    };
    const low = carriedSum(code, field, addMasked, carry);
    const subtract = (i: number): void => {
      code.get(low[i] as Local).i64(p[i] as number);
      code.do('i64.sub');
    };
    const less = carriedSum(code, field, subtract, carry);
    signOf(code, less).set(mask);
    for (const [i, limb] of less.entries()) {
      code.get(limb).get(low[i] as Local);
      code.do('i64.xor').get(mask).do('i64.and').get(limb).do('i64.xor').set(limb);
    }
    storeLimbs(code, at, less);
  });
};

/** @param reduce index of the function that takes p to 0 */
const addNegate = ({ module, field }: PlainParts, reduce: number): number => {
  const p = digitsOf(field.p, field.width, field.limbs);
  return module.add(null, { parameters: ['i32'] }, (code, at) => {
    const negative = carriedSum(code, field, (i) => {
      code.i64(p[i] as number);
      loadLimb(code, at, i);
      code.do('i64.sub');
    });
    storeLimbs(code, at, negative);
    code.get(at).call(reduce);
  });
};

const addIsLarger = ({ module, field }: PlainParts): number => {
  const half = digitsOf((field.p + 1n) / 2n, field.width, field.limbs);
  return module.add(null, { parameters: ['i32'], result: 'i32' }, (code, at) => {
    const less = carriedSum(code, field, (i) => {
      loadLimb(code, at, i);
      code.i64(half[i] as number).do('i64.sub');
    });
    signOf(code, less).do('i64.eqz');
  });
};

export const addWriteWords = ({ module, field, wordBytes }: PlainParts): number => {
  const { width, limbs } = field;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, words, at) => {
    for (const j of range(wordBytes / 4)) {
      code.get(words).i64(0);
      const first = Math.floor((32 * j) / width);
      for (let i = first; i < limbs && i * width < 32 * (j + 1); i++) {
        loadLimb(code, at, i);
        const shift = i * width - 32 * j;
        code.i64(Math.abs(shift)).do(shift < 0 ? 'i64.shr_u' : 'i64.shl', 'i64.or');
      }
      code.at('i64.store32', 4 * j);
    }
  });
};

export const addPlainFunctions = (parts: PlainParts): PlainFunctions => {
  const reduce = addReduce(parts);
  return {
    reduce,
    negate: addNegate(parts, reduce),
    isLarger: addIsLarger(parts),
    writeWords: addWriteWords(parts),
  };
};

/** Limbs of a number in memory, and bytes of the number in the public format. */
interface SplitFormat {
  readonly width: number;
  readonly limbs: number;
  readonly wordBytes: number;
}

/**
 * Splits a number below 2^(8·wordBytes) into limbs.
 *
 * @param store writes limb j, an i64 on the stack above `to`
 */
export const splitNumber = (
  code: Code,
  { width, limbs, wordBytes }: SplitFormat,
  [from, offset]: readonly [Local, number],
  to: Address,
  store = (j: number): void => void code.at('i64.store32', 4 * j),
): void => {
  for (const j of range(limbs)) {
    const bit = j * width;
    const bits = Math.min(width, 8 * wordBytes - bit);
    code.push(to);
    if (bits <= 0) code.i64(0);
    else {
      // 64 bits from this byte on have the limb, and may reach into the next number
      code.get(from).at('i64.load', offset + Math.floor(bit / 8));
      code.i64(bit % 8).do('i64.shr_u');
      code.i64(2n ** BigInt(bits) - 1n).do('i64.and');
    }
    store(j);
  }
};

/** Integers of `width` bits side by side; the last has the sign, and all others are not negative. */
interface Digits {
  readonly values: readonly Local[];
  readonly width: number;
}

/**
 * Leaves `count` bits of integers side by side, from `bit`.
 *
 * @param isTop whether all bits from `bit` on are left
 */
export const pushBits = (
  code: Code,
  { values, width }: Digits,
  { bit, count, isTop }: { readonly bit: number; readonly count: number; readonly isTop: boolean },
): void => {
  let isFirst = true;
  for (const [i, value] of values.entries()) {
    const shift = bit - i * width;
    const isLast = i === values.length - 1;
    // integers beside these bits have none of them; the last one has its sign in all that follow
    if ((shift >= width && !isLast) || shift <= -count) continue;
    code.get(value);
    if (shift > 0) code.i64(Math.min(shift, 63)).do(isLast ? 'i64.shr_s' : 'i64.shr_u');
    else if (shift < 0) code.i64(-shift).do('i64.shl');
    if (!isFirst) code.do('i64.or');
    isFirst = false;
  }
  if (isFirst) code.i64(0);
  if (!isTop) code.i64((1n << BigInt(count)) - 1n).do('i64.and');
};
