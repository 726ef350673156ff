/** Order in which the arithmetics of WebAssembly are tried. */

import { range } from '../../field/straight-line.js';
import { wasmField } from '../arithmetic/field-programs.js';
import { addFormula, plainProduct } from '../arithmetic/formula.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import { WasmModule } from '../encoder/module.js';
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

/** Turns of each form: an engine compiles what is called often a second time, in the background. */
const TURNS = 3;

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
  module.add('run', { parameters: ['i32'] }, (code) => {
    const left = code.parameter(0);
    code.loop((again) => {
      for (const _ of range(3)) for (const lane of range(lanes)) code.i32(lane * field.bytes);
      code.call(multiply).get(left).i32(lanes).do('i32.sub').tee(left);
      again();
    });
  });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), {
    host: { memory: new WebAssembly.Memory({ initial: 1 }) },
  });
  return () => (exports.run as (count: number) => void)(PRODUCTS);
};

/**
 * Speed of whole additions in two lanes over that in one, divided by that of products: 1.05 to 1.08
 * over 0.92 in V8 11, 0.79 over 0.7 in JSC of WebKitGTK 2.50.
 */
const LANE_GAIN = 1.15;

/** Returns whether integers in two lanes are faster than in one: in V8 they are, in JSC not. */
const areTwoLanesFaster = (): boolean => {
  const runs = ([2, 1] as const).map(productsIn);
  const best = [0, 0];
  for (const _ of range(TURNS)) {
    for (const [i, run] of runs.entries()) best[i] = Math.max(best[i] as number, rateOf(run));
  }
  return LANE_GAIN * (best[0] as number) >= (best[1] as number);
};

const TWO_LANES_FIRST = ['wasm-simd', 'wasm'] as const;
const ONE_LANE_FIRST = ['wasm', 'wasm-simd'] as const;

let order: readonly WasmArithmetic[] | undefined;

/**
 * Returns the arithmetics that the platform has, the fastest first. Where it has neither
 * multiply-adds nor wide arithmetic, the first call measures for some 20 ms.
 */
export const fastestFirst = (p: bigint): readonly WasmArithmetic[] => {
  order ??= orderHere();
  const isWideFirst = p.toString(2).length > MOST_BITS_OF_FLOATS && order.includes('wasm-wide');
  return isWideFirst ? ['wasm-wide', ...order.filter((name) => name !== 'wasm-wide')] : order;
};

const orderHere = (): readonly WasmArithmetic[] => {
  const best = (['wasm-fma', 'wasm-wide'] as const).filter(hasArithmetic);
  if (best.length > 0 || !hasArithmetic('wasm-simd')) return [...best, ...TWO_LANES_FIRST];
  try {
    return areTwoLanesFaster() ? TWO_LANES_FIRST : ONE_LANE_FIRST;
  } catch {
    // a content security policy forbids WebAssembly
    return TWO_LANES_FIRST;
  }
};
