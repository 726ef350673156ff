/**
 * Few points on the CPU: their sums, the checks of a verifier, and the checks of points in the
 * sections of a key.
 */
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import { badArgument, MsmError, notLoaded } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import { createMsmEngine } from '../index.js';
import { nextTurn } from '../scheduling/time-slice.js';
import type { CircuitFacts } from './api.js';
import { SCALAR_BYTES } from './witness.js';

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

/** A point, and its factor in little-endian bytes. */
type Term<Of extends Coordinate> = readonly [point: AffinePoint<Of>, factor: Uint8Array];

/** The factor 1. */
export const ONE: Uint8Array = /* @__PURE__ */ Uint8Array.from({ length: SCALAR_BYTES }, (_, i) => Number(i === 0));

/** Adds up factor · point. Overwrites its copies of the factors. @throws MsmError as `msm` */
export const combine = async <Of extends Coordinate>(
  engine: MsmEngine<Of>,
  terms: readonly Term<Of>[],
): Promise<AffinePoint<Of>> => {
  const bases = await engine.loadBases(terms.map(([point]) => point));
  const factors = new Uint8Array(terms.length * SCALAR_BYTES);
  for (const [i, [, factor]] of terms.entries()) factors.set(factor, i * SCALAR_BYTES);
  try {
    return await engine.msm(bases, handOver(factors));
  } finally {
    factors.fill(0);
    bases.destroy();
  }
};

/** Reads a section of one point. @throws MsmError `bad-argument`, `not-on-curve` */
export const readPoint = async <Of extends Coordinate>(
  engine: MsmEngine<Of>,
  section: PointSection,
): Promise<AffinePoint<Of>> => {
  const bases = await engine.loadBases(await section.points(), { encoding: section.encoding });
  try {
    return await engine.msm(bases, ONE);
  } finally {
    bases.destroy();
  }
};

/** Codes of errors of points or numbers that are not what they must be. */
const ofContent: readonly string[] = ['bad-argument', 'not-on-curve', 'not-in-subgroup'];

/** Returns whether an error says so of some content. */
const isOfContent = (error: unknown): error is MsmError => error instanceof MsmError && ofContent.includes(error.code);

/**
 * Refuses infinity, which is zeros, in sections where no setup has it: powers of τ, and points of
 * powers of τ that are divided by a secret. The curve's equation does not find it, and proofs with
 * it do not verify. In the other sections variables that no constraint has are infinity.
 *
 * @param points of the section, from the point `from` on
 * @throws MsmError `bad-argument` naming the point
 */
export const assertFinite = (
  { pointBytes, name }: Pick<PointSection, 'pointBytes' | 'name'>,
  points: Uint8Array,
  from = 0,
): void => {
  for (let at = 0; at < points.length; at += pointBytes) {
    // a first byte that is zero is rare
    if (points[at] !== 0 || points.subarray(at, at + pointBytes).some((byte) => byte !== 0)) continue;
    throw badArgument(
      `zkey: section ${name}: points[${from + at / pointBytes}] is infinity, which no setup makes here`,
    );
  }
};

/** Has errors of a section's content name the section of the key. */
export const inSection = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!isOfContent(error) || error.message.startsWith('zkey')) throw error;
    throw new MsmError(error.code, `zkey: section ${name}: ${error.message}`, { cause: error });
  }
};
