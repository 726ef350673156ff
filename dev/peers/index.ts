/** The peers that there are, for a group; null if they do not know it. One more is a module in this folder and a line here. */
import type { CurveGroup } from '../oracle/curves.js';
import { inNode, makeFfjavascript } from './ffjavascript.js';
import { makeNoble } from './noble.js';
import type { Peer } from './peer.js';

export const peers = { noble: makeNoble, ffjavascript: makeFfjavascript } as const satisfies Readonly<
  Record<string, (of: CurveGroup) => Peer | null>
>;

export type PeerName = keyof typeof peers;

/** Those that can be had here: ffjavascript is there in Node alone. */
export const peerNames = (Object.keys(peers) as PeerName[]).filter((name) => name !== 'ffjavascript' || inNode);
