/** How one MSM, or a batch, is divided between two that compute at the same time: one draws from the front, the other from the back, until nothing is left. */

export type Half = 'front' | 'back';

/** What is expected of one side. */
export interface Pace {
  /** Milliseconds of a draw, however small. */
  readonly fixedMs: number;
  /** Scalars a millisecond. */
  readonly rate: number;
}

/** From one scalar up to another. */
export interface Drawn {
  readonly from: number;
  readonly to: number;
}

/** Of what a side is thought to get in all, it draws so much at first: the rest is for whoever turns out to be faster. */
const FIRST = 0.5;

/** A draw is not divided further where the rest would take less than so many times what is fixed. */
const LEAST_REST = 4;

/** What a side is doing. */
interface SideState {
  pace: Pace;
  busy: { readonly amount: number; readonly since: number } | null;
  /** It has drawn its last. */
  isThrough: boolean;
}

/** One that should be done by now is slower than was thought: it is taken to need a quarter more than it has had. */
const OVERDUE = 0.25;

/** For how long a side is busy yet, and the pace to be expected of it after that. */
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
   * @param total scalars
   * @param paces what is expected of either side; what they take corrects it
   * @param cut the place nearest to one where it may be cut
   * @param first of all scalars, what the front draws first, at most
   */
  constructor(total: number, paces: Readonly<Record<Half, Pace>>, cut: (at: number) => number = (at) => at, first = 1) {
    this.#to = total;
    this.#first = Math.max(1, Math.ceil(first * total));
    this.#cut = cut;
    const side = (pace: Pace): SideState => ({ pace, busy: null, isThrough: false });
    this.#sides = { front: side(paces.front), back: side(paces.back) };
  }

  /**
   * What a side is to compute next, so that both are expected to end together; null if the other one is better left to do the rest.
   *
   * @param now in milliseconds
   */
  draw(who: Half, now: number): Drawn | null {
    const left = this.#to - this.#from;
    const own = this.#sides[who];
    const other = this.#sides[who === 'front' ? 'back' : 'front'];
    const most = who === 'front' && this.#from === 0 ? this.#first : left;
    const amount = left === 0 ? 0 : Math.min(most, this.#amount(left, own, other, now));
    if (amount === 0) {
      own.isThrough = true;
      return null;
    }
    const { from, to } = { from: this.#from, to: this.#to };
    const cut = this.#cut(who === 'front' ? from + amount : to - amount);
    const drawn = who === 'front' ? { from, to: cut > from ? cut : to } : { from: cut < to ? cut : from, to };
    if (who === 'front') this.#from = drawn.to;
    else this.#to = drawn.from;
    own.busy = { amount: drawn.to - drawn.from, since: now };
    return drawn;
  }

  /** What was drawn is done. */
  done(who: Half, now: number): void {
    const own = this.#sides[who];
    if (own.busy === null) return;
    const { amount, since } = own.busy;
    own.busy = null;
    const { fixedMs } = own.pace;
    // what took less than what is fixed says that it is no more
    const ms = now - since;
    const growing = Math.max(ms - fixedMs, ms / 4);
    if (growing > 0) own.pace = { fixedMs: Math.min(fixedMs, ms), rate: amount / growing };
  }

  #amount(left: number, own: SideState, other: SideState, now: number): number {
    if (other.isThrough) return left;
    const { fixedMs, rate } = own.pace;
    const { busyMs, pace } = expected(other, now);
    // when the other one would have begun on what it draws next
    const otherMs = busyMs + pace.fixedMs;
    // both end after so many milliseconds, if both take part
    const together = (left + rate * fixedMs + pace.rate * otherMs) / (rate + pace.rate);
    // the other one would be done with all that is left before this one could be with any
    if (together <= fixedMs) return 0;
    const ideal = together <= otherMs ? left : Math.min(left, Math.ceil(rate * (together - fixedMs)));
    const first = Math.ceil(FIRST * ideal);
    return (ideal - first) / rate > LEAST_REST * fixedMs ? first : ideal;
  }
}
