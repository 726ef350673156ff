import type { CurveContext } from '../../curves/curve.js';
import { digitsOf } from '../../field/modulus.js';
import type { TableShape, Workload } from './workload.js';

/** Scalars that are looked at for an estimate. */
const SAMPLE = 1024;

/** Finds how many bits scalars have, as decompose will take them. */
class Ruler {
  readonly #words: Uint32Array;
  readonly #perScalar: number;
  readonly #order: readonly number[];
  readonly #orderBits: number;
  readonly #folds: boolean;
  /** Bits of the longest number that there can be. */
  readonly full: number;

  constructor(curve: CurveContext, words: Uint32Array) {
    this.#words = words;
    this.#perScalar = curve.scalarBytes / 4;
    this.#order = digitsOf(curve.order, 32, this.#perScalar);
    this.#orderBits = curve.scalarBits;
    this.#folds = curve.negatesScalars;
    this.full = curve.signedBits;
  }

  /** Whether a scalar is below 2^bits as it stands; what is cheap to say. */
  isBelow(index: number, bits: number): boolean {
    const at = index * this.#perScalar;
    const top = bits >>> 5;
    for (let w = this.#perScalar - 1; w > top; w--) if (this.#words[at + w] !== 0) return false;
    return top >= this.#perScalar || (this.#words[at + top] as number) >>> (bits & 31) === 0;
  }

  /** Bits of scalar `index`; of one that is not below the order, those of the longest. */
  lengthOf(index: number): number {
    const at = index * this.#perScalar;
    let length = 0;
    for (let w = 0; w < this.#perScalar; w++) {
      const word = this.#words[at + w] as number;
      if (word !== 0) length = 32 * (w + 1) - Math.clz32(word);
    }
    // shorter than half the order: nothing to fold
    if (length < this.#orderBits - 1) return length;
    let [borrow, difference] = [0, 0];
    for (let w = 0; w < this.#perScalar; w++) {
      const rest = (this.#order[w] as number) - (this.#words[at + w] as number) - borrow;
      borrow = rest < 0 ? 1 : 0;
      if (rest !== 0 && rest !== -(2 ** 32)) difference = 32 * (w + 1) - Math.clz32(rest >>> 0);
    }
    if (borrow === 1) return this.full;
    if (difference === 0) return 0;
    return this.#folds ? Math.min(length, difference) : Math.min(length, this.full);
  }
}

/** Scalars as they are computed with. */
export interface Surveyed {
  readonly load: Workload;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Which of the given ones they are, in ascending order; null if all. */
  readonly indices: Uint32Array<ArrayBuffer> | null;
}

/** The scalars of a vector, the first of those given multiplying base `offset`. */
export interface SurveyedVector extends Surveyed {
  readonly offset: number;
}

/** All but the zeros. */
const withoutZeros = (
  words: Uint32Array,
  perScalar: number,
): Pick<Surveyed, 'scalars'> & { indices: Uint32Array<ArrayBuffer> } => {
  const n = words.length / perScalar;
  const indices = new Uint32Array(n);
  const kept = new Uint32Array(words.length);
  let count = 0;
  for (let i = 0; i < n; i++) {
    let any = 0;
    for (let w = 0; w < perScalar; w++) {
      const word = words[i * perScalar + w] as number;
      kept[count * perScalar + w] = word;
      any |= word;
    }
    if (any !== 0) indices[count++] = i;
  }
  return { scalars: new Uint8Array(kept.buffer, 0, 4 * count * perScalar), indices: indices.subarray(0, count) };
};

/**
 * Looks at scalars to plan by them: at some for how many digits will not be zero, and, where those are all short, at every one for the
 * longest. Where most are zero, the others are picked out. It costs next to nothing where scalars are random, and a pass over them
 * where that saves most of the work.
 *
 * @param scalars in the public format
 * @param picks whether zeros may be left out
 * @returns the workload of one vector; `bits` is an upper bound of every scalar's, to be relied on
 */
export const survey = (
  curve: CurveContext,
  scalars: Uint8Array<ArrayBuffer>,
  tables: TableShape,
  picks = true,
): Surveyed => {
  const n = scalars.length / curve.scalarBytes;
  const words = new Uint32Array(scalars.buffer, scalars.byteOffset, scalars.length / 4);
  const ruler = new Ruler(curve, words);
  const lengths = new Map<number, number>();
  const sample = Math.min(n, SAMPLE);
  let bits = 0;
  for (let k = 0; k < sample; k++) {
    const length = ruler.lengthOf(Math.floor((k * n) / sample));
    lengths.set(length, (lengths.get(length) ?? 0) + n / sample);
    bits = Math.max(bits, length);
  }
  if (sample < n) {
    for (let i = 0; i < n && bits < ruler.full; i++) {
      if (!ruler.isBelow(i, bits)) bits = Math.max(bits, ruler.lengthOf(i));
    }
  }
  const load = { vectors: 1, n, bits, lengths, tables, picked: false };
  if (!picks || 2 * (lengths.get(0) ?? 0) <= n) return { load, scalars, indices: null };
  const kept = withoutZeros(words, curve.scalarBytes / 4);
  // of those few the sample may have met none: they are looked at instead
  const { load: left } = survey(curve, kept.scalars, tables, false);
  return { ...kept, load: { ...left, picked: true } };
};
