/** Operations on vectors by their definitions, in BigInts; fields and transforms are noble's. */
import { bitReversalPermutation, FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { Field } from '@noble/curves/abstract/modular.js';
import { bytesToNumberLE } from '@noble/curves/utils.js';
import type { FieldOrder, TransformOptions } from '../../src/api/fields.js';
import type { FieldEngine, FieldVector } from '../../src/fields.js';

/** Entries of a matrix. */
export interface OracleMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly row: readonly number[];
  readonly column: readonly number[];
  readonly values: readonly bigint[];
}

type Values = readonly bigint[];

const inOrder = (items: Values, order: FieldOrder = 'natural'): Values =>
  order === 'natural' ? items : bitReversalPermutation([...items]);

/** Order of BLS12-377, and the generator whose powers arkworks and gnark-crypto transform by; noble takes the least. */
const [ORDER_377, GENERATOR_377] = [0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n, 22n];

/** Operations of `FieldOperations` on numbers below p, except `keep`. */
export class FieldValues {
  readonly #field: ReturnType<typeof Field>;
  readonly #transforms: ReturnType<typeof FFT<bigint>>;

  constructor(p: bigint) {
    this.#field = Field(p);
    this.#transforms = FFT(rootsOfUnity(this.#field, p === ORDER_377 ? GENERATOR_377 : undefined), this.#field);
  }

  #mod(value: bigint): bigint {
    return this.#field.create(value);
  }

  #inverse(value: bigint): bigint {
    return value === 0n ? 0n : this.#field.inv(value);
  }

  #map(a: Values, of: (value: bigint, i: number) => bigint): bigint[] {
    return a.map((value, i) => this.#mod(of(value, i)));
  }

  ntt(a: Values, { from, to, coset = 1n }: TransformOptions): Values {
    const coefficients = this.scalePowers(inOrder(a, from), coset);
    return this.#transforms.direct([...coefficients], false, to === 'reversed');
  }

  intt(a: Values, { from, to, coset = 1n }: TransformOptions): Values {
    const coefficients = this.#transforms.inverse([...a], from === 'reversed');
    return inOrder(this.scalePowers(coefficients, this.#inverse(coset)), to);
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
      power = this.#mod(power * base);
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
      product = this.#mod(product * value);
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

/* Values of transforms, by polynomials of BigInts. */

/** Returns numbers below p, the same in each run. */
export const transformInput = (p: bigint, n: number): bigint[] =>
  Array.from({ length: n }, (_, i) => (BigInt(i + 1) ** 31n + BigInt(i) * 0x1234_5678_9abc_def0n) % p);

const valueAt = (p: bigint, coefficients: readonly bigint[], x: bigint): bigint =>
  coefficients.reduceRight((sum, c) => (sum * x + c) % p, 0n);

/** Returns the numbers that an engine wrote, each in `numberBytes` little-endian bytes. */
export const numbersIn = (bytes: Uint8Array, numberBytes: number): bigint[] =>
  Array.from({ length: bytes.length / numberBytes }, (_, i) =>
    bytesToNumberLE(bytes.subarray(i * numberBytes, (i + 1) * numberBytes)),
  );

/** Returns the root of unity that the engine transforms with: its values of the polynomial x. */
const rootOf = async (fr: FieldEngine, n: number): Promise<bigint> => {
  if (n === 1) return 1n;
  const x = await fr.load(Array.from({ length: n }, (_, i) => (i === 1 ? 1n : 0n)));
  const values = await fr.run((ops) => ops.keep(ops.ntt(x)));
  const bytes = await fr.read(values);
  x.destroy();
  values.destroy();
  return numbersIn(bytes.subarray(0, 2 * fr.numberBytes), fr.numberBytes)[1] as bigint;
};

/**
 * Compares a transform with values of the polynomial at three places, and its inverse with the
 * coefficients.
 *
 * @throws Error if one differs
 */
export const assertTransforms = async (
  fr: FieldEngine,
  given: FieldVector,
  coefficients: readonly bigint[],
): Promise<void> => {
  const { p, numberBytes } = fr;
  const n = coefficients.length;
  const field = Field(p);
  const root = await rootOf(fr, n);
  const there = await fr.run((ops) => ops.keep(ops.ntt(given)));
  const back = await fr.run((ops) => ops.keep(ops.intt(there)));
  const [values, again] = [numbersIn(await fr.read(there), numberBytes), numbersIn(await fr.read(back), numberBytes)];
  let isRight = again.every((value, i) => value === coefficients[i]);
  for (const index of new Set([0, 1 % n, n - 1])) {
    isRight &&= values[index] === valueAt(p, coefficients, field.pow(root, BigInt(index)));
  }
  // a root of a smaller order gives other polynomials
  isRight &&= n === 1 || field.pow(root, BigInt(n / 2)) === p - 1n;
  there.destroy();
  back.destroy();
  if (!isRight) throw new Error(`WRONG: a transform of ${n} elements differs from the polynomial`);
};
