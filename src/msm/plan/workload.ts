import type { CurveContext } from '../../curves/curve.js';

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
