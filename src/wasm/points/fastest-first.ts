/** Order in which the arithmetics of WebAssembly are tried. */

import { NoWasmMemory } from '../../errors.js';
import { range } from '../../field/straight-line.js';
import { wasmField } from '../arithmetic/field-programs.js';
import { addFormula, type Lanes, plainProduct } from '../arithmetic/formula.js';
import { createMemory, WasmModule } from '../encoder/module.js';
import { hasArithmetic, type WasmArithmetic } from './kernel.js';

/**
 * Longest prime whose additions are faster by multiply-adds of floats than by wide arithmetic, in
 * bits: the products of limbs grow by the square of their number, of 51 bits each in two lanes
 * against 64 bits. Measured in V8 15: 0.7 of the time with 254 bits, 1.2 with 381.
 */
const MOST_BITS_OF_FLOATS = 306;

/** A prime of 254 bits, a common length. */
const PRIME = 2n ** 254n - 245n;

/** Products of a round, which takes less than a tenth of a millisecond. */
const PRODUCTS = 2 ** 10;

/**
 * Turns of each form at once, and in all. Other programs and the engine's compiler slow turns down
 * at random and never speed one up, so that the fastest of many counts.
 */
const TURNS = { first: 3, all: 16 } as const;

/** Least milliseconds between later turns, which begin with sums: the calling thread is idle then. */
const BETWEEN_MS = 200;

/** Least and most milliseconds of a turn: the most is enough for clocks of one millisecond. */
const TURN_MS = [1, 3] as const;

/** Ticks of the clock in a turn, if it is not shorter or longer than that. */
const TICKS = 10;

/** Most rounds of a turn, where the clock stands still. */
const MOST_ROUNDS = 2 ** 9;

/** Returns the rounds per millisecond. */
const rateOf = (run: () => void): number => {
  const before = performance.now();
  const [least, most] = TURN_MS;
  let begun = before;
  // a turn begins where a coarse clock ticks
  for (let i = 0; i < MOST_ROUNDS && begun === before; i++) {
    run();
    begun = performance.now();
  }
  const enough = Math.min(most, Math.max(least, TICKS * (begun - before)));
  for (let rounds = 1; ; rounds++) {
    run();
    const ms = performance.now() - begun;
    if (ms >= enough || rounds === MOST_ROUNDS) return rounds / ms;
  }
};

/** Returns a function that computes products one after the other, in each lane. */
const productsIn = (lanes: Lanes): (() => void) => {
  const field = wasmField(PRIME, 1);
  const module = new WasmModule();
  const multiply = addFormula(module, field, lanes, plainProduct);
  module.add('run', { parameters: ['i32'] }, (code, left) => {
    code.countDown(
      left,
      () => {
        for (const _ of range(3)) for (const lane of range(lanes)) code.i32(lane * field.bytes);
        code.call(multiply);
      },
      lanes,
    );
  });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), {
    host: { memory: createMemory(1) },
  });
  return () => (exports.run as (count: number) => void)(PRODUCTS);
};

/**
 * Speed of whole additions in two lanes over that in one, divided by that of products: 1.05 to 1.08
 * over 0.92 in V8 11, 0.79 over 0.7 in JSC of WebKitGTK 2.50.
 */
const LANE_GAIN = 1.15;

/** Compares integers in two lanes with those in one: in V8 two are faster, in JSC one. */
export class LaneRace {
  readonly #runs: readonly [two: () => void, one: () => void];
  /** Rounds per millisecond in the fastest turn of each. */
  readonly #best: [two: number, one: number] = [0, 0];
  #turns = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** @param runs compute as many products in two lanes, and in one */
  constructor(runs: readonly [two: () => void, one: () => void]) {
    this.#runs = runs;
  }

  #turn(): void {
    this.#turns++;
    this.#best[0] = Math.max(this.#best[0], rateOf(this.#runs[0]));
    this.#best[1] = Math.max(this.#best[1], rateOf(this.#runs[1]));
    this.#last = performance.now();
  }

  /** Returns whether two lanes are faster; measures at first some 20 ms, later at most 6 ms. */
  areTwoFaster(): boolean {
    while (this.#turns < TURNS.first) this.#turn();
    if (this.#turns < TURNS.all && performance.now() - this.#last > BETWEEN_MS) this.#turn();
    return LANE_GAIN * this.#best[0] >= this.#best[1];
  }
}

const TWO_LANES_FIRST = ['wasm-simd', 'wasm'] as const;
const ONE_LANE_FIRST = ['wasm', 'wasm-simd'] as const;

/** Arithmetics that are faster than both kinds of lanes. */
let faster: readonly WasmArithmetic[] | undefined;

/** null where nothing is to be measured. */
let race: LaneRace | null | undefined;

/**
 * Returns the arithmetics that the platform has, the fastest first. Where it has neither
 * multiply-adds nor wide arithmetic, calls measure, the first one for some 20 ms.
 *
 * @throws NoWasmMemory if the platform could not be asked
 */
export const fastestFirst = (p: bigint): readonly WasmArithmetic[] => {
  faster ??= (['wasm-fma', 'wasm-wide'] as const).filter(hasArithmetic);
  if (race === undefined) race = openRace(faster);
  const order = [...faster, ...(race === null || race.areTwoFaster() ? TWO_LANES_FIRST : ONE_LANE_FIRST)];
  const isWideFirst = p.toString(2).length > MOST_BITS_OF_FLOATS && order.includes('wasm-wide');
  return isWideFirst ? ['wasm-wide', ...order.filter((name) => name !== 'wasm-wide')] : order;
};

const openRace = (faster: readonly WasmArithmetic[]): LaneRace | null => {
  if (faster.length > 0 || !hasArithmetic('wasm-simd')) return null;
  try {
    return new LaneRace([productsIn(2), productsIn(1)]);
  } catch (error) {
    // there may be memory at the next call
    if (error instanceof NoWasmMemory) throw error;
    // a content security policy forbids WebAssembly
    return null;
  }
};
