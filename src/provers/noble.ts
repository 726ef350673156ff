/**
 * `nobleMsm`: MSMs of points of noble-curves. Takes noble's classes from the caller, so this module
 * does not import noble.
 */
import type { MsmOptions } from '../api/calls.js';
import type { Bases, MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import { bn254 } from '../curves/bn254.js';
import type { AnyCurve, Curve, EdwardsCurve } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/more-curves.js';
import { engineOptions, type MsmEngineOptions, signalRow } from '../engine/options.js';
import { badArgument, kindOf, notLoaded } from '../errors.js';
import { createMsmEngine } from '../index.js';
import { type OptionTable, pickRows, readOptions, setOptions } from '../option-table.js';

/** A point of noble-curves, on any curve. */
export interface NoblePoint<Own> {
  /** Returns affine coordinates. `inverseOfZ` saves the inversion. */
  toAffine(inverseOfZ?: never): { readonly x: Coordinate; readonly y: Coordinate };
  /** Returns whether the points are equal. */
  equals(other: Own): boolean;
}

/** The coordinate field of noble-curves. */
interface NobleField {
  readonly ORDER: bigint;
  readonly ONE: unknown;
  mul(left: never, right: never): unknown;
  inv(value: never): unknown;
  eql(left: never, right: never): boolean;
}

/** A point class of noble-curves: `bn254.G1.Point`, `bls12_381.G2.Point`, `ed25519.Point`, … */
export interface NoblePointClass<Point> {
  /** The generator. */
  readonly BASE: Point;
  /** The neutral element. */
  readonly ZERO: Point;
  /** The coordinate field. */
  readonly Fp: NobleField;
  /** The scalar field. */
  readonly Fn: { readonly ORDER: bigint };
  /** Returns the constants of the curve. */
  CURVE(): object;
  /** Returns the point with affine coordinates. */
  fromAffine(point: never): Point;
}

/** Options of `nobleMsm`. */
export type NobleMsmOptions = Omit<MsmEngineOptions, 'curve' | 'group'>;

/** Options of an MSM. */
export type NobleCallOptions = Pick<MsmOptions, 'signal' | 'verify'>;

type OptionName = Exclude<keyof typeof engineOptions.rows, 'curve' | 'group'>;

const optionNames = /* @__PURE__ */ Object.keys(engineOptions.rows).filter(
  (name): name is OptionName => name !== 'curve' && name !== 'group',
);

/** `nobleMsm`. */
const nobleOptions = {
  of: 'nobleMsm',
  rows: /* @__PURE__ */ pickRows(engineOptions.rows, optionNames),
} as const satisfies OptionTable<NobleMsmOptions>;

/** The function that `nobleMsm` returns. */
const nobleCallOptions = {
  of: 'msm',
  rows: { signal: signalRow, verify: { kind: 'share' } },
} as const satisfies OptionTable<NobleCallOptions>;

/** Loaded points, for repeated MSMs. */
export interface NobleBases {
  /** Number of points. */
  readonly length: number;
  /** Frees the points. Calling it twice is harmless. */
  destroy(): void;
}

/** MSMs over points of one class. */
export interface NobleMsm<Point> {
  /**
   * Computes Σ scalars[i] · points[i]. Takes what noble's `Point.msm` takes, and returns a promise.
   *
   * @param scalars at most one for each point, in [0, 2^256)
   * @throws MsmError as `MsmEngine.loadBases` and `MsmEngine.msm` do
   */
  (points: readonly Point[] | NobleBases, scalars: readonly bigint[], options?: NobleCallOptions): Promise<Point>;
  /**
   * Loads points for repeated MSMs.
   *
   * @example
   * ```ts
   * import { p256 } from '@noble/curves/nist.js';
   * import { nobleMsm } from 'webgpu-msm/noble';
   *
   * const { Point } = p256;
   * const msm = await nobleMsm(Point);
   * const bases = await msm.load([Point.BASE, Point.BASE.double()]);
   * console.log((await msm(bases, [1n, 2n])).equals(Point.BASE.multiply(5n))); // true
   * msm.destroy();
   * ```
   * @throws MsmError as `MsmEngine.loadBases` does
   */
  load(points: readonly Point[]): Promise<NobleBases>;
  /** The engine: its run records, its memory. */
  readonly engine: MsmEngine<Coordinate>;
  /** Frees the engine and all loaded points. */
  destroy(): void;
}

/** Identity of a curve: size of the coordinate field, group order, and generator. */
type Identity = readonly [field: bigint, order: bigint, x: bigint, y: bigint];

const flat = (value: Coordinate): bigint => (typeof value === 'bigint' ? value : value.c0);

const identityOf = (curve: AnyCurve | EdwardsCurve): Identity => {
  const { x, y } = 'edwards' in curve ? curve.edwards.generator : curve.generator;
  return [typeof x === 'bigint' ? curve.p : curve.p ** 2n, curve.order, flat(x), flat(y)];
};

/** Returns the library's name for a curve; null if it has none. */
const nameOf = async (identity: Identity, group: Group): Promise<NamedCurve | null> => {
  const is = (curve: AnyCurve | EdwardsCurve): boolean => identityOf(curve).every((value, i) => value === identity[i]);
  if (group === 'g1' && is(bn254)) return 'bn254';
  const { nameOfCurve } = await import('../curves/more-curves.js').catch(notLoaded('more-curves'));
  return nameOfCurve(group, is) as NamedCurve | null;
};

/**
 * Creates an engine for the curve of a class.
 *
 * @throws MsmError `bad-argument` if the curve is not supported
 */
const engineOf = async <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  options: NobleMsmOptions,
): Promise<MsmEngine<Coordinate>> => {
  const { BASE, Fp, Fn } = Point;
  const { p, a, b } = (Point.CURVE() ?? {}) as { readonly p: bigint; readonly a: Coordinate; readonly b?: Coordinate };
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
  if (isPair || b === undefined)
    throw badArgument(
      'Point: the curve is unknown; pass a class of a named curve, or of a Weierstrass curve over a prime field',
    );
  const curve = { name: 'noble', p, order: Fn.ORDER, a, b, generator: { x, y } } as Curve;
  return createMsmEngine({ ...options, curve }) as Promise<MsmEngine<Coordinate>>;
};

/** Returns the inverses of non-zero values, with one inversion (Montgomery's trick). */
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

/** Returns Z of a point, which versions of noble name differently; undefined if it has none. */
const zOf = (point: unknown): unknown => {
  const { Z, pz, ez } = point as { readonly Z?: unknown; readonly pz?: unknown; readonly ez?: unknown };
  return Z ?? pz ?? ez;
};

/**
 * Converts points of noble, with one inversion for all.
 *
 * @throws MsmError `bad-argument` naming the point
 */
const affinePoints = <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  points: readonly Point[],
): AffinePoint<Coordinate>[] => {
  if (!Array.isArray(points)) throw badArgument(`points must be an array of points, got ${kindOf(points)}`);
  const { ZERO, Fp } = Point;
  const isEdwards = 'd' in Point.CURVE();
  const finite = points.map((point, i) => {
    if (typeof point?.toAffine !== 'function')
      throw badArgument(`points[${i}] must be a point of noble-curves, got ${kindOf(point)}`);
    // on Edwards curves the neutral element has affine coordinates
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
 * Returns a function that computes MSMs of points of noble-curves.
 *
 * @param Point the class of the points. Named curves of the library are recognised; other curves
 * are taken by their constants if they are of short Weierstrass form over a prime field
 * @throws MsmError `bad-argument` for all other curves; and errors of `createMsmEngine`
 * @example
 * ```ts
 * import { bn254 } from '@noble/curves/bn254.js';
 * import { nobleMsm } from 'webgpu-msm/noble';
 *
 * const { Point } = bn254.G1;
 * const msm = await nobleMsm(Point);
 * const sum = await msm([Point.BASE, Point.BASE], [2n, 3n]);
 * console.log(sum.equals(Point.BASE.multiply(5n))); // true
 * msm.destroy();
 * ```
 */
export const nobleMsm = async <Point extends NoblePoint<Point>>(
  Point: NoblePointClass<Point>,
  options: NobleMsmOptions = {},
): Promise<NobleMsm<Point>> => {
  if (typeof Point?.fromAffine !== 'function' || typeof Point.CURVE !== 'function')
    throw badArgument(`Point must be a point class of noble-curves, such as bn254.G1.Point, got ${kindOf(Point)}`);
  if (
    typeof Point.BASE?.toAffine !== 'function' ||
    typeof Point.Fp?.ORDER !== 'bigint' ||
    typeof Point.Fn?.ORDER !== 'bigint'
  )
    throw badArgument('Point must have BASE, Fp and Fn, as point classes of noble-curves have them');
  const engine = await engineOf(Point, setOptions(readOptions(nobleOptions, options)) as NobleMsmOptions);
  const load = async (points: readonly Point[]): Promise<Bases> => engine.loadBases(affinePoints(Point, points));
  const multiply = async (bases: Bases, scalars: readonly bigint[], call: MsmOptions): Promise<Point> => {
    const { x, y, infinity } = await engine.msm(bases, scalars, call);
    return infinity ? Point.ZERO : Point.fromAffine({ x, y } as never);
  };
  const msm = async (
    points: readonly Point[] | NobleBases,
    scalars: readonly bigint[],
    options: NobleCallOptions = {},
  ): Promise<Point> => {
    const call = readOptions(nobleCallOptions, options);
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
