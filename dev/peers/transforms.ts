/** Transforms of other libraries, by name. */
import type { CurveName } from '../oracle/curves.js';
import { inNode } from './ffjavascript.js';
import { makeFfjavascriptTransforms } from './ffjavascript-transforms.js';
import { makeNobleTransforms } from './noble-transforms.js';

/** Transforms of one scalar field, in the arithmetic of another library. */
export interface TheirTransforms<Values = unknown> {
  /** Names of the functions. */
  readonly names: { readonly ntt: string; readonly intt: string };
  /** Converts numbers. @param bytes the same numbers, little-endian */
  enter(bytes: Uint8Array, values: readonly bigint[]): Promise<Values>;
  ntt(values: Values): Promise<unknown>;
  intt(values: Values): Promise<unknown>;
}

const makers = { ffjavascript: makeFfjavascriptTransforms, noble: makeNobleTransforms } as const;

export type TransformPeer = keyof typeof makers;

/** Peers that exist here. */
export const transformPeers = (Object.keys(makers) as TransformPeer[]).filter(
  (name) => name !== 'ffjavascript' || inNode,
);

/** Opens the transforms of a peer; null for fields that it does not have. */
export const openTransformPeer = (name: TransformPeer, curve: CurveName): Promise<TheirTransforms | null> =>
  makers[name](curve) as Promise<TheirTransforms | null>;
