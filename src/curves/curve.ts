import type { Coordinate, Fp2, SpecialEncoding } from '../api/values.js';
import { badArgument, show } from '../errors.js';
import { type Field, primeField } from '../field/field.js';
import { type Degree, type FieldProduct, type Modulus, modulus } from '../field/modulus.js';
import { type OptionTable, readOptions } from '../option-table.js';

/**
 * The constants of a short Weierstrass curve y² = x³ + a·x + b: `Curve` over F_p, or `Curve<Fp2>`
 * over a field of p² elements.
 */
export interface Curve<Of extends Coordinate = bigint> {
  /** The name of the curve in errors, and in the keys of stored calibrations. */
  readonly name: string;
  /** The prime of the base field, 46 to 414 bits. */
  readonly p: bigint;
  /**
   * The group order r, in [3, 2^256). Scalars are reduced modulo r. `checkSubgroup` needs a prime
   * r.
   */
  readonly order: bigint;
  /** u² if coordinates are pairs c0 + c1·u: a number from −6 to 6 that is not a square modulo p. */
  readonly nonResidue?: (Of extends bigint ? undefined : bigint) | undefined;
  /** The coefficient a, of numbers in [0, p). */
  readonly a: Of;
  /**
   * The coefficient b, of numbers in [0, p). Not 0: the library writes infinity as (0, 0), which
   * must not be on the curve.
   */
  readonly b: Of;
  /** A point of order r. */
  readonly generator: {
    /** Numbers in [0, p). */
    readonly x: Of;
    /** Numbers in [0, p). */
    readonly y: Of;
  };
  /** Encodings of points, besides those of every curve. */
  readonly encodings?: readonly SpecialEncoding[] | undefined;
}

/**
 * A test of membership in the group of order r: a point P of the curve is in the group if and only
 * if k·P = φ(P), for an endomorphism φ that takes (X, Y) to (x·X, y·Y). If `conjugates` is true, φ
 * conjugates the pairs X and Y first.
 */
export interface Membership<Of extends Coordinate = Coordinate> {
  /** The factor k, with |k| < r. */
  readonly multiple: bigint;
  readonly x: Of;
  readonly y: Of;
  readonly conjugates: boolean;
}

/**
 * A named curve. Constants of callers cannot have a membership test: the library could not check
 * it.
 */
export interface KnownCurve<Of extends Coordinate = bigint> extends Curve<Of> {
  /** A membership test faster than r·P = 0, on curves with other points than those of the group. */
  readonly membership?: Membership<Of> | undefined;
  /** The twisted Edwards curve of which this curve is the image. */
  readonly edwards?: TwistedEdwards | undefined;
  /**
   * A number that is no square modulo r, and whose powers are the roots of unity of transforms, where
   * the software that has the curve does not use the least one.
   */
  readonly scalarGenerator?: bigint | undefined;
}

/** The constants of a twisted Edwards curve a·x² + y² = 1 + d·x²·y². */
export interface TwistedEdwards {
  readonly a: bigint;
  readonly d: bigint;
  readonly generator: { readonly x: bigint; readonly y: bigint };
}

/**
 * A named twisted Edwards curve. Callers use its coordinates; the library computes on its image
 * (edwards.ts).
 */
export interface EdwardsCurve extends Pick<KnownCurve, 'name' | 'p' | 'order' | 'scalarGenerator'> {
  readonly edwards: TwistedEdwards;
}

/** A curve over F_p or over F_p². */
export type AnyCurve = Curve | Curve<Fp2>;

/** A curve with all values derived from its constants. */
export interface CurveContext {
  /** The constants. */
  readonly constants: AnyCurve;
  readonly name: string;
  readonly p: bigint;
  readonly order: bigint;
  readonly a: Coordinate;
  readonly b: Coordinate;
  readonly generator: { readonly x: Coordinate; readonly y: Coordinate };
  readonly encodings: NonNullable<Curve['encodings']>;
  readonly membership: Membership | undefined;
  /** The twisted Edwards form of the points of callers, if that is their form. */
  readonly edwards: TwistedEdwards | undefined;
  /** The prime field F_p. */
  readonly field: Modulus;
  /** The field of coordinates. */
  readonly coordinates: Field;
  /** λ, the bits of the group order. */
  readonly scalarBits: number;
  readonly scalarBytes: 32;
  /**
   * True if `order` is the order of the whole curve. Then s·P = (r − s)·(−P) for every point P of
   * the curve, so the smaller one of s and r − s is used.
   */
  readonly negatesScalars: boolean;
  /**
   * Bits of the largest number that decompose splits into digits: ⌊r/2⌋ if `negatesScalars`, else r
   * − 1.
   */
  readonly signedBits: number;
  /** Bytes of x‖y. */
  readonly pointBytes: number;
  readonly pointWords: number;
}

/** Returns the same curve with another kind of field product. */
export const withProduct = (curve: CurveContext, product: FieldProduct): CurveContext => {
  if (product === curve.field.product) return curve;
  const field = modulus(curve.p, product);
  return { ...curve, field, coordinates: curve.coordinates.over(field) };
};

/** The field and the coefficients of a curve equation. */
export type Equation = Pick<CurveContext, 'coordinates' | 'a' | 'b'>;

/** Returns x³ + a·x + b, which is y². */
export const cubic = ({ coordinates: f, a, b }: Equation, x: Coordinate): Coordinate =>
  f.sum(f.product(f.sum(f.product(x, x), a), x), b);

/** Returns whether (x, y) satisfies the curve's equation. */
export const isOnCurve = (curve: Equation, x: Coordinate, y: Coordinate): boolean => {
  const f = curve.coordinates;
  return f.isZero(f.difference(f.product(y, y), cubic(curve, x)));
};

const bitLength = (value: bigint): number => value.toString(2).length;

/** Copies a coordinate of a caller. Untyped JavaScript may pass any value. */
const copied = <Of extends Coordinate>(given: Of): Of => {
  if (typeof given !== 'object' || given === null) return given;
  const { c0, c1 } = given;
  return { c0, c1 } as Of;
};

/** Constants of a curve; those of named curves have the last three. */
const curveConstants = {
  of: 'curve',
  rows: {
    name: { kind: 'any' },
    p: { kind: 'any' },
    order: { kind: 'any' },
    nonResidue: { kind: 'any' },
    a: { kind: 'any' },
    b: { kind: 'any' },
    generator: { kind: 'any' },
    encodings: { kind: 'any' },
    membership: { kind: 'any' },
    edwards: { kind: 'any' },
    scalarGenerator: { kind: 'any' },
  },
} as const satisfies OptionTable<KnownCurve<Coordinate>>;

const readConstants = (given: AnyCurve) =>
  readOptions(curveConstants, given as KnownCurve<Coordinate>, { argument: 'curve', path: 'curve.' });

/**
 * Copies the constants of a caller. Reads each once, because an object of a class may have getters.
 */
export const constantsOf = (given: AnyCurve): AnyCurve => {
  const { name, p, order, nonResidue, a, b, generator, encodings } = readConstants(given);
  const [x, y] = [generator?.x, generator?.y];
  return {
    name,
    p,
    order,
    nonResidue,
    a: copied(a),
    b: copied(b),
    generator: { x: copied(x), y: copied(y) },
    encodings,
  } as AnyCurve;
};

/** Makes the field of p² elements with u² = nonResidue. */
export type Extension = (prime: Modulus, nonResidue: bigint) => Field;

/** Returns the numbers of a coordinate with their names in errors. */
export const numbersOf = (name: string, value: unknown, degree: Degree): [string, unknown][] =>
  degree === 1
    ? [[name, value]]
    : (['c0', 'c1'] as const).map((c) => [`${name}.${c}`, (value as Partial<Fp2> | undefined | null)?.[c]]);

/**
 * Derives a context from the constants of a curve, and checks them.
 *
 * @param extension required for curves with a `nonResidue`
 * @throws MsmError `bad-argument` naming the constant that is wrong
 */
export const curveContext = (given: AnyCurve, extension?: Extension): CurveContext => {
  const constants = constantsOf(given);
  const { membership, edwards } = readConstants(given);
  const { name, p, order, nonResidue, a, b, generator, encodings = [] } = constants;
  const { x, y } = generator;
  const where = `curve ${show(name)}`;
  const degree = nonResidue === undefined ? 1 : 2;
  const coordinates = [
    ['a', a],
    ['b', b],
    ['generator.x', x],
    ['generator.y', y],
  ] as const;
  const coefficients = coordinates.flatMap(([name, value]) => numbersOf(name, value, degree));
  const numbers = [['p', p], ['order', order], ...(degree === 1 ? [] : [['nonResidue', nonResidue]]), ...coefficients];
  for (const [name, value] of numbers as [string, unknown][]) {
    if (typeof value !== 'bigint') throw badArgument(`${where}: ${name} must be a bigint, got ${typeof value}`);
  }
  let field: Modulus;
  let elements: Field;
  try {
    field = modulus(p);
    elements = nonResidue === undefined || extension === undefined ? primeField(field) : extension(field, nonResidue);
  } catch (error) {
    throw badArgument(`${where}: ${(error as Error).message}`);
  }
  for (const [name, value] of coefficients as [string, bigint][]) {
    if (value < 0n || value >= p) throw badArgument(`${where}: ${name} must be in [0, p)`);
  }
  if (elements.isZero(b)) throw badArgument(`${where}: b = 0 is not supported, because (0, 0) represents infinity`);
  if (order < 3n || order >> 256n !== 0n) throw badArgument(`${where}: order must be in [3, 2^256)`);
  if (!isOnCurve({ coordinates: elements, a, b }, x, y)) {
    throw badArgument(`${where}: the generator is not on the curve`);
  }
  // the whole curve has order r if and only if |r − q − 1| ≤ 2·√q (Hasse)
  const q = elements.size;
  const negatesScalars = (order - q - 1n) ** 2n <= 4n * q;
  return {
    constants,
    name,
    p,
    order,
    a: elements.isZero(a) ? elements.zero : a,
    b,
    generator: { x, y },
    encodings,
    membership,
    edwards,
    field,
    coordinates: elements,
    scalarBits: bitLength(order),
    scalarBytes: 32,
    negatesScalars,
    signedBits: bitLength(negatesScalars ? order / 2n : order - 1n),
    pointBytes: 2 * elements.bytes,
    pointWords: 2 * elements.words,
  };
};
