/** Points as they wait in main memory. */
import type { Coordinate, PointEncoding } from '../api/values.js';
import { readElement, writeElement } from '../field/field.js';
import { invert } from '../field/modulus.js';
import { squareRootIn } from '../field/square-root.js';
import { type CurveContext, cubic } from './curve.js';
import { imageOf } from './edwards.js';
import type { Affine } from './jacobian.js';

/** Bytes as little-endian words, which is what every machine with WebGPU has. */
export const wordsOf = (bytes: Uint8Array<ArrayBuffer>): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

/** Points in main memory. */
export interface PointSource {
  /** x‖y of each, little-endian. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What coordinates were multiplied by, modulo p, before they were written; 1 where they stand for themselves. */
  readonly scale: bigint;
  /** As which they came. */
  readonly encoding: PointEncoding;
  /** Of compressed points, by what y is told from −y: where it is, there is Y_EVEN or Y_ODD. */
  readonly sign?: RootSign;
  /** Of points of Edwards form, what their coordinates were multiplied by; `scale` is 1 then. */
  readonly edwards?: { readonly scale: bigint };
}

/** Writes a point as the library has it in memory; infinity is the zeros that are there. */
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

/** Which of the two y of an x is meant: the odd one, or the larger one (of pairs by c1, unless it is 0). */
export type RootSign = 'odd' | 'larger';

/** What stands in the place of a y that is to be computed: the one that is even, or smaller, or the other one. */
export const Y_EVEN = 1;
export const Y_ODD = 2;

/**
 * The y of a compressed point; null if no point has that x. The larger of y and −y is the one whose double is odd. A y of 0
 * is the smaller one, as all write it; arkworks reads it with either flag (`Affine::get_ys_from_x_unchecked`), which would be
 * a second encoding of one point.
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

/** Roots and images that were computed: a small MSM on the CPU takes its points from here again and again. */
const computed = new WeakMap<PointSource, Map<number, Affine>>();

/** How points of a source are read. */
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
