import { invert, type Modulus, mod } from '../../src/field/modulus.js';
import type { Random } from '../oracle/known-bases.js';

export interface Representation {
  /**
   * WGSL of the struct `type`, with the members l0, l1, … or those of `member`, and of its
   * functions.
   */
  readonly declarations: string;
  /** Name of the struct; u32 if one word is an element. */
  readonly type: string;
  readonly member?: 'l' | 'w';
  readonly limbs: number;
  /** Montgomery divisor of a product: a·b/R. */
  readonly r: bigint;
  encode(value: bigint): readonly number[];
  /** Returns any number congruent to the value. */
  decode(limbs: readonly number[]): bigint;
}

/** One operation in one variant: its WGSL and its meaning. */
export interface FieldOperation {
  /** Name of the variant: which product. */
  readonly variant: string;
  readonly name: string;
  /** Required WGSL language feature. */
  readonly feature?: string;
  /** True if one chain keeps a thread busy, and compiling is slow; measured with one chain only. */
  readonly alone?: boolean;
  /**
   * Repetitions of a step in every chain, interleaved so that chains hide each other's latency.
   * Default 1.
   */
  readonly perStep?: number;
  /** Draws the first operand of a chain. Default: any element. */
  readonly draw?: (random: Random) => number;
  representation(m: Modulus): Representation;
  /**
   * Returns the WGSL of one step on `x`, where `y` is the first operand of the thread's first
   * chain.
   */
  wgsl(x: string): string;
  /**
   * Returns the 32-bit multiply-adds, or other multiplications, of one operation; null if that is
   * no measure.
   */
  multiplyAdds(m: Modulus): number | null;
  /**
   * Computes the operation with BigInts; null if nothing can be compared. @param r Montgomery
   * divisor of a product
   */
  readonly apply: ((m: Modulus, r: bigint, x: bigint, y: bigint) => bigint) | null;
}

export const productOf = (m: Modulus, r: bigint, x: bigint, y: bigint): bigint => mod(x * y * invert(r, m.p), m.p);
