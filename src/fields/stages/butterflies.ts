/** Butterflies: one stage of a number theoretic transform, in storage memory. */
import template from '../../../wgsl/fields/butterflies.wgsl?template';
import { carryWgsl } from '../../field/carry.js';
import { LIMB_BITS, type Modulus } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { fieldView } from '../../field/wgsl.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { struct } from '../../shaders/struct.js';
import type { TemplateView } from '../../shaders/template.js';
import { elementPartials, vectorBinding } from './element.js';

export const ButterfliesConfig = struct('ButterfliesConfig', {
  distance: 'distance of the two elements of a butterfly; the stage has as many twiddles',
  blocks: 'parts of the vector with all twiddles: its length / (2 distance)',
  threads: 'threads that have butterflies',
  twiddle_threads: 'threads that begin with different twiddles; the others begin with other blocks',
  inverse: '1: the root is 1/w',
  stride: 'log2 of the powers of the table that make one of w',
});

/** Threads of a workgroup. Their number makes no difference where threads share nothing. */
export const BUTTERFLY_THREADS = 16;

/** Most threads of a dispatch. SwiftShader takes some microseconds to begin four of them. */
const MOST_THREADS = 256;

/** One dispatch of a transform. */
export type ButterflyPass = Readonly<Record<'distance' | 'blocks' | 'threads' | 'twiddle_threads', number>>;

/**
 * Returns the stages of a transform, in the order of decimation in frequency.
 *
 * @param isOther true to divide butterflies among threads in another way
 */
export const butterflyPasses = (logLength: number, isOther = false): ButterflyPass[] => {
  const half = 2 ** (logLength - 1);
  const threads = isOther ? Math.max(1, Math.min(MOST_THREADS, half) / 4) : Math.min(MOST_THREADS, half);
  return range(logLength).map((stage) => {
    const [blocks, distance] = [2 ** stage, half / 2 ** stage];
    return { distance, blocks, threads, twiddle_threads: Math.min(distance, threads) };
  });
};

/** Kinds of stages: decimation in frequency or in time, or either without twiddles but 1. */
export const butterflyKinds = ['frequency', 'time', 'sum'] as const;
export type ButterflyKind = (typeof butterflyKinds)[number];

/** Returns the chains of carries that store two elements together, if words have room for more. */
const storeView = (field: Modulus): TemplateView => {
  const { chain, inLimbs, roomInWords } = fieldView(field);
  const together = inLimbs === true && roomInWords === true;
  const chains = (together ? (chain as readonly TemplateView[]) : []).map((limb) => ({
    ...limb,
    otherCarry: carryWgsl(`t${limb.i} - d${limb.i}`, LIMB_BITS),
  }));
  return { together, chains };
};

export const butterfliesKernel = (field: Modulus, kind: ButterflyKind): Kernel =>
  stageKernel(
    'butterflies',
    template,
    ButterfliesConfig,
    [vectorBinding('data', 'write'), vectorBinding('twiddles', 'read')],
    {
      ...fieldView(field, true),
      ...storeView(field),
      threads: BUTTERFLY_THREADS,
      inFrequency: kind === 'frequency',
      inTime: kind === 'time',
      isSum: kind === 'sum',
    },
    elementPartials,
  );
