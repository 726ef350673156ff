/** Transforms of other libraries, by name. */
import { FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { type CurveName, oracles } from '../oracle/curves.js';
import { builders, inNode, isTheirs } from './ffjavascript.js';

/** Transforms of one scalar field, in the arithmetic of another library. */
export interface TheirTransforms<Values = unknown> {
  readonly names: { readonly ntt: string; readonly intt: string };
  /** Converts numbers. @param bytes the same numbers, little-endian */
  enter(bytes: Uint8Array, values: readonly bigint[]): Promise<Values>;
  ntt(values: Values): Promise<unknown>;
  intt(values: Values): Promise<unknown>;
}

/** Opens the transforms of a curve's scalar field; null for curves that noble does not have. */
const makeNobleTransforms = async (curve: CurveName): Promise<TheirTransforms<bigint[]> | null> => {
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

/** The used part of a scalar field of ffjavascript. */
interface TheirField {
  fft(buffer: Uint8Array): Promise<Uint8Array>;
  ifft(buffer: Uint8Array): Promise<Uint8Array>;
  batchToMontgomery(buffer: Uint8Array): Promise<Uint8Array>;
}

/** Opens the transforms of a curve's scalar field; null for curves that it does not have. */
const makeFfjavascriptTransforms = async (curve: string): Promise<TheirTransforms<Uint8Array> | null> => {
  if (!isTheirs(curve)) return null;
  const name = 'ffjavascript';
  const module = (await import(/* @vite-ignore */ name)) as Record<
    string,
    (single: boolean) => Promise<{ readonly Fr: TheirField }>
  >;
  const built = await module[builders[curve]]?.(true);
  if (built === undefined) return null;
  const { Fr } = built;
  return {
    names: { ntt: 'fft', intt: 'ifft' },
    enter: (bytes) => Fr.batchToMontgomery(bytes),
    ntt: (buffer) => Fr.fft(buffer),
    intt: (buffer) => Fr.ifft(buffer),
  };
};

const makers = { ffjavascript: makeFfjavascriptTransforms, noble: makeNobleTransforms } as const;

export type TransformPeer = keyof typeof makers;

/** Peers that exist here. */
export const transformPeers = (Object.keys(makers) as TransformPeer[]).filter(
  (name) => name !== 'ffjavascript' || inNode,
);

/** Opens the transforms of a peer; null for fields that it does not have. */
export const openTransformPeer = (name: TransformPeer, curve: CurveName): Promise<TheirTransforms | null> =>
  makers[name](curve) as Promise<TheirTransforms | null>;
