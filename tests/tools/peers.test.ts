import { describe, expect, it } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { oracleOf } from '../../dev/oracle/curves.js';
import { toAffinePoint } from '../../dev/oracle/known-bases.js';
import { type Peer, peerNames, peers } from '../../dev/peers/peers.js';

const groups = [
  ['bn254', 'g1'],
  ['bn254', 'g2'],
  ['ed25519', 'g1'],
] as const;
const names = { points: 'with-infinities', scalars: 'r-and-above', seed: 5 } as const;

const known = peerNames.flatMap((name) =>
  groups
    .filter(([curve]) => name === 'noble' || curve === 'bn254')
    .map(([curve, group]) => [name, curve, group] as const),
);

describe.each(known)('the peer %s on %s %s', (name, curve, group) => {
  it.each(group === 'g1' ? [1, 2, 33, 256] : [1, 33])(
    'computes %i scalars right, and detects a wrong sum',
    async (n) => {
      const { points, scalars, expected } = makeCase({ ...names, n, curve, group });
      const problem = {
        points: points.points,
        scalars: scalars.values,
        scalarBytes: scalars.bytes,
        expected,
      };
      const peer = peers[name]({ curve, group }) as Peer;
      expect(peer.name).toBe(name);
      await peer.prepare(problem);
      const sum = await peer.run();
      expect(peer.check(sum)).toBe(true);

      // the generator, which none of these comes to
      const wrong = toAffinePoint(oracleOf({ curve, group }).Point.BASE);
      await peer.prepare({ ...problem, expected: wrong });
      expect(peer.check(sum)).toBe(false);
    },
  );
});

it('noble lacks Bandersnatch, and ffjavascript all curves but BN254 and BLS12-381', () => {
  expect(peers.noble({ curve: 'bandersnatch', group: 'g1' })).toBeNull();
  for (const curve of ['ed25519', 'pallas', 'bls12-377'] as const) {
    expect(peers.ffjavascript({ curve, group: 'g1' })).toBeNull();
  }
});
