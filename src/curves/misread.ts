import { invert } from '../field/modulus.js';
import { type CurveContext, isOnCurve, type TwistedEdwards } from './curve.js';
import { isOnEdwards } from './edwards.js';
import { type PointSource, type RootSign, rootFor } from './point-source.js';

/** Returns the number that bytes encode, in either byte order. */
const numberOf = (bytes: Uint8Array, bigEndian: boolean): bigint => {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${(bigEndian ? digits : digits.reverse()).join('')}`);
};

/** Byte order of a number. */
type Order = 'little-endian' | 'big-endian';
/** A format in which bytes may be a point, as errors name it. */
export type PointFormat = `${Order} bytes` | `${Order} bytes in Montgomery form (R = 2^${number})`;

/** Returns whether the curve has a point with the x and the sign of these bytes. */
const isCompressed = (curve: CurveContext, given: Uint8Array, sign: RootSign): boolean => {
  const { coordinates: f, field } = curve;
  const numbers = Array.from({ length: f.degree }, (_, i) =>
    numberOf(given.subarray(i * field.bytes, (i + 1) * field.bytes), false),
  );
  return (
    numbers.every((number) => number < field.p) &&
    rootFor(curve, f.of(numbers), given[f.bytes] as number, sign) !== null
  );
};

/** Returns whether these bytes are a point of the curve in Edwards coordinates. */
const isOfEdwards = ({ edwards, field, p }: CurveContext, source: PointSource): boolean => {
  const [x, y] = [0, field.bytes].map((at) => numberOf(source.bytes.subarray(at, at + field.bytes), false)) as [
    bigint,
    bigint,
  ];
  const unit = invert(source.edwards?.scale ?? 1n, p);
  return x < p && y < p && isOnEdwards(edwards as TwistedEdwards, p, x * unit, y * unit);
};

/**
 * Returns the format in which the bytes of one point are a point of the curve; null if there is
 * none. Errors use it to suggest the right encoding. Montgomery form is tried with R = 2^256 for
 * coordinates of 32 bytes and R = 2^384 for 48, as other tools use it. If the caller named an
 * encoding, only that one is tried.
 */
export const formatOf = (curve: CurveContext, source: PointSource): PointFormat | null => {
  const { p, bytes } = curve.field;
  const { coordinates: f } = curve;
  if (source.edwards !== undefined) return isOfEdwards(curve, source) ? 'little-endian bytes' : null;
  if (source.sign !== undefined) return isCompressed(curve, source.bytes, source.sign) ? 'little-endian bytes' : null;
  const montgomery = 1n << BigInt(8 * bytes);
  const mayBeOther = source.encoding === 'le';
  for (const bigEndian of mayBeOther ? [false, true] : [false]) {
    const order: Order = bigEndian ? 'big-endian' : 'little-endian';
    const numbers = Array.from({ length: 2 * f.degree }, (_, i) =>
      numberOf(source.bytes.subarray(i * bytes, (i + 1) * bytes), bigEndian),
    );
    if (numbers.some((number) => number >= p)) continue;
    const [x, y] = [f.of(numbers.slice(0, f.degree)), f.of(numbers.slice(f.degree))];
    const isPointTimes = (scale: bigint): boolean => {
      const unit = invert(scale, p);
      return numbers.every((number) => number === 0n) || isOnCurve(curve, f.multiple(x, unit), f.multiple(y, unit));
    };
    if (isPointTimes(source.scale)) return `${order} bytes`;
    if (mayBeOther && isPointTimes(montgomery)) return `${order} bytes in Montgomery form (R = 2^${8 * bytes})`;
  }
  return null;
};
