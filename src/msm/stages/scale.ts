import template from '../../../wgsl/msm/scale.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { halvingOf } from '../../curves/halving.js';
import { nonAdjacentBits } from '../../curves/jacobian.js';
import { divstepConstants } from '../../field/divsteps.js';
import { writeWords } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { localLength } from '../../shaders/limits.js';

/** Config of the stage that multiplies points by scalars. */
export const ScaleConfig = struct('ScaleConfig', {
  points: 'number of points',
  positions: 'digits of the longest half of a scalar',
  plane_words: 'words of a plane of digits',
  factors: 'number of factors; the products times each of them follow one another',
});

/** Threads in a workgroup; each takes one point. */
export const SCALE_THREADS = 64;

/** Planes of a scalar: the digits 1 of the first half, its digits −1, and those of the second half. */
const PLANES = 4;

/** Digits of scalars, as the kernel reads them. */
export interface ScalarDigits {
  /** Planes of each scalar: bit i of a plane is the digit of weight 2^i. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** Digits of the longest half. */
  readonly positions: number;
}

/** Returns the words of a plane: halves are half as long as the order, and their digits may be one more. */
export const planeWordsOf = ({ order }: CurveContext): number => Math.ceil((order.toString(2).length / 2 + 3) / 32);

/** Returns the words of the digits of a scalar. */
export const digitWordsOf = (curve: CurveContext): number => PLANES * planeWordsOf(curve);

/** Returns the digits of scalars in the group of order r. */
export const scalarDigits = (curve: CurveContext, scalars: readonly bigint[]): ScalarDigits => {
  const { split } = halvingOf(curve);
  const planeWords = planeWordsOf(curve);
  const words = new Uint32Array(scalars.length * PLANES * planeWords);
  let positions = 0;
  for (const [i, scalar] of scalars.entries()) {
    for (const [h, half] of split(scalar).entries()) {
      const bits = nonAdjacentBits(half < 0n ? -half : half);
      const at = (PLANES * i + 2 * h) * planeWords;
      for (const [minus, plane] of (half < 0n ? [bits[1], bits[0]] : bits).entries()) {
        if (plane >> BigInt(32 * planeWords) !== 0n) throw new RangeError('a half of a scalar is too long');
        if (plane !== 0n) positions = Math.max(positions, plane.toString(2).length);
        writeWords(words, at + minus * planeWords, planeWords, plane);
      }
    }
  }
  return { words, positions };
};

/** Bytes of a matrix of the inversion. */
const MATRIX_BYTES = 8;

/**
 * @param curve has a = 0, and an order and a prime that are 1 modulo 3
 * @param pads whether its private array is padded (`localLength`)
 */
export const scaleKernel = (curve: CurveContext, pads = false): Kernel => {
  const { coordinates: f } = curve;
  return stageKernel({
    name: 'scale',
    template,
    config: ScaleConfig,
    bindings: [
      { name: 'points', access: 'read', type: 'array<Point>' },
      { name: 'which', access: 'read', type: 'array<u32>' },
      { name: 'digits', access: 'read', type: 'array<u32>' },
      { name: 'factors', access: 'read', type: 'array<Packed>' },
      { name: 'products', access: 'write', type: 'array<Point>' },
    ],
    view: {
      ...f.view(),
      threads: SCALE_THREADS,
      matrices: localLength(divstepConstants(curve.field).batches, MATRIX_BYTES, pads),
      beta: f.literal(f.multiple(f.one, halvingOf(curve).beta)),
    },
    partials: f.partials,
  });
};
