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

/** What a variant needs of a device and WGSL does not promise: a small computation that shows whether the device has it. */
export interface Probe {
  /** WGSL of the struct Limbs, and of `fn probe(x: Limbs) -> Limbs`. */
  readonly declarations: string;
  readonly element: Representation['element'];
  readonly limbs: number;
  /** Those that would show it, if anything does. */
  readonly operands: readonly (readonly number[])[];
  /** Whether the result is what the operand should come to. */
  exact(operand: readonly number[], result: readonly number[]): boolean;
}

/** A way to multiply that the library does not use, or not everywhere: measured beside those that it does. */
export interface ProductVariant {
  readonly name: string;
  /** A WGSL language feature that it needs. */
  readonly feature?: string;
  /** The variant is measured only where this is exact. */
  readonly probe?: Probe;
  /** Keeps a thread busy alone, and is slow to compile: measured in one chain only. */
  readonly alone?: boolean;
  /** WGSL of `fn product(a: Limbs, b: Limbs) -> Limbs` and of the struct Limbs. */
  representation(m: Modulus): Representation;
  /** 32-bit multiply-adds, or whatever it multiplies with, of one product. */
  multiplications(m: Modulus): number;
}
