/** A key that proves. */
import type { FileSource } from '../formats/source.js';
import { CircuitProver, type ProofRun, type ProofSettings, type Statement } from '../proofs/circuit-prover.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { publicSignalsOf } from '../proofs/snarkjs-json.js';
import { readWitness } from '../proofs/witness.js';
import type { ProofResult, ProvingKey } from './api.js';
import { computePoints } from './compute-points.js';
import { destroyEngines, type LoadedKey } from './loaded-key.js';
import { verify } from './verify.js';
import { writeProof } from './write-proof.js';

/** Parts of a proof: the scalars of H, five sums, the assembly of its points. */
const PARTS = 7;

export class LoadedProvingKey extends CircuitProver<ProofResult> implements ProvingKey {
  readonly #key: LoadedKey;
  readonly #draw: DrawScalar;

  /** @param draw draws r and s, in this order @param options queue of its proofs, and warnings */
  constructor(key: LoadedKey, draw: DrawScalar, options: ProofSettings) {
    const { engines, vectors } = key;
    super(key, PARTS, { ...options, engines: [engines.g1, engines.g2], vectors });
    this.#key = key;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { curve, variables, publicSignals, order } = this.#key;
    const values = await readWitness(witness, { order, variables }, run);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const blinding = { r: this.#draw(order), s: this.#draw(order) };
    run.secrets.push(blinding.r, blinding.s);
    const proof = writeProof(curve, await computePoints(this.#key, values, blinding, run));
    run.onPart('assembly');
    return { proof, publicSignals: signals };
  }

  protected check({ proof, publicSignals }: Statement, signal: AbortSignal | undefined): Promise<boolean> {
    return verify(this.#key, proof, publicSignals, signal);
  }

  protected free(): void {
    destroyEngines(this.#key.engines);
  }
}
