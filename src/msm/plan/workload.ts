import type { CurveContext } from '../../curves/curve.js';

/** Tables of resident bases: the buffer holds 2^(t·bits)·P for every base P and every t < count, those of a base side by side. */
export interface TableShape {
  readonly count: number;
  /** Bits of a scalar that one table covers. */
  readonly bits: number;
}

/** The bases as they are. */
export const NO_TABLES: TableShape = { count: 1, bits: Number.POSITIVE_INFINITY };

/** What a plan has to know of scalars: of one vector, or of several over the same bases. Vectors shorter than n are filled up. */
export interface Workload {
  readonly vectors: number;
  /** Scalars of the longest vector. */
  readonly n: number;
  /** |s| < 2^bits for each of them, s being as decompose takes it. */
  readonly bits: number;
  /** How many scalars have how many bits, by bits, over all vectors; an estimate. */
  readonly lengths: ReadonlyMap<number, number>;
  readonly tables: TableShape;
  /** Some vectors have only some of their scalars, and bases to match. */
  readonly picked: boolean;
}

/** Tables that cover every scalar: as many, or the fewer that cover as much. */
export const loadedTables = ({ signedBits }: CurveContext, most: number): TableShape => {
  if (most === 1) return NO_TABLES;
  // the topmost digit must not lend, which takes a bit more
  const all = signedBits + 1;
  const bits = Math.ceil(all / most);
  return { count: Math.ceil(all / bits), bits };
};

/** n scalars of full length. */
export const fullWorkload = (n: number, { signedBits: bits }: CurveContext, tables = NO_TABLES): Workload => ({
  vectors: 1,
  n,
  bits,
  lengths: new Map([[bits, n]]),
  tables,
  picked: false,
});

/** Tables that scalars of `bits` bits need, and how many bits of them each has to cover. */
export const blocksOf = ({ bits, tables }: Pick<Workload, 'bits' | 'tables'>): TableShape => {
  const count = Math.ceil((bits + 1) / tables.bits);
  return count <= 1 ? { count: 1, bits: bits + 1 } : { count, bits: tables.bits };
};

/** How many digits of c bits are not zero, about. */
export const expectedDigits = (load: Workload, windowBits: number): number => {
  const { bits: blockBits } = blocksOf(load);
  const windows = Math.ceil(blockBits / windowBits);
  // a scalar's topmost bit fills a digit, or is the top bit of a window, which lends to the next one
  const digits = (bits: number): number =>
    bits === 0 ? 0 : Math.floor(bits / blockBits) * windows + Math.floor((bits % blockBits) / windowBits) + 1;
  let all = 0;
  for (const [bits, count] of load.lengths) all += count * digits(bits);
  return all * (1 - 2 ** -windowBits);
};

/** The same with `share` of the scalars. */
export const shareOf = (load: Workload, n: number): Workload => ({
  ...load,
  n,
  lengths: new Map([...load.lengths].map(([bits, count]) => [bits, (count * n) / load.n])),
});

/** A vector like those of a batch, on the average. */
export const oneOf = (load: Workload): Workload => ({
  ...load,
  vectors: 1,
  lengths: new Map([...load.lengths].map(([bits, count]) => [bits, count / load.vectors])),
});

const most = (values: readonly number[]): number => values.reduce((left, right) => Math.max(left, right), 0);

/** Several vectors as one workload. */
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
