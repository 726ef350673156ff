/**
 * Points of a section of a key: its first points stay loaded, and sums read the others from the
 * file page by page. A sum walks a section in order, so a fixed part stays: of the least recently
 * used pages each would leave right before its next use.
 */
import type { LoadBasesOptions } from '../api/calls.js';
import type { Bases, MsmEngine, Scalars } from '../api/engine.js';
import type { FieldVector } from '../api/fields.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import type { CheckedLoader } from '../engine/engine.js';
import { assertNotAborted, untilAborted } from '../errors.js';
import type { KeyReader } from '../formats/cached-file.js';
import { CHUNK_BYTES, type OpenFile, type PointSection } from '../formats/source.js';
import { assertFinite, combine, inSection, ONE } from './few-points.js';
import { giveBack } from './witness.js';

/** Most points of a page: sums are computed by as many at a time anyway. */
const MOST_PAGE_POINTS = 2 ** 16;

/** Least and most pages of a whole section: the buckets of each page are added up once. */
const [LEAST_PAGES, MOST_PAGES] = [4, 16];

/** Returns the least and the most points of a page. */
export const pagePointsOf = (domainSize: number): [least: number, most: number] => [
  Math.min(MOST_PAGE_POINTS, Math.ceil(domainSize / MOST_PAGES)),
  Math.min(MOST_PAGE_POINTS, Math.ceil(domainSize / LEAST_PAGES)),
];

/** Pages of a sum in memory: one is added up while the next one is read. */
export const PAGES_AT_A_TIME = 2;

/** Coefficients of a polynomial that are copied at a time, to be multiplied. */
export const COEFFICIENTS_AT_A_TIME = 2 ** 18;

/** Whether the points of a file were checked when a cache stored them. */
export type CheckedReader = Pick<KeyReader, 'areChecked'>;

/** A section, and the engine of its sums. */
export interface SectionPlace<Of extends Coordinate> {
  readonly section: Pick<PointSection, 'name' | 'encoding' | 'count' | 'pointBytes' | 'points'>;
  readonly engine: MsmEngine<Of>;
  readonly pagePoints: number;
  /** True to refuse infinity. */
  readonly refusesInfinity: boolean;
  /** Whether reading returns views of memory that is not the library's, or arrays that nobody else has. */
  readonly file: Pick<OpenFile, 'inMemory' | 'readsFresh'>;
  /** null without a cache. */
  readonly reader: CheckedReader | null;
}

/** Options of the sums of a proof. */
type SumOptions = Parameters<MsmEngine['msm']>[2] & { readonly signal: AbortSignal };

export class KeyPoints<Of extends Coordinate = Coordinate> {
  readonly #place: SectionPlace<Of>;
  /** The first points; null if none stay loaded. */
  readonly #loaded: Bases | null;

  private constructor(place: SectionPlace<Of>, loaded: Bases | null) {
    this.#place = place;
    this.#loaded = loaded;
  }

  /**
   * Loads the first points of a section, and checks them. The others are checked whenever they are
   * read; with a cache they are checked here, before it has them, and then no more.
   *
   * @param count number of points that stay loaded
   * @throws MsmError naming the section
   */
  static async load<Of extends Coordinate>(
    place: SectionPlace<Of>,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<KeyPoints<Of>> {
    const { section, pagePoints, reader } = place;
    const loaded = count === 0 ? null : await loadPoints(place, 0, count, signal);
    for (let from = count; reader?.areChecked === false && from < section.count; from += pagePoints) {
      (await loadPoints(place, from, Math.min(section.count, from + pagePoints), signal)).destroy();
    }
    return new KeyPoints(place, loaded);
  }

  /** The points, if all are loaded; else null. */
  get whole(): Bases | null {
    return this.#loaded?.length === this.#place.section.count ? this.#loaded : null;
  }

  /** Bytes of the points that are loaded, and of those that each sum reads. */
  get bytes(): { readonly loaded: number; readonly paged: number } {
    const { pointBytes, count } = this.#place.section;
    const loaded = this.#loaded?.length ?? 0;
    return { loaded: loaded * pointBytes, paged: (count - loaded) * pointBytes };
  }

  /**
   * Multiplies the points by scalars and adds them up.
   *
   * @param scalars one for each point; a vector where `whole` is not null
   * @param few engine that adds up the sums of pages
   * @throws MsmError of `msm`; naming the section where a page is damaged
   */
  async sum(scalars: Scalars | FieldVector, few: MsmEngine<Of>, options: SumOptions): Promise<AffinePoint<Of>> {
    const { engine } = this.#place;
    if (this.whole !== null) return engine.msm(this.whole, scalars, options);
    return combine(
      few,
      (await this.#sums(scalars as Scalars, options)).map((sum) => [sum, ONE] as const),
    );
  }

  /** Returns the sums of the loaded points and of each page. */
  async #sums(scalars: Scalars, options: SumOptions): Promise<AffinePoint<Of>[]> {
    const { engine, section } = this.#place;
    const sums: AffinePoint<Of>[] = [];
    await this.#walk(section.count, options.signal, async (points, from) => {
      sums.push(await engine.msm(points, scalars.subarray(from, from + points.length), options));
    });
    return sums;
  }

  /**
   * Commits to polynomials, by some of the points at a time.
   *
   * @param slice returns copies of the coefficients [from, to) of some polynomials, which are destroyed here
   * @param few engine that adds up sums
   * @throws MsmError of `msm`; naming the section where a page is damaged
   */
  async commit(
    polynomials: readonly FieldVector[],
    slice: (of: readonly FieldVector[], from: number, to: number) => Promise<readonly FieldVector[]>,
    few: MsmEngine<Of>,
    options: SumOptions,
  ): Promise<AffinePoint<Of>[]> {
    const { engine } = this.#place;
    const sums = polynomials.map((): AffinePoint<Of>[] => []);
    const addUp = async (points: Bases, first: number, from: number, to: number): Promise<void> => {
      const which = [...polynomials.keys()].filter((i) => (polynomials[i] as FieldVector).length > from);
      const slices = await slice(
        which.map((i) => polynomials[i] as FieldVector),
        from,
        to,
      );
      try {
        const offsets = which.map(() => from - first);
        const made = await engine.msmBatch(points, slices, { ...options, offsets });
        for (const [k, i] of which.entries()) sums[i]?.push(made[k] as AffinePoint<Of>);
      } finally {
        for (const each of slices) each.destroy();
      }
    };
    const end = Math.max(...polynomials.map(({ length }) => length));
    await this.#walk(end, options.signal, async (points, first) => {
      const last = Math.min(end, first + points.length);
      for (let from = first; from < last; from += COEFFICIENTS_AT_A_TIME) {
        await addUp(points, first, from, Math.min(last, from + COEFFICIENTS_AT_A_TIME));
      }
    });
    const all: AffinePoint<Of>[] = [];
    for (const each of sums) {
      all.push(
        await combine(
          few,
          each.map((sum) => [sum, ONE] as const),
        ),
      );
    }
    return all;
  }

  /**
   * Visits the loaded points and then each page, up to the point `end`, while the next page is read.
   *
   * @param visit called with points, and the index of the first of them
   */
  async #walk(end: number, signal: AbortSignal, visit: (points: Bases, from: number) => Promise<void>): Promise<void> {
    const { section, pagePoints } = this.#place;
    const first = this.#loaded?.length ?? 0;
    const read = (from: number): Promise<Page> | null => {
      if (from >= end) return null;
      const page = loadPage(this.#place, from, Math.min(section.count, from + pagePoints), signal);
      // awaited after the page before
      page.catch(() => undefined);
      return page;
    };
    let next = read(first);
    try {
      if (this.#loaded !== null) await visit(this.#loaded, 0);
      for (let from = first; next !== null; from += pagePoints) {
        const { points, bytes }: Page = await next;
        next = read(from + pagePoints);
        try {
          await visit(points, from);
        } finally {
          points.destroy();
        }
        // only here nothing computes with them any more
        if (bytes !== null) giveBack([bytes]);
      }
    } catch (error) {
      next?.then(
        ({ points }) => points.destroy(),
        () => undefined,
      );
      throw error;
    }
  }
}

/** Points of a page. */
interface Page {
  readonly points: Bases;
  /** Their bytes, where nobody else has them; else null. */
  readonly bytes: Uint8Array | null;
}

/** Loads the points [from, to), and checks them. @throws MsmError naming the section */
const loadPoints = async <Of extends Coordinate>(
  place: SectionPlace<Of>,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<Bases> => (await loadPage(place, from, to, signal)).points;

/** As `loadPoints`. */
const loadPage = async <Of extends Coordinate>(
  { section, engine, refusesInfinity, file, reader }: SectionPlace<Of>,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<Page> => {
  const { name, encoding, count } = section;
  const bytes = await untilAborted(section.points(from, to), signal);
  assertNotAborted(signal);
  if (refusesInfinity && reader?.areChecked !== true) assertFinite(section, bytes, from);
  // an array of several chunks was made for this call; a smaller one may be the source's own
  const isFresh = file.readsFresh || (!file.inMemory && bytes.byteLength > CHUNK_BYTES);
  const given = isFresh ? handOver(bytes) : bytes;
  const isWhole = from === 0 && to === count;
  const options = { label: isWhole ? name : `${name} from ${from}`, encoding, ...(signal && { signal }) };
  const where = isWhole ? name : `${name} from point ${from} on`;
  const points = await inSection(where, () => loadBases(engine, given, options, reader));
  return { points, bytes: isFresh ? bytes : null };
};

/** Loads points, which are not checked again if a cache has them. @throws MsmError as `loadBases` */
const loadBases = <Of extends Coordinate>(
  engine: MsmEngine<Of>,
  points: Uint8Array,
  options: LoadBasesOptions,
  reader: CheckedReader | null,
): Promise<Bases> =>
  reader?.areChecked === true
    ? (engine as CheckedLoader<Of>).loadCheckedBases(points, options)
    : engine.loadBases(points, options);

/** Points that stay loaded of each section, so that they take no more than some bytes. */
export const countsWithin = (
  sections: readonly Pick<PointSection, 'count' | 'pointBytes'>[],
  pagePoints: number,
  bytes: number,
): number[] => {
  let left = bytes;
  return sections.map(({ count, pointBytes }) => {
    const most = Math.max(0, Math.floor(left / pointBytes));
    // whole pages, so that no page is small
    const loaded = most >= count ? count : Math.floor(most / pagePoints) * pagePoints;
    left -= loaded * pointBytes;
    return loaded;
  });
};
