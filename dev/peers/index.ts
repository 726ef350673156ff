/** The peers that there are, for a curve; null if they do not know it. One more is a module in this folder and a line here. */
import type { OwnName } from '../../src/curves/names.js';
import { makeNoble } from './noble.js';
import type { Peer } from './peer.js';

export const peers = { noble: makeNoble } as const satisfies Readonly<Record<string, (curve: OwnName) => Peer | null>>;

export type PeerName = keyof typeof peers;

export const peerNames = Object.keys(peers) as PeerName[];
