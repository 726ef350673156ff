/** Memory that only counts: steps run in it without effect, to plan them. */

import { bytesOfVector, type VectorAt, type VectorSpace } from '../../wasm/vectors/vector-kernel.js';
import type { VectorExports } from '../../wasm/vectors/vector-loops.js';

export class PlannedSpace implements VectorSpace {
  readonly kernel: VectorSpace['kernel'];
  readonly exports: VectorExports;
  #used: number;
  #end: number;

  /** @param real memory whose vectors exist */
  constructor(real: VectorSpace) {
    this.kernel = real.kernel;
    const nothing = (): void => undefined;
    const names = Object.keys(real.exports).map((name) => [name, nothing]);
    this.exports = Object.fromEntries(names) as VectorExports;
    this.#used = real.used;
    this.#end = real.bytes;
  }

  get elementBytes(): number {
    return this.kernel.field.bytes;
  }

  get used(): number {
    return this.#used;
  }

  get bytes(): number {
    return this.#end;
  }

  take(elements: number): VectorAt {
    const [at, bytes] = [this.#end, bytesOfVector(this.kernel, elements)];
    this.#end += bytes;
    this.#used += bytes;
    return at;
  }

  release(_: VectorAt, elements: number): void {
    this.#used -= bytesOfVector(this.kernel, elements);
  }

  *enter(): Generator<void> {}

  *leave(): Generator<void> {}

  pick(): void {}

  copy(): void {}

  repeat(): void {}

  clear(): void {}

  /** Returns a number that has an inverse. */
  number(): bigint {
    return 1n;
  }

  putWords(): void {}
}
