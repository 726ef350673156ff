/** The five sums of a proof, whose scalars are the witness and the quotient. */
import type { Bases, MsmEngine, Scalars } from '../api/engine.js';
import type { FieldVector } from '../api/fields.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import type { LoadedKey } from './loaded-key.js';
import { computeQuotient } from './quotient.js';

export class Sums {
  readonly #key: LoadedKey;
  readonly #run: ProofRun;
  /** Scalars of the other sums, once they may begin. */
  readonly #witness: Promise<Scalars>;
  /** Sum H. */
  readonly h: Promise<AffinePoint>;

  /**
   * Begins to compute H, and loads the scalars of the other sums.
   *
   * @param values the witness, which the sums take over
   */
  constructor(key: LoadedKey, values: Uint8Array<ArrayBuffer>, run: ProofRun) {
    this.#key = key;
    this.#run = run;
    // A GPU computes in the order of the calls. H waits for the quotient, so that goes first.
    let begin = (): void => undefined;
    const mayBegin = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.h = this.#ofQuotient(values, begin).finally(begin);
    const loading = key.engines.g1.loadScalars(handOver(values), this.#options);
    this.#witness = Promise.all([loading, mayBegin]).then(([scalars]) => scalars);
  }

  get #options() {
    const { turn, ending } = this.#run;
    return { ...turn, signal: ending.signal };
  }

  async #sum<Of extends Coordinate>(
    name: string,
    engine: MsmEngine<Of>,
    bases: Bases,
    scalars: Scalars | FieldVector,
  ): Promise<AffinePoint<Of>> {
    const result = await engine.msm(bases, scalars, this.#options);
    this.#run.onPart(name);
    return result;
  }

  #ofQuotient(values: Uint8Array, begin: () => void): Promise<AffinePoint> {
    const { engines, vectors, coset, bases, domainSize } = this.#key;
    const { ending, onPart } = this.#run;
    const { signal } = ending;
    return vectors.compute({ bases: bases.h, lengths: domainSize }, signal, async ({ fr, ...matrices }, isOnGpu) => {
      if (!isOnGpu) begin();
      // w/2^256: matrices are in memory times 2^256
      const witness = await fr.load(values, { ...this.#options, encoding: 'le-montgomery' });
      try {
        const scalars = await computeQuotient(fr, matrices, coset, witness, this.#options);
        begin();
        try {
          onPart('quotient');
          return await this.#sum('H', engines.g1, bases.h, scalars);
        } finally {
          scalars.destroy();
        }
      } finally {
        // not before: after a loss of the device the scalars are computed of it again
        witness.destroy();
      }
    });
  }

  async a(): Promise<AffinePoint> {
    return this.#sum('A', this.#key.engines.g1, this.#key.bases.a, await this.#witness);
  }

  async b1(): Promise<AffinePoint> {
    return this.#sum('B1', this.#key.engines.g1, this.#key.bases.b1, await this.#witness);
  }

  async b2(): Promise<AffinePoint<Fp2>> {
    return this.#sum('B2', this.#key.engines.g2, this.#key.bases.b2, await this.#witness);
  }

  /** Returns sum C; null if the circuit has no private variables. */
  async c(): Promise<AffinePoint | null> {
    const { engines, bases, publicSignals } = this.#key;
    if (bases.c !== null) return this.#sum('C', engines.g1, bases.c, (await this.#witness).subarray(publicSignals + 1));
    this.#run.onPart('C');
    return null;
  }

  destroy(): void {
    this.#witness.then((scalars) => scalars.destroy()).catch(() => undefined);
  }
}
