/** Places of vectors in a buffer that stays. */
import { STORAGE_ALIGNMENT } from '../../shaders/limits.js';

/** Part of a buffer. */
export interface Place {
  readonly offset: number;
  readonly size: number;
}

/** Gives parts of a buffer one after the other, each where a binding may start. */
export class Parts {
  bytes = 0;

  take(size: number): Place {
    const offset = this.bytes;
    this.bytes = Math.ceil((offset + size) / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    return { offset, size };
  }
}
