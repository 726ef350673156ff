/** A key in the engines that compute with it. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine } from '../api/fields.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { openUntilAborted } from '../errors.js';
import { createMsmEngine } from '../index.js';
import type { CircuitFacts } from '../proofs/api.js';
import type { EngineOptions } from '../proofs/engine-options.js';
import type { KeyVectors } from '../proofs/key-vectors.js';
import { type FewPoints, openFewPoints } from '../proofs/verification.js';
import type { LoadedMatrices } from './quotient.js';

/** Engines of a curve. */
export interface Engines extends FewPoints {
  readonly g1: MsmEngine;
  readonly g2: MsmEngine<Fp2>;
}

/** Points of the verifying key; α, β and δ are parts of proofs, too. */
export interface HeaderPoints {
  readonly alpha1: AffinePoint;
  readonly beta1: AffinePoint;
  readonly beta2: AffinePoint<Fp2>;
  readonly gamma2: AffinePoint<Fp2>;
  readonly delta1: AffinePoint;
  readonly delta2: AffinePoint<Fp2>;
}

/** A key in the memory of engines. */
export interface LoadedKey extends CircuitFacts {
  readonly engines: Engines;
  readonly points: HeaderPoints;
  /** The matrices. */
  readonly vectors: KeyVectors<LoadedMatrices & { readonly fr: FieldEngine }>;
  /** Prime of the scalar field. */
  readonly order: bigint;
  /** Shifts the n-th roots of unity to the coset of H. */
  readonly coset: bigint;
  /** Bases of the five sums; C has none if the circuit has no private variables. */
  readonly bases: Readonly<Record<'a' | 'b1' | 'b2' | 'h', Bases>> & { readonly c: Bases | null };
  /** Points of the verifier for the constant 1 and the public values, in `few1`. */
  readonly ic: Bases;
}

export const destroyEngines = (engines: Partial<Engines>): void => {
  for (const engine of Object.values(engines) as MsmEngine<Coordinate>[]) engine.destroy();
};

/** Creates the engines of a curve. @throws MsmError as `createMsmEngine` */
export const openEngines = async (
  curve: CircuitFacts['curve'],
  options: EngineOptions,
  signal: AbortSignal | undefined,
): Promise<Engines> => {
  const made: { -readonly [Name in keyof Engines]?: Engines[Name] } = {};
  try {
    made.g1 = await openUntilAborted(createMsmEngine({ ...options, curve }), signal);
    made.g2 = await openUntilAborted(createMsmEngine({ ...options, curve, group: 'g2', deviceOf: made.g1 }), signal);
    Object.assign(made, await openFewPoints(curve));
    return made as Engines;
  } catch (error) {
    destroyEngines(made);
    throw error;
  }
};
