/**
 * The Montgomery products of shaders, as programs on words: one for each kind of `FieldProduct`, for the
 * chips on which its instructions are the fastest (docs/reference/chips.md).
 */
import { digitsOf, FLOAT_LIMB_BITS, lazyLimbs, type Modulus, montgomeryFactor, UNSIGNED_LIMB_BITS } from './modulus.js';
import { range } from './straight-line.js';
import {
  above,
  dot4,
  float,
  input,
  joined,
  known,
  left,
  limbsOfWords,
  low,
  masked,
  minus,
  number,
  roundedBits,
  sum,
  sumLow,
  times,
  timesLow,
  type Word,
  WordLine,
  type WordProgram,
  wordsOfLimbs,
} from './word-line.js';

/*
 * Montgomery products of numbers in words, split into limbs of 13 bits. From the masks a compiler
 * sees that operands fit 24 bits, for which AMD's GPUs have a full-rate multiplication; a
 * multiplication of 32 bits takes four times as long there.
 */

/**
 * Returns the number of rough rows, in which the multiple of p may be n0 times too large: all but
 * the last two rows. They leave a result below 4p²/R + (1 + 2^−13)·p. For an R hardly above 4p this
 * exceeds 2p, so no row is rough then.
 */
const roughRows = ({ p, montgomeryBits }: Modulus, rows: number): number =>
  4n * p + (p >> 10n) > 1n << BigInt(montgomeryBits) ? 0 : rows - 2;

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p (CIOS: Koç, Acar, Kaliski
 * 1996). Row i adds a_i·b to the columns, and makes the lowest column divisible by 2^width by
 * adding q·p, with q = its digit times n0 = −p⁻¹. Rough rows add u·n0·p with the digit u itself:
 * n0·p ≡ −1, so the carry of the lowest column is known already, and u times the digits of (n0·p +
 * 1)/2^width is added to the columns above. That saves two products a row. In the last two rows,
 * multiples that are n0 times too large could make the result exceed 2p.
 *
 * Columns are not carried between rows: a u32 holds 32 pairs of products of 13 bits, enough for all
 * lengths of this library.
 *
 * @param square true if b is a: a_i·a_j and a_j·a_i are added once, as a_i·2a_j
 */
export const unsignedProduct = (m: Modulus, square: boolean): WordProgram => {
  const width = UNSIGNED_LIMB_BITS;
  const program = new WordLine();
  const [n, words] = [lazyLimbs(m, width), lazyLimbs(m, 32)];
  const operand = (name: string): Word[] => {
    const given = range(words).map((i) => input(`${name}.w${i}`));
    return limbsOfWords(given, width, n).map((limb, i) => {
      const named = program.let(`${name}${i}`, limb);
      return i < n - 1 ? named : { ...named, most: Number((2n * m.p - 1n) >> BigInt(width * i)) };
    });
  };
  const a = operand('a');
  const b = square ? a : operand('b');
  const doubled = square ? a.map((limb, i) => program.let(`d${i}`, sum(limb, limb))) : b;
  const term = (i: number, k: number): Word => {
    if (k >= n || (square && k < i)) return number(0);
    return times(a[i] as Word, (square && k === i ? a : doubled)[k] as Word);
  };

  const n0 = montgomeryFactor(m.p, width);
  const p = digitsOf(m.p, width, n);
  const multiple = [0, ...digitsOf((m.p * n0 + 1n) >> BigInt(width), width, n)];
  let fresh = 0;
  const named = (word: Word): Word => program.let(`t${fresh++}`, word);

  // columns of weight 2^(width·i) and above, after i rows
  let columns: Word[] = range(2 * n).map(() => number(0));
  for (const i of range(n)) {
    const [lowest, ...rest] = columns as [Word, ...Word[]];
    const u = named(sum(lowest, term(i, 0)));
    const digit = program.let(`u${i}`, low(u, width));
    const rough = i < roughRows(m, n);
    const q = rough ? digit : program.let(`q${i}`, low(times(digit, number(Number(n0))), width));
    const digits = rough ? multiple : p;
    const carry = above(rough ? u : named(sum(u, times(q, number(p[0] as number)))), width);
    columns = rest.map((column, k) =>
      named(sum(column, term(i, k + 1), times(q, number(digits[k + 1] ?? 0)), k === 0 ? carry : number(0))),
    );
    columns.push(number(0));
  }
  const limbs: Word[] = [];
  let carry = number(0);
  for (const column of columns.slice(0, n)) {
    const whole = program.let(`s${limbs.length}`, sum(column, carry));
    carry = above(whole, width);
    limbs.push(program.let(`r${limbs.length}`, limbs.length < n - 1 ? low(whole, width) : whole));
  }
  return { program, result: wordsOfLimbs(limbs, width, words) };
};

/*
 * Montgomery products of numbers in words, four bytes at a time, by instructions like DP4A
 * (dot4U8Packed in WGSL).
 */

/** Returns the bytes k to k − 3 of a number as a word, byte k lowest. */
const windowOf = (bytes: readonly number[], k: number): number =>
  [3, 2, 1, 0].reduce((window, i) => window * 256 + (bytes[k - i] ?? 0), 0);

/** Names the window of the bytes k … k − 3 of a number for each column k. */
const makeWindows = (program: WordLine, b: readonly Word[], columnCount: number): Word[] => {
  // reverse the bytes of each word: swap halves, then the bytes of each half
  const turned = b.map((word, i) => {
    const pairs = program.let(`pairs${i}`, joined(above(word, 16), left(word, 16)));
    return program.let(`turned${i}`, joined(masked(above(pairs, 8), 0x00ff00ff), left(masked(pairs, 0x00ff00ff), 8)));
  });
  return range(columnCount).map((k) => {
    const [word, shift] = [Math.floor(k / 4), 8 * (3 - (k % 4))];
    const [here, below] = [turned[word] ?? number(0), turned[word - 1] ?? number(0)];
    return program.let(`window${k}`, shift === 0 ? here : joined(above(here, shift), left(below, 32 - shift)));
  });
};

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p. A row multiplies a word
 * of a, four bytes, by all of b: column k of the row is Σ a_i·b_(k − i), i = 0 … 3, which is one
 * dot product with the *window* of the bytes k … k − 3 of b, in this order. The windows of b are
 * made once, one for each column: every fourth is a word of b with its bytes reversed, and those
 * between are cut out of two of these. The windows of p are constants.
 *
 * Montgomery's digit is a word, and reduces as in src/field/products.ts.
 *
 * Bounds. A column takes in two dot products a row, each at most 4·255² < 2^18: less than 2^22.7
 * for the 13 words of 414 bits. A column plus 2^8 times the next one and a carry is below 2^31.
 */
export const dot4Product = (m: Modulus): WordProgram => {
  const program = new WordLine();
  const words = lazyLimbs(m, 32);
  // a row reaches three columns beyond the bytes of b
  const columnCount = 4 * words + 3;
  const [a, b] = ['a', 'b'].map((name) => range(words).map((i) => input(`${name}.w${i}`))) as [Word[], Word[]];
  const windows = makeWindows(program, b, columnCount);

  const n0 = montgomeryFactor(m.p, 32);
  const p = digitsOf(m.p, 8, 4 * words);
  const multiple = digitsOf((m.p * n0 + 1n) >> 32n, 8, 4 * words);

  /** Returns the word of four columns and a carry, and the carry out of it. */
  const word = (name: string, columns: readonly Word[], carry: Word): { readonly word: Word; readonly carry: Word } => {
    const [c0, c1, c2, c3] = range(4).map((k) => columns[k] ?? number(0)) as [Word, Word, Word, Word];
    const bottom = program.let(`${name}l`, sum(c0, left(c1, 8), carry));
    const top = program.let(`${name}h`, sum(c2, left(c3, 8), above(bottom, 16)));
    return { word: joined(low(bottom, 16), left(top, 16)), carry: above(top, 16) };
  };

  let columns: Word[] = [];
  let carry = number(0);
  for (const i of range(words)) {
    const at = (k: number): Word => columns[k] ?? number(0);
    const whole = range(columnCount).map((k) =>
      program.let(`x${i}_${k}`, sum(at(k), k === 0 ? carry : number(0), dot4(a[i] as Word, windows[k] as Word))),
    );
    if (i < roughRows(m, words)) {
      const lowest = word(`e${i}`, whole, number(0));
      const q = program.let(`q${i}`, lowest.word);
      carry = lowest.carry;
      columns = range(columnCount).map((k) =>
        program.let(`y${i}_${k}`, sum(whole[k + 4] ?? number(0), dot4(q, windowOf(multiple, k)))),
      );
    } else {
      // modulo 2^32, so higher columns do not matter
      const [c0, c1, c2, c3] = whole as [Word, Word, Word, Word];
      const u = program.let(`u${i}`, sumLow(c0, left(c1, 8), left(c2, 16), left(c3, 24)));
      const q = program.let(`q${i}`, timesLow(u, number(Number(n0))));
      const reduced = range(columnCount).map((k) =>
        program.let(`y${i}_${k}`, sum(whole[k] as Word, dot4(q, windowOf(p, k)))),
      );
      carry = word(`e${i}`, reduced, number(0)).carry;
      columns = reduced.slice(4);
    }
  }
  const result = range(words).map((i) => {
    const next = word(`r${i}`, columns.slice(4 * i, 4 * i + 4), carry);
    carry = next.carry;
    return next.word;
  });
  return { program, result };
};

/*
 * Montgomery products of numbers in words, split into limbs of 24 bits, with floats for the high
 * halves of the products of limbs. Floats are fast where a multiplication of 32 bits is slow, as on
 * Apple's chips (docs/reference/chips.md).
 */

const WIDTH = FLOAT_LIMB_BITS;

/** Returns the limbs of an operand. */
const operand = (m: Modulus, name: string): Word[] => {
  const [n, words] = [lazyLimbs(m, WIDTH), lazyLimbs(m, 32)];
  const given = range(words).map((i) => input(`${name}.w${i}`));
  const most = Number((2n * m.p - 1n) >> BigInt(WIDTH * (n - 1)));
  return limbsOfWords(given, WIDTH, n).map((limb, i) => (i < n - 1 ? limb : { ...limb, most }));
};

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p. Rows and Montgomery's
 * digits are those of src/field/products.ts; src/field/products.ts has the columns and
 * their bounds. The longest field, of 414 bits, has 36 products a column, which fill a word.
 */
export const fmaProduct = (m: Modulus): WordProgram => {
  const program = new WordLine();
  const columns = new FloatColumns(program);
  const n = lazyLimbs(m, WIDTH);
  const a = operand(m, 'a');
  const b = operand(m, 'b').map((limb, k) => columns.factor(`b${k}`, limb));
  const n0 = montgomeryFactor(m.p, WIDTH);
  const p = digitsOf(m.p, WIDTH, n).map(knownFactor);
  const multiple = [0, ...digitsOf((m.p * n0 + 1n) >> BigInt(WIDTH), WIDTH, n)].map(knownFactor);

  for (const i of range(n)) {
    const own = columns.factor(`a${i}`, a[i] as Word);
    columns.add(i, `${i}_0`, [[own, b[0] as Factor]]);
    columns.gather(i);
    const rough = i < roughRows(m, n);
    const digit = columns.digit(i);
    const reduced = (): Word => low(timesLow(program.let(`u${i}`, digit), number(Number(n0))), WIDTH);
    const q = columns.factor(`q${i}`, rough ? digit : reduced());
    if (!rough) columns.add(i, `${i}_q`, [[q, p[0] as Factor]]);
    columns.settle(i);
    for (const k of range(n + 1).slice(1)) {
      const [mine, theirs] = [b[k], (rough ? multiple : p)[k]];
      columns.add(i + k, `${i}_${k}`, [
        ...(mine === undefined ? [] : [[own, mine] as const]),
        ...(theirs === undefined ? [] : [[q, theirs] as const]),
      ]);
    }
  }
  const result = range(n).map((i) => {
    columns.gather(n + i);
    const limb = columns.settle(n + i, i === n - 1 ? Number((2n * m.p - 1n) >> BigInt(WIDTH * i)) : undefined);
    return program.let(`r${i}`, limb);
  });
  return { program, result: wordsOfLimbs(result, WIDTH, lazyLimbs(m, 32)) };
};

/*
 * Columns of products of limbs of 24 bits: floats give the high halves of the products, integers
 * the sums of the low halves.
 *
 * For x and y below 2^24, fma(x, y, 2^48) is a float from 2^48 to 2^49, so its bits minus those of
 * 2^48 are an integer h near xy/2^25. The low half xy − 2^25·h is never computed alone: a column
 * sums the products modulo 2^32, sums the bits of the floats, and subtracts 2^25 times the second
 * sum from the first. That is right for *any* h for which the sum of low halves fits 32 bits. The
 * column above takes 2h.
 *
 * Bounds. WGSL allows fma to round the product before the sum, and to round either way. The first
 * rounding errs by less than 2^24, half a unit, and the second by less than a unit, so a low half
 * is within 3/2 units of 0. Columns have intervals of exact integers; a multiple of 2^24 shifts
 * each above 0, and `known` fails if it does not fit a word.
 *
 * Licences of compilers. Each float is made of integers and becomes an integer at once: f32(x) is
 * exact, and the bits of fma(x, y, 2^48) are summed as integers. So no two float operations meet
 * that could be reassociated, and contraction can only choose an h within the bounds, as a fused
 * fma, a separate multiplication, and a sum of higher precision do. No operand or result is a NaN,
 * infinite, subnormal or −0, so fast-math has nothing to assume.
 */

/** The unit of high halves: floats from 2^48 to 2^49 are 2^25 apart. */
const UNIT_BITS = 25;
const ROUNDER = 2 ** 48;
/** Its bits as a float. */
const ROUNDER_BITS = (127 + 48) * 2 ** 23;

/** The maximum of a low half, and minus its minimum: less than 3/2 units. */
const MOST_LOW = 3 * 2 ** (UNIT_BITS - 1) - 1;

/** A limb as an integer, and as the float of the same value. */
interface Factor {
  readonly whole: Word;
  readonly real: Word;
}

/** Returns a factor that is known. */
const knownFactor = (value: number): Factor => ({ whole: number(value), real: float(number(value)) });

/** A sum of products. */
interface Column {
  /** The sum modulo 2^32. */
  readonly low: Word;
  /** The sum of the bits of the floats. */
  readonly high: Word;
  readonly terms: number;
  /** Bounds of the sum of low halves. */
  readonly least: number;
  readonly most: number;
  /** The maximum of the sum of h. */
  readonly mostHigh: number;
}

const nothing: Column = { low: number(0), high: number(0), terms: 0, least: 0, most: 0, mostHigh: 0 };

export class FloatColumns {
  readonly #program: WordLine;
  readonly #columns: Column[] = [];
  #carry = number(0);
  /** Surplus of the carry, because the column below was shifted above 0. */
  #shifted = 0;

  constructor(program: WordLine) {
    this.#program = program;
  }

  /** Names a limb and its float. */
  factor(name: string, limb: Word): Factor {
    const whole = this.#program.let(name, limb);
    return { whole, real: this.#program.let(`${name}f`, float(whole)) };
  }

  /** Adds products to a column; `name` is new. */
  add(k: number, name: string, pairs: readonly (readonly [Factor, Factor])[]): void {
    const present = pairs.filter(([x, y]) => x.whole.most * y.whole.most > 0);
    if (present.length === 0) return;
    const column = this.#at(k);
    const total = (of: (product: number) => number): number =>
      present.reduce((sum, [x, y]) => sum + of(x.whole.most * y.whole.most), 0);
    const lows = present.map(([x, y]) => timesLow(x.whole, y.whole));
    const highs = present.map(([x, y]) => roundedBits(x.real, y.real, ROUNDER));
    this.#columns[k] = {
      low: this.#program.let(`l${name}`, sumLow(column.low, ...lows)),
      high: this.#program.let(`h${name}`, sumLow(column.high, ...highs)),
      terms: column.terms + present.length,
      least: column.least - present.length * MOST_LOW,
      // no h is below 0
      most: column.most + total((product) => Math.min(product, MOST_LOW)),
      mostHigh: column.mostHigh + total((product) => Math.floor(product / 2 ** UNIT_BITS + 3 / 2)),
    };
  }

  /** Adds to a column the high halves and the carry of the one below, which is settled. */
  gather(k: number): void {
    const column = this.#at(k);
    const below = left(this.#at(k - 1).high, UNIT_BITS - FLOAT_LIMB_BITS);
    const gathered = this.#program.let(`t${k}`, sumLow(column.low, below, this.#carry));
    this.#columns[k] = { ...column, low: gathered };
  }

  /**
   * Returns the lowest 24 bits of a gathered column. Its own floats do not matter, because a unit
   * is a multiple of 2^24, and so are the bits of 2^48 twice.
   */
  digit(k: number): Word {
    return low(sumLow(this.#at(k).low, number(-this.#shifted >>> 0)), FLOAT_LIMB_BITS);
  }

  /**
   * Returns the lowest 24 bits of a gathered column, and keeps the others as the carry. Returns all
   * bits of the topmost column, which is between 0 and `mostOfTop`.
   */
  settle(k: number, mostOfTop?: number): Word {
    const isTop = mostOfTop !== undefined;
    const [{ low: sum, high, least, most }, { terms, mostHigh }] = [this.#at(k), this.#at(k - 1)];
    const shift = isTop ? 0 : Math.max(0, Math.ceil((this.#shifted - least) / 2 ** FLOAT_LIMB_BITS));
    const shifts = shift * 2 ** FLOAT_LIMB_BITS - this.#shifted;
    // the bits of 2^48 are a multiple of 2^7, so those of the own column are lost beyond the word
    const constant = number((shifts - 2 * ROUNDER_BITS * terms) >>> 0);
    const value = minus(sumLow(sum, constant), left(high, UNIT_BITS));
    const bound = mostOfTop ?? most + 2 * mostHigh + this.#carry.most + shifts;
    const settled = this.#program.let(`s${k}`, known(value, bound));
    if (isTop) return settled;
    this.#carry = above(settled, FLOAT_LIMB_BITS);
    this.#shifted = shift;
    return low(settled, FLOAT_LIMB_BITS);
  }

  #at(k: number): Column {
    return this.#columns[k] ?? nothing;
  }
}
