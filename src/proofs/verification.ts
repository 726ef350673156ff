/** Steps that verifiers of all proof systems have in common. */
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { notLoaded } from '../errors.js';
import { createMsmEngine } from '../index.js';
import { nextTurn } from '../scheduling/time-slice.js';
import type { CircuitFacts } from './api.js';
import { inSection, isOfContent } from './in-section.js';

/** Engines for sums of a few points, on the CPU and this thread. */
export interface FewPoints {
  readonly few1: MsmEngine;
  readonly few2: MsmEngine<Fp2>;
}

/** Creates the engines of a curve. */
export const openFewPoints = async (curve: CircuitFacts['curve']): Promise<FewPoints> => {
  const few = { curve, backend: 'cpu', maxWorkers: 0 } as const;
  return { few1: await createMsmEngine(few), few2: await createMsmEngine({ ...few, group: 'g2' }) };
};

/** Keys whose points were right in an earlier verification. */
const checkedKeys = new WeakSet<object>();

/** Checks the points of a key's header at its first verification. @throws what `check` throws */
export const assertKeyPoints = async (key: object, check: () => Promise<void>): Promise<void> => {
  if (checkedKeys.has(key)) return;
  await inSection('2 (header)', check);
  checkedKeys.add(key);
};

/** Returns whether points are in the group of order r, in a turn of its own. */
export const areInGroup = async <Of extends Coordinate>(
  engine: MsmEngine<Of>,
  points: readonly AffinePoint<Of>[],
): Promise<boolean> => {
  await nextTurn();
  try {
    (await engine.loadBases(points, { checkSubgroup: true })).destroy();
    return true;
  } catch (error) {
    if (isOfContent(error)) return false;
    throw error;
  }
};

/** Returns whether the product of some pairings is 1. @throws MsmError `aborted` */
export const isProductOne = async (
  curve: CircuitFacts['curve'],
  pairs: readonly (readonly [AffinePoint, AffinePoint<Fp2>])[],
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  await nextTurn();
  const pairing = await import('../pairing/pairing.js').catch(notLoaded('pairing'));
  return pairing.isProductOne(curve, pairs, signal);
};
