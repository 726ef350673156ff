/** Places of vectors in a buffer that stays. */
import { STORAGE_ALIGNMENT } from '../../shaders/limits.js';

/** Gives parts of a buffer one after the other, each where a binding may start. */
export class Parts {
  bytes = 0;

  take(size: number): { readonly offset: number; readonly size: number } {
    const offset = this.bytes;
    this.bytes = Math.ceil((offset + size) / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    return { offset, size };
  }
}
