/**
 * Straight-line programs on words, the counterpart of src/field/straight-line.ts for unsigned
 * numbers.
 *
 * A program has three uses. It becomes the code of a shader; a CPU reference of the tests runs that
 * text; and the maximum of every value is tracked while it is made, so that making a sum fails if
 * any input could overflow it.
 */
import { range } from './straight-line.js';

/** A value of a program. */
export interface Word {
  /** The expression. */
  readonly wgsl: string;
  /** The maximum of the value. */
  readonly most: number;
  /** True if bits beyond a word are dropped on purpose. */
  readonly wraps?: boolean;
}

const MOST = 2 ** 32 - 1;

const maskOf = (bits: number): number => 2 ** bits - 1;

/** Returns whether an expression is a name or a literal. */
const isName = (wgsl: string): boolean => /^\w+$/.test(wgsl);

/** Returns WGSL of an operand. */
const operand = ({ wgsl }: Word): string => (isName(wgsl) ? wgsl : `(${wgsl})`);

const checked = (word: Word): Word => {
  if (word.most > MOST) throw new RangeError(`the sum '${word.wgsl}' could overflow`);
  return word;
};

/** Returns a constant. */
export const number = (value: number): Word => ({ wgsl: `${value}u`, most: value });

/** Returns an input of a program. */
export const input = (name: string, most: number = MOST): Word => ({ wgsl: name, most });

/** Joins the terms that are not 0 by an operator. */
const chain = (operator: string, terms: readonly Word[], most: (present: readonly Word[]) => number): Word => {
  const present = terms.filter((term) => term.most > 0);
  if (present.length < 2) return present[0] ?? number(0);
  return checked({
    wgsl: present.map(({ wgsl }) => wgsl).join(operator),
    most: most(present),
    wraps: present.some(({ wraps }) => wraps),
  });
};

/** Returns the sum. @throws RangeError if it could overflow */
export const sum = (...terms: readonly Word[]): Word =>
  chain(' + ', terms, (present) => present.reduce((total, { most }) => total + most, 0));

/** Returns the union of the bits of words without common bits. */
export const joined = (...parts: readonly Word[]): Word =>
  chain(' | ', parts, (present) => maskOf(Math.ceil(Math.log2(Math.max(...present.map(({ most }) => most)) + 1))));

/** Returns the sum modulo 2^32. */
export const sumLow = (...terms: readonly Word[]): Word => ({
  ...chain(' + ', terms, () => MOST),
  wraps: true,
});

/** Returns the product of two names or constants. @throws RangeError if it could overflow */
export const times = (a: Word, b: Word): Word =>
  a.most * b.most === 0 ? number(0) : checked({ wgsl: `${a.wgsl} * ${b.wgsl}`, most: a.most * b.most });

/** Returns the product of two names or constants modulo 2^32. */
export const timesLow = (a: Word, b: Word): Word => ({ wgsl: `${a.wgsl} * ${b.wgsl}`, most: MOST, wraps: true });

/** Returns the difference of a sum and a word modulo 2^32. */
export const minus = (a: Word, b: Word): Word =>
  b.most === 0 ? a : { wgsl: `${a.wgsl} - ${operand(b)}`, most: MOST, wraps: true };

/** Returns a value that is `most` or less, as is known. @throws RangeError if it may be no word */
export const known = (a: Word, most: number): Word => checked({ ...a, most });

/** Returns a name or constant as a float. @throws RangeError if the float may be another number */
export const float = (a: Word): Word => {
  if (a.most >= 2 ** 24) throw new RangeError(`'${a.wgsl}' could have more than 24 bits`);
  return { wgsl: /^\d/.test(a.wgsl) ? `${a.most}.0f` : `f32(${a.wgsl})`, most: a.most };
};

/** Returns the bits of a·b + c, of floats and a power of two c, rounded once or twice. */
export const roundedBits = (a: Word, b: Word, c: number): Word => ({
  wgsl: `bitcast<u32>(fma(${a.wgsl}, ${b.wgsl}, ${c}.0f))`,
  most: MOST,
});

/** Returns ⌊a / 2^bits⌋. */
export const above = (a: Word, bits: number): Word => {
  if (bits === 0) return a;
  const most = Math.floor(a.most / 2 ** bits);
  return most === 0 ? number(0) : { wgsl: `(${operand(a)} >> ${bits}u)`, most };
};

/** Returns the bits of a within a mask. */
export const masked = (a: Word, mask: number): Word => ({ wgsl: `(${operand(a)} & ${mask}u)`, most: mask });

/** Returns a mod 2^bits. */
export const low = (a: Word, bits: number): Word => (a.most <= maskOf(bits) ? a : masked(a, maskOf(bits)));

/** Returns a·2^bits modulo 2^32. */
export const left = (a: Word, bits: number): Word => {
  if (bits === 0 || a.most === 0) return a;
  const most = a.most * 2 ** bits;
  return { wgsl: `(${operand(a)} << ${bits}u)`, most: Math.min(most, MOST), wraps: most > MOST };
};

/**
 * Returns the dot product of the bytes of a name a and a name or constant b, by dot4 of
 * wgsl/field/field.wgsl.
 */
export const dot4 = (a: Word, b: Word | number): Word => {
  const bytes = range(4).map((i) => (typeof b === 'number' ? (b >>> (8 * i)) & 255 : 255));
  const most = 255 * bytes.reduce((total, byte) => total + byte, 0);
  const other = typeof b === 'number' ? number(b) : b;
  return most * a.most * other.most === 0 ? number(0) : { wgsl: `dot4(${a.wgsl}, ${other.wgsl})`, most };
};

/** A program under construction. */
export class WordLine {
  readonly statements: (Word & { readonly name: string })[] = [];

  /** Names a value by a statement. Returns names and constants unchanged. */
  let(name: string, value: Word): Word {
    if (isName(value.wgsl)) return value;
    this.statements.push({ ...value, name });
    return input(name, value.most);
  }
}

/** A program and its resulting words. */
export interface WordProgram {
  readonly program: WordLine;
  readonly result: readonly Word[];
}

/** Splits a number in words into limbs of `width` bits. */
export const limbsOfWords = (words: readonly Word[], width: number, count: number): Word[] =>
  range(count).map((i) => {
    const parts: Word[] = [];
    for (let bit = i * width; bit < (i + 1) * width && bit < 32 * words.length; ) {
      const [word, from] = [words[bit >> 5] as Word, bit & 31];
      const taken = Math.min(32 - from, (i + 1) * width - bit);
      parts.push(left(low(above(word, from), taken), bit - i * width));
      bit += taken;
    }
    return joined(...parts);
  });

/** Joins canonical limbs of `width` bits into words. */
export const wordsOfLimbs = (limbs: readonly Word[], width: number, count: number): Word[] =>
  range(count).map((word) =>
    joined(
      ...limbs.flatMap((limb, i) => {
        const at = i * width - 32 * word;
        if (at <= -32 || at >= 32) return [];
        return [at >= 0 ? left(limb, at) : above(limb, -at)];
      }),
    ),
  );
