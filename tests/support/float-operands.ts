/** Operands in limbs of floats: random ones, and those at the ends of their ranges. */
import type { Random } from '../../dev/oracle/known-bases.js';
import { balancedDigits } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import type { FloatField } from '../../src/wasm/floats/float-field.js';
import { limbBounds } from '../../src/wasm/floats/float-products.js';
import type { StoredAs } from '../../src/wasm/floats/point-programs.js';

/** Returns the value of limbs. */
export const valueOfLimbs = ({ width }: FloatField, limbs: ArrayLike<number>): bigint => {
  let value = 0n;
  for (let i = limbs.length - 1; i >= 0; i--) value = (value << BigInt(width)) + BigInt(limbs[i] as number);
  return value;
};

/** Returns a random integer within ±most. */
const within = (random: Random, most: number): number =>
  Math.round(((random.u32() + random.u32() / 2 ** 32) / 2 ** 31 - 1) * most);

/** Returns one of the values. */
const oneOf = (random: Random, values: readonly number[]): number => values[random.u32() % values.length] as number;

/** Returns an integer at an end of ±most, or next to 0. */
const edge = (random: Random, most: number): number => oneOf(random, [most, -most, most - 1, 1 - most, 0, -0, 1, -1]);

/**
 * Kinds of numbers: random limbs; each limb at an end of its range or next to 0; every limb at an
 * end, with signs that agree or alternate; and multiples of p/4, whose sums are ties between two
 * multiples of p.
 */
export const operandKinds = ['random', 'edge', 'corner', 'tie'] as const;
export type OperandKind = (typeof operandKinds)[number];

/** Makes numbers within the bounds of their limbs and of their absolute value. */
export class FloatOperands {
  readonly #field: FloatField;
  readonly #random: Random;
  readonly #bounds: readonly number[];
  /** Multiples of p/4. */
  readonly #ties: readonly (readonly number[])[];
  /** Absolute value at most, in units of the top limb. */
  readonly #most: number;

  constructor(field: FloatField, { most, terms }: StoredAs, random: Random) {
    this.#field = field;
    this.#random = random;
    this.#bounds = limbBounds(field, most, terms);
    this.#most = (most * Number(field.p)) / 2 ** (field.width * (field.limbs - 1));
    const quarters = Math.floor(4 * most);
    this.#ties = range(2 * quarters + 1).map((i) =>
      balancedDigits((field.p * BigInt(i - quarters)) / 4n, field.width, field.limbs),
    );
  }

  /** Returns the top limb above lower ones that sum to `rest` units of it. */
  #top(rest: number, kind: OperandKind, sign: number): number {
    const bound = this.#bounds.at(-1) as number;
    // the quarter makes up for the rounding of these doubles
    const most = Math.min(bound, Math.floor(this.#most - rest - 0.25));
    const least = Math.max(-bound, Math.ceil(0.25 - this.#most - rest));
    if (kind === 'random') return Math.max(least, Math.min(most, within(this.#random, this.#most)));
    if (kind === 'corner') return sign > 0 ? most : least;
    const edges = [least, most, 0, -0, 1, -1];
    return oneOf(
      this.#random,
      edges.filter((value) => value >= least && value <= most),
    );
  }

  /** Writes the limbs of one number, `stride` apart. */
  write(to: Float64Array, at: number, stride: number, kind: OperandKind): void {
    if (kind === 'tie') {
      const tie = this.#ties[this.#random.u32() % this.#ties.length] as readonly number[];
      for (const [i, limb] of tie.entries()) to[at + i * stride] = limb;
      return;
    }
    const unit = 2 ** this.#field.width;
    const alternates = oneOf(this.#random, [1, -1]);
    let sign = oneOf(this.#random, [1, -1]);
    let rest = 0;
    const top = this.#bounds.length - 1;
    for (let i = 0; i < top; i++) {
      const bound = this.#bounds[i] as number;
      let limb = sign * bound;
      if (kind !== 'corner') limb = kind === 'edge' ? edge(this.#random, bound) : within(this.#random, bound);
      to[at + i * stride] = limb;
      rest = (rest + limb) / unit;
      sign *= alternates;
    }
    to[at + top * stride] = this.#top(rest, kind, sign);
  }

  /** Returns one number. */
  limbs(kind: OperandKind): number[] {
    const limbs = new Float64Array(this.#bounds.length);
    this.write(limbs, 0, 1, kind);
    return [...limbs];
  }
}
