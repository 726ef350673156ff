/** Operations on vectors by their definitions, in BigInts. */
import type { FieldOrder, TransformOptions } from '../../src/api/field-operations.js';

/** Entries of a matrix. */
export interface OracleMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly row: readonly number[];
  readonly column: readonly number[];
  readonly values: readonly bigint[];
}

type Values = readonly bigint[];

const power = (base: bigint, exponent: bigint, p: bigint): bigint => {
  let [result, square] = [1n, base % p];
  for (let rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % p) {
    if (rest & 1n) result = (result * square) % p;
  }
  return result;
};

/** Returns the least number that is no square (Euler's criterion). */
const leastNonSquare = (p: bigint): bigint => {
  let candidate = 2n;
  while (power(candidate, (p - 1n) / 2n, p) === 1n) candidate++;
  return candidate;
};

const reversed = (items: Values): bigint[] => {
  const bits = Math.log2(items.length);
  const indexOf = (i: number): number => {
    let index = 0;
    for (let bit = 0; bit < bits; bit++) index = 2 * index + (Math.floor(i / 2 ** bit) % 2);
    return index;
  };
  return items.map((_, i) => items[indexOf(i)] as bigint);
};

const inOrder = (items: Values, order: FieldOrder = 'natural'): Values =>
  order === 'natural' ? items : reversed(items);

/** Operations of `FieldOperations` on numbers below p, except `keep`. */
export class FieldValues {
  readonly p: bigint;
  readonly #nonSquare: bigint;

  constructor(p: bigint) {
    this.p = p;
    this.#nonSquare = leastNonSquare(p);
  }

  #mod(value: bigint): bigint {
    const rest = value % this.p;
    return rest < 0n ? rest + this.p : rest;
  }

  #inverse(value: bigint): bigint {
    return power(value, this.p - 2n, this.p);
  }

  #map(a: Values, of: (value: bigint, i: number) => bigint): bigint[] {
    return a.map((value, i) => this.#mod(of(value, i)));
  }

  /** Returns the values of a polynomial at the powers of a root of unity, by halves. */
  #valuesAt(coefficients: Values, root: bigint): bigint[] {
    const n = coefficients.length;
    if (n === 1) return [...coefficients];
    const square = (root * root) % this.p;
    const even = this.#valuesAt(
      coefficients.filter((_, i) => i % 2 === 0),
      square,
    );
    const odd = this.#valuesAt(
      coefficients.filter((_, i) => i % 2 === 1),
      square,
    );
    let x = 1n;
    const products = odd.map((value) => {
      const product = x * value;
      x = (x * root) % this.p;
      return product;
    });
    return [...even, ...even].map((value, i) =>
      this.#mod(i < n / 2 ? value + (products[i] as bigint) : value - (products[i - n / 2] as bigint)),
    );
  }

  #root(n: number): bigint {
    return power(this.#nonSquare, (this.p - 1n) / BigInt(n), this.p);
  }

  ntt(a: Values, { from, to, coset = 1n }: TransformOptions): Values {
    const coefficients = this.scalePowers(inOrder(a, from), coset);
    return inOrder(this.#valuesAt(coefficients, this.#root(a.length)), to);
  }

  intt(a: Values, { from, to, coset = 1n }: TransformOptions): Values {
    const values = this.#valuesAt(inOrder(a, from), this.#inverse(this.#root(a.length)));
    const factor = this.#inverse(BigInt(a.length));
    return inOrder(this.scalePowers(values, this.#inverse(coset), { factor }), to);
  }

  add(a: Values, b: Values): Values {
    return this.#map(a, (value, i) => value + (b[i] as bigint));
  }

  subtract(a: Values, b: Values): Values {
    return this.#map(a, (value, i) => value - (b[i] as bigint));
  }

  multiply(a: Values, b: Values): Values {
    return this.#map(a, (value, i) => value * (b[i] as bigint));
  }

  multiplyAdd(a: Values, b: Values, c: Values): Values {
    return this.#map(a, (value, i) => value * (b[i] as bigint) + (c[i] as bigint));
  }

  multiplySubtract(a: Values, b: Values, c: Values): Values {
    return this.#map(a, (value, i) => value * (b[i] as bigint) - (c[i] as bigint));
  }

  negate(a: Values): Values {
    return this.#map(a, (value) => -value);
  }

  scale(a: Values, factor: bigint): Values {
    return this.#map(a, (value) => factor * value);
  }

  scalePowers(a: Values, base: bigint, { factor = 1n, order }: { factor?: bigint; order?: FieldOrder } = {}): Values {
    let power = factor;
    const scaled = this.#map(inOrder(a, order), (value) => {
      const product = power * value;
      power = (power * base) % this.p;
      return product;
    });
    return inOrder(scaled, order);
  }

  linearCombination(terms: readonly (readonly [bigint, Values])[]): Values {
    const length = Math.max(...terms.map(([, { length: own }]) => own));
    const sum = (i: number): bigint => terms.reduce((all, [factor, a]) => all + factor * (a[i] ?? 0n), 0n);
    return Array.from({ length }, (_, i) => this.#mod(sum(i)));
  }

  invert(a: Values): Values {
    return a.map((value) => this.#inverse(value));
  }

  prefixProduct(a: Values): Values {
    let product = 1n;
    return a.map((value) => {
      const before = product;
      product = (product * value) % this.p;
      return before;
    });
  }

  evaluate(a: Values, x: bigint): Values {
    return [a.reduceRight((sum, value) => this.#mod(sum * x + value), 0n)];
  }

  divideByLinear(a: Values, x: bigint): Values {
    const quotient = a.map(() => 0n);
    for (let i = a.length - 2; i >= 0; i--) {
      quotient[i] = this.#mod((a[i + 1] as bigint) + x * (quotient[i + 1] as bigint));
    }
    return quotient.slice(0, -1);
  }

  slice(a: Values, from: number, to: number): Values {
    return a.slice(from, to);
  }

  pad(a: Values, length: number, from: number): Values {
    return Array.from({ length }, (_, i) => a[i - from] ?? 0n);
  }

  gather(a: Values, indices: readonly number[]): Values {
    return indices.map((index) => a[index] as bigint);
  }

  apply({ rows, row, column, values }: OracleMatrix, a: Values): Values {
    const sums = Array.from({ length: rows }, () => 0n);
    for (const [k, at] of row.entries()) {
      sums[at] = this.#mod((sums[at] as bigint) + (values[k] as bigint) * (a[column[k] as number] as bigint));
    }
    return sums;
  }
}
