/** Butterflies that are made of products, sums and differences in memory. */
import { range } from '../../field/straight-line.js';
import { type Address, callWith } from '../arithmetic/addresses.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import type { Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { VectorFunctions } from './vector-functions.js';

interface ButterflyParts extends Pick<VectorFunctions, 'multiply' | 'add' | 'subtract'> {
  readonly lanes: Lanes;
  /** Index of (to, a, b): a − 2·b. */
  readonly subtractTwice: number;
  /** Address of an element in each lane. */
  readonly kept: readonly number[];
}

type Butterflies = Pick<VectorFunctions, 'dif' | 'difLast' | 'ditFirst' | 'dit' | 'ditLast'>;

type Name = 'x' | 'y' | 'w' | 'kept';

/** A call with elements by name. */
type Step = readonly [index: number, ...names: readonly Name[]];

/** Adds butterflies whose results are elements like all others. */
export const addButterflies = (
  module: WasmModule,
  { lanes, multiply, add, subtract, subtractTwice, kept }: ButterflyParts,
): Butterflies => {
  const define = (operands: 2 | 3, ...steps: readonly Step[]): number =>
    module.add(null, { parameters: range(operands * lanes).map(() => 'i32' as const) }, (code) => {
      const own = (which: number): Local[] => range(lanes).map((lane) => code.parameter(which * lanes + lane));
      const addresses: Readonly<Record<Name, readonly Address[]>> = { x: own(0), y: own(1), w: own(2), kept };
      for (const [index, ...names] of steps) {
        const all = names.flatMap((name) => [...addresses[name]]);
        callWith(code, index, all);
      }
    });
  const sums = define(2, [add, 'x', 'x', 'y'], [subtractTwice, 'y', 'x', 'y']);
  const dif = define(3, [subtract, 'kept', 'x', 'y'], [add, 'x', 'x', 'y'], [multiply, 'y', 'kept', 'w']);
  const dit = define(3, [multiply, 'kept', 'y', 'w'], [subtract, 'y', 'x', 'kept'], [add, 'x', 'x', 'kept']);
  return { dif: [dif, dif], difLast: sums, ditFirst: sums, dit, ditLast: dit };
};
