/**
 * Bases whose discrete logarithms are known, so that the right answer of any MSM over them costs one scalar
 * multiplication: with P_i = k_i·G, Σ s_i·P_i = ((Σ s_i·k_i) mod r)·G.
 *
 * The k_i are sums of two tables, k_i = a[i mod m] + b[⌊i/m⌋] with m ≈ √n, so n bases cost n additions and only
 * about 2√n multiplications. The tables are random, so no two bases share more than a difference.
 *
 * The curve arithmetic is noble's and nothing of this library's, in order that the two cannot be wrong in the same way.
 */
import { normalizeZ } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bn254 } from '@noble/curves/bn254.js';
import { numberToBytesLE } from '@noble/curves/utils.js';

/** The library's own shape, spelled out here so that the oracle imports nothing of the library. */
export interface AffinePoint {
  readonly x: bigint;
  readonly y: bigint;
  readonly infinity: boolean;
}

export interface OracleCurve {
  /** What `createMsmEngine({ curve })` calls it. */
  readonly name: string;
  readonly Point: WeierstrassPointCons<bigint>;
  /** Of one coordinate, and of one scalar, in the library's formats. */
  readonly coordinateBytes: number;
  readonly scalarBytes: number;
}

export interface KnownBases {
  /** k_i, in [0, r). */
  readonly logs: readonly bigint[];
  /** P_i = k_i·G; that with log 0 is infinity. */
  readonly points: readonly AffinePoint[];
  /** The points as `engine.loadBases` takes them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const bn254G1: OracleCurve = { name: 'bn254', Point: bn254.G1.Point, coordinateBytes: 32, scalarBytes: 32 };

export const INFINITY: AffinePoint = Object.freeze({ x: 0n, y: 0n, infinity: true });

/**
 * A seeded random source: xoshiro128** of Blackman and Vigna (https://prng.di.unimi.it/xoshiro128starstar.c). Its
 * state is filled from a Weyl sequence through MurmurHash3's 32-bit finaliser, because a state of few bits set (such
 * as a small seed) makes its first outputs poor. Test data only: it is no source of secrets.
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

  /** An integer in [0, 2^32). */
  u32(): number {
    const s = this.#state;
    const [s0, s1, s2, s3] = s as unknown as [number, number, number, number];
    const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const t2 = s2 ^ s0;
    const t3 = s3 ^ s1;
    s[0] = s0 ^ t3;
    s[1] = s1 ^ t2;
    s[2] = t2 ^ (s1 << 9);
    s[3] = rotateLeft(t3, 11);
    return result;
  }

  /** An integer in [0, bound), without bias; the bound is in [1, 2^32]. */
  below(bound: number): number {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const value = this.u32();
      if (value < limit) return value % bound;
    }
  }

  /** An integer of so many random bits. */
  bits(count: number): bigint {
    let value = 0n;
    for (let have = 0; have < count; have += 32) value = (value << 32n) | BigInt(this.u32());
    return BigInt.asUintN(count, value);
  }

  /** An integer in [0, bound), without bias. */
  belowBig(bound: bigint): bigint {
    const count = bound.toString(2).length;
    for (;;) {
      const value = this.bits(count);
      if (value < bound) return value;
    }
  }
}

const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** Numbers one behind the other, so many little-endian bytes each. */
function encode(values: readonly bigint[], each: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.length * each);
  for (const [i, value] of values.entries()) bytes.set(numberToBytesLE(value, each), each * i);
  return bytes;
}

/** x‖y, little-endian, infinity as all zeros. */
export function encodePoints(
  { coordinateBytes }: OracleCurve,
  points: readonly AffinePoint[],
): Uint8Array<ArrayBuffer> {
  return encode(
    points.flatMap(({ x, y, infinity }) => (infinity ? [0n, 0n] : [x, y])),
    coordinateBytes,
  );
}

/** @param scalars in [0, 2^(8·scalarBytes)); not reduced here, as the library takes any of them */
export function encodeScalars({ scalarBytes }: OracleCurve, scalars: readonly bigint[]): Uint8Array<ArrayBuffer> {
  return encode(scalars, scalarBytes);
}

/** r. */
export const groupOrder = (curve: OracleCurve): bigint => curve.Point.Fn.ORDER;

export function toAffinePoint(point: WeierstrassPoint<bigint>): AffinePoint {
  if (point.is0()) return INFINITY;
  const { x, y } = point.toAffine();
  return { x, y, infinity: false };
}

/** Points with their logarithms, made affine with one inversion for all. */
export function knownBases(
  curve: OracleCurve,
  logs: readonly bigint[],
  known: readonly WeierstrassPoint<bigint>[],
): KnownBases {
  const points = normalizeZ(curve.Point, [...known]).map(toAffinePoint);
  return { logs, points, bytes: encodePoints(curve, points) };
}

/** k·G, for every integer k. */
function multipleOfGenerator({ Point }: OracleCurve, log: bigint): WeierstrassPoint<bigint> {
  const reduced = Point.Fn.create(log);
  return reduced === 0n ? Point.ZERO : Point.BASE.multiply(reduced);
}

export function makeKnownBases(curve: OracleCurve, n: number, seed: number): KnownBases {
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
  const sums: WeierstrassPoint<bigint>[] = [];
  for (let row = 0; row < rows; row++) {
    const [highLog, highPoint] = [high.logs[row] as bigint, high.points[row] as WeierstrassPoint<bigint>];
    for (let column = 0; column < columns && logs.length < n; column++) {
      logs.push(Fn.create((low.logs[column] as bigint) + highLog));
      sums.push((low.points[column] as WeierstrassPoint<bigint>).add(highPoint));
    }
  }
  return knownBases(curve, logs, sums);
}

/** Scalars uniform in [0, r). */
export function makeRandomScalars(curve: OracleCurve, n: number, seed: number): bigint[] {
  const random = new Random(seed);
  return Array.from({ length: n }, () => random.belowBig(groupOrder(curve)));
}

/**
 * Σ scalars[i]·logs[i]·G: what an MSM over bases with these logs must give.
 *
 * @param logs as many as scalars, or more
 * @param scalars any integers
 */
export function expectedMsm(curve: OracleCurve, logs: readonly bigint[], scalars: readonly bigint[]): AffinePoint {
  const r = groupOrder(curve);
  let sum = 0n;
  scalars.forEach((scalar, i) => {
    const log = logs[i];
    if (log === undefined) throw new RangeError(`scalar ${i} has no base: there are ${logs.length} logs`);
    sum = (sum + scalar * log) % r;
  });
  return toAffinePoint(multipleOfGenerator(curve, sum));
}

export function samePoint(a: AffinePoint, b: AffinePoint): boolean {
  return a.infinity || b.infinity ? a.infinity === b.infinity : a.x === b.x && a.y === b.y;
}

export const spellPoint = ({ x, y, infinity }: AffinePoint): string =>
  infinity ? 'infinity' : `(0x${x.toString(16)}, 0x${y.toString(16)})`;
