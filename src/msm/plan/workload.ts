/**
 * The work of a sum: numbers and lengths of scalars, tables of bases, and the survey that reads them
 * off the scalars.
 */
import type { CurveContext } from '../../curves/curve.js';
import { digitsOf } from '../../field/modulus.js';

/**
 * Tables of resident bases (Lim and Lee 1994): 2^(t·bits)·P for every base P and every t < count,
 * contiguous for each base.
 */
export interface TableShape {
  readonly count: number;
  /** Bits of a scalar that one table covers. */
  readonly bits: number;
}

/** Bases without tables. */
export const NO_TABLES: TableShape = { count: 1, bits: Number.POSITIVE_INFINITY };

/**
 * Properties of scalars that a plan depends on: of one vector, or of several over the same bases.
 * Shorter vectors are padded to n.
 */
export interface Workload {
  readonly vectors: number;
  /** Scalars of the longest vector. */
  readonly n: number;
  /** Upper bound: |s| < 2^bits for each scalar s, after decompose has reduced and negated it. */
  readonly bits: number;
  /** Estimated number of scalars by their bits, over all vectors. */
  readonly lengths: ReadonlyMap<number, number>;
  readonly tables: TableShape;
  /** Some vectors have only their nonzero scalars, with the bases that these multiply. */
  readonly picked: boolean;
}

/** Returns `most` tables that cover every scalar, or fewer if these suffice. */
export const loadedTables = ({ signedBits }: CurveContext, most: number): TableShape => {
  if (most === 1) return NO_TABLES;
  // one bit more, as the topmost digit must not lend
  const all = signedBits + 1;
  const bits = Math.ceil(all / most);
  return { count: Math.ceil(all / bits), bits };
};

/** Returns the workload of n scalars of full length. */
export const fullWorkload = (n: number, { signedBits: bits }: CurveContext, tables = NO_TABLES): Workload => ({
  vectors: 1,
  n,
  bits,
  lengths: new Map([[bits, n]]),
  tables,
  picked: false,
});

/** Returns the blocks that scalars of `bits` bits are cut into, and the bits of each block. */
export const blocksOf = ({ bits, tables }: Pick<Workload, 'bits' | 'tables'>): TableShape => {
  const count = Math.ceil((bits + 1) / tables.bits);
  return count <= 1 ? { count: 1, bits: bits + 1 } : { count, bits: tables.bits };
};

/** Returns the expected number of nonzero digits of c bits. */
export const expectedDigits = (load: Workload, windowBits: number): number => {
  const { bits: blockBits } = blocksOf(load);
  const windows = Math.ceil(blockBits / windowBits);
  // the topmost bit of a scalar fills a digit, or is the top bit of a window, which lends to the
  // next window
  const digits = (bits: number): number =>
    bits === 0 ? 0 : Math.floor(bits / blockBits) * windows + Math.floor((bits % blockBits) / windowBits) + 1;
  let all = 0;
  for (const [bits, count] of load.lengths) all += count * digits(bits);
  return all * (1 - 2 ** -windowBits);
};

/** Returns the workload of n scalars like those of `load`. */
export const shareOf = (load: Workload, n: number): Workload => ({
  ...load,
  n,
  lengths: new Map([...load.lengths].map(([bits, count]) => [bits, (count * n) / load.n])),
});

/** Returns the average vector of a batch. */
export const oneOf = (load: Workload): Workload => ({
  ...load,
  vectors: 1,
  lengths: new Map([...load.lengths].map(([bits, count]) => [bits, count / load.vectors])),
});

const most = (values: readonly number[]): number => values.reduce((left, right) => Math.max(left, right), 0);

/** Combines vectors to one workload. */
export const together = (loads: readonly Workload[]): Workload => {
  const bits = most(loads.map((load) => load.bits));
  const lengths = new Map<number, number>();
  for (const load of loads) {
    for (const [length, count] of load.lengths) lengths.set(length, (lengths.get(length) ?? 0) + count);
  }
  const [first] = loads as readonly [Workload];
  return {
    vectors: loads.length,
    n: most(loads.map(({ n }) => n)),
    bits,
    lengths,
    tables: first.tables,
    picked: loads.some(({ picked }) => picked),
  };
};

/** Scalars that an estimate samples. */
const SAMPLE = 1024;

/**
 * Measures the bits of scalars as decompose will use them, reduced and, where the curve allows it,
 * negated.
 */
export class Ruler {
  readonly #words: Uint32Array;
  readonly #perScalar: number;
  readonly #order: readonly number[];
  readonly #orderBits: number;
  readonly #negates: boolean;
  /** Bits of the longest scalar after decompose. */
  readonly full: number;

  constructor(curve: CurveContext, words: Uint32Array) {
    this.#words = words;
    this.#perScalar = curve.scalarBytes / 4;
    this.#order = digitsOf(curve.order, 32, this.#perScalar);
    this.#orderBits = curve.scalarBits;
    this.#negates = curve.negatesScalars;
    this.full = curve.signedBits;
  }

  /** Returns whether a stored scalar is below 2^bits, a cheap test. */
  isBelow(index: number, bits: number): boolean {
    const at = index * this.#perScalar;
    const top = bits >>> 5;
    for (let w = this.#perScalar - 1; w > top; w--) if (this.#words[at + w] !== 0) return false;
    return top >= this.#perScalar || (this.#words[at + top] as number) >>> (bits & 31) === 0;
  }

  /**
   * Returns the bits of scalar `index`, or those of the longest if the scalar is not below the
   * order.
   */
  lengthOf(index: number): number {
    const at = index * this.#perScalar;
    let length = 0;
    for (let w = 0; w < this.#perScalar; w++) {
      const word = this.#words[at + w] as number;
      if (word !== 0) length = 32 * (w + 1) - Math.clz32(word);
    }
    // shorter than half the order, so that its negative is longer
    if (length < this.#orderBits - 1) return length;
    let [borrow, difference] = [0, 0];
    for (let w = 0; w < this.#perScalar; w++) {
      const rest = (this.#order[w] as number) - (this.#words[at + w] as number) - borrow;
      borrow = rest < 0 ? 1 : 0;
      if (rest !== 0 && rest !== -(2 ** 32)) difference = 32 * (w + 1) - Math.clz32(rest >>> 0);
    }
    if (borrow === 1) return this.full;
    if (difference === 0) return 0;
    return this.#negates ? Math.min(length, difference) : Math.min(length, this.full);
  }
}

/** Scalars to compute with, and their workload. */
export interface Surveyed {
  readonly load: Workload;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Indices of the scalars among those given, in ascending order; null if all are there. */
  readonly indices: Uint32Array<ArrayBuffer> | null;
}

/** The scalars of a vector. The first of the given scalars multiplies base `offset`. */
export interface SurveyedVector extends Surveyed {
  readonly offset: number;
}

/** Returns the nonzero scalars with their indices. */
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
 * Surveys the scalars of a vector for the planner. A sample estimates the number of nonzero digits.
 * If the sample has only short scalars, a pass over all of them finds the longest. If most scalars
 * are zero, only the nonzero ones are returned. For random scalars the cost is negligible; a pass
 * over all of them happens only where it saves most of the work.
 *
 * @param scalars in the public format
 * @param picks whether zeros may be left out
 * @returns the workload of one vector, whose `bits` is an upper bound for every scalar
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
  // the sample may have met none of the nonzero scalars
  const { load: left } = survey(curve, kept.scalars, tables, false);
  return { ...kept, load: { ...left, picked: true } };
};

/**
 * Returns T, the windows of c bits of a scalar. They cover one bit more than the scalar has,
 * because the top window must not lend.
 */
export const windowCount = (scalarBits: number, windowBits: number): number => Math.ceil((scalarBits + 1) / windowBits);
