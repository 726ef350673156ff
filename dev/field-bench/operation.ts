import { invert, type Modulus, mod } from '../../src/field/modulus.js';
import type { Random } from '../oracle/known-bases.js';

/** How a kernel of field-bench holds an element of the field. */
export interface Representation {
  /** WGSL of the struct `type`, with the members l0, l1, … or what `member` says, and of what computes on it. */
  readonly declarations: string;
  /** Or a type that is one element itself. */
  readonly type: string;
  readonly element: 'u32' | 'i32' | 'f32';
  readonly member?: 'l' | 'w';
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

/** One operation, done in one way: its WGSL and its meaning. */
export interface FieldOperation {
  /** How: which product. */
  readonly variant: string;
  readonly name: string;
  /** A WGSL language feature that it needs. */
  readonly feature?: string;
  /** It is measured only where this is exact. */
  readonly probe?: Probe;
  /** Long enough to keep a thread busy alone, and slow to compile: measured in one chain only. */
  readonly alone?: boolean;
  /** Times that a step does it to every chain, taking turns, so that what one waits for another does meanwhile. Default 1. */
  readonly perStep?: number;
  /** Of elements that are not numbers below p, how one is drawn; decoded they are reduced already. */
  readonly element?: { draw(m: Modulus, random: Random): bigint; readonly isReduced: true };
  /** Draws what a chain begins with. Default: any element. */
  readonly draw?: (random: Random) => number;
  representation(m: Modulus): Representation;
  /** WGSL of one step on `x`, with `y` the first operand of the thread's first chain. */
  wgsl(x: string): string;
  /** Multiply-adds of 32 bits, or whatever it multiplies with, that one takes; null where that says nothing. */
  multiplyAdds(m: Modulus): number | null;
  /** Null where there is nothing to compare with. @param r what a product divides by */
  readonly apply: ((m: Modulus, r: bigint, x: bigint, y: bigint, step: number) => bigint) | null;
}

export const productOf = (m: Modulus, r: bigint, x: bigint, y: bigint): bigint => mod(x * y * invert(r, m.p), m.p);

/**
 * A way to multiply of field-bench's own, measured beside those of the library. Its representation declares the struct Limbs and
 * `fn product(a: Limbs, b: Limbs) -> Limbs`.
 */
export const productVariant = (
  own: Pick<FieldOperation, 'variant' | 'feature' | 'probe' | 'alone' | 'representation' | 'multiplyAdds'>,
): FieldOperation => ({ name: 'product', wgsl: (x) => `${x} = product(${x}, y);`, apply: productOf, ...own });
