/** Finds whether snarkjs may be faster than this library at all, by a small MSM on each side. */
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import { Contest, type LeftWork } from './contest.js';
import type { FfCurveName, FfGroup, MultiExpAffine } from './ffjavascript.js';
import { SCALAR_BYTES } from './msm-for-snarkjs.js';

/** Points of the MSM, which takes each side some milliseconds. */
const POINTS = 2 ** 9;

/** MSMs of each side at most, of which the fastest counts. */
const TURNS = 3;

/** Time after which a side computes no further MSM, in milliseconds. */
const MOST_MS = 20;

/** snarkjs may be faster with larger work where it takes less than this times the own time. */
const MOST_RATIO = 1.5;

/** Arithmetics in which this library takes a third of snarkjs's time. */
const certain: readonly unknown[] = ['wasm-fma', 'wasm-wide'];

/** Time after a call until both sides are measured, in milliseconds. */
const PAUSE_MS = 100;

/** A group of a curve that snarkjs has made, and its own MSM. */
export interface OriginalGroup {
  readonly group: FfGroup;
  readonly multiExpAffine: MultiExpAffine;
}

/** Both sides of a curve. */
export interface Sides {
  /** Returns the engine of a curve's G1. */
  engine(curve: FfCurveName): Promise<MsmEngine<Coordinate>>;
  /** Returns G1 of a curve whose threads run; null if snarkjs has made none. */
  original(curve: FfCurveName): OriginalGroup | null;
}

/** Returns the multiples G to n·G of a group's generator. */
const multiplesOf = async (group: FfGroup, n: number): Promise<Uint8Array> => {
  const bytes = 3 * group.F.n8;
  const all = new Uint8Array(n * bytes);
  let point = group.g;
  for (let i = 0; i < n; i++) {
    all.set(point, i * bytes);
    point = group.add(point, group.g);
  }
  return group.batchToAffine(all);
};

/** Returns random scalars below the order of every curve of snarkjs. */
const randomScalars = (n: number): Uint8Array => {
  const scalars = crypto.getRandomValues(new Uint8Array(n * SCALAR_BYTES));
  for (let i = 1; i <= n; i++) scalars[i * SCALAR_BYTES - 1] = 0;
  return scalars;
};

/** Returns the least time of some calls, in milliseconds. */
const leastMs = async (compute: () => Promise<unknown>): Promise<number> => {
  let [least, spent] = [Number.POSITIVE_INFINITY, 0];
  for (let turn = 0; turn < TURNS && spent < MOST_MS; turn++) {
    const begun = performance.now();
    await compute();
    const ms = performance.now() - begun;
    least = Math.min(least, ms);
    spent += ms;
  }
  return least;
};

/** Measures once for each curve, while nothing else is computed. */
class Doubt {
  readonly #sides: Sides;
  readonly #contest: () => Contest;
  readonly #known = new Map<FfCurveName, boolean>();
  readonly #arranged = new Set<FfCurveName>();

  /** @param contest knows whether other work runs */
  constructor(sides: Sides, contest: () => Contest) {
    this.#sides = sides;
    this.#contest = contest;
  }

  /** Returns whether snarkjs may be faster on a curve; false until it is measured. */
  of(curve: FfCurveName): boolean {
    if (this.#sides.original(curve) === null) return false;
    const known = this.#known.get(curve);
    if (known === undefined && !this.#arranged.has(curve)) this.#arrange(curve);
    return known ?? false;
  }

  #arrange(curve: FfCurveName): void {
    this.#arranged.add(curve);
    const timer = setTimeout(() => void this.#measureIfIdle(curve), PAUSE_MS);
    // in Node, lets a process end that waits for this timer alone
    (timer as { unref?(): void }).unref?.();
  }

  async #measureIfIdle(curve: FfCurveName): Promise<void> {
    const contest = this.#contest();
    if (!contest.isIdle) {
      this.#arrange(curve);
      return;
    }
    try {
      const { result, isAlone } = await contest.alone(() => this.#measure(curve));
      if (isAlone) this.#known.set(curve, result);
    } catch {
      // a side that fails is not compared
      this.#known.set(curve, false);
    } finally {
      this.#arranged.delete(curve);
    }
  }

  async #measure(curve: FfCurveName): Promise<boolean> {
    const original = this.#sides.original(curve);
    const engine = await this.#sides.engine(curve);
    if (original === null || !engine.adapter.software) return false;
    const [points, scalars] = [await multiplesOf(original.group, POINTS), randomScalars(POINTS)];
    const bases = await engine.loadBases(points.slice(), { encoding: 'le-montgomery' });
    try {
      const ownMs = await leastMs(() => engine.msm(bases, scalars));
      if (certain.includes(engine.lastRun?.arithmetic)) return false;
      return (await leastMs(() => original.multiExpAffine(points, scalars))) < MOST_RATIO * ownMs;
    } finally {
      bases.destroy();
    }
  }
}

/**
 * Makes a contest of the work on all curves.
 *
 * @param mayLeave returns whether anything may be left to snarkjs at the moment
 * @param onChange as `Contest` has it
 */
export const contestIn = (
  sides: Sides,
  mayLeave: () => boolean,
  onChange: (left: readonly LeftWork[]) => void,
): Contest => {
  const doubt: Doubt = new Doubt(sides, () => contest);
  const contest: Contest = new Contest(({ curve }) => mayLeave() && doubt.of(curve), onChange);
  return contest;
};
