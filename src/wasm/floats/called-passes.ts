/** Passes over a list of additions, two items at a time. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { type FloatParts, LIST_ITEM, step } from './float-parts.js';

/** Lists with one item for each addition, and the running product of each lane. */
export interface PassMemory {
  readonly running: number;
  readonly kept: number;
  readonly prefixes: number;
}

/** The passes over a list: functions (address of the first item, number of items). */
export interface Passes {
  readonly forward: number;
  /** Starts at the end of the list. */
  readonly backward: number;
}

/** Addresses of two items of a list. */
export class ItemPair {
  readonly #list: Local;

  constructor(list: Local) {
    this.#list = list;
  }

  /** Returns one of the three addresses of both items. */
  addresses(code: Code, which: 0 | 1 | 2): [Local, Local] {
    return range(2).map((lane) => {
      const local = code.local('i32');
      code
        .get(this.#list)
        .at('i32.load', LIST_ITEM * lane + 4 * which)
        .set(local);
      return local;
    }) as [Local, Local];
  }

  /** Returns addresses without their signs. */
  barePoints(code: Code, which: 1 | 2): [Local, Local] {
    const both = this.addresses(code, which);
    for (const local of both) code.get(local).i32(-2).do('i32.and').set(local);
    return both;
  }
}

/** Writes the call that does one step. */
type WriteStep = (code: Code, places: readonly [number, Local, Local], item: ItemPair) => void;

/** Adds passes that call a function for each two items. */
export const calledPasses = (
  module: FloatParts['module'],
  coordinate: number,
  { running, kept, prefixes }: PassMemory,
  steps: { readonly forward: WriteStep; readonly backward: WriteStep },
): Passes => {
  const wide = 2 * coordinate;
  const pass = (isForward: boolean): number =>
    module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
      const [list, count] = [code.parameter(0), code.parameter(1)];
      const { keptAt, prefixAt } = code.named('i32', 'keptAt', 'prefixAt');
      const places = [running, keptAt, prefixAt] as const;
      for (const [at, base] of [
        [keptAt, kept],
        [prefixAt, prefixes],
      ] as const) {
        code.i32(base);
        if (!isForward) code.get(count).i32(coordinate).do('i32.mul', 'i32.add');
        code.set(at);
      }
      const advance = (by: 1 | -1): void => {
        step(code, list, by * 2 * LIST_ITEM);
        for (const at of [keptAt, prefixAt]) step(code, at, by * wide);
      };
      code.loop((again) => {
        if (!isForward) advance(-1);
        (isForward ? steps.forward : steps.backward)(code, places, new ItemPair(list));
        if (isForward) advance(1);
        code.get(count).i32(2).do('i32.sub').tee(count);
        again();
      });
    });
  return { forward: pass(true), backward: pass(false) };
};
