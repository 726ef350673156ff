import { describe, expect, it } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import { peerNames, peers } from '../dev/peers/index.js';

const names = { points: 'with-infinities', scalars: 'r-and-above', seed: 5 } as const;

describe.each(peerNames)('the peer %s', (name) => {
  it.each([1, 2, 33, 256])('computes %i scalars rightly, and knows a wrong sum', async (n) => {
    const { points, scalars, expected } = makeCase({ ...names, n });
    const problem = {
      points: points.points,
      pointBytes: points.bytes,
      scalars: scalars.values,
      scalarBytes: scalars.bytes,
      expected,
      // no peer that there is computes on it
      gpu: {} as GPU,
    };
    const peer = peers[name]('bn254');
    expect(peer.name).toBe(name);
    await peer.prepare(n, problem);
    const sum = await peer.run();
    expect(peer.check(sum)).toBe(true);

    // the generator, which none of these comes to
    await peer.prepare(n, { ...problem, expected: { x: 1n, y: 2n, infinity: false } });
    expect(peer.check(sum)).toBe(false);
  });
});
