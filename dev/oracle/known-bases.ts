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
  readonly logs: bigint[];
  /** k_i·G. */
  readonly points: AffinePoint[];
  /** The points as `engine.loadBases` takes them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const bn254G1: OracleCurve = { name: 'bn254', Point: bn254.G1.Point, coordinateBytes: 32, scalarBytes: 32 };

export const INFINITY: AffinePoint = Object.freeze({ x: 0n, y: 0n, infinity: true });

// ---------------------------------------------------------------------------------------------------------- random

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

// --------------------------------------------------------------------------------------------------------- formats

/** @param length in bytes: a multiple of 8 */
function writeLittleEndian(bytes: Uint8Array, at: number, length: number, value: bigint): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  for (let i = 0; i < length; i += 8) view.setBigUint64(i, BigInt.asUintN(64, value >> BigInt(8 * i)), true);
}

/** @param length in bytes: a multiple of 8 */
function readLittleEndian(bytes: Uint8Array, at: number, length: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  let value = 0n;
  for (let i = length - 8; i >= 0; i -= 8) value = (value << 64n) | view.getBigUint64(i, true);
  return value;
}

/** x‖y, little-endian, infinity as all zeros. @returns `into`, written from byte `at` on */
export function encodePoint(
  curve: OracleCurve,
  point: AffinePoint,
  into: Uint8Array = new Uint8Array(2 * curve.coordinateBytes),
  at = 0,
): Uint8Array {
  writeLittleEndian(into, at, curve.coordinateBytes, point.infinity ? 0n : point.x);
  writeLittleEndian(into, at + curve.coordinateBytes, curve.coordinateBytes, point.infinity ? 0n : point.y);
  return into;
}

export function encodePoints(curve: OracleCurve, points: readonly AffinePoint[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(points.length * 2 * curve.coordinateBytes);
  points.forEach((point, i) => {
    encodePoint(curve, point, bytes, i * 2 * curve.coordinateBytes);
  });
  return bytes;
}

export function decodePoint(curve: OracleCurve, bytes: Uint8Array, at = 0): AffinePoint {
  const x = readLittleEndian(bytes, at, curve.coordinateBytes);
  const y = readLittleEndian(bytes, at + curve.coordinateBytes, curve.coordinateBytes);
  return x === 0n && y === 0n ? INFINITY : { x, y, infinity: false };
}

/** @param scalars in [0, 2^(8·scalarBytes)); not reduced here, as the library takes any of them */
export function encodeScalars(curve: OracleCurve, scalars: readonly bigint[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(scalars.length * curve.scalarBytes);
  scalars.forEach((scalar, i) => {
    writeLittleEndian(bytes, i * curve.scalarBytes, curve.scalarBytes, scalar);
  });
  return bytes;
}

export function decodeScalars(curve: OracleCurve, bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / curve.scalarBytes }, (_, i) =>
    readLittleEndian(bytes, i * curve.scalarBytes, curve.scalarBytes),
  );
}

// ---------------------------------------------------------------------------------------------------------- oracle

/** r. */
export const groupOrder = (curve: OracleCurve): bigint => curve.Point.Fn.ORDER;

export function toAffinePoint(point: WeierstrassPoint<bigint>): AffinePoint {
  if (point.is0()) return INFINITY;
  const { x, y } = point.toAffine();
  return { x, y, infinity: false };
}

/** Many points to affine with one inversion for all. noble's normalizeZ is handed no infinity, whose Z has no inverse. */
export function toAffinePoints(curve: OracleCurve, points: readonly WeierstrassPoint<bigint>[]): AffinePoint[] {
  const finite = normalizeZ(
    curve.Point,
    points.filter((point) => !point.is0()),
  );
  let next = 0;
  return points.map((point) => {
    if (point.is0()) return INFINITY;
    const { X, Y } = finite[next++] as { X: bigint; Y: bigint };
    return { x: X, y: Y, infinity: false };
  });
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
  const points = toAffinePoints(curve, sums);
  return { logs, points, bytes: encodePoints(curve, points) };
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
