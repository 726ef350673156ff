import type { Coordinate, Fp2, SpecialEncoding } from '../api/values.js';
import { badArgument, show } from '../errors.js';
import type { Field } from '../field/field.js';
import { type Degree, type FieldProduct, type Modulus, modulus } from '../field/modulus.js';
import { primeField } from '../field/prime-field.js';
import { ownOptions } from '../own-options.js';

/**
 * A short Weierstrass curve y² = x³ + a·x + b over F_p, or `Curve<Fp2>` over a field of p² elements, as data. Nothing outside src/curves/ knows any
 * curve by name.
 */
export interface Curve<Of extends Coordinate = bigint> {
  /** What errors call it, and calibrations are remembered by. */
  readonly name: string;
  /** The prime of the base field, 46 to 414 bits. */
  readonly p: bigint;
  /** The order r of the group that scalars are reduced by; at most 256 bits. `checkSubgroup` needs a prime, all else does not. */
  readonly order: bigint;
  /** u², where coordinates are pairs c0 + c1·u: a number from −6 to 6 that is no square modulo p. */
  readonly nonResidue?: Of extends bigint ? undefined : bigint;
  /** Of numbers in [0, p). */
  readonly a: Of;
  /** Of numbers in [0, p), and not 0: the library writes infinity as (0, 0), which must not be a point of the curve. */
  readonly b: Of;
  /** A point of the curve. */
  readonly generator: {
    /** Of numbers in [0, p). */
    readonly x: Of;
    /** Of numbers in [0, p). */
    readonly y: Of;
  };
  /** Encodings of points that it has beside those of every curve. */
  readonly encodings?: readonly SpecialEncoding[];
}

/**
 * By what points of the group of order r are told from others of the curve: k·P is what an endomorphism makes of P, for those and no others. It takes
 * (X, Y) to (x·X, y·Y), where pairs are conjugated first if it says so.
 */
export interface Membership<Of extends Coordinate = Coordinate> {
  /** k, less than r from 0. */
  readonly multiple: bigint;
  readonly x: Of;
  readonly y: Of;
  readonly conjugates: boolean;
}

/** A curve by name. Of curves by their constants there is no such shortcut: nobody could tell if it were wrong. */
export interface KnownCurve<Of extends Coordinate = bigint> extends Curve<Of> {
  /** Where the curve has other points than those of its group, and a test that is faster than r·P = 0. */
  readonly membership?: Membership<Of>;
  /** What it is the image of. */
  readonly edwards?: TwistedEdwards;
}

/** a·x² + y² = 1 + d·x²·y². */
export interface TwistedEdwards {
  readonly a: bigint;
  readonly d: bigint;
  readonly generator: { readonly x: bigint; readonly y: bigint };
}

/** A curve by name, whose callers have points of that form; all else is computed on its image (edwards.ts). */
export interface EdwardsCurve extends Pick<Curve, 'name' | 'p' | 'order'> {
  readonly edwards: TwistedEdwards;
}

/** A curve over either kind of field. */
export type AnyCurve = Curve | Curve<Fp2>;

/** A curve with everything that is derived from it. */
export interface CurveContext {
  /** What it is derived from. */
  readonly constants: AnyCurve;
  readonly name: string;
  readonly p: bigint;
  readonly order: bigint;
  readonly a: Coordinate;
  readonly b: Coordinate;
  readonly generator: { readonly x: Coordinate; readonly y: Coordinate };
  readonly encodings: NonNullable<Curve['encodings']>;
  readonly membership: Membership | undefined;
  /** The form in which callers have its points, if that is another one. */
  readonly edwards: TwistedEdwards | undefined;
  /** The prime. */
  readonly field: Modulus;
  /** What coordinates are in. */
  readonly coordinates: Field;
  /** λ: bits of the group order. */
  readonly scalarBits: number;
  readonly scalarBytes: 32;
  /** Whether `order` is that of the whole curve: then, and only then, s·P = (r − s)·(−P) for every point, and the shorter is taken. */
  readonly negatesScalars: boolean;
  /** Bits of the largest number that decompose makes digits of: of ⌊r/2⌋ where scalars fold, of r − 1 elsewhere. */
  readonly signedBits: number;
  /** x‖y. */
  readonly pointBytes: number;
  readonly pointWords: number;
}

/** The same curve, computed on with other products. */
export const withProduct = (curve: CurveContext, product: FieldProduct): CurveContext => {
  if (product === curve.field.product) return curve;
  const field = modulus(curve.p, product, curve.coordinates.degree);
  return { ...curve, field, coordinates: curve.coordinates.over(field) };
};

/** What an equation is made of. */
export type Equation = Pick<CurveContext, 'coordinates' | 'a' | 'b'>;

/** x³ + a·x + b, of which y is a root. */
export const cubic = ({ coordinates: f, a, b }: Equation, x: Coordinate): Coordinate =>
  f.sum(f.product(f.sum(f.product(x, x), a), x), b);

/** Whether (x, y) satisfies the curve's equation. */
export const isOnCurve = (curve: Equation, x: Coordinate, y: Coordinate): boolean => {
  const f = curve.coordinates;
  return f.isZero(f.difference(f.product(y, y), cubic(curve, x)));
};

const bitLength = (value: bigint): number => value.toString(2).length;

/** What an object of the caller's has where a coordinate belongs; untyped JavaScript may have anything there. */
const copied = <Of extends Coordinate>(given: Of): Of => {
  if (typeof given !== 'object' || given === null) return given;
  const { c0, c1 } = given;
  return { c0, c1 } as Of;
};

/** A copy, for which each constant is read once, wherever it is: an object of a class may have them as getters. */
export const constantsOf = (given: AnyCurve): AnyCurve => {
  const { name, p, order, nonResidue, a, b, generator, encodings } = ownOptions(given) as Curve<Coordinate>;
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

/** Makes the field of p² elements. */
export type Extension = (prime: Modulus, nonResidue: bigint) => Field;

/** The numbers of a coordinate, by the names that errors call them. */
export const numbersOf = (name: string, value: unknown, degree: Degree): [string, unknown][] =>
  degree === 1
    ? [[name, value]]
    : (['c0', 'c1'] as const).map((c) => [`${name}.${c}`, (value as Partial<Fp2> | undefined | null)?.[c]]);

/**
 * @param extension for curves with a `nonResidue`
 * @throws MsmError `bad-argument` naming the constant that is wrong
 */
export const curveContext = (given: AnyCurve, extension?: Extension): CurveContext => {
  const constants = constantsOf(given);
  const { membership, edwards } = ownOptions(given) as KnownCurve<Coordinate>;
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
    field = modulus(p, 'signed', degree);
    elements = nonResidue === undefined || extension === undefined ? primeField(field) : extension(field, nonResidue);
  } catch (error) {
    throw badArgument(`${where}: ${(error as Error).message}`);
  }
  for (const [name, value] of coefficients as [string, bigint][]) {
    if (value < 0n || value >= p) throw badArgument(`${where}: ${name} must be in [0, p)`);
  }
  if (elements.isZero(b)) throw badArgument(`${where}: b = 0 is not supported, as (0, 0) stands for infinity`);
  if (order < 3n || order >> 256n !== 0n) throw badArgument(`${where}: order must be in [3, 2^256)`);
  if (!isOnCurve({ coordinates: elements, a, b }, x, y)) {
    throw badArgument(`${where}: the generator is not on the curve`);
  }
  // Hasse: |r − q − 1| ≤ 2·√q
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
