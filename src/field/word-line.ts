/**
 * Straight-line programs on words, the counterpart of src/field/straight-line.ts for unsigned
 * numbers.
 *
 * A program has three uses. It becomes the code of a shader (src/field/wgsl.ts); a CPU reference of
 * the tests runs it; and the maximum of every value is tracked while it is made, so that making a
 * sum fails if any input could overflow it.
 */
import { range } from './straight-line.js';

/** A name of the program, or a constant. */
type Named = { readonly kind: 'name'; readonly name: string } | { readonly kind: 'constant'; readonly value: number };

/** A factor: also a member of a struct, such as a.w0. */
type Factor = Named | { readonly kind: 'member'; readonly of: string; readonly name: string };

/** An expression on words of 32 bits. */
export type Expression =
  | Factor
  /** The sum of the terms; the union of the bits of terms without common bits. */
  | { readonly kind: 'sum' | 'union'; readonly terms: readonly Expression[] }
  | { readonly kind: 'product'; readonly a: Factor; readonly b: Factor }
  | { readonly kind: 'difference'; readonly a: Expression; readonly b: Expression }
  /** ⌊of / 2^bits⌋, and of·2^bits. */
  | { readonly kind: 'above' | 'left'; readonly of: Expression; readonly bits: number }
  | { readonly kind: 'masked'; readonly of: Expression; readonly mask: number }
  /** The dot product of the bytes of a and b. */
  | { readonly kind: 'dot4'; readonly a: Factor; readonly b: Factor }
  | Float
  /** The bits of a·b + c. */
  | { readonly kind: 'roundedBits'; readonly a: Named | Float; readonly b: Named | Float; readonly c: number };

/** An integer as a float. */
type Float = { readonly kind: 'float'; readonly of: Named };

/** A value of a program. */
export interface Word<Own extends Expression = Expression> {
  readonly expression: Own;
  /** The maximum of the value. */
  readonly most: number;
  /** True if bits beyond a word are dropped on purpose. */
  readonly wraps?: boolean;
}

/** A value that has a name, or is a constant. */
export type NamedWord = Word<Named>;

/** A value that can be a factor without a name of its own. */
export type FactorWord = Word<Factor>;

/** A float that has a name, or is a constant. */
export type FloatWord = Word<Named | Float>;

const MOST = 2 ** 32 - 1;

const maskOf = (bits: number): number => 2 ** bits - 1;

const checked = <Of extends Word>(word: Of): Of => {
  if (word.most > MOST) throw new RangeError(`a ${word.expression.kind} could overflow a word: ${word.most}`);
  return word;
};

/** Returns a constant. */
export const number = (value: number): NamedWord => ({ expression: { kind: 'constant', value }, most: value });

/** Returns an input of a program. */
export const input = (name: string, most: number = MOST): NamedWord => ({ expression: { kind: 'name', name }, most });

/** Returns an input that is a member of a struct. */
export const member = (of: string, name: string, most: number = MOST): FactorWord => ({
  expression: { kind: 'member', of, name },
  most,
});

/** Joins the terms that are not 0. */
const chain = (kind: 'sum' | 'union', terms: readonly Word[], most: (present: readonly Word[]) => number): Word => {
  const present = terms.filter((term) => term.most > 0);
  if (present.length < 2) return present[0] ?? number(0);
  return checked({
    expression: { kind, terms: present.map(({ expression }) => expression) },
    most: most(present),
    wraps: present.some(({ wraps }) => wraps),
  });
};

/** Returns the sum. @throws RangeError if it could overflow */
export const sum = (...terms: readonly Word[]): Word =>
  chain('sum', terms, (present) => present.reduce((total, { most }) => total + most, 0));

/** Returns the union of the bits of words without common bits. */
export const joined = (...parts: readonly Word[]): Word =>
  chain('union', parts, (present) => maskOf(Math.ceil(Math.log2(Math.max(...present.map(({ most }) => most)) + 1))));

/** Returns the sum modulo 2^32. */
export const sumLow = (...terms: readonly Word[]): Word => ({
  ...chain('sum', terms, () => MOST),
  wraps: true,
});

const product = (a: FactorWord, b: FactorWord): Expression => ({
  kind: 'product',
  a: a.expression,
  b: b.expression,
});

/** Returns the product. @throws RangeError if it could overflow */
export const times = (a: FactorWord, b: FactorWord): Word =>
  a.most * b.most === 0 ? number(0) : checked({ expression: product(a, b), most: a.most * b.most });

/** Returns the product modulo 2^32. */
export const timesLow = (a: FactorWord, b: FactorWord): Word => ({
  expression: product(a, b),
  most: MOST,
  wraps: true,
});

/** Returns the difference of a sum and a word modulo 2^32. */
export const minus = (a: Word, b: Word): Word =>
  b.most === 0 ? a : { expression: { kind: 'difference', a: a.expression, b: b.expression }, most: MOST, wraps: true };

/** Returns a value that is `most` or less, as is known. @throws RangeError if it may be no word */
export const known = (a: Word, most: number): Word => checked({ ...a, most });

/** Returns a float. @throws RangeError if it may be another number */
export const float = ({ expression: of, most }: NamedWord): FloatWord => {
  if (most >= 2 ** 24)
    throw new RangeError(`'${of.kind === 'name' ? of.name : of.value}' could have more than 24 bits`);
  return { expression: { kind: 'float', of }, most };
};

/** Returns the bits of a·b + c, of floats and a power of two c, rounded once or twice. */
export const roundedBits = (a: FloatWord, b: FloatWord, c: number): Word => ({
  expression: { kind: 'roundedBits', a: a.expression, b: b.expression, c },
  most: MOST,
});

/** Returns ⌊a / 2^bits⌋. */
export const above = (a: Word, bits: number): Word => {
  if (bits === 0) return a;
  const most = Math.floor(a.most / 2 ** bits);
  return most === 0 ? number(0) : { expression: { kind: 'above', of: a.expression, bits }, most };
};

/** Returns the bits of a within a mask. */
export const masked = (a: Word, mask: number): Word => ({
  expression: { kind: 'masked', of: a.expression, mask },
  most: mask,
});

/** Returns a mod 2^bits. */
export const low = (a: Word, bits: number): Word => (a.most <= maskOf(bits) ? a : masked(a, maskOf(bits)));

/** Returns a·2^bits modulo 2^32. */
export const left = (a: Word, bits: number): Word => {
  if (bits === 0 || a.most === 0) return a;
  const most = a.most * 2 ** bits;
  return {
    expression: { kind: 'left', of: a.expression, bits },
    most: Math.min(most, MOST),
    wraps: most > MOST,
  };
};

/** Returns the dot product of the bytes of a and b, by dot4 of wgsl/field/field.wgsl. */
export const dot4 = (a: FactorWord, b: FactorWord | number): Word => {
  const bytes = range(4).map((i) => (typeof b === 'number' ? (b >>> (8 * i)) & 255 : 255));
  const most = 255 * bytes.reduce((total, byte) => total + byte, 0);
  const other = typeof b === 'number' ? number(b) : b;
  if (most * a.most * other.most === 0) return number(0);
  return { expression: { kind: 'dot4', a: a.expression, b: other.expression }, most };
};

/** Returns whether a value has a name, or is a constant. */
const isNamed = (word: Word): word is NamedWord =>
  word.expression.kind === 'name' || word.expression.kind === 'constant';

/** A program under construction. */
export class WordLine {
  readonly statements: { readonly name: string; readonly value: Word }[] = [];

  /** Names a value by a statement. Returns names and constants unchanged. */
  let(name: string, value: Word): NamedWord {
    if (isNamed(value)) return value;
    this.statements.push({ name, value });
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
