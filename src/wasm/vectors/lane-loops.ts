/** Loops over vectors, one element in each lane at a time. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { VectorFunctions } from './vector-functions.js';

/** Values that the loops are written with. */
export interface LoopParts {
  readonly module: WasmModule;
  readonly functions: VectorFunctions;
  readonly wordBytes: number;
  readonly unitIn: number;
  readonly unitOut: number;
  /** Address of an element in each lane, for temporary values. */
  readonly temporary: readonly number[];
}

/** Returns types of parameters. */
export const i32 = (count: number): 'i32'[] => range(count).map(() => 'i32' as const);

/** Adds a constant or a local to an address. */
export const advance = (code: Code, address: Local, by: number | Local, times = 1): void => {
  code.get(address);
  if (typeof by === 'number') code.i32(times * by);
  else code.get(by).i32(times).do('i32.mul');
  code.do('i32.add').set(address);
};

/**
 * Leaves in `second` the address of the element after `first`, or `first` again where `count` is 1:
 * the last element of an odd number is computed in both lanes.
 */
const nextAddress = (code: Code, second: Local, first: Local, step: number | Local, count: Local): void => {
  code.get(first);
  if (typeof step === 'number') code.i32(step);
  else code.get(step);
  code.do('i32.add').get(first).get(count).i32(1).do('i32.gt_s', 'select').set(second);
};

/** Writes a loop that counts `count` down by the number of lanes. */
export const laneLoop = (code: Code, lanes: number, count: Local, body: () => void): void => {
  code.loop((again) => {
    body();
    code.get(count).i32(lanes).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
    again();
  });
};

/** Addresses that walk through vectors, one in each lane. */
export const walkers = (
  code: Code,
  lanes: number,
  count: Local,
  walks: readonly (readonly [Local, number | Local])[],
) => {
  const seconds = walks.map(() => code.local('i32'));
  return {
    /** Sets the second addresses. @returns the addresses in all lanes, by vector */
    take: (): Local[][] =>
      walks.map(([first, step], i) => {
        if (lanes === 1) return [first];
        const second = seconds[i] as Local;
        nextAddress(code, second, first, step, count);
        return [first, second];
      }),
    advance: (): void => {
      for (const [first, step] of walks) advance(code, first, step, lanes);
    },
  };
};
