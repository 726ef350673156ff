/** Operations as data: what a run consists of. */
import type { FieldOrder } from '../../api/fields.js';
import type { Matrix, Vector } from './vector.js';

/** Kind of a step, and its parameters. */
export type Computation =
  | { readonly kind: 'add' | 'subtract' | 'multiply' | 'multiplyAdd' | 'multiplySubtract' }
  | { readonly kind: 'scale'; readonly factor: bigint }
  | { readonly kind: 'scalePowers'; readonly base: bigint; readonly factor: bigint; readonly order: FieldOrder }
  | {
      readonly kind: 'ntt' | 'intt';
      readonly from: FieldOrder;
      readonly to: FieldOrder;
      readonly coset: bigint;
      /** Factor of the result, beside the powers of the coset; 1/n of an inverse transform. */
      readonly factor: bigint;
    }
  | { readonly kind: 'linearCombination'; readonly factors: readonly bigint[] }
  | { readonly kind: 'invert' | 'prefixProduct' }
  | { readonly kind: 'evaluate' | 'divideByLinear'; readonly x: bigint }
  | { readonly kind: 'slice' | 'pad'; readonly first: number }
  | { readonly kind: 'gather'; readonly indices: Uint32Array }
  | { readonly kind: 'apply'; readonly matrix: Matrix };

/** One operation of a run. */
export interface FieldStep {
  readonly computation: Computation;
  readonly operands: readonly Vector[];
  readonly result: Vector;
}
