/** Keys of PLONK and FFLONK that prove. */
import type { FileSource } from '../../formats/source.js';
import type { CircuitFacts } from '../api.js';
import { CircuitProver, type ProofRun, type ProofSettings, type Statement } from '../circuit-prover.js';
import type { KeyVectors } from '../key-vectors.js';
import type { DrawScalar } from '../randomness.js';
import { publicSignalsOf } from '../snarkjs-json.js';
import { readWitness } from '../witness.js';
import type { ComputingKey } from './computation.js';

/** Rounds of a proof, in both proof systems. */
const ROUNDS = 5;

/** A loaded key of a proof system. */
export interface PlonkishKey extends CircuitFacts, ComputingKey {}

/** A proof, and the public values that it is verified with. */
interface Result<Proof> {
  readonly proof: Proof;
  readonly publicSignals: string[];
}

/** Differences of proof systems. */
export interface PlonkishSystem<Key extends PlonkishKey, Proof> {
  /** Lengths of the longest sums of a proof. */
  lengths(key: Key): number | readonly number[];
  /** Proves. @param witness 32 little-endian bytes for each variable but the additions */
  prove(key: Key, run: ProofRun, witness: Uint8Array, draw: DrawScalar): Promise<Proof>;
  verify(key: Key, proof: unknown, publicSignals: unknown, signal: AbortSignal | undefined): Promise<boolean>;
}

export class PlonkishProvingKey<Key extends PlonkishKey, Proof> extends CircuitProver<Result<Proof>> {
  readonly #vectors: KeyVectors<Key>;
  readonly #draw: DrawScalar;
  readonly #system: PlonkishSystem<Key, Proof>;

  /** @param draw draws b1, b2 and so on, in this order @param options queue of its proofs, and warnings */
  constructor(vectors: KeyVectors<Key>, draw: DrawScalar, system: PlonkishSystem<Key, Proof>, options: ProofSettings) {
    super(vectors.home, ROUNDS, { ...options, engines: [vectors.home.g1], vectors });
    this.#vectors = vectors;
    this.#draw = draw;
    this.#system = system;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<Result<Proof>> {
    const { home } = this.#vectors;
    const { variables, publicSignals, fr, additions, bases } = home;
    const circuit = { order: fr.p, variables: variables - additions.variables.length / 2 };
    const values = await readWitness(witness, circuit, run);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const sums = { bases, lengths: this.#system.lengths(home) };
    const proof = await this.#vectors.compute(sums, run.ending.signal, (key) =>
      this.#system.prove(key, run, values, this.#draw),
    );
    return { proof, publicSignals: signals };
  }

  protected check({ proof, publicSignals }: Statement, signal: AbortSignal | undefined): Promise<boolean> {
    return this.#system.verify(this.#vectors.home, proof, publicSignals, signal);
  }

  protected free(): void {
    this.#vectors.home.g1.destroy();
  }
}
