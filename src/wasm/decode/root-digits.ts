/**
 * The 2-power part of a square root: with p − 1 = odd · 2^twos and v·w² = g^e, where g has the
 * order 2^twos, w·g^(−e/2) is 1 over a root of v. Digits of e are found least significant first,
 * from powers of g^e that are computed once, and tables of powers of g. Source: Bernstein's
 * method as Sarkar describes it, "Computing square roots faster than the Tonelli–Shanks/Bernstein
 * algorithm", https://eprint.iacr.org/2020/1407.
 */
import { mod } from '../../field/modulus.js';
import { power } from '../../field/square-root.js';
import { range } from '../../field/straight-line.js';
import { toMontgomery } from '../arithmetic/field-programs.js';
import { copyElement } from '../arithmetic/kernel-parts.js';
import type { Code, Local } from '../encoder/code.js';
import { type DecoderParts, type Numbers, numbersPlus } from './decoder-parts.js';
import { entryOf } from './power.js';

/** Bits of a digit at most. */
const DIGIT_BITS = 5;

/** A prime as p − 1 = odd · 2^twos, and a number that is no square. */
export interface RootConstants {
  readonly odd: bigint;
  readonly twos: number;
  readonly nonSquare: bigint;
}

/** Sizes and tables. */
interface DigitTables {
  readonly bits: number;
  readonly count: number;
  /** Address of the lowest limbs of g^(D·2^(twos − bits)), by D. */
  readonly lows: number;
  /** Address of rows m = 1 to count of g^(−D·2^(twos − bits·m − 1)), by D. */
  readonly rows: number;
  readonly rowBytes: number;
}

/** Writes the tables. The lowest digit is a multiple of 2^padding: e is shifted by as much. */
const writeTables = ({ field, memory }: DecoderParts, { odd, twos, nonSquare }: RootConstants): DigitTables => {
  const { p, width, bytes } = field;
  const bits = Math.min(DIGIT_BITS, twos);
  const count = Math.ceil(twos / bits);
  const size = 2 ** bits;
  const g = power(nonSquare, odd, p);
  const inverse = power(g, (1n << BigInt(twos)) - 1n, p);
  const powersOf = (base: bigint): bigint[] => {
    const powers = [1n];
    while (powers.length < size) powers.push(mod((powers.at(-1) as bigint) * base, p));
    return powers;
  };
  const limb = (1n << BigInt(width)) - 1n;
  const lowest = powersOf(power(g, 1n << BigInt(twos - bits), p)).map((value) =>
    Number(toMontgomery(field, value) & limb),
  );
  const lows = memory.words(lowest);
  const rows = range(count).map((i): bigint[] => {
    const shift = twos - bits * (i + 1) - 1;
    if (shift >= 0) return powersOf(power(inverse, 1n << BigInt(shift), p));
    // an odd e has no half: any value, as there is no root then
    const step = 2 ** -shift;
    const powers = powersOf(inverse);
    return range(size).map((D) => powers[Math.floor(D / step)] as bigint);
  });
  const at = memory.constant(...rows.flat().map((value) => toMontgomery(field, value)));
  return { bits, count, lows, rows: at, rowBytes: size * bytes };
};

/** Adds a function that returns D·bytes for an element g^(D·2^(twos − bits)); 0 for others. */
const addLookUp = ({ module, field }: DecoderParts, { lows, bits }: DigitTables): number => {
  const limb = 2 ** field.width;
  const lowOfP = Number(field.p % BigInt(limb));
  return module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    const { low, D, apart } = code.named('i32', 'low', 'D', 'apart');
    code.get(code.parameter(0)).at('i32.load', 0).set(low);
    code.loop((next) => {
      code.get(low).get(D).i32(2).do('i32.shl').at('i32.load', lows).do('i32.sub');
      code
        .i32(limb - 1)
        .do('i32.and')
        .tee(apart)
        .do('i32.eqz');
      // an element may be stored with a difference of p
      for (const other of [lowOfP, limb - lowOfP]) code.get(apart).i32(other).do('i32.eq', 'i32.or');
      code.if(() => code.get(D).i32(field.bytes).do('i32.mul', 'return'));
      code
        .get(D)
        .i32(1)
        .do('i32.add')
        .tee(D)
        .i32(2 ** bits)
        .do('i32.ne');
      next();
    });
    code.i32(0);
  });
};

/** Writes the function, part by part. */
class DigitWriter {
  readonly #parts: DecoderParts;
  readonly #tables: DigitTables;
  /** g^e to powers of 2^bits, the lowest power last. */
  readonly #powers: readonly number[];
  /** Digits found, times the bytes of a number, in each lane. */
  readonly #digits: readonly number[];
  readonly #product: readonly number[];

  constructor(parts: DecoderParts, tables: DigitTables) {
    this.#parts = parts;
    this.#tables = tables;
    this.#powers = parts.take(tables.count);
    this.#digits = range(parts.lanes).map(() => parts.memory.take(4 * tables.count));
    this.#product = parts.take();
  }

  /** Writes x_i = (v·w²)^(2^(bits·(count − 1 − i))) for all i. */
  writePowers(code: Code, v: Numbers, w: Numbers): void {
    const parts = this.#parts;
    const { bits, count } = this.#tables;
    const { bytes } = parts.field;
    const { at, squares } = code.named('i32', 'at', 'squares');
    const last = numbersPlus(this.#powers, (count - 1) * bytes);
    parts.call(code, 'multiply', last, v, w);
    parts.call(code, 'multiply', last, last, w);
    if (count === 1) return;
    code.i32((count - 2) * bytes).set(at);
    code.loop((next) => {
      const target = entryOf(this.#powers, at);
      parts.call(code, 'square', target, numbersPlus(target, bytes));
      code.i32(bits - 1).set(squares);
      code.loop((again) => {
        parts.call(code, 'square', target, target);
        code.get(squares).i32(1).do('i32.sub').tee(squares);
        again();
      });
      code.get(at).i32(bytes).do('i32.sub').tee(at).i32(-bytes).do('i32.ne');
      next();
    });
  }

  /** Writes the product over j < `end`/4 of row `first` − j at digit j. */
  #writeProduct(code: Code, { row, j, end }: { readonly row: Local; readonly j: Local; readonly end: Local }): void {
    const parts = this.#parts;
    const { rowBytes } = this.#tables;
    const entry = range(parts.lanes).map(() => code.local('i32'));
    for (const at of this.#product) copyElement(code, at, parts.memory.one, parts.field.bytes);
    code.i32(0).set(j);
    code.block((leave) => {
      code.loop((next) => {
        code.get(j).get(end).do('i32.eq');
        leave();
        for (const [lane, local] of entry.entries()) {
          code
            .get(j)
            .at('i32.load', this.#digits[lane] as number)
            .get(row)
            .do('i32.add')
            .set(local);
        }
        parts.call(code, 'multiply', this.#product, this.#product, entry);
        code.get(row).i32(rowBytes).do('i32.sub').set(row);
        code.get(j).i32(4).do('i32.add').set(j).i32(1);
        next();
      });
    });
  }

  /** Writes the digits, and multiplies w by g^(−e/2). */
  writeDigits(code: Code, lookUp: number, w: Numbers): void {
    const parts = this.#parts;
    const { count, rows, rowBytes } = this.#tables;
    const { i, at } = code.named('i32', 'i', 'at');
    const locals = code.named('i32', 'row', 'j', 'end');
    const setRow = (): void => {
      code.get(i).i32(rowBytes).do('i32.mul').i32(rows).do('i32.add').set(locals.row);
    };
    code.i32(0).set(i);
    code.loop((next) => {
      // rows begin with row 1, so row i + 1 is the i-th
      setRow();
      code.get(i).i32(2).do('i32.shl').set(locals.end);
      this.#writeProduct(code, locals);
      parts.call(code, 'square', this.#product, this.#product);
      code.get(i).i32(parts.field.bytes).do('i32.mul').set(at);
      parts.call(code, 'multiply', this.#product, this.#product, entryOf(this.#powers, at));
      for (const [lane, digits] of this.#digits.entries()) {
        code
          .get(locals.end)
          .i32(this.#product[lane] as number)
          .call(lookUp)
          .at('i32.store', digits);
      }
      code.get(i).i32(1).do('i32.add').tee(i).i32(count).do('i32.ne');
      next();
    });
    code.i32(count - 1).set(i);
    setRow();
    code.i32(4 * count).set(locals.end);
    this.#writeProduct(code, locals);
    parts.call(code, 'multiply', w, w, this.#product);
  }
}

/**
 * Adds the function without parameters that multiplies w by g^(−e/2), where v·w² = g^e. If v is no
 * square, w is of no meaning.
 */
export const addRootDigits = (parts: DecoderParts, constants: RootConstants, v: Numbers, w: Numbers): number => {
  const tables = writeTables(parts, constants);
  const lookUp = addLookUp(parts, tables);
  const writer = new DigitWriter(parts, tables);
  return parts.module.add(null, { parameters: [] }, (code) => {
    writer.writePowers(code, v, w);
    writer.writeDigits(code, lookUp, w);
  });
};
