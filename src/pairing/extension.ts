/**
 * The field of p¹² elements, F_p²[w] / (w⁶ − ξ) with F_p² = F_p[u] / (u² + 1), in which pairings
 * have their values. This is the tower F_p² → F_p⁶ → F_p¹² with w² for the v of F_p⁶.
 */
import type { Fp2 } from '../api/values.js';
import type { Field } from '../field/field.js';
import { modulus } from '../field/modulus.js';
import { powerIn } from '../field/powers.js';
import { quadraticField } from '../field/quadratic.js';

/** Coefficients of 1, w, …, w⁵. They are in (−p, p). */
export type Fp12 = readonly Fp2[];

const DEGREE = 6;

const indices = /* @__PURE__ */ Array.from({ length: DEGREE }, (_, i) => i);

const ZERO: Fp2 = { c0: 0n, c1: 0n };

/** Returns the element with some coefficients, by the exponents of w. */
export const sparse = (coefficients: Readonly<Record<number, Fp2>>): Fp12 =>
  indices.map((i) => coefficients[i] ?? ZERO);

export const ONE: Fp12 = /* @__PURE__ */ sparse({ 0: { c0: 1n, c1: 0n } });

/** Returns the conjugate over F_p⁶, f to the power p⁶: the inverse, where the norm of f is 1. */
export const conjugate = (a: Fp12): Fp12 => a.map(({ c0, c1 }, i) => (i % 2 === 0 ? { c0, c1 } : { c0: -c0, c1: -c1 }));

export class Extension {
  readonly p: bigint;
  /** F_p². */
  readonly pairs: Field;
  /** ξ^(i·(p − 1)/6) for i from 0 to 5: the power p takes wⁱ to this multiple of it. */
  readonly frobeniusFactors: readonly Fp2[];
  readonly #xi: Fp2;

  constructor(p: bigint, xi: Fp2) {
    this.p = p;
    this.pairs = quadraticField(modulus(p), -1n);
    this.#xi = xi;
    const first = powerIn(this.pairs, xi, (p - 1n) / BigInt(DEGREE));
    this.frobeniusFactors = indices.map((i) => powerIn(this.pairs, first, BigInt(i)) as Fp2);
  }

  /** Reduces a polynomial of degree 10 in w. */
  #folded(real: readonly bigint[], imaginary: readonly bigint[]): Fp12 {
    const { p } = this;
    const { c0, c1 } = this.#xi;
    return indices.map((i) => {
      const [re, im] = [real[i + DEGREE] ?? 0n, imaginary[i + DEGREE] ?? 0n];
      return {
        c0: ((real[i] as bigint) + re * c0 - im * c1) % p,
        c1: ((imaginary[i] as bigint) + re * c1 + im * c0) % p,
      };
    });
  }

  /** Returns a·b. Sums of products are reduced once; zeros of lines cost nothing. */
  product(a: Fp12, b: Fp12): Fp12 {
    const real = new Array<bigint>(2 * DEGREE - 1).fill(0n);
    const imaginary = new Array<bigint>(2 * DEGREE - 1).fill(0n);
    for (let i = 0; i < DEGREE; i++) {
      const { c0: a0, c1: a1 } = a[i] as Fp2;
      if (a0 === 0n && a1 === 0n) continue;
      const sum = a0 + a1;
      for (let j = 0; j < DEGREE; j++) {
        const { c0: b0, c1: b1 } = b[j] as Fp2;
        if (b0 === 0n && b1 === 0n) continue;
        const [low, high] = [a0 * b0, a1 * b1];
        (real[i + j] as bigint) += low - high;
        (imaginary[i + j] as bigint) += sum * (b0 + b1) - low - high;
      }
    }
    return this.#folded(real, imaginary);
  }

  /** Returns a², with 21 products of pairs instead of 36. */
  square(a: Fp12): Fp12 {
    const real = new Array<bigint>(2 * DEGREE - 1).fill(0n);
    const imaginary = new Array<bigint>(2 * DEGREE - 1).fill(0n);
    for (let i = 0; i < DEGREE; i++) {
      const { c0: a0, c1: a1 } = a[i] as Fp2;
      (real[2 * i] as bigint) += (a0 + a1) * (a0 - a1);
      const [twice0, twice1] = [2n * a0, 2n * a1];
      (imaginary[2 * i] as bigint) += twice0 * a1;
      for (let j = i + 1; j < DEGREE; j++) {
        const { c0: b0, c1: b1 } = a[j] as Fp2;
        const [low, high] = [twice0 * b0, twice1 * b1];
        (real[i + j] as bigint) += low - high;
        (imaginary[i + j] as bigint) += (twice0 + twice1) * (b0 + b1) - low - high;
      }
    }
    return this.#folded(real, imaginary);
  }

  /** Returns a to the power p^times. */
  frobenius(a: Fp12, times: number): Fp12 {
    let result = a;
    for (let k = 0; k < times; k++) {
      result = result.map(
        ({ c0, c1 }, i) => this.pairs.product({ c0, c1: -c1 }, this.frobeniusFactors[i] as Fp2) as Fp2,
      );
    }
    return result;
  }

  /** Returns 1/a by norms, from F_p¹² to F_p⁶ and from there to F_p²; 0 for 0. */
  inverse(a: Fp12): Fp12 {
    const conjugated = conjugate(a);
    const norm = this.product(a, conjugated);
    const others = this.product(this.frobenius(norm, 2), this.frobenius(norm, 4));
    const [inPairs] = this.product(norm, others);
    const inverse = this.pairs.inverse(inPairs as Fp2) as Fp2;
    return this.product(this.product(conjugated, others), sparse({ 0: inverse }));
  }

  isOne(a: Fp12): boolean {
    return a.every(({ c0, c1 }, i) => (i === 0 ? (c0 - 1n) % this.p === 0n : c0 % this.p === 0n) && c1 % this.p === 0n);
  }
}
