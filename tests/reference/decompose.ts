import type { CurveContext } from '../../src/curves/curve.js';
import { readWords } from '../../src/field/modulus.js';
import { ABSENT, ENTRY_WORDS, NEGATE } from '../../src/msm/stages/entry.js';

/** Shape of a decomposition; see DecomposeConfig. */
export interface Decomposition {
  readonly windowBits: number;
  /** T: windows of a vector. */
  readonly vectorWindows: number;
  readonly blocks: number;
  readonly blockBits: number;
  readonly tables: number;
}

/**
 * CPU reference of wgsl/msm/decompose.wgsl: the same window rows by the textbook's signed-digit
 * recoding, with a carry from window to window.
 *
 * @returns the entries of all window rows
 */
export const decompose = (
  curve: CurveContext,
  vectors: readonly { readonly scalars: Uint32Array; readonly firstBase: number; readonly picks?: readonly number[] }[],
  { windowBits, vectorWindows, blocks, blockBits, tables }: Decomposition,
): Uint32Array => {
  const words = curve.scalarBytes / 4;
  const rowLength = (blocks * Math.max(...vectors.map(({ scalars }) => scalars.length))) / words;
  const entries = new Uint32Array(vectors.length * vectorWindows * rowLength * ENTRY_WORDS);
  for (let at = 1; at < entries.length; at += ENTRY_WORDS) entries[at] = ABSENT;
  vectors.forEach(({ scalars, firstBase, picks }, v) => {
    for (let i = 0; i < scalars.length / words; i++) {
      const scalar = readWords(scalars, i * words, words) % curve.order;
      const negated = curve.negatesScalars && 2n * scalar > curve.order;
      const whole = negated ? curve.order - scalar : scalar;
      let rest = whole;
      for (let t = 0; t < blocks; t++) {
        for (let j = 0; j < vectorWindows; j++) {
          const width = Math.min(windowBits, blockBits - j * windowBits);
          const radix = 1n << BigInt(width);
          let digit = rest % radix;
          rest /= radix;
          // As in the shader, the top bit of a window before the carry decides the sign: a window
          // of 2^(w-1) - 1 that receives a carry stays at +2^(w-1), and larger values become
          // negative.
          const bit = t * blockBits + j * windowBits;
          const receivedCarry = bit > 0 && ((whole >> BigInt(bit - 1)) & 1n) === 1n;
          if (digit * 2n > radix || (digit * 2n === radix && !receivedCarry)) {
            digit -= radix;
            rest += 1n;
          }
          if (digit === 0n) continue;
          const at = ((v * vectorWindows + j) * rowLength + i * blocks + t) * ENTRY_WORDS;
          entries[at] = Number(digit < 0n ? -digit : digit) - 1;
          entries[at + 1] = (firstBase + (picks?.[i] ?? i)) * tables + t + (digit < 0n !== negated ? NEGATE : 0);
        }
      }
      if (rest !== 0n) throw new RangeError(`scalar ${i} does not fit ${blocks} blocks of ${blockBits} bits`);
    }
  });
  return entries;
};
