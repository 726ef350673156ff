/** Peers in a run: which take part, and their turns between ours. */
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import { type PeerName, peerNames, peers } from '../peers/index.js';
import type { Peer } from '../peers/peer.js';
import type { Run } from './run.js';

/** A peer may be a hundred times as slow; its median needs no more. */
const REPETITIONS = 3;

export class PeerTurns {
  readonly #run: Run;
  readonly #msmCase: MsmCase;
  readonly #peers: Peer[] = [];

  private constructor(run: Run, msmCase: MsmCase) {
    this.#run = run;
    this.#msmCase = msmCase;
  }

  /**
   * Those that were asked for, or that are quick at this size, with the inputs of the case.
   *
   * @param asked null: those that are quick
   */
  static async prepare(run: Run, gpu: GPU, msmCase: MsmCase, asked: readonly string[] | null): Promise<PeerTurns> {
    const turns = new PeerTurns(run, msmCase);
    const { address, points, scalars, expected } = msmCase;
    const size = address.n.toLocaleString('en');
    for (const name of (asked ?? peerNames) as readonly PeerName[]) {
      const peer: Peer = peers[name]();
      if (asked === null && address.n > peer.quickUpTo) {
        const why = `takes long at n = ${size}; peers=${name} asks for it all the same`;
        run.tell({ event: 'skipped', variant: name, why }, 'progress', 'results');
        continue;
      }
      await run.next(`${name}: preparing ${size} points`);
      turns.#peers.push(peer);
      await peer.prepare(address.n, {
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
    return turns;
  }

  /** One MSM of each. A wrong one has no time; that it is wrong does not make ours so. */
  async take(repetition: number): Promise<void> {
    if (repetition > REPETITIONS) return;
    const { address } = this.#msmCase;
    const { n } = address;
    for (const peer of this.#peers) {
      await this.#run.next(`${n.toLocaleString('en')} points, ${peer.name}: repetition ${repetition}`);
      const begun = performance.now();
      const result = await peer.run();
      const wall = performance.now() - begun;
      const agrees = peer.check(result);
      this.#run.tell(
        {
          event: 'peer',
          peer: peer.name,
          case: formatCaseAddress(address),
          n,
          repetition,
          agrees,
          wallMs: agrees ? wall : null,
        },
        'progress',
        'results',
      );
    }
  }

  destroy(): void {
    for (const peer of this.#peers) peer.destroy?.();
  }
}
