/**
 * Bases whose discrete logarithms are known, so that the right answer of any MSM over them costs one scalar
 * multiplication: with P_i = k_i·G, Σ s_i·P_i = ((Σ s_i·k_i) mod r)·G.
 *
 * The k_i are sums of two tables, k_i = a[i mod m] + b[⌊i/m⌋] with m ≈ √n, so n bases cost n additions and only
 * about 2√n multiplications. The tables are random, so no two bases share more than a difference.
 *
 * The curve arithmetic is noble's and nothing of this library's, in order that the two cannot be wrong in the same way.
 * Plain ESM without Node's or the DOM's names: scripts, vitest and the page all import it.
 */
import { normalizeZ } from '@noble/curves/abstract/curve.js';
import { bn254 } from '@noble/curves/bn254.js';

/**
 * @typedef {{ readonly x: bigint, readonly y: bigint, readonly infinity: boolean }} AffinePoint
 *   the library's own shape, spelled out here so that the oracle imports nothing of the library
 *
 * @typedef {import('@noble/curves/abstract/weierstrass.js').WeierstrassPointCons<bigint>} PointClass
 *
 * @typedef {object} OracleCurve
 * @property {string} name what `createMsmEngine({ curve })` calls it
 * @property {PointClass} Point noble's point class
 * @property {number} coordinateBytes bytes of one coordinate in the library's formats
 * @property {number} scalarBytes bytes of one scalar in the library's formats
 *
 * @typedef {object} KnownBases
 * @property {bigint[]} logs k_i, in [0, r)
 * @property {AffinePoint[]} points k_i·G
 * @property {Uint8Array<ArrayBuffer>} bytes the points as `engine.loadBases` takes them
 */

/** @type {OracleCurve} */
export const bn254G1 = { name: 'bn254', Point: bn254.G1.Point, coordinateBytes: 32, scalarBytes: 32 };

/** @type {AffinePoint} */
export const INFINITY = Object.freeze({ x: 0n, y: 0n, infinity: true });

// ---------------------------------------------------------------------------------------------------------- random

/**
 * A seeded random source: xoshiro128** of Blackman and Vigna (https://prng.di.unimi.it/xoshiro128starstar.c). Its
 * state is filled from a Weyl sequence through MurmurHash3's 32-bit finaliser, because a state of few bits set (such
 * as a small seed) makes its first outputs poor. Test data only: it is no source of secrets.
 */
export class Random {
  #state = new Uint32Array(4);

  /** @param {number} seed any integer; its low 32 bits count */
  constructor(seed) {
    let weyl = seed >>> 0;
    for (let i = 0; i < 4; i++) {
      weyl = (weyl + 0x9e3779b9) >>> 0;
      let h = weyl;
      h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
      h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
      this.#state[i] = h ^ (h >>> 16);
    }
  }

  /** @returns {number} an integer in [0, 2^32) */
  u32() {
    const s = this.#state;
    const [s0, s1, s2, s3] = /** @type {[number, number, number, number]} */ (/** @type {unknown} */ (s));
    const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const t2 = s2 ^ s0;
    const t3 = s3 ^ s1;
    s[0] = s0 ^ t3;
    s[1] = s1 ^ t2;
    s[2] = t2 ^ (s1 << 9);
    s[3] = rotateLeft(t3, 11);
    return result;
  }

  /**
   * @param {number} bound in [1, 2^32]
   * @returns {number} an integer in [0, bound), without bias
   */
  below(bound) {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const value = this.u32();
      if (value < limit) return value % bound;
    }
  }

  /**
   * @param {number} count
   * @returns {bigint} an integer of `count` random bits
   */
  bits(count) {
    let value = 0n;
    for (let have = 0; have < count; have += 32) value = (value << 32n) | BigInt(this.u32());
    return BigInt.asUintN(count, value);
  }

  /**
   * @param {bigint} bound at least 1n
   * @returns {bigint} an integer in [0, bound), without bias
   */
  belowBig(bound) {
    const count = bound.toString(2).length;
    for (;;) {
      const value = this.bits(count);
      if (value < bound) return value;
    }
  }
}

/**
 * @param {number} word
 * @param {number} by
 */
function rotateLeft(word, by) {
  return (word << by) | (word >>> (32 - by));
}

// --------------------------------------------------------------------------------------------------------- formats

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} length a multiple of 8
 * @param {bigint} value in [0, 2^(8·length))
 */
function writeLittleEndian(bytes, at, length, value) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  for (let i = 0; i < length; i += 8) view.setBigUint64(i, BigInt.asUintN(64, value >> BigInt(8 * i)), true);
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} length a multiple of 8
 * @returns {bigint}
 */
function readLittleEndian(bytes, at, length) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  let value = 0n;
  for (let i = length - 8; i >= 0; i -= 8) value = (value << 64n) | view.getBigUint64(i, true);
  return value;
}

/**
 * x‖y, little-endian, infinity as all zeros.
 *
 * @param {OracleCurve} curve
 * @param {AffinePoint} point
 * @param {Uint8Array} [into] where to write it; a fresh array without it
 * @param {number} [at] the first byte to write
 * @returns {Uint8Array} `into`
 */
export function encodePoint(curve, point, into = new Uint8Array(2 * curve.coordinateBytes), at = 0) {
  writeLittleEndian(into, at, curve.coordinateBytes, point.infinity ? 0n : point.x);
  writeLittleEndian(into, at + curve.coordinateBytes, curve.coordinateBytes, point.infinity ? 0n : point.y);
  return into;
}

/**
 * @param {OracleCurve} curve
 * @param {readonly AffinePoint[]} points
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function encodePoints(curve, points) {
  const bytes = new Uint8Array(points.length * 2 * curve.coordinateBytes);
  points.forEach((point, i) => {
    encodePoint(curve, point, bytes, i * 2 * curve.coordinateBytes);
  });
  return bytes;
}

/**
 * @param {OracleCurve} curve
 * @param {Uint8Array} bytes
 * @param {number} [at]
 * @returns {AffinePoint}
 */
export function decodePoint(curve, bytes, at = 0) {
  const x = readLittleEndian(bytes, at, curve.coordinateBytes);
  const y = readLittleEndian(bytes, at + curve.coordinateBytes, curve.coordinateBytes);
  return x === 0n && y === 0n ? INFINITY : { x, y, infinity: false };
}

/**
 * @param {OracleCurve} curve
 * @param {readonly bigint[]} scalars in [0, 2^(8·scalarBytes)); not reduced here, as the library takes any of them
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function encodeScalars(curve, scalars) {
  const bytes = new Uint8Array(scalars.length * curve.scalarBytes);
  scalars.forEach((scalar, i) => {
    writeLittleEndian(bytes, i * curve.scalarBytes, curve.scalarBytes, scalar);
  });
  return bytes;
}

/**
 * @param {OracleCurve} curve
 * @param {Uint8Array} bytes
 * @returns {bigint[]}
 */
export function decodeScalars(curve, bytes) {
  return Array.from({ length: bytes.length / curve.scalarBytes }, (_, i) =>
    readLittleEndian(bytes, i * curve.scalarBytes, curve.scalarBytes),
  );
}

// ---------------------------------------------------------------------------------------------------------- oracle

/**
 * @param {OracleCurve} curve
 * @returns {bigint} r, the order of the group
 */
export function groupOrder(curve) {
  return curve.Point.Fn.ORDER;
}

/**
 * @param {import('@noble/curves/abstract/weierstrass.js').WeierstrassPoint<bigint>} point
 * @returns {AffinePoint}
 */
export function toAffinePoint(point) {
  if (point.is0()) return INFINITY;
  const { x, y } = point.toAffine();
  return { x, y, infinity: false };
}

/**
 * Many points to affine with one inversion for all. noble's normalizeZ is handed no infinity, whose Z has no inverse.
 *
 * @param {OracleCurve} curve
 * @param {import('@noble/curves/abstract/weierstrass.js').WeierstrassPoint<bigint>[]} points
 * @returns {AffinePoint[]}
 */
export function toAffinePoints(curve, points) {
  const finite = normalizeZ(
    curve.Point,
    points.filter((point) => !point.is0()),
  );
  let next = 0;
  return points.map((point) => {
    if (point.is0()) return INFINITY;
    const { X, Y } = /** @type {{ X: bigint, Y: bigint }} */ (finite[next++]);
    return { x: X, y: Y, infinity: false };
  });
}

/**
 * k·G, for every integer k.
 *
 * @param {OracleCurve} curve
 * @param {bigint} log
 */
function multipleOfGenerator(curve, log) {
  const { Point } = curve;
  const reduced = Point.Fn.create(log);
  return reduced === 0n ? Point.ZERO : Point.BASE.multiply(reduced);
}

/**
 * @param {OracleCurve} curve
 * @param {number} n
 * @param {number} seed
 * @returns {KnownBases}
 */
export function makeKnownBases(curve, n, seed) {
  const { Fn } = curve.Point;
  const random = new Random(seed);
  const columns = Math.max(1, Math.ceil(Math.sqrt(n)));
  const rows = Math.ceil(n / columns);
  const table = (/** @type {number} */ length) => {
    const logs = Array.from({ length }, () => random.belowBig(Fn.ORDER));
    return { logs, points: logs.map((log) => multipleOfGenerator(curve, log)) };
  };
  const low = table(columns);
  const high = table(rows);

  /** @type {bigint[]} */
  const logs = [];
  const sums = [];
  for (let row = 0; row < rows; row++) {
    const highLog = /** @type {bigint} */ (high.logs[row]);
    const highPoint = /** @type {(typeof high.points)[number]} */ (high.points[row]);
    for (let column = 0; column < columns && logs.length < n; column++) {
      logs.push(Fn.create(/** @type {bigint} */ (low.logs[column]) + highLog));
      sums.push(/** @type {(typeof low.points)[number]} */ (low.points[column]).add(highPoint));
    }
  }
  const points = toAffinePoints(curve, sums);
  return { logs, points, bytes: encodePoints(curve, points) };
}

/**
 * Scalars uniform in [0, r).
 *
 * @param {OracleCurve} curve
 * @param {number} n
 * @param {number} seed
 * @returns {bigint[]}
 */
export function makeRandomScalars(curve, n, seed) {
  const random = new Random(seed);
  return Array.from({ length: n }, () => random.belowBig(groupOrder(curve)));
}

/**
 * Σ scalars[i]·logs[i]·G: what an MSM over bases with these logs must give.
 *
 * @param {OracleCurve} curve
 * @param {readonly bigint[]} logs as many as scalars, or more
 * @param {readonly bigint[]} scalars any integers
 * @returns {AffinePoint}
 */
export function expectedMsm(curve, logs, scalars) {
  const r = groupOrder(curve);
  let sum = 0n;
  scalars.forEach((scalar, i) => {
    const log = logs[i];
    if (log === undefined) throw new RangeError(`scalar ${i} has no base: there are ${logs.length} logs`);
    sum = (sum + scalar * log) % r;
  });
  return toAffinePoint(multipleOfGenerator(curve, sum));
}

/**
 * @param {AffinePoint} a
 * @param {AffinePoint} b
 */
export function samePoint(a, b) {
  return a.infinity || b.infinity ? a.infinity === b.infinity : a.x === b.x && a.y === b.y;
}
