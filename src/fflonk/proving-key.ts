/** A key that proves. */
import type { FileSource } from '../formats/source.js';
import { CircuitProver, type ProofRun } from '../proofs/circuit-prover.js';
import type { KeyVectors } from '../proofs/key-vectors.js';
import { decodeCommitment } from '../proofs/plonkish/commitment.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { projective, publicSignalsOf } from '../proofs/snarkjs-json.js';
import { readWitness } from '../proofs/witness.js';
import type { FflonkProof, ProofEvaluations, ProofPolynomials, ProofResult, ProvingKey } from './api.js';
import type { LoadedKey } from './loaded-key.js';
import { evaluationNames, polynomialNames } from './names.js';
import { Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

const ROUNDS = 5;

const writeProof = ({ commitments, evaluations, inverse }: RawProof): FflonkProof => {
  const points = commitments.map((each) => projective(decodeCommitment(each), 0n, 1n).map(String));
  const polynomials = polynomialNames.map((name, i) => [name, points[i]]);
  const values = evaluationNames.map((name, i) => [name, String(evaluations[i])]);
  return {
    polynomials: Object.fromEntries(polynomials) as unknown as ProofPolynomials,
    evaluations: Object.fromEntries([...values, ['inv', String(inverse)]]) as unknown as ProofEvaluations,
    ...{ protocol: 'fflonk', curve: 'bn128' },
  };
};

export class LoadedProvingKey extends CircuitProver<ProofResult> implements ProvingKey {
  readonly #vectors: KeyVectors<LoadedKey>;
  readonly #draw: DrawScalar;

  /** @param draw draws b1 to b9, in this order */
  constructor(vectors: KeyVectors<LoadedKey>, draw: DrawScalar) {
    super(vectors.home, ROUNDS);
    this.#vectors = vectors;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { variables, publicSignals, fr, additions, bases, domainSize } = this.#vectors.home;
    const circuit = { order: fr.p, variables: variables - additions.variables.length / 2 };
    const values = await readWitness(witness, circuit);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const raw = await this.#vectors.compute({ bases, lengths: 9 * domainSize }, run.ending.signal, (key) =>
      new Proof(key, run).compute(values, this.#draw),
    );
    return { proof: writeProof(raw), publicSignals: signals };
  }

  protected check({ proof, publicSignals }: ProofResult, signal: AbortSignal | undefined): Promise<boolean> {
    return verify(this.#vectors.home, proof, publicSignals, signal);
  }

  protected free(): void {
    this.#vectors.destroy();
    this.#vectors.home.g1.destroy();
  }
}
