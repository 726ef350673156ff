import { invert, mod } from '../field/modulus.js';
import { type CurveContext, isOnCurve } from './curve.js';

/** Bytes as a number; those of other tools may have the most significant one first. */
const numberOf = (bytes: Uint8Array, bigEndian: boolean): bigint => {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${(bigEndian ? digits : digits.reverse()).join('')}`);
};

/** The format of points that are taken. */
export const AS_IT_SHOULD_BE = 'little-endian bytes';

/**
 * The format in which bytes are a point, if there is such a format. Other tools use 2^256
 * for coordinates of 32 bytes in Montgomery form, and so on.
 */
export const formatOf = (curve: CurveContext, point: Uint8Array): string | null => {
  const { p, bytes } = curve.field;
  const montgomery = 1n << BigInt(8 * bytes);
  for (const bigEndian of [false, true]) {
    const [x, y] = [point.subarray(0, bytes), point.subarray(bytes)].map((part) => numberOf(part, bigEndian)) as [
      bigint,
      bigint,
    ];
    if (x >= p || y >= p) continue;
    const order = bigEndian ? 'big-endian' : 'little-endian';
    if (isOnCurve(curve, x, y) || (x === 0n && y === 0n)) return `${order} bytes`;
    const inverse = invert(montgomery, p);
    if (isOnCurve(curve, mod(x * inverse, p), mod(y * inverse, p))) {
      return `${order} bytes in Montgomery form (R = 2^${8 * bytes})`;
    }
  }
  return null;
};
