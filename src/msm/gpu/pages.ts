/**
 * Pages of bases. A device limits the size of a buffer, 256 MiB by default, which has 2^22 points of
 * BN254; bases that are longer are in several buffers, and a sum over them is that of its pages.
 *
 * Jobs over several buffers at once would save one reduction of buckets a page. That is little: a
 * page has as many points as the widest windows are made for, and a job is cut where bindings end,
 * at half a page by default.
 */
import { itemsPerBindingStep } from '../../shaders/limits.js';
import type { LoadedBases } from '../inputs/loaded-bases.js';
import { rangeOf, type ScalarVector } from '../inputs/scalars.js';

/** The points [first, first + count). */
export interface PointRange {
  readonly first: number;
  readonly count: number;
}

/**
 * Returns the most bases of a page, or of a binding.
 *
 * @param baseBytes bytes of a base, with its tables
 * @param mostBytes size of the largest buffer or binding
 */
export const pageLength = (baseBytes: number, mostBytes: number): number => {
  const step = itemsPerBindingStep(baseBytes);
  return Math.max(step, Math.floor(mostBytes / (step * baseBytes)) * step);
};

/** Cuts points into ranges. @param most points of a range */
export const rangesOf = (length: number, most: number): PointRange[] =>
  Array.from({ length: Math.ceil(length / most) }, (_, i) => ({
    first: i * most,
    count: Math.min(most, length - i * most),
  }));

/** The part of one vector that multiplies bases of a page. */
interface PagePart {
  /** Index of the vector. */
  readonly vector: number;
  /** Its offset counts from the first base of the page. */
  readonly scalars: ScalarVector;
}

/** Returns the parts of vectors by pages, without pages that no scalar multiplies. */
export const partsByPage = (
  { pages }: LoadedBases,
  vectors: readonly ScalarVector[],
  scalarBytes: number,
): { readonly page: LoadedBases; readonly parts: readonly PagePart[] }[] =>
  byPage(pages, ({ length }, first) =>
    vectors.flatMap((each, vector): PagePart[] => {
      const from = Math.max(0, first - each.offset);
      const to = Math.min(each.n, first + length - each.offset);
      if (from >= to) return [];
      const { offset, ...range } = rangeOf(each, scalarBytes, from, to);
      return [{ vector, scalars: { ...range, offset: offset - first } }];
    }),
  );

/** Returns the lengths of vectors by pages, where each vector begins with the first base. */
export const lengthsByPage = (
  { pages }: LoadedBases,
  lengths: readonly number[],
): { readonly page: LoadedBases; readonly parts: readonly number[] }[] =>
  byPage(pages, (page, first) =>
    lengths.map((length) => Math.min(page.length, length - first)).filter((length) => length > 0),
  );

/** Returns the parts of each page that has any. @param partsOf receives the index of the page's first base */
const byPage = <Part>(
  pages: readonly LoadedBases[],
  partsOf: (page: LoadedBases, first: number) => readonly Part[],
): { readonly page: LoadedBases; readonly parts: readonly Part[] }[] => {
  let first = 0;
  return pages.flatMap((page) => {
    const parts = partsOf(page, first);
    first += page.length;
    return parts.length === 0 ? [] : [{ page, parts }];
  });
};
