/** Bases and scalars of a call, as arguments give them. */
import type { MsmBatchOptions, MsmOptions } from '../api/calls.js';
import type { FieldVector } from '../api/field-vectors.js';
import type { Bases, Scalars } from '../api/handles.js';
import type { AffinePoint, BytesLike, Coordinate, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { badArgument, show } from '../errors.js';
import type { LoadedBases } from '../msm/inputs/loaded-bases.js';
import { LoadedScalars, type ScalarVector } from '../msm/inputs/scalars.js';
import { itemsOf, readOffset, readOffsets } from './arguments.js';
import { leaveVectors, sourceOf } from './computed-scalars.js';
import { copyScalars } from './given-scalars.js';
import { SpareBytes } from './spare-bytes.js';

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
