/**
 * MSMs whose walks have sums in extended coordinates, beside those of tests/stages.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { CurveGroup } from '../../dev/oracle/curves.js';
import { samePoint } from '../../dev/oracle/known-bases.js';
import type { Tuning } from '../../src/index.js';
import { keptEngine } from '../support/engines.js';

const xyzz = { walkerCoordinates: 'xyzz' } as const;

const computes = async (where: CurveGroup, tuning: Partial<Tuning>, n: number): Promise<void> => {
  const engine = await keptEngine(where, { tuning });
  const made = makeCase({ ...where, points: 'with-infinities', scalars: 'random', n, seed: 41 });
  const bases = await engine.loadBases(made.points.bytes);
  const sums = await engine.msmBatch(bases, [made.scalars.bytes, made.scalars.bytes]);
  for (const sum of sums) expect(samePoint(sum, made.expected)).toBe(true);
  expect(engine.lastRun).toMatchObject({ on: 'gpu', retried: null, tuning: { ...tuning, walkerSlots: 1 } });
  bases.destroy();
};

test('batches', () => computes({ curve: 'bn254', group: 'g1' }, xyzz, 700));

describe('other groups', () => {
  test.each([
    ['bn254', 'g2', 'unsigned'],
    ['ed25519', 'g1', 'unsigned'],
    ['secp256k1', 'g1', 'fma'],
  ] as const)('%s %s, %s products', (curve, group, fieldProduct) =>
    computes({ curve, group }, { ...xyzz, fieldProduct }, 130),
  );
});
