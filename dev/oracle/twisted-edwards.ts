/**
 * Curves a·x² + y² = 1 + d·x²·y² for any a and d. Noble has such curves only if a is a square and d
 * is not, which makes the addition law complete.
 */
import { Field } from '@noble/curves/abstract/modular.js';
import type { OraclePoint, OraclePoints } from './known-bases.js';

export interface EdwardsConstants {
  readonly p: bigint;
  /**
   * Order of the generator. It is odd, so no sum of its multiples is an exception of the addition
   * law.
   */
  readonly n: bigint;
  readonly a: bigint;
  readonly d: bigint;
  readonly Gx: bigint;
  readonly Gy: bigint;
}

/**
 * Points (X : Y : Z) with the formulas of Bernstein, Birkner, Joye, Lange, Peters, "Twisted Edwards
 * Curves", https://eprint.iacr.org/2008/013, section 6.
 */
export const twistedEdwards = ({ p, n, a, d, Gx, Gy }: EdwardsConstants): OraclePoints<bigint> => {
  const Fp = Field(p);

  class Point implements OraclePoint<bigint> {
    static readonly Fp = Fp;
    static readonly Fn = Field(n);
    static readonly BASE = new Point(Gx, Gy, 1n);
    static readonly ZERO = new Point(0n, 1n, 1n);
    static fromAffine({ x, y }: { readonly x: bigint; readonly y: bigint }): Point {
      return new Point(x, y, 1n);
    }

    readonly X: bigint;
    readonly Y: bigint;
    readonly Z: bigint;

    constructor(X: bigint, Y: bigint, Z: bigint) {
      [this.X, this.Y, this.Z] = [X, Y, Z];
    }

    add({ X, Y, Z }: Point): Point {
      const A = Fp.mul(this.Z, Z);
      const B = Fp.sqr(A);
      const C = Fp.mul(this.X, X);
      const D = Fp.mul(this.Y, Y);
      const E = Fp.mul(d * C, D);
      const [F, G] = [B - E, B + E];
      const cross = (this.X + this.Y) * (X + Y) - C - D;
      return new Point(Fp.mul(A * F, cross), Fp.mul(A * G, D - a * C), Fp.mul(F, G));
    }

    double(): Point {
      return this.add(this);
    }

    negate(): Point {
      return new Point(Fp.neg(this.X), this.Y, this.Z);
    }

    multiply(k: bigint): Point {
      return [...k.toString(2)].reduce((sum, bit) => (bit === '1' ? sum.double().add(this) : sum.double()), Point.ZERO);
    }

    multiplyUnsafe(k: bigint): Point {
      return this.multiply(k);
    }

    is0(): boolean {
      return this.X === 0n && this.Y === this.Z;
    }

    toAffine(invertedZ = Fp.inv(this.Z)): { x: bigint; y: bigint } {
      return { x: Fp.mul(this.X, invertedZ), y: Fp.mul(this.Y, invertedZ) };
    }

    assertValidity(): void {
      const { x, y } = this.toAffine();
      const [xx, yy] = [x * x, y * y];
      if (Fp.create(a * xx + yy - 1n - d * xx * yy) !== 0n) throw new Error('not on the curve');
    }
  }
  return Point;
};
