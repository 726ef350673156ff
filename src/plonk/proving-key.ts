/** A key that proves. */
import type { FileSource } from '../formats/source.js';
import { CircuitProver, type ProofRun } from '../proofs/circuit-prover.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { projective, publicSignalsOf, snarkjsNames } from '../proofs/snarkjs-json.js';
import { readWitness } from '../proofs/witness.js';
import type { PlonkProof, ProofPoint, ProofResult, ProvingKey } from './api.js';
import { decodeCommitment } from './commitment.js';
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
  readonly #key: LoadedKey;
  readonly #draw: DrawScalar;

  /** @param draw draws b1 to b11, in this order */
  constructor(key: LoadedKey, draw: DrawScalar) {
    super(key, ROUNDS);
    this.#key = key;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { curve, variables, publicSignals, engines, additions } = this.#key;
    const circuit = { order: engines.fr.p, variables: variables - additions.variables.length / 2 };
    const values = await readWitness(witness, circuit);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const proof = writeProof(curve, await new Proof(this.#key, run).compute(values, this.#draw));
    return { proof, publicSignals: signals };
  }

  protected check({ proof, publicSignals }: ProofResult, signal: AbortSignal | undefined): Promise<boolean> {
    return verify(this.#key, proof, publicSignals, signal);
  }

  protected free(): void {
    const { fr, g1 } = this.#key.engines;
    fr.destroy();
    g1.destroy();
  }
}
