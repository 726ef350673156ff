/** The five sums of a proof, whose scalars are the witness and the quotient. */
import type { MsmEngine } from '../api/engine.js';
import type { FieldVector } from '../api/field-vectors.js';
import type { Bases, Scalars } from '../api/handles.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import { handOver } from '../engine/bytes.js';
import { badArgument, MsmError } from '../errors.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import type { Sums } from './assemble.js';
import type { LoadedKey } from './loaded-key.js';
import { type Blinding, computeScalars } from './quotient.js';
import { settleAll } from './settle-all.js';

/** Loads w/2^256: matrices are in memory times 2^256. */
const loadWitness = async (
  { engines: { fr } }: LoadedKey,
  values: Uint8Array,
  signal: AbortSignal,
): Promise<FieldVector> => {
  try {
    return await fr.load(values, { encoding: 'le-montgomery', signal });
  } catch (error) {
    if (!(error instanceof MsmError) || error.code !== 'bad-argument') throw error;
    throw badArgument(`witness: a value is not below the prime of the field (${error.message})`);
  }
};

/**
 * Computes the sums, and −r·s.
 *
 * @param values the witness, which this function takes over
 */
export const computeSums = async (
  key: LoadedKey,
  values: Uint8Array<ArrayBuffer>,
  blinding: Blinding,
  { turn, ending, secrets, onPart }: ProofRun,
): Promise<{ readonly sums: Sums; readonly minusRS: Uint8Array }> => {
  const { engines, matrices, coset, bases, publicSignals } = key;
  const { fr, g1, g2 } = engines;
  const { signal } = ending;
  const options = { ...turn, signal };
  const sum = async <Of extends Coordinate>(
    name: string,
    engine: MsmEngine<Of>,
    points: Bases,
    scalars: Scalars | FieldVector,
  ): Promise<AffinePoint<Of>> => {
    const result = await engine.msm(points, scalars, options);
    onPart(name);
    return result;
  };
  const sumOfPrivate = async (scalars: Scalars): Promise<AffinePoint | null> => {
    if (bases.c !== null) return sum('C', g1, bases.c, scalars.subarray(publicSignals + 1));
    onPart('C');
    return null;
  };
  const vector = await loadWitness(key, values, signal);
  let witness: Scalars | null = null;
  try {
    const scalars = await g1.loadScalars(handOver(values), options);
    witness = scalars;
    const ofQuotient = async () => {
      const { h, minusRS } = await computeScalars(fr, matrices, coset, vector, blinding, signal);
      secrets.push(minusRS);
      try {
        onPart('quotient');
        return { h: await sum('H', g1, bases.h, h), minusRS };
      } finally {
        h.destroy();
      }
    };
    const [{ h, minusRS }, a, b1, b2, c] = await settleAll(
      [
        ofQuotient(),
        sum('A', g1, bases.a, scalars),
        sum('B1', g1, bases.b1, scalars),
        sum('B2', g2, bases.b2, scalars),
        sumOfPrivate(scalars),
      ],
      () => ending.abort(),
    );
    return { sums: { a, b1, b2, c, h }, minusRS };
  } finally {
    vector.destroy();
    witness?.destroy();
  }
};
