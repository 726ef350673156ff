/** Arithmetic of Horner's rule over the points of a vector, which combining windows runs. */
import type { Coordinate } from '../../api/values.js';
import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { type Affine, addAffine, double, infinityOf, type Jacobian, negated, toAffine } from '../../curves/jacobian.js';
import { writePoint } from '../../curves/point-source.js';
import { elementFromMontgomery, elementToMontgomery, readElement } from '../../field/field.js';

/** A running total, and the points that are added to it. */
export interface Horner {
  /**
   * Reads points, and sets the total to infinity.
   *
   * @param points stored points, whose numbers are below p
   * @returns how many points precede the first that is not on the curve
   */
  take(points: Uint32Array): number;
  /** Doubles the total. */
  double(): void;
  /** Adds the point with this index to the total. */
  add(index: number): void;
  /** Returns the coefficients of x and y of the total; null for infinity. */
  total(): readonly bigint[] | null;
}

/** Returns points as `take` reads them. */
export const storedPoints = (curve: CurveContext, points: readonly Affine[]): Uint32Array<ArrayBuffer> => {
  const { coordinates: f, pointWords } = curve;
  const words = new Uint32Array(points.length * pointWords);
  for (const [i, point] of points.entries()) {
    const stored = point && { x: elementToMontgomery(f, point.x), y: elementToMontgomery(f, point.y) };
    writePoint(curve, words, i, stored);
  }
  return words;
};

/** Returns the point with these coefficients of x and y; null for infinity. */
export const pointOf = ({ coordinates: f }: CurveContext, numbers: readonly bigint[] | null): Affine =>
  numbers && { x: f.of(numbers.slice(0, f.degree)), y: f.of(numbers.slice(f.degree)) };

/** Computes with BigInts on the curve's field, of any degree. */
class FieldHorner implements Horner {
  readonly #curve: CurveContext;
  #points: Affine[] = [];
  #sum: Jacobian;

  constructor(curve: CurveContext) {
    this.#curve = curve;
    this.#sum = infinityOf(curve);
  }

  take(points: Uint32Array): number {
    const curve = this.#curve;
    const { coordinates: f, pointWords } = curve;
    this.#sum = infinityOf(curve);
    this.#points = [];
    for (let at = 0; at < points.length; at += pointWords) {
      const [x, y] = [at, at + f.words].map((from) => readElement(f, points, from)) as [Coordinate, Coordinate];
      const isInfinity = f.isZero(x) && f.isZero(y);
      const point = isInfinity ? null : { x: elementFromMontgomery(f, x), y: elementFromMontgomery(f, y) };
      if (point !== null && !isOnCurve(curve, point.x, point.y)) break;
      this.#points.push(point);
    }
    return this.#points.length;
  }

  double(): void {
    this.#sum = double(this.#curve, this.#sum);
  }

  add(index: number): void {
    this.#sum = addAffine(this.#curve, this.#sum, this.#points[index] as Affine);
  }

  total(): readonly bigint[] | null {
    const { coordinates: f } = this.#curve;
    const sum = toAffine(this.#curve, this.#sum);
    return sum && [...f.coefficients(sum.x), ...f.coefficients(sum.y)];
  }
}

/**
 * Computes with BigInts in F_p, by straight-line formulas: a call has 500 steps, most of which
 * engines run before they optimise them. Coordinates of the total are in (−p, p).
 */
class PrimeHorner implements Horner {
  readonly #curve: CurveContext;
  readonly #p: bigint;
  readonly #a: bigint;
  #points: BigUint64Array | bigint[] = [];
  #x = 1n;
  #y = 1n;
  #z = 0n;

  constructor(curve: CurveContext) {
    this.#curve = curve;
    this.#p = curve.p;
    this.#a = curve.a as bigint;
  }

  take(points: Uint32Array): number {
    const { b, field } = this.#curve;
    const [p, a] = [this.#p, this.#a];
    // a copy begins at a multiple of 8 bytes
    const words = new BigUint64Array(points.slice().buffer);
    const each = field.words / 2;
    const numbers: bigint[] = [];
    for (let at = 0; at < words.length; at += 2 * each) {
      let x = words[at + each - 1] as bigint;
      let y = words[at + 2 * each - 1] as bigint;
      for (let i = each - 2; i >= 0; i--) {
        x = (x << 64n) | (words[at + i] as bigint);
        y = (y << 64n) | (words[at + each + i] as bigint);
      }
      if (x !== 0n || y !== 0n) {
        x = (x * field.rInverse) % p;
        y = (y * field.rInverse) % p;
        if (((((x * x) % p) + a) * x + (b as bigint) - y * y) % p !== 0n) break;
      }
      numbers.push(x, y);
    }
    this.#points = numbers;
    this.#z = 0n;
    return numbers.length / 2;
  }

  /** `dbl-2007-bl` of the Explicit-Formulas Database; Z = 0 stays 0, and Y = 0 makes it 0. */
  double(): void {
    const [p, a, x, y, z] = [this.#p, this.#a, this.#x, this.#y, this.#z];
    const yy = (y * y) % p;
    const s = ((x * yy) % p) << 2n;
    let m = 3n * x * x;
    if (a !== 0n) {
      const zz = (z * z) % p;
      m += a * ((zz * zz) % p);
    }
    m %= p;
    const x3 = (m * m - (s << 1n)) % p;
    this.#x = x3;
    this.#y = (m * (s - x3) - ((yy * yy) << 3n)) % p;
    this.#z = ((y * z) << 1n) % p;
  }

  /** `madd` of the Explicit-Formulas Database. */
  add(index: number): void {
    const [p, x, y, z] = [this.#p, this.#x, this.#y, this.#z];
    const right = this.#points[2 * index] as bigint;
    const above = this.#points[2 * index + 1] as bigint;
    if (right === 0n && above === 0n) return;
    if (z === 0n) {
      [this.#x, this.#y, this.#z] = [right, above, 1n];
      return;
    }
    const zz = (z * z) % p;
    const h = (right * zz - x) % p;
    const r = (above * ((z * zz) % p) - y) % p;
    if (h === 0n) {
      if (r === 0n) this.double();
      else this.#z = 0n;
      return;
    }
    const hh = (h * h) % p;
    const hhh = (h * hh) % p;
    const v = (x * hh) % p;
    const x3 = (r * r - hhh - (v << 1n)) % p;
    this.#x = x3;
    this.#y = (r * (v - x3) - y * hhh) % p;
    this.#z = (z * h) % p;
  }

  total(): readonly bigint[] | null {
    const sum = toAffine(this.#curve, { x: this.#x, y: this.#y, z: this.#z });
    return sum && [sum.x as bigint, sum.y as bigint];
  }
}

/** Returns Horner's rule with BigInts. */
export const bigIntHorner = (curve: CurveContext): Horner =>
  curve.coordinates.degree === 1 ? new PrimeHorner(curve) : new FieldHorner(curve);

/* A known answer of Horner's rule, which tells arithmetics that compute wrongly on a machine. */

/** Returns results that depend on every step: doublings, opposite points, a wrong point. */
const answersOf = (horner: Horner, points: Uint32Array): string => {
  const results: unknown[] = [horner.take(points)];
  for (const index of [0, 0, 2, 1]) {
    horner.add(index);
    horner.double();
  }
  results.push(horner.total());
  const wrong = points.slice();
  wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1;
  results.push(horner.take(wrong));
  for (const index of [0, 1]) horner.add(index);
  results.push(horner.total());
  return results.join();
};

/** Returns whether two arithmetics compute the same from G, −G and 2·G. */
export const agree = (curve: CurveContext, some: Horner, other: Horner): boolean => {
  const { coordinates: f, generator } = curve;
  const points = [generator, negated(curve, generator), toAffine(curve, double(curve, { ...generator, z: f.one }))];
  const words = storedPoints(curve, points);
  return answersOf(some, words) === answersOf(other, words);
};
