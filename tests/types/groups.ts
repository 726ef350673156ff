/**
 * Compiled by `npm run typecheck`, and never run: what of one group is handed to the other is no
 * program.
 */
import {
  type AffinePoint,
  type Bases,
  type Curve,
  createMsmEngine,
  type Fp2,
  type MsmEngine,
} from '../../src/index.js';

declare const number: AffinePoint;
declare const pair: AffinePoint<Fp2>;
declare const bases: Bases;
declare const ofNumbers: Curve;
declare const ofPairs: Curve<Fp2>;

export const groupsAreApart = async (): Promise<void> => {
  const g1: MsmEngine = await createMsmEngine({ curve: 'bn254' });
  const g2: MsmEngine<Fp2> = await createMsmEngine({ curve: 'bn254', group: 'g2' });
  const own1: MsmEngine = await createMsmEngine({ curve: ofNumbers });
  const own2: MsmEngine<Fp2> = await createMsmEngine({ curve: ofPairs });
  // @ts-expect-error what G2 computes in is no engine of G1
  const wrong: MsmEngine = await createMsmEngine({ curve: 'bn254', group: 'g2' });
  // @ts-expect-error these constants are of the other group
  await createMsmEngine({ curve: ofNumbers, group: 'g2' });
  await g1.loadBases([number]);
  await g2.loadBases([pair]);
  // @ts-expect-error a point of G2
  await g1.loadBases([pair]);
  // @ts-expect-error a point of G1
  await g2.loadBases([number]);
  const sum: AffinePoint = await own1.msm(bases, [1n]);
  const [sumOfPairs]: AffinePoint<Fp2>[] = await own2.msmBatch(bases, [[1n]]);
  // @ts-expect-error its coordinates are pairs
  const x: bigint = (await g2.msm(bases, [1n])).x;
  void [wrong, sum, sumOfPairs, x];
};
