/**
 * Points and scalars in the encodings of other software, converted to and from little-endian bytes.
 * index.js loads this module when a call names such an encoding. It imports types alone from other
 * rooms, so it throws RangeError, from which the engine makes a `bad-argument`.
 */
import type { PointEncoding, ScalarEncoding, SpecialEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';
import {
  arkworksFlags,
  aztec,
  aztecFlag,
  type Bytes,
  bigEndian,
  eip196,
  eip2537,
  type Format,
  flagged,
  gnarkFlags,
  montgomery,
  reverseEach,
  scaleEach,
  threeFlags,
} from './point-formats.js';

/** Encodings of every curve. */
const common = { be: bigEndian, 'le-montgomery': montgomery } as const;

/** Encodings of the curves whose constants list them. */
const special: Readonly<Record<SpecialEncoding, Format>> = {
  eip196,
  eip2537,
  zcash: flagged(() => threeFlags, 'larger', true),
  'zcash-compressed': flagged(() => threeFlags, 'larger', false),
  ark: flagged(arkworksFlags, 'larger', true),
  'ark-compressed': flagged(arkworksFlags, 'larger', false),
  gnark: flagged(gnarkFlags, 'larger', true),
  'gnark-compressed': flagged(gnarkFlags, 'larger', false),
  aztec,
  'aztec-compressed': { ...flagged(() => aztecFlag, 'odd', false), lacksInfinity: true },
};

const formatsOf = ({ encodings = [] }: CurveContext): Readonly<Record<string, Format>> => ({
  ...common,
  ...Object.fromEntries(encodings.map((name) => [name, special[name]])),
});

const formatOf = (curve: CurveContext, encoding: string, option: string): Format => {
  const formats = formatsOf(curve);
  if (Object.hasOwn(formats, encoding)) return formats[encoding] as Format;
  const all = ['le', ...Object.keys(formats)].join(', ');
  throw new RangeError(`options.${option}: '${encoding}' is not an encoding of ${curve.name}; there are ${all}`);
};

/**
 * Returns a function that encodes one point, given as x‖y in little-endian bytes, which it may
 * write over.
 *
 * @throws RangeError if the curve lacks the encoding, or the encoding cannot represent infinity
 */
export const writerOf = (curve: CurveContext, encoding: PointEncoding): ((bytes: Bytes) => Bytes) => {
  const { write, lacksInfinity } = formatOf(curve, encoding, 'result');
  if (lacksInfinity) {
    throw new RangeError(`options.result: '${encoding}' cannot represent infinity, which a sum may be`);
  }
  return (bytes) => write(curve, bytes);
};

/** Points that are decoded in one step; each takes about 0.5 µs. */
const POINTS_PER_STEP = 2 ** 11;

/**
 * Decodes points in steps.
 *
 * @param bytes the engine's own copy, which is overwritten
 * @throws RangeError naming the encoding or the point
 */
export function* readPoints(
  curve: CurveContext,
  bytes: Bytes,
  encoding: PointEncoding,
): Generator<void, PointSource, void> {
  const format = formatOf(curve, encoding, 'encoding');
  const size = format.size(curve);
  if (bytes.length % size !== 0) {
    throw new RangeError(
      `points: ${bytes.length} bytes are not a whole number of points of ${size} bytes in ${encoding}`,
    );
  }
  const { pointBytes } = curve;
  const count = bytes.length / size;
  const points = size === pointBytes ? bytes : new Uint8Array(count * pointBytes);
  for (let i = 0; i < count; i += POINTS_PER_STEP) {
    const read = format.read(curve, bytes.subarray(i * size, (i + POINTS_PER_STEP) * size), i);
    if (read.buffer !== points.buffer) points.set(read, i * pointBytes);
    yield;
  }
  const { sign } = format;
  const scale = format.scale?.(curve) ?? 1n;
  return { bytes: points, scale, encoding, ...(sign === undefined ? {} : { sign }) };
}

/** Returns the inverse of 2^bits modulo an odd number. */
const inverseOfPower = (bits: number, modulus: bigint): bigint => {
  let inverse = 1n;
  for (let i = 0; i < bits; i++) inverse = (inverse & 1n ? inverse + modulus : inverse) >> 1n;
  return inverse;
};

/**
 * Decodes scalars.
 *
 * @param bytes the engine's own copy, a whole number of scalars, which is overwritten
 * @throws RangeError naming the encoding
 */
export const readScalars = ({ order, scalarBytes }: CurveContext, bytes: Bytes, encoding: ScalarEncoding): Bytes => {
  if (encoding === 'be') return reverseEach(bytes, scalarBytes);
  if (encoding !== 'le-montgomery') {
    throw new RangeError(`options.scalarEncoding: '${encoding}' is unknown; there are le, be, le-montgomery`);
  }
  if (order % 2n === 0n) throw new RangeError('options.scalarEncoding: an even order has no Montgomery form');
  return scaleEach(bytes, scalarBytes, inverseOfPower(8 * scalarBytes, order), order);
};
