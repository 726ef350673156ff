import { invert, mod } from '../field/modulus.js';
import { type CurveContext, isOnCurve } from './curve.js';
import type { PointSource } from './point-source.js';

/** Bytes as a number; those of other tools may have the most significant one first. */
const numberOf = (bytes: Uint8Array, bigEndian: boolean): bigint => {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${(bigEndian ? digits : digits.reverse()).join('')}`);
};

/** The format of points that are taken. */
export const AS_IT_SHOULD_BE = 'little-endian bytes';

/**
 * The format in which the bytes of one point are a point, if there is such a format. Other tools use 2^256
 * for coordinates of 32 bytes in Montgomery form, and so on. Of points that came in an encoding that was asked for, no other is tried.
 */
export const formatOf = (curve: CurveContext, source: PointSource): string | null => {
  const { p, bytes } = curve.field;
  const montgomery = 1n << BigInt(8 * bytes);
  const mayBeOther = source.encoding === 'le';
  for (const bigEndian of mayBeOther ? [false, true] : [false]) {
    const order = bigEndian ? 'big-endian' : 'little-endian';
    const [x, y] = [source.bytes.subarray(0, bytes), source.bytes.subarray(bytes)].map((part) =>
      numberOf(part, bigEndian),
    ) as [bigint, bigint];
    if (x >= p || y >= p) continue;
    const isPointTimes = (scale: bigint): boolean => {
      const unit = invert(scale, p);
      return (x === 0n && y === 0n) || isOnCurve(curve, mod(x * unit, p), mod(y * unit, p));
    };
    if (isPointTimes(source.scale)) return `${order} bytes`;
    if (mayBeOther && isPointTimes(montgomery)) return `${order} bytes in Montgomery form (R = 2^${8 * bytes})`;
  }
  return null;
};
