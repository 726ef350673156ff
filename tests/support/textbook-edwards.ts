/**
 * a·x² + y² = 1 + d·x²·y² by its own addition law, over which nothing of the library's passes:
 * Bernstein and others, https://eprint.iacr.org/2008/013, section 6.
 */
export interface EdwardsPoint {
  readonly x: bigint;
  readonly y: bigint;
}

/** (X : Y : Z) with x = X/Z, y = Y/Z. */
type Projective = readonly [X: bigint, Y: bigint, Z: bigint];

export class TextbookEdwards {
  readonly p: bigint;
  readonly a: bigint;
  readonly d: bigint;

  constructor({ p, a, d }: { readonly p: bigint; readonly a: bigint; readonly d: bigint }) {
    this.p = p;
    this.a = a;
    this.d = d;
  }

  /** Σ k·P, for k ≥ 0; null where the sum is no affine point. */
  combine(terms: readonly { readonly k: bigint; readonly point: EdwardsPoint }[]): EdwardsPoint | null {
    const { p } = this;
    const sum = terms.reduce<Projective>(
      (total, { k, point }) => this.#add(total, this.#multiple(k, point)),
      [0n, 1n, 1n],
    );
    const [X, Y, Z] = sum.map((value) => ((value % p) + p) % p) as [bigint, bigint, bigint];
    if (Z === 0n) return null;
    const inverse = this.#power(Z, p - 2n);
    return { x: (X * inverse) % p, y: (Y * inverse) % p };
  }

  isOn({ x, y }: EdwardsPoint): boolean {
    return (this.a * x * x + y * y - 1n - this.d * x * x * y * y) % this.p === 0n;
  }

  #multiple(k: bigint, { x, y }: EdwardsPoint): Projective {
    let sum: Projective = [0n, 1n, 1n];
    for (const bit of k.toString(2)) {
      sum = this.#add(sum, sum);
      if (bit === '1') sum = this.#add(sum, [x, y, 1n]);
    }
    return sum;
  }

  #add([X1, Y1, Z1]: Projective, [X2, Y2, Z2]: Projective): Projective {
    const { p, a, d } = this;
    const [A, C, D] = [(Z1 * Z2) % p, (X1 * X2) % p, (Y1 * Y2) % p];
    const [B, E] = [(A * A) % p, (((d * C) % p) * D) % p];
    const [F, G] = [B - E, B + E];
    return [(((A * F) % p) * ((X1 + Y1) * (X2 + Y2) - C - D)) % p, (((A * G) % p) * (D - a * C)) % p, (F * G) % p];
  }

  #power(base: bigint, exponent: bigint): bigint {
    let power = 1n;
    for (const bit of exponent.toString(2)) power = (power * power * (bit === '1' ? base : 1n)) % this.p;
    return power;
  }
}
