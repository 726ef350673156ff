/**
 * The group law as a textbook has it, affine and on BigInts: for curves that noble does not take,
 * such as those with points of order 2. It is slow, and shares nothing with the library.
 */
import type { AffinePoint } from '../../dev/oracle/known-bases.js';

const INFINITY: AffinePoint = { x: 0n, y: 0n, infinity: true };

export class TextbookCurve {
  readonly #p: bigint;
  readonly #a: bigint;

  constructor({ p, a }: { readonly p: bigint; readonly a: bigint }) {
    this.#p = p;
    this.#a = a;
  }

  add(left: AffinePoint, right: AffinePoint): AffinePoint {
    if (left.infinity) return right;
    if (right.infinity) return left;
    if (left.x === right.x && this.#mod(left.y + right.y) === 0n) return INFINITY;
    const slope =
      left.x === right.x
        ? this.#mod((3n * left.x * left.x + this.#a) * this.#power(2n * left.y, this.#p - 2n))
        : this.#mod((right.y - left.y) * this.#power(right.x - left.x, this.#p - 2n));
    const x = this.#mod(slope * slope - left.x - right.x);
    return { x, y: this.#mod(slope * (left.x - x) - left.y), infinity: false };
  }

  multiply(point: AffinePoint, scalar: bigint): AffinePoint {
    let sum = INFINITY;
    for (const bit of scalar.toString(2)) {
      sum = this.add(sum, sum);
      if (bit === '1') sum = this.add(sum, point);
    }
    return sum;
  }

  /** A point with an x from `from` on; p must be 3 modulo 4. */
  somePoint(b: bigint, from: bigint): AffinePoint {
    for (let x = from; ; x++) {
      const square = this.#mod(x ** 3n + this.#a * x + b);
      const y = this.#power(square, (this.#p + 1n) / 4n);
      if (this.#mod(y * y) === square) return { x, y, infinity: false };
    }
  }

  #mod(value: bigint): bigint {
    return ((value % this.#p) + this.#p) % this.#p;
  }

  #power(base: bigint, exponent: bigint): bigint {
    let result = 1n;
    for (let [square, rest] = [this.#mod(base), exponent]; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = this.#mod(result * square);
      square = this.#mod(square * square);
    }
    return result;
  }
}
