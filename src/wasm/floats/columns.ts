/** Columns of integers, of which a number is known: the constants of all their terms. */
import type { Constant, FloatLine, FloatValue, IntegerValue } from './float-line.js';

/**
 * Sums of terms. Each term brings a constant, as does the use of a column. One constant makes up
 * for all of them: it is added to the first term, where nothing waits for it, and is known when the
 * column is complete.
 */
export class Columns {
  readonly #line: FloatLine;
  readonly #sums: (IntegerValue | undefined)[] = [];
  readonly #constants: Constant[] = [];
  readonly #peeks: { readonly column: number; readonly constant: Constant; readonly plus: bigint }[] = [];
  /** Known number of a column when it was completed. */
  readonly #completed = new Map<number, bigint>();

  constructor(line: FloatLine) {
    this.#line = line;
  }

  add(column: number, term: IntegerValue): void {
    if (this.#completed.has(column)) throw new Error(`column ${column} is complete`);
    const sum = this.#sums[column];
    if (sum !== undefined) {
      this.#sums[column] = this.#line.integerSum(sum, term);
      return;
    }
    const constant: Constant = { bits: 0n };
    this.#constants[column] = constant;
    this.#sums[column] = this.#line.integerShift(term, constant, term.plus);
  }

  #sumOf(column: number): IntegerValue {
    const sum = this.#sums[column];
    if (sum === undefined) throw new Error(`column ${column} has no term`);
    return sum;
  }

  /** Returns the complete sum of a column, with `plus` as its known number. */
  complete(column: number, plus: bigint): IntegerValue {
    const sum = this.#sumOf(column);
    (this.#constants[column] as Constant).bits = BigInt.asUintN(64, plus - sum.plus);
    this.#completed.set(column, plus - sum.plus);
    return { ...sum, plus };
  }

  /** Returns what a column is so far, with `plus` as its known number. */
  peek(column: number, plus: bigint): IntegerValue {
    const sum = this.#sumOf(column);
    const constant: Constant = { bits: 0n };
    this.#peeks.push({ column, constant, plus: plus - sum.plus });
    return this.#line.integerShift(sum, constant, plus);
  }

  /** Returns a complete column that is lifted. */
  lifted(column: number): IntegerValue {
    return this.complete(column, this.#line.lift);
  }

  /** Returns a complete column as a float. @param most its bound */
  float(column: number, most: number): FloatValue {
    return this.#line.toFloat(this.complete(column, this.#line.floatPlus), most);
  }

  /** Sets the constants of all peeks. Every peeked column must be complete. */
  finish(): void {
    for (const { column, constant, plus } of this.#peeks) {
      const own = this.#completed.get(column);
      if (own === undefined) throw new Error(`column ${column} is not complete`);
      constant.bits = BigInt.asUintN(64, plus - own);
    }
  }
}
