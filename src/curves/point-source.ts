/** Points in main memory, as callers passed them. */
import type { Coordinate, PointEncoding } from '../api/values.js';
import { readElement, writeElement } from '../field/field.js';
import { invert } from '../field/modulus.js';
import { squareRootIn } from '../field/square-root.js';
import { type CurveContext, cubic } from './curve.js';
import { imageOf } from './edwards.js';
import type { Affine } from './jacobian.js';

/** Returns a view of bytes as words. Every machine with WebGPU is little-endian. */
export const wordsOf = (bytes: Uint8Array<ArrayBuffer>): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

/** Points in main memory. */
export interface PointSource {
  /** x‖y of each point, little-endian. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Factor of the coordinates modulo p: R for Montgomery form, 1 for plain coordinates. */
  readonly scale: bigint;
  /** The encoding in which the caller passed the points. */
  readonly encoding: PointEncoding;
  /**
   * How compressed points tell y from −y; the place of y then holds Y_EVEN or Y_ODD. Absent if
   * points have both coordinates.
   */
  readonly sign?: RootSign;
  /** Factor of Edwards coordinates; `scale` is 1 then. Absent for Weierstrass coordinates. */
  readonly edwards?: { readonly scale: bigint };
}

/** Writes a point as x‖y in little-endian words. Leaves the zeros of a new array for infinity. */
export const writePoint = (
  { coordinates: f, pointWords }: CurveContext,
  target: Uint32Array,
  index: number,
  point: Affine,
): void => {
  if (point === null) return;
  writeElement(f, target, index * pointWords, point.x);
  writeElement(f, target, index * pointWords + f.words, point.y);
};

/** How an encoding tells y from −y: by parity, or by size (of pairs by c1, unless it is 0). */
export type RootSign = 'odd' | 'larger';

/** In the place of an unknown y: the even or smaller root is meant. */
export const Y_EVEN = 1;
/** In the place of an unknown y: the odd or larger root is meant. */
export const Y_ODD = 2;

/**
 * Returns the y of a compressed point; null if no point has that x. The larger one of y and −y is
 * the one whose double is odd. y = 0 counts as smaller, as all software writes it. arkworks reads
 * it with either flag (`Affine::get_ys_from_x_unchecked`), which would give one point two
 * encodings.
 */
export const rootFor = (curve: CurveContext, x: Coordinate, wanted: number, sign: RootSign): Coordinate | null => {
  const f = curve.coordinates;
  const root = squareRootIn(f, cubic(curve, x));
  if (root === null) return null;
  const told = f.coefficients(f.reduced(sign === 'odd' ? root : f.multiple(root, 2n)));
  const leading = [...told].reverse().find((value) => value !== 0n) ?? 0n;
  if (leading === 0n && wanted === Y_ODD) return null;
  return leading % 2n === BigInt(wanted === Y_ODD) ? f.reduced(root) : f.reduced(f.multiple(root, -1n));
};

/** Computed roots and images by source, for repeated small MSMs on the CPU. */
const computed = new WeakMap<PointSource, Map<number, Affine>>();

/** Returns a function that reads a point of a source by its index. */
export const readerOf = (curve: CurveContext, source: PointSource): ((index: number) => Affine) => {
  const { coordinates: f, p, pointWords } = curve;
  const { bytes, sign, edwards } = source;
  const { scale } = edwards ?? source;
  const points = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const read = (at: number): Coordinate => {
    const value = readElement(f, points, at);
    return unit === 1n ? value : f.reduced(f.multiple(value, unit));
  };
  const plain = (index: number): Affine => {
    const [x, y] = [read(index * pointWords), read(index * pointWords + f.words)];
    if (f.isZero(x) && f.isZero(y)) return null;
    return edwards === undefined ? { x, y } : imageOf(curve, x, y);
  };
  if (sign === undefined && edwards === undefined) return plain;
  const known = computed.get(source) ?? new Map<number, Affine>();
  computed.set(source, known);
  const withRoot = (point: Affine, index: number): Affine => {
    if (point === null || sign === undefined) return point;
    const y = rootFor(curve, point.x, points[index * pointWords + f.words] as number, sign);
    return y === null ? null : { x: point.x, y };
  };
  return (index) => {
    const found = known.get(index);
    if (found !== undefined) return found;
    const whole = withRoot(plain(index), index);
    known.set(index, whole);
    return whole;
  };
};
