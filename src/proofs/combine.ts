/** Sums of a few points, on the CPU. */
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import type { PointSection } from '../formats/section.js';
import { SCALAR_BYTES } from './scalars.js';

/** A point, and its factor in little-endian bytes. */
export type Term<Of extends Coordinate> = readonly [point: AffinePoint<Of>, factor: Uint8Array];

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
