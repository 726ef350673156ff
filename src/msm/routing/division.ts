import { rangeOf, type ScalarVector } from '../inputs/scalars.js';

/**
 * Divides the scalars of a call between two sides that compute at the same time. One side draws
 * from the front, the other from the back, until nothing is left.
 */

export type Half = 'front' | 'back';

/** Expected speed of one side. */
export interface Pace {
  /** Time of a draw, however small, in ms. */
  readonly fixedMs: number;
  /** Scalars a millisecond. */
  readonly rate: number;
}

/** The scalars [from, to). */
export interface Drawn {
  readonly from: number;
  readonly to: number;
}

/** Fraction of its expected share that a side takes first. The faster side takes the rest. */
const FIRST = 0.5;

/** A draw takes all of an expected share whose rest is below this many times the fixed time. */
const LEAST_REST = 4;

/** State of one side. */
interface SideState {
  pace: Pace;
  busy: { readonly amount: number; readonly since: number } | null;
  /** True after its last draw. */
  isThrough: boolean;
}

/** A side that is overdue is expected to need this fraction of its time so far in addition. */
const OVERDUE = 0.25;

/** Returns how long a side will be busy, in ms, and its expected pace after that. */
const expected = ({ busy, pace }: SideState, now: number): { readonly busyMs: number; readonly pace: Pace } => {
  if (busy === null) return { busyMs: 0, pace };
  const elapsed = now - busy.since;
  const busyMs = pace.fixedMs + busy.amount / pace.rate - elapsed;
  if (busyMs >= OVERDUE * elapsed) return { busyMs, pace };
  const least = (1 + OVERDUE) * elapsed;
  return {
    busyMs: least - elapsed,
    pace: { ...pace, rate: Math.min(pace.rate, busy.amount / Math.max(least - pace.fixedMs, least / 4)) },
  };
};

export class Division {
  readonly #sides: Readonly<Record<Half, SideState>>;
  readonly #cut: (at: number) => number;
  readonly #first: number;
  #from = 0;
  #to: number;

  /**
   * @param total number of scalars
   * @param paces expected speed of each side; measured draws correct it
   * @param cut returns the permitted cut nearest to a scalar
   * @param first largest fraction of all scalars that the front draws first
   */
  constructor(total: number, paces: Readonly<Record<Half, Pace>>, cut: (at: number) => number = (at) => at, first = 1) {
    this.#to = total;
    this.#first = Math.max(1, Math.ceil(first * total));
    this.#cut = cut;
    const side = (pace: Pace): SideState => ({ pace, busy: null, isThrough: false });
    this.#sides = { front: side(paces.front), back: side(paces.back) };
  }

  /**
   * Returns the scalars that a side computes next, so that both sides are expected to end together.
   * Returns null if the other side had better compute the rest.
   *
   * @param now time in ms
   */
  draw(half: Half, now: number): Drawn | null {
    const left = this.#to - this.#from;
    const own = this.#sides[half];
    const other = this.#sides[half === 'front' ? 'back' : 'front'];
    const most = half === 'front' && this.#from === 0 ? this.#first : left;
    const amount = left === 0 ? 0 : Math.min(most, this.#amount(left, own, other, now));
    if (amount === 0) {
      own.isThrough = true;
      return null;
    }
    const { from, to } = { from: this.#from, to: this.#to };
    const cut = this.#cut(half === 'front' ? from + amount : to - amount);
    const drawn = half === 'front' ? { from, to: cut > from ? cut : to } : { from: cut < to ? cut : from, to };
    if (half === 'front') this.#from = drawn.to;
    else this.#to = drawn.from;
    own.busy = { amount: drawn.to - drawn.from, since: now };
    return drawn;
  }

  /** Notes the end of a draw, and corrects the pace of the side. */
  done(half: Half, now: number): void {
    const own = this.#sides[half];
    if (own.busy === null) return;
    const { amount, since } = own.busy;
    own.busy = null;
    const { fixedMs } = own.pace;
    // a draw faster than the fixed time shows that the fixed time is shorter
    const ms = now - since;
    const growing = Math.max(ms - fixedMs, ms / 4);
    if (growing > 0) own.pace = { fixedMs: Math.min(fixedMs, ms), rate: amount / growing };
  }

  #amount(left: number, own: SideState, other: SideState, now: number): number {
    if (other.isThrough) return left;
    const { fixedMs, rate } = own.pace;
    const { busyMs, pace } = expected(other, now);
    // time until the other side begins to compute its next draw
    const otherMs = busyMs + pace.fixedMs;
    // time until both end, if both take part
    const together = (left + rate * fixedMs + pace.rate * otherMs) / (rate + pace.rate);
    // the other side would finish all that is left before this side could finish any of it
    if (together <= fixedMs) return 0;
    const ideal = together <= otherMs ? left : Math.min(left, Math.ceil(rate * (together - fixedMs)));
    const first = Math.ceil(FIRST * ideal);
    return (ideal - first) / rate > LEAST_REST * fixedMs ? first : ideal;
  }
}

/* Ranges of the scalars of a call, counted over all vectors, for calls that are divided. */

/** Scalars [from, to), counted over all vectors. */
interface ScalarRange {
  readonly from: number;
  readonly to: number;
}

/** The part of one vector that lies in a range. */
interface VectorPart {
  /** Index of the vector. */
  readonly vector: number;
  readonly scalars: ScalarVector;
}

/** Vectors with less than this fraction of all scalars are not cut. */
const SHORT = 1 / 16;

/**
 * Returns a function from a scalar to the nearest permitted cut. Cuts are permitted anywhere in a
 * long vector, and between vectors.
 *
 * @param n number of scalars of all vectors
 */
export const cutsOf = (vectors: readonly ScalarVector[], n: number): ((at: number) => number) => {
  let end = 0;
  const ends = vectors.map((vector) => {
    end += vector.n;
    return end;
  });
  return (at) => {
    const v = ends.findIndex((each) => at < each);
    if (v === -1) return n;
    const [start, next] = [v === 0 ? 0 : (ends[v - 1] as number), ends[v] as number];
    if (next - start > SHORT * n) return at;
    return at - start < next - at ? start : next;
  };
};

/** Returns the parts of vectors that lie in a range. */
export const partsOf = (
  vectors: readonly ScalarVector[],
  scalarBytes: number,
  { from, to }: ScalarRange,
): VectorPart[] => {
  let start = 0;
  return vectors.flatMap((each, vector) => {
    const [first, last] = [Math.max(0, from - start), Math.min(each.n, to - start)];
    start += each.n;
    return first >= last ? [] : [{ vector, scalars: rangeOf(each, scalarBytes, first, last) }];
  });
};
