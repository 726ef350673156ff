import { badArgument, show } from '../errors.js';
import { type FieldProduct, type Modulus, mod, modulus } from '../field/modulus.js';

/**
 * A short Weierstrass curve y² = x³ + a·x + b over F_p, as data. Nothing outside src/curves/ knows any curve by name.
 */
export interface Curve {
  /** What errors call it, and calibrations are remembered by. */
  readonly name: string;
  /** The prime of the base field, 46 to 414 bits. */
  readonly p: bigint;
  /** The order r of the group that scalars are reduced by; at most 256 bits. */
  readonly order: bigint;
  /** In [0, p). */
  readonly a: bigint;
  /** In [0, p), and not 0: the library writes infinity as (0, 0), which must not be a point of the curve. */
  readonly b: bigint;
  /** A point of the curve. */
  readonly generator: {
    /** In [0, p). */
    readonly x: bigint;
    /** In [0, p). */
    readonly y: bigint;
  };
  /** Encodings of points that it has beside those of every curve. */
  readonly encodings?: readonly ('eip196' | 'eip2537' | 'zcash')[];
}

/** A curve with everything that is derived from it. */
export interface CurveContext extends Curve {
  readonly field: Modulus;
  /** λ: bits of the group order. */
  readonly scalarBits: number;
  readonly scalarBytes: 32;
  /** Whether `order` is that of the whole curve: then, and only then, s·P = (r − s)·(−P) for every point, and the shorter is taken. */
  readonly foldsScalars: boolean;
  /** Bits of the largest number that decompose makes digits of: of ⌊r/2⌋ where scalars fold, of r − 1 elsewhere. */
  readonly signedBits: number;
  /** x‖y. */
  readonly pointBytes: number;
  readonly pointWords: number;
}

/** The same curve, computed on with other products. */
export const withProduct = (curve: CurveContext, product: FieldProduct): CurveContext =>
  product === curve.field.product ? curve : { ...curve, field: modulus(curve.p, product) };

/** Whether (x, y) satisfies the curve's equation. */
export const isOnCurve = (curve: Curve, x: bigint, y: bigint): boolean =>
  mod(y * y - (x * x + curve.a) * x - curve.b, curve.p) === 0n;

const bitLength = (value: bigint): number => value.toString(2).length;

/** Whatever stands there; a curve may come from untyped JavaScript. */
const generatorNumbers = (generator: Partial<Curve['generator']> | undefined): Record<string, unknown> => ({
  'generator.x': generator?.x,
  'generator.y': generator?.y,
});

/** @throws MsmError `bad-argument` naming the constant that is wrong */
export const curveContext = (given: Curve): CurveContext => {
  // each constant is read once, wherever it is: an object of a class may have them as getters
  const { name, p, order, a, b, generator, encodings = [] } = given;
  const curve: Curve = { name, p, order, a, b, generator: { x: generator?.x, y: generator?.y }, encodings };
  const where = `curve ${show(name)}`;
  const numbers = { p: curve.p, order: curve.order, a: curve.a, b: curve.b, ...generatorNumbers(curve.generator) };
  for (const [name, value] of Object.entries(numbers)) {
    if (typeof value !== 'bigint') throw badArgument(`${where}: ${name} must be a bigint, got ${typeof value}`);
  }
  let field: Modulus;
  try {
    field = modulus(curve.p);
  } catch (error) {
    throw badArgument(`${where}: ${(error as Error).message}`);
  }
  for (const name of ['a', 'b'] as const) {
    if (curve[name] < 0n || curve[name] >= curve.p) throw badArgument(`${where}: ${name} must be in [0, p)`);
  }
  if (curve.b === 0n) throw badArgument(`${where}: b = 0 is not supported, as (0, 0) stands for infinity`);
  if (curve.order < 3n || curve.order >> 256n !== 0n) throw badArgument(`${where}: order must be in [3, 2^256)`);
  const { x, y } = curve.generator;
  for (const [name, value] of Object.entries({ x, y })) {
    if (value < 0n || value >= curve.p) throw badArgument(`${where}: generator.${name} must be in [0, p)`);
  }
  if (!isOnCurve(curve, x, y)) throw badArgument(`${where}: the generator is not on the curve`);
  // Hasse: |r − p − 1| ≤ 2·√p
  const foldsScalars = (curve.order - curve.p - 1n) ** 2n <= 4n * curve.p;
  return {
    ...curve,
    field,
    scalarBits: bitLength(curve.order),
    scalarBytes: 32,
    foldsScalars,
    signedBits: bitLength(foldsScalars ? curve.order / 2n : curve.order - 1n),
    pointBytes: 2 * field.bytes,
    pointWords: 2 * field.words,
  };
};
