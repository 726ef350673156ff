import type { Modulus } from '../../src/field/modulus.js';

/** How a kernel of field-bench holds an element of the field. */
export interface Representation {
  /** WGSL of the struct `type`, with the members l0, l1, …, and of what computes on it. */
  readonly declarations: string;
  readonly type: string;
  readonly element: 'u32' | 'i32' | 'f32';
  readonly limbs: number;
  /** What a product divides by: a·b/R. */
  readonly r: bigint;
  encode(value: bigint): readonly number[];
  /** Any number that is congruent to the value. */
  decode(limbs: readonly number[]): bigint;
}

/** A way to multiply that the library does not use, or not everywhere: measured beside those that it does. */
export interface ProductVariant {
  readonly name: string;
  /** A WGSL language feature that it needs. */
  readonly feature?: string;
  /** WGSL of `fn product(a: Limbs, b: Limbs) -> Limbs` and of the struct Limbs. */
  representation(m: Modulus): Representation;
  /** 32-bit multiply-adds, or whatever it multiplies with, of one product. */
  multiplications(m: Modulus): number;
}
