/** The groups of a setup, and their points as its files and its transcripts have them. */
import type { AffinePoint, Coordinate } from '../api/values.js';
import { type CurveContext, isOnCurve } from '../curves/curve.js';
import { type Affine, multiplySteps, toAffine } from '../curves/jacobian.js';
import { openCurve } from '../curves/open-curve.js';
import { readerOf, writePoint } from '../curves/point-source.js';
import { badArgument } from '../errors.js';
import { mod } from '../field/modulus.js';

/** Curves that setups have. */
export type SetupCurve = 'bn254' | 'bls12-381';

/** G1 and G2 of a curve. */
export interface Groups {
  readonly name: SetupCurve;
  readonly g1: CurveContext;
  readonly g2: CurveContext;
  /** Order of both. */
  readonly order: bigint;
  /** Factor of coordinates in files: R of their Montgomery form. */
  readonly scale: bigint;
}

/** Opens the groups of a curve. */
export const openGroups = async (name: SetupCurve): Promise<Groups> => {
  const [g1, g2] = [await openCurve(name, 'g1'), await openCurve(name, 'g2')];
  return { name, g1, g2, order: g1.order, scale: 1n << BigInt(8 * g1.field.bytes) };
};

/**
 * Reads points of a file: x‖y in little-endian bytes, in Montgomery form. Infinity is zeros.
 *
 * @param what the place of the points, for errors
 * @throws MsmError `bad-argument` if a point is not on the curve, or a coordinate is not below p
 */
export const readPoints = (curve: CurveContext, scale: bigint, bytes: Uint8Array, what: string): Affine[] => {
  // aligned
  const read = readerOf(curve, { bytes: bytes.slice(), scale, encoding: 'le-montgomery' });
  return Array.from({ length: bytes.length / curve.pointBytes }, (_, i) => {
    const point = read(i);
    const own = bytes.subarray(i * curve.pointBytes, (i + 1) * curve.pointBytes);
    if (filePoint(curve, scale, point).some((byte, k) => byte !== own[k])) {
      throw badArgument(`${what}: a coordinate is not below p`);
    }
    if (point !== null && !isOnCurve(curve, point.x, point.y)) {
      throw badArgument(`${what}: the point is not on the curve ${curve.name}`);
    }
    return point;
  });
};

/** Returns a point as files have it. */
export const filePoint = (curve: CurveContext, scale: bigint, point: Affine): Uint8Array<ArrayBuffer> => {
  const { coordinates: f } = curve;
  const words = new Uint32Array(curve.pointWords);
  const scaled = point && {
    x: f.reduced(f.multiple(point.x, scale)),
    y: f.reduced(f.multiple(point.y, scale)),
  };
  writePoint(curve, words, 0, scaled);
  return new Uint8Array(words.buffer);
};

/** Returns a point as transcripts have it. */
export const hashedPoint = (curve: CurveContext, point: Affine): Uint8Array<ArrayBuffer> => {
  const words = new Uint32Array(curve.pointWords);
  writePoint(curve, words, 0, point);
  return hashedPoints(curve, words);
};

/**
 * Turns points into the form of transcripts, in place: x‖y in big-endian bytes, of G2 the second
 * coefficient first. Infinity is zeros.
 *
 * @param words x‖y of each, little-endian
 */
export const hashedPoints = (curve: CurveContext, words: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const each = curve.pointWords / 2;
  for (let first = 0; first < words.length; first += each) {
    for (let [low, high] = [first, first + each - 1]; low <= high; low++, high--) {
      const word = words[low] as number;
      words[low] = swapped(words[high] as number);
      words[high] = swapped(word);
    }
  }
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
};

/** Returns a word with its bytes in reverse. */
const swapped = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);

/** A first byte with this bit marks infinity in challenges and responses of other programs. */
export const INFINITY = 0x40;

/**
 * Returns points that transcripts, challenges and responses have, as x‖y of each, little-endian; infinity
 * is zeros.
 */
export const plainPoints = (curve: CurveContext, bytes: Uint8Array): Uint32Array<ArrayBuffer> => {
  const plain = bytes.slice();
  const { pointBytes } = curve;
  for (let at = 0; at < plain.length; at += pointBytes) {
    if (((plain[at] as number) & INFINITY) !== 0) plain.fill(0, at, at + pointBytes);
  }
  const words = new Uint32Array(plain.buffer);
  hashedPoints(curve, words);
  return words;
};

/** Lets the event loop run where that is due; ends the call if its signal was aborted. */
export type Pause = () => Promise<void>;

/** Returns k·P for k ≥ 0, with pauses. */
export const multiplied = async (curve: CurveContext, k: bigint, point: Affine, pause: Pause): Promise<Affine> => {
  const steps = multiplySteps(curve, k, point);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return toAffine(curve, value);
    await pause();
  }
};

/** Returns k·P with k modulo the order, with pauses. */
export const times = async (curve: CurveContext, k: bigint, point: Affine, pause: Pause): Promise<Affine> =>
  multiplied(curve, mod(k, curve.order), point, pause);

/** Returns whether two points are equal. */
export const areEqual = ({ coordinates: f }: CurveContext, P: Affine, Q: Affine): boolean =>
  P === null || Q === null ? P === Q : f.isZero(f.difference(P.x, Q.x)) && f.isZero(f.difference(P.y, Q.y));

/** Returns a point as engines have it. */
export const publicPoint = <Of extends Coordinate>({ coordinates: f }: CurveContext, point: Affine): AffinePoint<Of> =>
  (point === null
    ? { x: f.zero, y: f.zero, infinity: true }
    : { x: f.reduced(point.x), y: f.reduced(point.y), infinity: false }) as AffinePoint<Of>;

/** Returns a point of an engine. */
export const affineOf = ({ x, y, infinity }: AffinePoint<Coordinate>): Affine => (infinity ? null : { x, y });
