/** Peers in a run: which take part, and their turns between ours. */
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import { type PeerName, peerNames, peers } from '../peers/index.js';
import type { Peer } from '../peers/peer.js';
import type { Run } from './run.js';

/** A peer may be a hundred times as slow; its median needs no more. */
const REPETITIONS = 3;

/**
 * Those that were asked for, or that are quick at this size, with the inputs of the case.
 *
 * @param asked null: those that are quick
 */
export async function preparePeers(run: Run, gpu: GPU | null, msmCase: MsmCase, asked: readonly string[] | null) {
  const taking: Peer[] = [];
  const { address, points, scalars, expected } = msmCase;
  const { n } = address;
  const size = n.toLocaleString('en');
  for (const name of (asked ?? peerNames) as readonly PeerName[]) {
    const peer: Peer | null = peers[name](address);
    if (peer === null) {
      run.tell(
        { event: 'skipped', variant: name, why: `does not know ${address.curve}, ${address.group}` },
        'progress',
        'results',
      );
      continue;
    }
    if (asked === null && peer.quickUpTo === 0) continue;
    if (asked === null && n > peer.quickUpTo) {
      const why = `takes long at n = ${size}; peers=${name} asks for it all the same`;
      run.tell({ event: 'skipped', variant: name, why }, 'progress', 'results');
      continue;
    }
    await run.next(`${name}: preparing ${size} points`);
    taking.push(peer);
    await peer.prepare(n, {
      points: points.points,
      pointBytes: points.bytes,
      scalars: scalars.values,
      scalarBytes: scalars.bytes,
      expected,
      gpu,
    });
    // warms up what may be compiled; whether it is right is said at every repetition
    await peer.run();
  }

  return {
    /** One MSM of each. A wrong one has no time; that it is wrong does not make ours so. */
    async take(repetition: number): Promise<void> {
      if (repetition > REPETITIONS) return;
      for (const peer of taking) {
        await run.next(`${size} points, ${peer.name}: repetition ${repetition}`);
        const begun = performance.now();
        const result = await peer.run();
        const wall = performance.now() - begun;
        const agrees = peer.check(result);
        const told = { peer: peer.name, case: formatCaseAddress(address), n, repetition, agrees };
        run.tell({ event: 'peer', ...told, wallMs: agrees ? wall : null }, 'progress', 'results');
      }
    },
    destroy(): void {
      for (const peer of taking) peer.destroy?.();
    },
  };
}
