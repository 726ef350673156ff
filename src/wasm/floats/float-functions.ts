/** Functions on coordinates in memory, in two lanes. */

import { range } from '../../field/straight-line.js';
import type { Address } from '../arithmetic/addresses.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { CoordinateLine } from './coordinates.js';
import type { FloatMemory } from './float-memory.js';
import { FloatWriter } from './float-writer.js';
import { type LaneSource, lanesAt, wideAt } from './lane-source.js';
import type { PointPrograms, SignedPoint } from './point-programs.js';

/**
 * A parameter: one address for each lane, one address of two elements side by side, or the address
 * of a point for each lane with its sign in bit 0.
 */
export type ParameterKind = 'lanes' | 'wide' | 'signed';

/** Parameter of each kind, as a program takes it. */
interface ParameterOf {
  readonly lanes: LaneSource;
  readonly wide: LaneSource;
  readonly signed: SignedPoint;
}

type ParametersOf<Kinds extends readonly ParameterKind[]> = { readonly [K in keyof Kinds]: ParameterOf[Kinds[K]] };

/** Leaves an address without its sign in a new local. */
export const bareAddress = (code: Code, address: Local): Local => {
  const bare = code.local('i32');
  code.get(address).i32(-2).do('i32.and').set(bare);
  return bare;
};

/** Returns the point at signed addresses. */
export const signedPoint = (code: Code, addresses: readonly [Local, Local]): SignedPoint => ({
  at: lanesAt(bareAddress(code, addresses[0]), bareAddress(code, addresses[1])),
  sign: lanesAt(...addresses),
});

/** Defines functions. */
export class FloatFunctions {
  readonly #module: WasmModule;
  readonly #memory: FloatMemory;
  readonly #programs: PointPrograms;

  constructor(module: WasmModule, memory: FloatMemory, programs: PointPrograms) {
    this.#module = module;
    this.#memory = memory;
    this.#programs = programs;
  }

  /** Returns a writer of statements into a function. */
  writer(code: Code): FloatWriter {
    return new FloatWriter(code, this.#programs.field.width, (bits) => this.#memory.vector(bits));
  }

  /**
   * Adds a function.
   *
   * @returns its index; it takes the addresses of all parameters in order
   */
  define<const Kinds extends readonly ParameterKind[]>(
    kinds: Kinds,
    write: (c: CoordinateLine, ...parameters: ParametersOf<Kinds>) => void,
  ): number {
    const count = kinds.reduce((sum, kind) => sum + (kind === 'wide' ? 1 : 2), 0);
    return this.#module.add(null, { parameters: range(count).map(() => 'i32' as const) }, (code) => {
      let next = 0;
      const take = (): Local => code.parameter(next++);
      const parameters = kinds.map((kind) => {
        if (kind === 'wide') return wideAt(take());
        const addresses = [take(), take()] as const;
        return kind === 'lanes' ? lanesAt(...addresses) : signedPoint(code, addresses);
      });
      const c = this.#programs.begin();
      write(c, ...(parameters as unknown as ParametersOf<Kinds>));
      this.writer(code).write(c.line.statements);
    });
  }
}

/** Returns an address for both lanes. */
export const twice = (address: Address): [Address, Address] => [address, address];
