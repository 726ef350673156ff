import type { CurveContext } from '../curves/curve.js';
import { readWords } from '../field/modulus.js';
import { ABSENT, ENTRY_WORDS, NEGATE } from '../stages/entry.js';

/** The CPU twin of wgsl/decompose.wgsl: the same stream, computed the textbook way, with a carry from window to window. */
export const decompose = (
  curve: CurveContext,
  scalars: Uint32Array,
  {
    windowBits,
    windows,
    firstBase,
  }: { readonly windowBits: number; readonly windows: number; readonly firstBase: number },
): Uint32Array => {
  const words = curve.scalarBytes / 4;
  const n = scalars.length / words;
  const entries = new Uint32Array(windows * n * ENTRY_WORDS);
  const radix = 1n << BigInt(windowBits);
  for (let i = 0; i < n; i++) {
    let rest = readWords(scalars, i * words, words) % curve.order;
    for (let j = 0; j < windows; j++) {
      let digit = rest % radix;
      rest /= radix;
      // The shader's rule sends a window to its negative representative by its top bit before the carry comes in, which this
      // reproduces: a window of 2^(c-1) - 1 that receives a carry stays at +2^(c-1), and only others above go negative.
      if (digit * 2n > radix || (digit * 2n === radix && !receivedCarry(i, j))) {
        digit -= radix;
        rest += 1n;
      }
      const at = (j * n + i) * ENTRY_WORDS;
      const magnitude = Number(digit < 0n ? -digit : digit);
      entries[at] = magnitude - 1;
      entries[at + 1] = magnitude === 0 ? ABSENT : firstBase + i + (digit < 0n ? NEGATE : 0);
    }
    if (rest !== 0n) throw new RangeError(`scalar ${i} does not fit ${windows} windows of ${windowBits} bits`);
  }
  return entries;

  function receivedCarry(i: number, j: number): boolean {
    if (j === 0) return false;
    const scalar = readWords(scalars, i * words, words) % curve.order;
    return ((scalar >> BigInt(j * windowBits - 1)) & 1n) === 1n;
  }
};
