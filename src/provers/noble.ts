/** `nobleMsm`: sums of noble's points, by this library. Whoever has such points brings noble along. */
import type { MsmOptions } from '../api/calls.js';
import type { MsmEngine } from '../api/engine.js';
import type { Bases } from '../api/handles.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import { bn254 } from '../curves/bn254.js';
import type { AnyCurve, Curve, EdwardsCurve } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/names.js';
import type { MsmEngineOptions } from '../engine/options.js';
import { badArgument, kindOf, notLoaded } from '../errors.js';
import { createMsmEngine } from '../index.js';

/** A point of noble's, of any curve. */
export interface NoblePoint<Own> {
  /** Coordinates, where the inverse of Z may be given. */
  toAffine(inverseOfZ?: never): { readonly x: Coordinate; readonly y: Coordinate };
  /** Whether it is the same. */
  equals(other: Own): boolean;
}

/** The field of noble's that coordinates are in. */
interface NobleField {
  readonly ORDER: bigint;
  readonly ONE: unknown;
  mul(left: never, right: never): unknown;
  inv(value: never): unknown;
  eql(left: never, right: never): boolean;
}

/** A class of points of noble's: `bn254.G1.Point`, `bls12_381.G2.Point`, `ed25519.Point`, … */
export interface NoblePointClass<Point> {
  /** The generator. */
  readonly BASE: Point;
  /** Infinity. */
  readonly ZERO: Point;
  /** Of coordinates. */
  readonly Fp: NobleField;
  /** Of scalars. */
  readonly Fn: { readonly ORDER: bigint };
  /** The constants of the curve. */
  CURVE(): object;
  /** A point by its coordinates. */
  fromAffine(point: never): Point;
}

/** Options of `nobleMsm`. */
export type NobleMsmOptions = Omit<MsmEngineOptions, 'curve' | 'group'>;

/** Points that are loaded, to be multiplied again and again. */
export interface NobleBases {
  /** How many. */
  readonly length: number;
  /** Frees them. Calling it twice is harmless. */
  destroy(): void;
}

/** Sums of points of one class. */
export interface NobleMsm<Point> {
  /**
   * Σ scalars[i] · points[i], as noble's `Point.msm` has it, but for the promise.
   *
   * @param scalars at most as many as there are points, from 0 up to 2^256
   * @throws MsmError as `MsmEngine.loadBases` and `MsmEngine.msm` do
   */
  (
    points: readonly Point[] | NobleBases,
    scalars: readonly bigint[],
    options?: Pick<MsmOptions, 'signal' | 'verify'>,
  ): Promise<Point>;
  /** Loads points that are multiplied more than once. */
  load(points: readonly Point[]): Promise<NobleBases>;
  /** What computes: its records, its memory. */
  readonly engine: MsmEngine<Coordinate>;
  /** Frees everything. */
  destroy(): void;
}

/** By what curves are told apart: how many elements the field of coordinates has, the order, and where the generator is. */
type Told = readonly [field: bigint, order: bigint, x: bigint, y: bigint];

const flat = (value: Coordinate): bigint => (typeof value === 'bigint' ? value : value.c0);

const toldOf = (curve: AnyCurve | EdwardsCurve): Told => {
  const { x, y } = 'edwards' in curve ? curve.edwards.generator : curve.generator;
  return [typeof x === 'bigint' ? curve.p : curve.p ** 2n, curve.order, flat(x), flat(y)];
};

/** The name by which the library knows a curve; null of another. */
const nameOf = async (told: Told, group: Group): Promise<NamedCurve | null> => {
  const is = (curve: AnyCurve | EdwardsCurve): boolean => toldOf(curve).every((value, i) => value === told[i]);
  if (group === 'g1' && is(bn254)) return 'bn254';
  const { nameOfCurve } = await import('../curves/more-curves.js').catch(notLoaded('more-curves'));
  return nameOfCurve(group, is) as NamedCurve | null;
};

/** An engine for the curve of a class. @throws MsmError `bad-argument` */
const engineOf = async <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  options: NobleMsmOptions,
): Promise<MsmEngine<Coordinate>> => {
  const { BASE, Fp, Fn } = Point;
  const { p, a, b } = Point.CURVE() as { readonly p: bigint; readonly a: Coordinate; readonly b?: Coordinate };
  const { x, y } = BASE.toAffine();
  const isPair = typeof x !== 'bigint';
  const group = isPair ? 'g2' : 'g1';
  const name = await nameOf([Fp.ORDER, Fn.ORDER, flat(x), flat(y)], group);
  if (name !== null) {
    const engine =
      group === 'g1'
        ? createMsmEngine({ ...options, curve: name })
        : createMsmEngine({ ...options, curve: name, group });
    return engine as Promise<MsmEngine<Coordinate>>;
  }
  if (isPair || b === undefined) throw badArgument('Point: the library knows no such curve by name');
  const curve = { name: 'noble', p, order: Fn.ORDER, a, b, generator: { x, y } } as Curve;
  return createMsmEngine({ ...options, curve }) as Promise<MsmEngine<Coordinate>>;
};

/** 1 ÷ each, with one inversion (Montgomery's trick). None is zero. */
const inverses = (field: NobleField, values: readonly unknown[]): unknown[] => {
  let product: unknown = field.ONE;
  const before = values.map((value) => {
    const own = product;
    product = field.mul(product as never, value as never);
    return own;
  });
  let inverse = field.inv(product as never);
  const result: unknown[] = [];
  for (let i = values.length - 1; i >= 0; i--) {
    result[i] = field.mul(inverse as never, before[i] as never);
    inverse = field.mul(inverse as never, values[i] as never);
  }
  return result;
};

/** The Z of a point, by its names in the versions of noble; undefined where it has none. */
const zOf = (point: unknown): unknown => {
  const { Z, pz, ez } = point as { readonly Z?: unknown; readonly pz?: unknown; readonly ez?: unknown };
  return Z ?? pz ?? ez;
};

/** @throws MsmError `bad-argument` */
const affinePoints = <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  points: readonly Point[],
): AffinePoint<Coordinate>[] => {
  if (!Array.isArray(points)) throw badArgument(`points must be an array of points, got ${kindOf(points)}`);
  const { ZERO, Fp } = Point;
  const isEdwards = 'd' in Point.CURVE();
  const finite = points.map((point, i) => {
    if (typeof point?.toAffine !== 'function')
      throw badArgument(`points[${i}] must be a point of noble's, got ${kindOf(point)}`);
    // of Edwards form infinity is a point like others
    return isEdwards || !point.equals(ZERO);
  });
  const scaled = points.map(zOf);
  const isPlain = (i: number): boolean =>
    !finite[i] || scaled[i] === undefined || Fp.eql(scaled[i] as never, Fp.ONE as never);
  const odd = points.flatMap((_, i) => (isPlain(i) ? [] : [i]));
  const inverted = inverses(
    Fp,
    odd.map((i) => scaled[i]),
  );
  const inverseOf = new Map(odd.map((i, k) => [i, inverted[k]]));
  return points.map((point, i) => {
    if (!finite[i]) return { x: 0n, y: 0n, infinity: true };
    const { x, y } = point.toAffine(inverseOf.get(i) as never);
    return { x, y, infinity: false };
  });
};

/**
 * Has this library compute sums of noble's points.
 *
 * @param Point the class that they are of; curves that the library knows by name are recognised, and others of short Weierstrass form over a prime field are
 * taken by their constants
 * @throws MsmError `bad-argument` for other curves, and what `createMsmEngine` throws
 */
export const nobleMsm = async <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  options: NobleMsmOptions = {},
): Promise<NobleMsm<Point>> => {
  if (typeof Point?.fromAffine !== 'function' || typeof Point.CURVE !== 'function')
    throw badArgument(`Point must be a class of noble's points (bn254.G1.Point, say), got ${kindOf(Point)}`);
  const engine = await engineOf(Point, options);
  const load = async (points: readonly Point[]): Promise<Bases> => engine.loadBases(affinePoints(Point, points));
  const multiply = async (bases: Bases, scalars: readonly bigint[], call: MsmOptions): Promise<Point> => {
    const { x, y, infinity } = await engine.msm(bases, scalars, call);
    return infinity ? Point.ZERO : Point.fromAffine({ x, y } as never);
  };
  const msm = async (
    points: readonly Point[] | NobleBases,
    scalars: readonly bigint[],
    call: Pick<MsmOptions, 'signal' | 'verify'> = {},
  ): Promise<Point> => {
    if (!Array.isArray(points)) return multiply(points as Bases, scalars, call);
    const bases = await load(points);
    try {
      return await multiply(bases, scalars, call);
    } finally {
      bases.destroy();
    }
  };
  return Object.assign(msm, { load, engine, destroy: () => engine.destroy() });
};
