/**
 * Straight-line programs on words: as those of src/field/straight-line.ts, for numbers without a sign.
 *
 * A program is made once and used three times: it becomes the code of a shader; the CPU twin runs that text; and while it is made, the most that
 * every value can be is kept, so that a sum that could overflow on any input is never made at all.
 */
import { range } from './straight-line.js';

/** A value of a program. */
export interface Word {
  readonly wgsl: string;
  readonly most: number;
  /** Bits beyond a word are dropped on purpose. */
  readonly wraps?: boolean;
}

const MOST = 2 ** 32 - 1;

const maskOf = (bits: number): number => 2 ** bits - 1;

/** A name that stays one. */
const isName = (wgsl: string): boolean => /^\w+$/.test(wgsl);

/** WGSL of an operand. */
const operand = ({ wgsl }: Word): string => (isName(wgsl) ? wgsl : `(${wgsl})`);

const checked = (word: Word): Word => {
  if (word.most > MOST) throw new RangeError(`the sum '${word.wgsl}' could overflow`);
  return word;
};

/** A constant. */
export const number = (value: number): Word => ({ wgsl: `${value}u`, most: value });

/** A name that a program is given. */
export const input = (name: string, most: number = MOST): Word => ({ wgsl: name, most });

/** Of the terms that are not 0, one behind the other. */
const chain = (operator: string, terms: readonly Word[], most: (present: readonly Word[]) => number): Word => {
  const present = terms.filter((term) => term.most > 0);
  if (present.length < 2) return present[0] ?? number(0);
  return checked({
    wgsl: present.map(({ wgsl }) => wgsl).join(operator),
    most: most(present),
    wraps: present.some(({ wraps }) => wraps),
  });
};

/** The sum, which cannot overflow. */
export const sum = (...terms: readonly Word[]): Word =>
  chain(' + ', terms, (present) => present.reduce((total, { most }) => total + most, 0));

/** The bits of words that have none in common. */
export const joined = (...parts: readonly Word[]): Word =>
  chain(' | ', parts, (present) => maskOf(Math.ceil(Math.log2(Math.max(...present.map(({ most }) => most)) + 1))));

/** The sum of several without what exceeds a word. */
export const sumLow = (...terms: readonly Word[]): Word => ({
  ...chain(' + ', terms, () => MOST),
  wraps: true,
});

/** The product of two names or constants, which cannot overflow either. */
export const times = (a: Word, b: Word): Word =>
  a.most * b.most === 0 ? number(0) : checked({ wgsl: `${a.wgsl} * ${b.wgsl}`, most: a.most * b.most });

/** The low 32 bits of a product. */
export const timesLow = (a: Word, factor: number): Word => ({
  wgsl: `${a.wgsl} * ${factor}u`,
  most: MOST,
  wraps: true,
});

/** ⌊a / 2^bits⌋. */
export const above = (a: Word, bits: number): Word => {
  if (bits === 0) return a;
  const most = Math.floor(a.most / 2 ** bits);
  return most === 0 ? number(0) : { wgsl: `(${operand(a)} >> ${bits}u)`, most };
};

/** The bits of a that the mask has. */
export const masked = (a: Word, mask: number): Word => ({ wgsl: `(${operand(a)} & ${mask}u)`, most: mask });

/** a mod 2^bits. */
export const low = (a: Word, bits: number): Word => (a.most <= maskOf(bits) ? a : masked(a, maskOf(bits)));

/** a·2^bits, without what exceeds a word. */
export const left = (a: Word, bits: number): Word => {
  if (bits === 0 || a.most === 0) return a;
  const most = a.most * 2 ** bits;
  return { wgsl: `(${operand(a)} << ${bits}u)`, most: Math.min(most, MOST), wraps: most > MOST };
};

/** The sum of the products of the bytes of a with those of b: of a name with a name, or with a constant. */
export const dot4 = (a: Word, b: Word | number): Word => {
  const bytes = range(4).map((i) => (typeof b === 'number' ? (b >>> (8 * i)) & 255 : 255));
  const most = 255 * bytes.reduce((total, byte) => total + byte, 0);
  const other = typeof b === 'number' ? number(b) : b;
  return most * a.most * other.most === 0 ? number(0) : { wgsl: `dot4U8Packed(${a.wgsl}, ${other.wgsl})`, most };
};

/** A program, statement by statement. */
export class WordLine {
  readonly statements: (Word & { readonly name: string })[] = [];

  /** Computes a value and gives it a name; what is a name or a constant already stays so. */
  let(name: string, value: Word): Word {
    if (isName(value.wgsl)) return value;
    this.statements.push({ ...value, name });
    return input(name, value.most);
  }
}

/** A program, and what it computes. */
export interface WordProgram {
  readonly program: WordLine;
  readonly result: readonly Word[];
}

/** The limbs of `width` bits of a number in words. */
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

/** The words of a number in canonical limbs of `width` bits. */
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
