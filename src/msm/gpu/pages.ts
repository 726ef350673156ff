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

/** The bases [first, first + count). */
export interface Page {
  readonly first: number;
  readonly count: number;
}

/**
 * Returns the most bases of a page.
 *
 * @param baseBytes bytes of a base, with its tables
 * @param mostBytes size of the largest buffer
 */
export const pageLength = (baseBytes: number, mostBytes: number): number => {
  const step = itemsPerBindingStep(baseBytes);
  return Math.max(step, Math.floor(mostBytes / (step * baseBytes)) * step);
};

/** Returns the pages of some bases. @param most as `pageLength` returns it */
export const pagesOf = (length: number, most: number): Page[] =>
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
): { readonly page: LoadedBases; readonly parts: readonly PagePart[] }[] => {
  let first = 0;
  return pages.flatMap((page) => {
    const parts = vectors.flatMap((each, vector): PagePart[] => {
      const from = Math.max(0, first - each.offset);
      const to = Math.min(each.n, first + page.length - each.offset);
      if (from >= to) return [];
      const { offset, ...range } = rangeOf(each, scalarBytes, from, to);
      return [{ vector, scalars: { ...range, offset: offset - first } }];
    });
    first += page.length;
    return parts.length === 0 ? [] : [{ page, parts }];
  });
};

/** Returns the lengths of vectors by pages, where each vector begins with the first base. */
export const lengthsByPage = (
  { pages }: LoadedBases,
  lengths: readonly number[],
): { readonly page: LoadedBases; readonly lengths: readonly number[] }[] => {
  let first = 0;
  return pages.flatMap((page) => {
    const own = lengths.map((length) => Math.min(page.length, length - first)).filter((length) => length > 0);
    first += page.length;
    return own.length === 0 ? [] : [{ page, lengths: own }];
  });
};
