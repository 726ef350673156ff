/** Selects the peer libraries of a run, and times them between the repetitions of this library. */
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import { type PeerName, peerNames, peers } from '../peers/index.js';
import type { Peer } from '../peers/peer.js';
import type { Run } from './run.js';

/** Repetitions of a peer. A peer may be a hundred times slower, and its median needs no more. */
const REPETITIONS = 3;

/**
 * Prepares the peers that were asked for, or those that are quick at this size, with the inputs of
 * the case.
 *
 * @param asked names of peers; null for those that are quick
 */
export async function preparePeers(run: Run, msmCase: MsmCase, asked: readonly string[] | null) {
  const taking: Peer[] = [];
  const { address, points, scalars, expected } = msmCase;
  const { n } = address;
  const size = n.toLocaleString('en');
  for (const name of (asked ?? peerNames) as readonly PeerName[]) {
    const peer: Peer | null = peers[name](address);
    if (peer === null) {
      run.emit({ event: 'skipped', variant: name, why: `does not know ${address.curve}, ${address.group}` });
      continue;
    }
    if (asked === null && peer.quickUpTo === 0) continue;
    if (asked === null && n > peer.quickUpTo) {
      const why = `takes long at n = ${size}; peers=${name} runs it anyway`;
      run.emit({ event: 'skipped', variant: name, why });
      continue;
    }
    await run.next(`${name}: preparing ${size} points`);
    taking.push(peer);
    await peer.prepare({ points: points.points, scalars: scalars.values, scalarBytes: scalars.bytes, expected });
    // warms up compiled code; each repetition checks the result
    await peer.run();
  }

  return {
    /**
     * Times one MSM of each peer. A wrong result has no time, and does not affect results of this
     * library.
     */
    async take(repetition: number): Promise<void> {
      if (repetition > REPETITIONS) return;
      for (const peer of taking) {
        await run.next(`${size} points, ${peer.name}: repetition ${repetition}`);
        const begun = performance.now();
        const result = await peer.run();
        const wall = performance.now() - begun;
        const agrees = peer.check(result);
        const told = { peer: peer.name, case: formatCaseAddress(address), n, repetition, agrees };
        run.emit({ event: 'peer', ...told, wallMs: agrees ? wall : null });
      }
    },
  };
}
