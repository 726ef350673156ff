/** Division of a vector of mostly short scalars, such as a witness of bits, into short and long ones. */
import type { CurveContext } from '../../curves/curve.js';
import type { Steps } from '../../scheduling/time-slice.js';
import { Ruler, type SurveyedVector } from '../plan/workload.js';

/** Longest scalars that count as short, in bits, and the share of others up to which a vector is divided. */
const [SHORT_BITS, LONG_SHARE] = [16, 1 / 8];

/** Shorter vectors take as long undivided. */
const LEAST_DIVIDED = 256;

/** Scalars between two looks at the clock: less than a millisecond. */
const SCALARS_PER_STEP = 2 ** 14;

/**
 * Divides a vector of mostly short scalars into the short ones and the others, so that the windows of a few long
 * scalars do not count for all (row `witness-divided-by-length`). Zeros are left out.
 *
 * @returns parts with copies of their scalars, which the caller overwrites; the vector itself where that takes as long
 */
export function* dividedByLength(curve: CurveContext, vector: SurveyedVector): Steps<readonly SurveyedVector[]> {
  const { load, scalars, indices } = vector;
  const { n, bits, lengths } = load;
  if (n < LEAST_DIVIDED || bits <= SHORT_BITS) return [vector];
  const sampled = [...lengths];
  const countOf = (some: readonly (readonly [number, number])[]): number =>
    some.reduce((sum, [, count]) => sum + count, 0);
  const short = sampled.filter(([length]) => length > 0 && length <= SHORT_BITS);
  const limit = Math.max(0, ...short.map(([length]) => length));
  const long = sampled.filter(([length]) => length > limit);
  if (limit === 0 || countOf(long) > LONG_SHARE * countOf(short)) return [vector];
  const words = new Uint32Array(scalars.buffer, scalars.byteOffset, scalars.length / 4);
  const ruler = new Ruler(curve, words);
  const [shortOnes, longOnes] = [new Uint32Array(n), new Uint32Array(n)];
  let [shortCount, longCount] = [0, 0];
  for (let i = 0; i < n; i++) {
    const length = ruler.lengthOf(i);
    if (length > limit) longOnes[longCount++] = i;
    else if (length > 0) shortOnes[shortCount++] = i;
    if (i % SCALARS_PER_STEP === 0) yield;
  }
  const part = (places: Uint32Array<ArrayBuffer>, partBits: number, like: typeof sampled): SurveyedVector => {
    const count = places.length;
    // the sample may have met none of them
    const met = like.length === 0 ? [[partBits, count] as const] : like;
    const scale = count / countOf(met);
    return {
      load: { ...load, n: count, bits: partBits, lengths: new Map(met.map(([l, c]) => [l, c * scale])), picked: true },
      scalars: pickedScalars(words, curve.scalarBytes / 4, places),
      indices: indices === null ? places : places.map((i) => indices[i] as number),
      offset: vector.offset,
    };
  };
  const parts = [
    part(shortOnes.subarray(0, shortCount), limit, short),
    part(longOnes.subarray(0, longCount), bits, long),
  ];
  return parts.filter(({ load }) => load.n > 0);
}

/** Returns the scalars at some places. */
const pickedScalars = (words: Uint32Array, perScalar: number, places: Uint32Array): Uint8Array<ArrayBuffer> => {
  const picked = new Uint32Array(places.length * perScalar);
  for (let k = 0; k < places.length; k++) {
    const at = (places[k] as number) * perScalar;
    for (let w = 0; w < perScalar; w++) picked[k * perScalar + w] = words[at + w] as number;
  }
  return new Uint8Array(picked.buffer);
};
