/** The peers that there are. One more is a module in this folder and a line here. */
import { makeNoble } from './noble.js';
import type { Peer } from './peer.js';

export const peers = { noble: makeNoble } as const satisfies Readonly<Record<string, () => Peer>>;

export type PeerName = keyof typeof peers;

export const peerNames = Object.keys(peers) as PeerName[];
