/** A key that proves. */
import type { FileSource } from '../formats/source.js';
import { CircuitProver, type ProofRun } from '../proofs/circuit-prover.js';
import type { KeyVectors } from '../proofs/key-vectors.js';
import { decodeCommitment } from '../proofs/plonkish/commitment.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { projective, publicSignalsOf, snarkjsNames } from '../proofs/snarkjs-json.js';
import { readWitness } from '../proofs/witness.js';
import type { PlonkProof, ProofPoint, ProofResult, ProvingKey } from './api.js';
import type { LoadedKey } from './loaded-key.js';
import { Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

const ROUNDS = 5;

const pointOf = (commitment: Uint8Array): ProofPoint => projective(decodeCommitment(commitment), 0n, 1n).map(String);

const writeProof = (curve: ProvingKey['curve'], { commitments, evaluations }: RawProof): PlonkProof => {
  const [A, B, C, Z, T1, T2, T3, Wxi, Wxiw] = commitments.map(pointOf) as [
    ...[ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint],
  ];
  const [eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw] = evaluations.map(String) as [
    ...[string, string, string, string, string, string],
  ];
  return {
    ...{ A, B, C, Z, T1, T2, T3, Wxi, Wxiw, eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw },
    ...{ protocol: 'plonk', curve: snarkjsNames[curve] },
  };
};

export class LoadedProvingKey extends CircuitProver<ProofResult> implements ProvingKey {
  readonly #vectors: KeyVectors<LoadedKey>;
  readonly #draw: DrawScalar;

  /** @param draw draws b1 to b11, in this order */
  constructor(vectors: KeyVectors<LoadedKey>, draw: DrawScalar) {
    super(vectors.home, ROUNDS);
    this.#vectors = vectors;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { curve, variables, publicSignals, fr, additions, bases, domainSize } = this.#vectors.home;
    const circuit = { order: fr.p, variables: variables - additions.variables.length / 2 };
    const values = await readWitness(witness, circuit);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const commitments = { bases, lengths: [domainSize, domainSize, domainSize] };
    const raw = await this.#vectors.compute(commitments, run.ending.signal, (key) =>
      new Proof(key, run).compute(values, this.#draw),
    );
    return { proof: writeProof(curve, raw), publicSignals: signals };
  }

  protected check({ proof, publicSignals }: ProofResult, signal: AbortSignal | undefined): Promise<boolean> {
    return verify(this.#vectors.home, proof, publicSignals, signal);
  }

  protected free(): void {
    this.#vectors.destroy();
    this.#vectors.home.g1.destroy();
  }
}
