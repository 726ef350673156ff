/**
 * Bases and scalars of a call. Scalars are checked and copied at the call and converted to bytes
 * when it has its turn; vectors of field engines stay where they are, held until it ends.
 */
import type { MsmBatchOptions, MsmOptions } from '../api/calls.js';
import type { Bases, Scalars } from '../api/engine.js';
import type { FieldVector } from '../api/fields.js';
import type { AffinePoint, BytesLike, Coordinate, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { badArgument, kindOf, show } from '../errors.js';
import { writeNumber } from '../field/modulus.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import type { ScalarVector } from '../msm/inputs/scalars.js';
import { LoadedScalars, type ScalarsSource, sourcesOfVectors } from '../msm/inputs/scalars.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import {
  copyBytes,
  encodedBytes,
  isPlain,
  itemsOf,
  readOffset,
  readOffsets,
  roomFor,
  SpareBytes,
  withEncodings,
} from './arguments.js';

export type GivenPoints = BytesLike | readonly AffinePoint<Coordinate>[];
export type GivenScalars = BytesLike | readonly bigint[] | Scalars | FieldVector;

/** Names of the arguments in error messages. */
interface ArgumentNames {
  readonly scalars: string;
  readonly offset: string;
}

/** Returns how many bytes of scalars a call brings; loaded scalars count nothing. */
export const scalarBytesOf = (vectors: readonly ScalarVector[]): number =>
  vectors.reduce((sum, { scalars, loaded }) => sum + (loaded === null ? scalars.length : 0), 0);

/** Reads the arguments of one engine's calls. */
export class CallInputs {
  readonly #curve: CurveContext;
  /** Bases that the engine has loaded. */
  readonly #bases = new WeakSet<Bases>();
  readonly #spare = new SpareBytes();

  constructor(curve: CurveContext) {
    this.#curve = curve;
  }

  /** Registers bases that the engine has loaded. */
  addBases(bases: Bases): void {
    this.#bases.add(bases);
  }

  /** @throws MsmError `bad-argument` for bases of another engine, `destroyed` */
  readBases(bases: Bases): LoadedBases {
    if (!this.#bases.has(bases)) throw badArgument('bases must come from loadBases of this engine');
    (bases as LoadedBases).assertAlive();
    return bases as LoadedBases;
  }

  /** Reads the vector lengths of `plan`, without zeros. @throws MsmError `bad-argument` */
  readLengths({ length: most }: LoadedBases, n: number | readonly number[]): readonly number[] {
    const lengths: readonly unknown[] = Array.isArray(n) ? itemsOf(n) : [n];
    for (const each of lengths) {
      if (!Number.isInteger(each) || (each as number) < 0 || (each as number) > most) {
        throw badArgument(`n must be an integer from 0 to bases.length = ${most}, got ${show(each)}`);
      }
    }
    return (lengths as readonly number[]).filter((each) => each > 0);
  }

  /** Checks and copies scalars, and does not convert them yet. @throws MsmError `bad-argument` */
  readScalars(given: BytesLike | readonly bigint[], encoding: ScalarEncoding | undefined): ScalarVector {
    const copied = copyScalars(this.#curve, given, encoding, 'scalars', this.#spare);
    return { ...copied, n: copied.scalars.length / this.#curve.scalarBytes, offset: 0, loaded: null };
  }

  /** Leaves the copies of a call that has its result to later calls. */
  giveBack(vectors: readonly ScalarVector[]): void {
    for (const { scalars, loaded, computed } of vectors) {
      if (loaded === null && computed === undefined) this.#spare.giveBack(scalars);
    }
  }

  /** Reads the scalars and the offset of `msm`. @throws MsmError `bad-argument`, `destroyed` */
  readVector(
    bases: LoadedBases,
    given: GivenScalars,
    { offset, scalarEncoding }: Pick<MsmOptions, 'offset' | 'scalarEncoding'>,
  ): ScalarVector {
    return this.#readVector(bases, given, offset, scalarEncoding, { scalars: 'scalars', offset: 'offset' });
  }

  /**
   * Reads the vectors and the offsets of `msmBatch`. @throws MsmError `bad-argument`, `destroyed`
   */
  readVectors(
    bases: LoadedBases,
    given: readonly GivenScalars[],
    settings: Pick<MsmBatchOptions, 'offsets' | 'scalarEncoding'>,
  ): readonly ScalarVector[] {
    const offsets = readOffsets(settings.offsets, given);
    const read: ScalarVector[] = [];
    try {
      for (const [i, vector] of itemsOf(given).entries()) {
        const names = { scalars: `scalars[${i}]`, offset: `offsets[${i}]` };
        read.push(this.#readVector(bases, vector, offsets[i], settings.scalarEncoding, names));
      }
      return read;
    } catch (error) {
      leaveVectors(read);
      throw error;
    }
  }

  #readVector(
    bases: LoadedBases,
    given: GivenScalars,
    offset: unknown,
    encoding: ScalarEncoding | undefined,
    names: ArgumentNames,
  ): ScalarVector {
    const source = sourceOf(this.#curve, given, names.scalars);
    if (source !== null) {
      const own = { n: source.length, offset: readOffset(bases.length, source.length, offset, names), loaded: null };
      return { ...own, scalars: new Uint8Array(), computed: source.hold(names.scalars) };
    }
    const loaded = LoadedScalars.is(given) ? given : null;
    if (loaded === null && given instanceof LoadedScalars) {
      throw badArgument(`${names.scalars} must be what loadScalars returned, and not a proxy or a copy of it`);
    }
    if (loaded !== null && loaded.store.order !== this.#curve.order) {
      throw badArgument(`${names.scalars} were loaded for a group of another order than ${this.#curve.name}'s`);
    }
    const copied =
      loaded === null
        ? copyScalars(this.#curve, given as BytesLike | readonly bigint[], encoding, names.scalars, this.#spare)
        : { scalars: loaded.bytes };
    const n = copied.scalars.length / this.#curve.scalarBytes;
    return { ...copied, n, offset: readOffset(bases.length, n, offset, names), loaded };
  }
}

/** Scalars that are converted between two readings of the clock. */
const SCALARS_PER_CLOCK = 2 ** 11;

/** Bytes of scalars, and how they are converted. */
type CopiedScalars = Pick<ScalarVector, 'scalars' | 'unread'>;

/** Checks and copies an array of numbers. @throws MsmError `bad-argument` */
const copyNumbers = ({ scalarBytes }: CurveContext, given: readonly unknown[], name: string): CopiedScalars => {
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
): CopiedScalars => {
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

/**
 * Returns the source of a vector; null if `given` is none.
 *
 * @param name of the argument, for errors
 * @throws MsmError `bad-argument` for a vector of another field
 */
const sourceOf = ({ order, name: curve }: CurveContext, given: unknown, name: string): ScalarsSource | null => {
  const source = typeof given === 'object' && given !== null ? sourcesOfVectors.get(given) : undefined;
  if (source !== undefined && source.p !== order) {
    throw badArgument(`${name} is a vector of another field than that of ${curve}'s scalars`);
  }
  return source ?? null;
};

/** Notes that a call no longer uses its vectors. A second call has no effect. */
export const leaveVectors = (vectors: readonly ScalarVector[]): void => {
  for (const { computed } of vectors) computed?.leave();
};
