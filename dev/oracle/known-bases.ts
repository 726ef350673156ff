/**
 * Bases with known discrete logarithms. The expected result of any MSM over them costs one scalar
 * multiplication: with P_i = k_i·G, Σ s_i·P_i = ((Σ s_i·k_i) mod r)·G.
 *
 * The k_i are sums of two tables, k_i = a[i mod m] + b[⌊i/m⌋] with m ≈ √n. So n bases cost n
 * additions and only about 2√n multiplications. The tables are random, so no two bases are related
 * by more than a difference.
 *
 * The curve arithmetic is noble's and none of this library's, so that both cannot be wrong in the
 * same way.
 */
import { FpInvertBatch, type IField } from '@noble/curves/abstract/modular.js';
import type { WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bn254 } from '@noble/curves/bn254.js';
import { numberToBytesLE } from '@noble/curves/utils.js';

/** Types of the library, repeated here so that the oracle imports nothing of the library. */
export interface Fp2 {
  readonly c0: bigint;
  readonly c1: bigint;
}
export type Coordinate = bigint | Fp2;
export interface AffinePoint<Of extends Coordinate = bigint> {
  readonly x: Of;
  readonly y: Of;
  readonly infinity: boolean;
}

/** Methods of a noble point that the oracle uses, on a curve of either form. */
export interface OraclePoint<Of extends Coordinate> {
  /** Z of projective coordinates. */
  readonly Z: Of;
  add(other: OraclePoint<Of>): OraclePoint<Of>;
  double(): OraclePoint<Of>;
  negate(): OraclePoint<Of>;
  /** Multiplies by 1 to n − 1. */
  multiply(scalar: bigint): OraclePoint<Of>;
  /** Multiplies by 0 to n − 1. */
  multiplyUnsafe(scalar: bigint): OraclePoint<Of>;
  is0(): boolean;
  toAffine(invertedZ?: Of): { x: Of; y: Of };
  /** @throws Error if it is not on the curve */
  assertValidity(): void;
}
export interface OraclePoints<Of extends Coordinate> {
  readonly BASE: OraclePoint<Of>;
  readonly ZERO: OraclePoint<Of>;
  readonly Fp: IField<Of>;
  readonly Fn: IField<bigint>;
  fromAffine(point: { x: Of; y: Of }): OraclePoint<Of>;
}

export interface OracleCurve<Of extends Coordinate = bigint> {
  /** Name of the curve for `createMsmEngine({ curve, group })`. */
  readonly name: string;
  readonly group: Of extends bigint ? 'g1' : 'g2';
  readonly Point: OraclePoints<Of>;
  /** Bytes of one coordinate and of one scalar in the library's formats. */
  readonly coordinateBytes: number;
  readonly scalarBytes: number;
}

/** An oracle of a Weierstrass curve, which has a and b. */
export interface WeierstrassOracle<Of extends Coordinate = bigint> extends OracleCurve<Of> {
  readonly Point: WeierstrassPointCons<Of>;
}

/** An oracle over either field. */
export type AnyOracle = OracleCurve | OracleCurve<Fp2>;

export interface KnownBases<Of extends Coordinate = bigint> {
  /** k_i, in [0, r). */
  readonly logs: readonly bigint[];
  /** P_i = k_i·G; infinity for the logarithm 0. */
  readonly points: readonly AffinePoint<Of>[];
  /** The points as `engine.loadBases` takes them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const bn254G1: WeierstrassOracle = {
  name: 'bn254',
  group: 'g1',
  Point: bn254.G1.Point,
  coordinateBytes: 32,
  scalarBytes: 32,
};

export const INFINITY: AffinePoint = Object.freeze({ x: 0n, y: 0n, infinity: true });

/**
 * Seeded random source: xoshiro128** of Blackman and Vigna
 * (https://prng.di.unimi.it/xoshiro128starstar.c). Its state is filled from a Weyl sequence through
 * MurmurHash3's 32-bit finaliser, because a state with few bits set, such as a small seed, gives
 * poor first outputs. It is for test data only, not for secrets.
 */
export class Random {
  readonly #state = new Uint32Array(4);

  /** @param seed any integer; its low 32 bits count */
  constructor(seed: number) {
    let weyl = seed >>> 0;
    for (let i = 0; i < 4; i++) {
      weyl = (weyl + 0x9e3779b9) >>> 0;
      let h = weyl;
      h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
      h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
      this.#state[i] = h ^ (h >>> 16);
    }
  }

  /** Returns an integer in [0, 2^32). */
  u32(): number {
    const s = this.#state;
    // indices, since an iterator takes longer than all the rest
    const [s0, s1, s2, s3] = [s[0] as number, s[1] as number, s[2] as number, s[3] as number];
    const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const t2 = s2 ^ s0;
    const t3 = s3 ^ s1;
    s[0] = s0 ^ t3;
    s[1] = s1 ^ t2;
    s[2] = t2 ^ (s1 << 9);
    s[3] = rotateLeft(t3, 11);
    return result;
  }

  /** Returns an integer in [0, bound), without bias; the bound is in [1, 2^32]. */
  below(bound: number): number {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const value = this.u32();
      if (value < limit) return value % bound;
    }
  }

  /** Returns an integer of `count` random bits. */
  bits(count: number): bigint {
    let value = 0n;
    for (let have = 0; have < count; have += 32) value = (value << 32n) | BigInt(this.u32());
    return BigInt.asUintN(count, value);
  }

  /** Returns an integer in [0, bound), without bias. */
  belowBig(bound: bigint): bigint {
    const count = bound.toString(2).length;
    for (;;) {
      const value = this.bits(count);
      if (value < bound) return value;
    }
  }
}

const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** Concatenates numbers as `each` little-endian bytes. */
function encode(values: readonly bigint[], each: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.length * each);
  for (const [i, value] of values.entries()) bytes.set(numberToBytesLE(value, each), each * i);
  return bytes;
}

export const numbersOf = (coordinate: Coordinate): bigint[] =>
  typeof coordinate === 'bigint' ? [coordinate] : [coordinate.c0, coordinate.c1];

/**
 * Encodes points as x‖y, little-endian, with infinity as zeros. `pointsIn` also writes the (0, 1)
 * of Edwards curves.
 */
export function encodePoints<Of extends Coordinate>(
  { coordinateBytes, group }: OracleCurve<Of>,
  points: readonly AffinePoint<Of>[],
): Uint8Array<ArrayBuffer> {
  return encode(
    points.flatMap(({ x, y, infinity }) => [...numbersOf(x), ...numbersOf(y)].map((value) => (infinity ? 0n : value))),
    group === 'g1' ? coordinateBytes : coordinateBytes / 2,
  );
}

/**
 * @param scalars integers in [0, 2^(8·scalarBytes)), not reduced, because the library takes any of
 * them
 */
export function encodeScalars(
  { scalarBytes }: { readonly scalarBytes: number },
  scalars: readonly bigint[],
): Uint8Array<ArrayBuffer> {
  return encode(scalars, scalarBytes);
}

/** Facts of a group that scalars depend on, over either field. */
export interface ScalarsOf {
  readonly scalarBytes: number;
  readonly Point: Pick<OracleCurve['Point'], 'Fn'>;
}

/** Returns r. */
export const groupOrder = ({ Point }: Pick<ScalarsOf, 'Point'>): bigint => Point.Fn.ORDER;

/**
 * Converts to affine coordinates. Infinity is (0, 0), or (0, 1) of Edwards form, in noble as in the
 * library.
 */
export function toAffinePoint<Of extends Coordinate>(point: OraclePoint<Of>, invertedZ?: Of): AffinePoint<Of> {
  const { x, y } = point.toAffine(invertedZ);
  return { x, y, infinity: point.is0() };
}

export const infinityOf = <Of extends Coordinate>({ ZERO }: Pick<OraclePoints<Of>, 'ZERO'>): AffinePoint<Of> =>
  toAffinePoint(ZERO);

/** Makes points with known logarithms affine, with one inversion for all. */
export function knownBases<Of extends Coordinate>(
  curve: OracleCurve<Of>,
  logs: readonly bigint[],
  known: readonly OraclePoint<Of>[],
): KnownBases<Of> {
  const inverses = FpInvertBatch(
    curve.Point.Fp,
    known.map(({ Z }) => Z),
  );
  const points = known.map((point, i) => toAffinePoint(point, inverses[i]));
  return { logs, points, bytes: encodePoints(curve, points) };
}

function multipleOfGenerator<Of extends Coordinate>({ Point }: OracleCurve<Of>, log: bigint): OraclePoint<Of> {
  // the fast method, whose time depends on the scalar: nothing here is secret
  return Point.BASE.multiplyUnsafe(Point.Fn.create(log));
}

export function makeKnownBases<Of extends Coordinate>(curve: OracleCurve<Of>, n: number, seed: number): KnownBases<Of> {
  const { Fn } = curve.Point;
  const random = new Random(seed);
  const columns = Math.max(1, Math.ceil(Math.sqrt(n)));
  const rows = Math.ceil(n / columns);
  const table = (length: number) => {
    const logs = Array.from({ length }, () => random.belowBig(Fn.ORDER));
    return { logs, points: logs.map((log) => multipleOfGenerator(curve, log)) };
  };
  const low = table(columns);
  const high = table(rows);

  const logs: bigint[] = [];
  const sums: OraclePoint<Of>[] = [];
  for (let row = 0; row < rows; row++) {
    const [highLog, highPoint] = [high.logs[row] as bigint, high.points[row] as OraclePoint<Of>];
    for (let column = 0; column < columns && logs.length < n; column++) {
      logs.push(Fn.create((low.logs[column] as bigint) + highLog));
      sums.push((low.points[column] as OraclePoint<Of>).add(highPoint));
    }
  }
  return knownBases(curve, logs, sums);
}

export function makeRandomScalars<Of extends Coordinate>(curve: OracleCurve<Of>, n: number, seed: number): bigint[] {
  const random = new Random(seed);
  return Array.from({ length: n }, () => random.belowBig(groupOrder(curve)));
}

/**
 * Returns Σ scalars[i]·logs[i]·G, the expected result of an MSM over bases with these logarithms.
 *
 * @param logs at least as many logarithms as scalars
 * @param scalars any integers
 */
export function expectedMsm<Of extends Coordinate>(
  curve: OracleCurve<Of>,
  logs: readonly bigint[],
  scalars: readonly bigint[],
): AffinePoint<Of> {
  const r = groupOrder(curve);
  let sum = 0n;
  scalars.forEach((scalar, i) => {
    const log = logs[i];
    if (log === undefined) throw new RangeError(`scalars[${i}] has no base: there are ${logs.length} logs`);
    sum = (sum + scalar * log) % r;
  });
  return toAffinePoint(multipleOfGenerator(curve, sum));
}

const numbersOfPoint = ({ x, y }: AffinePoint<Coordinate>): bigint[] => [...numbersOf(x), ...numbersOf(y)];

export function samePoint(a: AffinePoint<Coordinate>, b: AffinePoint<Coordinate>): boolean {
  if (a.infinity || b.infinity) return a.infinity === b.infinity;
  return numbersOfPoint(a).join() === numbersOfPoint(b).join();
}

export const spellPoint = (point: AffinePoint<Coordinate>): string =>
  point.infinity
    ? 'infinity'
    : `(${numbersOfPoint(point)
        .map((number) => `0x${number.toString(16)}`)
        .join(', ')})`;

/** Formats a wrong sum, both as points or as texts: `got (0x1, 0x2), expected (0x3, 0x4)`. */
export function gotExpected<Sum extends AffinePoint<Coordinate> | string>(got: Sum, expected: Sum): string {
  const [one, other] = [got, expected].map((sum) => (typeof sum === 'string' ? sum : spellPoint(sum)));
  return `got ${one}, expected ${other}`;
}
