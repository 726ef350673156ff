/** Memory of vectors and tables, within a budget. */
import { MsmError } from '../../errors.js';
import type { VectorAt, VectorSpace } from '../../wasm/vectors/vector-kernel.js';
import type { OpenField } from '../program/open-field.js';
import { PlannedSpace } from './planned-space.js';
import { TableCache } from './table-cache.js';

export class Arena {
  readonly field: OpenField;
  readonly memory: VectorSpace;
  readonly tables: TableCache;
  readonly #budget: number;
  #peak = 0;

  /** @param known tables that exist */
  constructor(field: OpenField, memory: VectorSpace, budget: number, known?: TableCache) {
    this.field = field;
    this.memory = memory;
    this.#budget = budget;
    this.tables = new TableCache(this, known);
    this.#peak = memory.used;
  }

  /** Returns an arena that has the same vectors and tables, and only counts. */
  planned(): Arena {
    return new Arena(this.field, new PlannedSpace(this.memory), this.#budget, this.tables);
  }

  /** Bytes of an element. */
  get bytes(): number {
    return this.memory.elementBytes;
  }

  get used(): number {
    return this.memory.used;
  }

  get peak(): number {
    return this.#peak;
  }

  /** Reserves a vector. Tables make room for it. @throws MsmError `out-of-memory` */
  take(elements: number): VectorAt {
    const bytes = elements * this.bytes;
    if (this.used + bytes > this.#budget) this.tables.clear();
    if (this.used + bytes > this.#budget) {
      throw new MsmError(
        'out-of-memory',
        `a vector of ${elements} elements takes ${bytes} bytes, and ${this.used} of memoryBudget ${this.#budget} are used`,
      );
    }
    try {
      const at = this.memory.take(elements);
      this.#peak = Math.max(this.#peak, this.used);
      return at;
    } catch (cause) {
      throw new MsmError('out-of-memory', `the platform has no ${bytes} bytes for ${elements} elements`, { cause });
    }
  }

  release(at: VectorAt, elements: number): void {
    this.memory.release(at, elements);
  }
}
