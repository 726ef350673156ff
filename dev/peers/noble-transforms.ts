/** Transforms of noble-curves, in BigInts. */
import { FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { type CurveName, oracles } from '../oracle/curves.js';
import type { TheirTransforms } from './transforms.js';

/** Opens the transforms of a curve's scalar field; null for curves that noble does not have. */
export const makeNobleTransforms = async (curve: CurveName): Promise<TheirTransforms<bigint[]> | null> => {
  if (curve === 'bandersnatch') return null;
  const { Fn } = oracles[curve].Point;
  const fft = FFT(rootsOfUnity(Fn), Fn);
  return {
    names: { ntt: 'direct', intt: 'inverse' },
    enter: async (_, values) => [...values],
    ntt: async (values) => fft.direct(values),
    intt: async (values) => fft.inverse(values),
  };
};
