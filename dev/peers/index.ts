/**
 * Peers by name, each null for groups it does not support. A new peer is a module of this folder
 * and a line here.
 */
import type { CurveGroup } from '../oracle/curves.js';
import { inNode, makeFfjavascript } from './ffjavascript.js';
import { makeNoble } from './noble.js';
import type { Peer } from './peer.js';

export const peers = { noble: makeNoble, ffjavascript: makeFfjavascript } as const satisfies Readonly<
  Record<string, (of: CurveGroup) => Peer | null>
>;

export type PeerName = keyof typeof peers;

/** Names of the peers available here; ffjavascript exists in Node alone. */
export const peerNames = (Object.keys(peers) as PeerName[]).filter((name) => name !== 'ffjavascript' || inNode);
