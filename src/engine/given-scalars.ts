/** Scalars of callers: checked and copied at the call, converted to bytes when it has its turn. */
import type { BytesLike, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { badArgument, kindOf } from '../errors.js';
import { writeNumber } from '../field/write-number.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { encodedBytes, isPlain } from './arguments.js';
import { copyBytes, roomFor } from './bytes.js';
import { withEncodings } from './encodings-loader.js';
import type { SpareBytes } from './spare-bytes.js';

/** Scalars that are converted between two readings of the clock. */
const SCALARS_PER_CLOCK = 2 ** 11;

/** Bytes of scalars, and how they are converted. */
type GivenScalars = Pick<ScalarVector, 'scalars' | 'unread'>;

/** Checks and copies an array of numbers. @throws MsmError `bad-argument` */
const copyNumbers = ({ scalarBytes }: CurveContext, given: readonly unknown[], name: string): GivenScalars => {
  const count = given.length;
  const scalars = roomFor(name, count, scalarBytes);
  const end = 1n << BigInt(8 * scalarBytes);
  const numbers: bigint[] = [];
  // by index, because the array's class may have another iterator
  for (let i = 0; i < count; i++) {
    const scalar = given[i];
    if (typeof scalar !== 'bigint') throw badArgument(`${name}[${i}] must be a bigint, got ${kindOf(scalar)}`);
    if (scalar < 0n || scalar >= end) {
      // a scalar may be secret, and messages may be logged: the message does not have its value
      throw badArgument(
        `${name}[${i}] must be in [0, 2^${8 * scalarBytes}), got one ${scalar < 0n ? 'below' : 'above'}`,
      );
    }
    numbers.push(scalar);
  }
  return { scalars, unread: { numbers, done: 0 } };
};

/**
 * Checks and copies scalars, and does not convert them yet.
 *
 * @param name of the argument, for errors
 * @param spare memory for the copy of bytes
 * @throws MsmError `bad-argument`
 */
export const copyScalars = (
  curve: CurveContext,
  given: BytesLike | readonly bigint[],
  encoding: ScalarEncoding | undefined,
  name: string,
  spare?: SpareBytes,
): GivenScalars => {
  if (!isPlain(encoding)) {
    const scalars = encodedBytes(name, given, curve.scalarBytes, 'scalarEncoding', spare);
    return { scalars, unread: { numbers: null, done: 0 } };
  }
  const scalars = copyBytes(name, given, curve.scalarBytes, 'scalar', spare);
  if (scalars !== null) return { scalars };
  if (Array.isArray(given)) return copyNumbers(curve, given, name);
  throw badArgument(`${name} must be bytes (a Uint8Array, say) or an array of bigints, got ${kindOf(given)}`);
};

/** Converts the unread scalars up to `end`. */
const convert = async (
  curve: CurveContext,
  scalars: Uint8Array<ArrayBuffer>,
  unread: NonNullable<ScalarVector['unread']>,
  encoding: ScalarEncoding | undefined,
  end: number,
): Promise<void> => {
  const { scalarBytes } = curve;
  if (isPlain(encoding)) {
    const words = new BigUint64Array(scalars.buffer);
    const each = scalarBytes / 8;
    for (; unread.done < end; unread.done++)
      writeNumber(words, unread.done * each, each, unread.numbers?.[unread.done] as bigint);
    return;
  }
  const bytes = scalars.subarray(unread.done * scalarBytes, end * scalarBytes);
  await withEncodings(({ readScalars }) => {
    readScalars(curve, bytes, encoding);
    // noted at once: no scalar must be converted twice
    unread.done = end;
  });
};

/**
 * Converts the scalars of vectors to little-endian bytes, in place. Goes on where an earlier call
 * for the same vectors ended: a call that failed together with others is computed again.
 *
 * @throws MsmError `bad-argument` for an encoding that the curve does not have
 */
export const convertScalars = async (
  curve: CurveContext,
  vectors: readonly ScalarVector[],
  encoding: ScalarEncoding | undefined,
  timeSlice: TimeSlice,
): Promise<void> => {
  for (const { scalars, n, unread } of vectors) {
    if (unread === undefined) continue;
    do {
      await convert(curve, scalars, unread, encoding, Math.min(n, unread.done + SCALARS_PER_CLOCK));
      if (timeSlice.isOver) await timeSlice.yield();
    } while (unread.done < n);
  }
};
