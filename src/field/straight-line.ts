/**
 * Straight-line programs on signed integers of 32 or 64 bits: the output of the generators of field
 * arithmetic, before it becomes WGSL or WebAssembly.
 *
 * A program has three uses. It becomes code; a CPU reference of the tests runs it; and interval
 * arithmetic bounds every value while it is made, so that making a program fails if any input
 * within the bounds could overflow.
 */

/** A name of the program, or a constant. */
export type Operand = string | number;
/** A product. */
export type Term = readonly [Operand, Operand];

/** A statement, which defines `name`. */
export type Statement =
  /** The sum of the terms. */
  | { readonly kind: 'sum'; readonly name: string; readonly terms: readonly Term[] }
  /** The low `width` bits of `of`, non-negative. */
  | { readonly kind: 'mask'; readonly name: string; readonly of: string }
  /** ⌊`of` / 2^width⌋, by a shift. */
  | { readonly kind: 'floor'; readonly name: string; readonly of: string };

/** Bounds of a value, both inclusive. */
export interface Interval {
  readonly least: number;
  readonly most: number;
}

/** Returns the interval [−most, most]. */
export const within = (most: number): Interval => ({ least: -most, most });

/** Bound of every value of 32 bits. */
const MOST = 2 ** 31 - 1;

/** A program and the names of its resulting limbs. */
export interface Limbs {
  readonly program: StraightLine;
  readonly result: readonly string[];
}

/** Returns the numbers from 0 to count − 1. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/**
 * A straight-line program under construction.
 *
 * @typeParam Other statements besides `Statement`, which only one generator makes and its writer of
 * code knows
 */
export class StraightLine<Other extends { readonly name: string } = never> {
  readonly width: number;
  readonly statements: (Statement | Other)[] = [];
  readonly #most: number;
  readonly #intervals = new Map<string, Interval>();

  /**
   * @param width bits of a limb
   * @param most bound of the absolute value of every value
   */
  constructor(width: number, most = MOST) {
    this.width = width;
    this.#most = most;
  }

  /** Declares an input. */
  input(name: string, interval: Interval): string {
    this.#intervals.set(name, interval);
    return name;
  }

  /** Returns the bounds of a value. */
  interval(operand: Operand): Interval {
    if (typeof operand === 'number') return { least: operand, most: operand };
    const known = this.#intervals.get(operand);
    if (known === undefined) throw new Error(`'${operand}' is used before it is computed`);
    return known;
  }

  #sumInterval(terms: readonly Term[]): Interval {
    let [least, most] = [0, 0];
    for (const [x, y] of terms) {
      const [a, b] = [this.interval(x), this.interval(y)];
      const products = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
      least += Math.min(...products);
      most += Math.max(...products);
    }
    return { least, most };
  }

  /** Adds a statement whose value is in the interval. Returns its name. */
  protected define(statement: Statement | Other, interval: Interval): string {
    this.statements.push(statement);
    this.#intervals.set(statement.name, interval);
    return statement.name;
  }

  /**
   * Adds the sum of the terms.
   *
   * @param known a tighter bound, `most`, of the sum of the first `terms` terms, which intervals
   * cannot see
   * @throws RangeError if it could overflow
   */
  sum(
    name: string,
    terms: readonly Term[],
    known: { readonly terms: number; readonly most: number } | null = null,
  ): string {
    const { least, most } = this.#sumInterval(known === null ? terms : terms.slice(known.terms));
    const more = known === null ? 0 : known.most;
    if (least - more < -this.#most || most + more > this.#most)
      throw new RangeError(`the sum '${name}' could overflow`);
    return this.define({ kind: 'sum', name, terms }, { least: least - more, most: most + more });
  }

  mask(name: string, of: string): string {
    return this.define({ kind: 'mask', name, of }, { least: 0, most: 2 ** this.width - 1 });
  }

  floor(name: string, of: string): string {
    const { least, most } = this.interval(of);
    return this.define(
      { kind: 'floor', name, of },
      { least: Math.floor(least / 2 ** this.width), most: Math.floor(most / 2 ** this.width) },
    );
  }

  /**
   * Carries columns into non-negative limbs. The last limb takes the rest.
   *
   * @param name prefix of the names of the limbs: `name0`, `name1`, …
   */
  carryAll(name: string, columns: readonly (readonly Term[])[]): string[] {
    let carry: Term[] = [];
    return columns.map((terms, i) => {
      const column = this.sum(`${name}c${i}`, [...terms, ...carry]);
      if (i === columns.length - 1) return column;
      const low = this.mask(`${name}${i}`, column);
      carry = [[this.floor(`${name}h${i}`, column), 1]];
      return low;
    });
  }
}
