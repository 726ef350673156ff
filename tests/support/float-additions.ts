/** Additions of points in limbs of floats, compared with the group law on BigInts. */
import type { Random } from '../../dev/oracle/known-bases.js';
import { balancedDigits, invert, mod } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import type { WasmCurve } from '../../src/wasm/arithmetic/kernel-memory.js';
import type { FloatField } from '../../src/wasm/floats/float-field.js';
import { SETTLED } from '../../src/wasm/floats/float-products.js';
import { settled } from '../../src/wasm/floats/point-programs.js';
import { compileKernel } from '../../src/wasm/points/kernel.js';
import { PointAdder, type PointAt } from '../../src/wasm/points/point-adder.js';
import { FloatOperands, type OperandKind, operandKinds, valueOfLimbs } from './float-operands.js';

/** Points of a pool, and of one list of additions. */
const POOL = 2 ** 9;

/** Points at the beginning of a pool that are added to those of the other pool. */
const SPECIAL = 16;

/** Factor of the error of y beside that of x. */
const FACTOR = 0x1234567n;

/** Coordinates in Montgomery form, as they are in memory: within 0.51·p. */
interface Point {
  readonly x: readonly bigint[];
  readonly y: readonly bigint[];
}

type Numbers = readonly bigint[];

/** The slope of a sum, dy/dx. */
interface Slope {
  readonly dx: Numbers;
  readonly dy: Numbers;
}

interface Pool {
  readonly points: readonly Point[];
  readonly at: PointAt;
}

const plus = (a: Numbers, b: Numbers): bigint[] => a.map((value, c) => value + b[c]!);
const minus = (a: Numbers, b: Numbers): bigint[] => a.map((value, c) => value - b[c]!);
const times = (a: Numbers, factor: bigint): bigint[] => a.map((value) => value * factor);

const signed = ({ x, y }: Point, isNegated: number): Point => ({ x, y: isNegated ? times(y, -1n) : y });

/** An adder of a curve of which no point is known, and pools of points of no curve. */
export class FloatAdditions {
  readonly #curve: WasmCurve;
  readonly #adder: PointAdder;
  readonly #field: FloatField;
  readonly #random: Random;
  readonly #R: bigint;
  readonly #rInverse: bigint;
  readonly #a: Numbers;
  readonly #pools: readonly Pool[];
  readonly #sums: PointAt;

  private constructor(curve: WasmCurve, adder: PointAdder, random: Random) {
    this.#curve = curve;
    this.#adder = adder;
    this.#field = adder.field as FloatField;
    this.#random = random;
    this.#R = 1n << BigInt(this.#field.width * this.#field.limbs);
    this.#rInverse = invert(this.#R, this.#field.p);
    this.#a = range(this.#field.degree).map((c) => (curve.a[c] ?? 0n) * this.#R);
    this.#pools = range(2).map(() => {
      const points = [...this.#special(), ...range(POOL - SPECIAL).map(() => this.#point())];
      const { width, limbs: count } = this.#field;
      const limbs = points.flatMap(({ x, y }) => [...x, ...y].flatMap((value) => balancedDigits(value, width, count)));
      // some zeros are −0
      const floats = Float64Array.from(limbs, (limb) => (limb === 0 && random.below(2) === 0 ? -0 : limb));
      return { points, at: adder.copyIn(new Int32Array(floats.buffer)) };
    });
    this.#sums = adder.take(POOL);
  }

  /** Opens a curve; null if the form does not have its field. */
  static async open(curve: WasmCurve, random: Random): Promise<FloatAdditions | null> {
    const kernel = await compileKernel(curve, 'wasm-fma', { words: new Uint32Array(0), sums: [], images: [] });
    return kernel === null ? null : new FloatAdditions(curve, await PointAdder.open(kernel), random);
  }

  #point(): Point {
    const operands = new FloatOperands(this.#field, settled, this.#random);
    const coordinate = (): bigint[] =>
      range(this.#field.degree).map(() => {
        const kind = operandKinds[this.#random.below(operandKinds.length)] as OperandKind;
        return valueOfLimbs(this.#field, operands.limbs(kind));
      });
    return { x: coordinate(), y: coordinate() };
  }

  /** Returns infinity, and points near p/2 or −p/2 that are equal or opposite modulo p. */
  #special(): Point[] {
    const { p, degree } = this.#field;
    const room = (p * BigInt(Math.floor((SETTLED - 0.5) * 2 ** 20))) >> 21n;
    const point = (x: bigint, y: bigint): Point => ({ x: Array(degree).fill(x), y: Array(degree).fill(y) });
    const near = [p / 2n - room, p / 2n + room];
    const points = near.flatMap((x) => [x, x - p].flatMap((own) => [x, x - p, -x, p - x].map((y) => point(own, y))));
    return [point(0n, 0n), ...points.slice(1)];
  }

  /** Returns a·b, over R times the product in Montgomery form. */
  #product(a: Numbers, b: Numbers): Numbers {
    if (a.length === 1) return [a[0]! * b[0]!];
    return [a[0]! * b[0]! + (this.#curve.nonResidue as bigint) * a[1]! * b[1]!, a[0]! * b[1]! + a[1]! * b[0]!];
  }

  #isZero(a: Numbers): boolean {
    const { p } = this.#field;
    // sums of two coordinates are within 1.02·p
    return a.every((value) => value === 0n || value === p || value === -p);
  }

  /** Returns the sum or its slope; null if no curve has both points. */
  #slope(P: Point, Q: Point): Point | Slope | null {
    const isInfinity = ({ x, y }: Point): boolean => this.#isZero(x) && this.#isZero(y);
    if (isInfinity(P)) return Q;
    if (isInfinity(Q)) return P;
    const [dx, dy] = [minus(Q.x, P.x), minus(Q.y, P.y)];
    if (!this.#isZero(dx)) return { dy, dx };
    if (this.#isZero(plus(Q.y, P.y))) return { x: times(P.x, 0n), y: times(P.y, 0n) };
    if (!this.#isZero(dy)) return null;
    const { p } = this.#field;
    const numerator = plus(times(this.#product(P.x, P.x), 3n), times(this.#a, this.#R));
    return { dy: numerator.map((value) => mod(value * this.#rInverse, p)), dx: times(P.y, 2n) };
  }

  /** Returns 0 modulo p if the sum is right. */
  #error(P: Point, Q: Point, slope: Point | Slope, sum: Point): Numbers {
    // a factor keeps errors of x and y from making up for each other
    if ('x' in slope) return plus(minus(sum.x, slope.x), times(minus(sum.y, slope.y), FACTOR));
    const { dx, dy } = slope;
    // x3 + x1 + x2 = (dy/dx)² and y3 + y1 = (dy/dx)·(x1 − x3)
    const square = this.#product(plus(plus(sum.x, P.x), Q.x), this.#product(dx, dx));
    const line = minus(this.#product(plus(sum.y, P.y), dx), this.#product(dy, minus(P.x, sum.x)));
    return plus(minus(square, times(this.#product(dy, dy), this.#R)), times(line, FACTOR));
  }

  #read(floats: Float64Array, index: number): Point {
    const { degree, limbs } = this.#field;
    const values = range(2 * degree).map((c) =>
      valueOfLimbs(this.#field, floats.subarray(index + c * limbs, index + (c + 1) * limbs)),
    );
    return { x: values.slice(0, degree), y: values.slice(degree) };
  }

  /**
   * Adds each point of the first pool to one of the second, and compares a random sum.
   *
   * @returns how many were compared
   */
  check(): number {
    const [left, right] = this.#pools as [Pool, Pool];
    const { pointBytes } = this.#adder;
    const shift = this.#random.below(POOL);
    const pairs: [Point, Point, Point | Slope][] = [];
    for (let i = 0; i < POOL; i++) {
      const partner = i < SPECIAL ? (i + shift) % SPECIAL : (i + shift) % POOL;
      const signs = this.#random.u32();
      const [P, Q] = [signed(left.points[i]!, signs & 1), signed(right.points[partner]!, signs & 2)];
      const slope = this.#slope(P, Q);
      if (slope === null) continue;
      const addresses = [left.at + i * pointBytes + (signs & 1), right.at + partner * pointBytes + ((signs & 2) >> 1)];
      this.#adder.add(this.#sums + pairs.length * pointBytes, ...(addresses as [PointAt, PointAt]));
      pairs.push([P, Q, slope]);
    }
    this.#adder.flush();
    const words = this.#adder.words(this.#sums, (pairs.length * pointBytes) / 4);
    const floats = new Float64Array(words.buffer, words.byteOffset, words.length / 2);
    let errors: Numbers = times(this.#a, 0n);
    for (const [i, [P, Q, slope]] of pairs.entries()) {
      const error = this.#error(P, Q, slope, this.#read(floats, (i * pointBytes) / 8));
      errors = plus(errors, times(error, BigInt(this.#random.below(65_535) + 1)));
    }
    if (errors.some((error) => mod(error, this.#field.p) !== 0n))
      throw new Error(`some sum is wrong, p = 0x${this.#field.p.toString(16)}`);
    return pairs.length;
  }
}
