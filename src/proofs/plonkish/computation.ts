/** Vectors, commitments and random numbers of a proof that is being computed. */
import type { Bases, MsmEngine } from '../../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../../api/fields.js';
import { assertNotAborted, badArgument, type MsmError } from '../../errors.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import type { ProofRun } from '../circuit-prover.js';
import type { DrawScalar } from '../randomness.js';
import { numberOf, numbersIn, SCALAR_BYTES } from '../scalars.js';
import { extendWitness } from './additions.js';
import type { PlonkishCircuit } from './circuit.js';

/** Parts of a loaded key that every proof uses. */
export interface ComputingKey extends Pick<PlonkishCircuit, 'additions' | 'wires'> {
  readonly fr: FieldEngine;
  readonly g1: MsmEngine;
  /** Powers of τ. */
  readonly bases: Bases;
  readonly publicSignals: number;
}

export class Computation {
  readonly #key: ComputingKey;
  readonly #run: ProofRun;
  /** Vectors with secrets. */
  readonly #vectors: FieldVector[] = [];

  constructor(key: ComputingKey, run: ProofRun) {
    this.#key = key;
    this.#run = run;
  }

  get #options() {
    const { turn, ending } = this.#run;
    return { ...turn, signal: ending.signal };
  }

  /** Frees a vector with the computation. */
  own<Vector extends FieldVector>(vector: Vector): Vector {
    this.#vectors.push(vector);
    return vector;
  }

  record<Result>(record: (operations: FieldOperations) => Result): Promise<Result> {
    return this.#key.fr.run(record, this.#options);
  }

  /** Commits to polynomials. @returns x‖y, big-endian */
  commit(...polynomials: readonly FieldVector[]): Promise<Uint8Array[]> {
    const { g1, bases } = this.#key;
    return g1.msmBatch(bases, polynomials, { ...this.#options, result: 'be' });
  }

  /** Returns the numbers of a vector that has no secrets. */
  async read(vector: FieldVector): Promise<bigint[]> {
    return numbersIn(await this.#key.fr.read(vector, this.#options));
  }

  /**
   * Loads the values of all variables, and then random numbers.
   *
   * @param witness 32 little-endian bytes for each variable but the additions
   * @param order the numbers, counted from 1, in the order in which they follow the variables
   * @returns the vector, and the first values of the wire a
   */
  async load(
    witness: Uint8Array,
    order: readonly number[],
    draw: DrawScalar,
  ): Promise<{ inputs: FieldVector; publicValues: bigint[] }> {
    const { additions, fr, wires, publicSignals } = this.#key;
    const { secrets, ending } = this.#run;
    const all = await extendWitness(witness, additions, fr.p, order.length * SCALAR_BYTES, async () => {
      await nextTurn();
      assertNotAborted(ending.signal, 'proof');
    });
    const drawn = order.map(() => draw(fr.p));
    secrets.push(all, ...drawn);
    const first = all.length - order.length * SCALAR_BYTES;
    for (const [i, number] of order.entries()) all.set(drawn[number - 1] as Uint8Array, first + i * SCALAR_BYTES);
    const value = (variable: number): bigint =>
      numberOf(all.subarray(variable * SCALAR_BYTES, (variable + 1) * SCALAR_BYTES));
    const publicValues = Array.from(wires[0].subarray(0, publicSignals), value);
    return { inputs: this.own(await fr.load(all, this.#options)), publicValues };
  }

  /**
   * Returns the error of a witness, with the first constraint that it does not satisfy.
   *
   * @param remainders 0 for each constraint that is satisfied
   */
  async unsatisfied(remainders: FieldVector): Promise<MsmError> {
    const { fr } = this.#key;
    const bytes = await fr.read(remainders, this.#options);
    const first = Math.floor(bytes.findIndex((byte) => byte !== 0) / fr.numberBytes);
    bytes.fill(0);
    const which = first < 0 ? 'the circuit' : `constraint ${first} of the key`;
    return badArgument(`witness: it does not satisfy ${which}`);
  }

  /** Frees the vectors. */
  end(): void {
    for (const vector of this.#vectors) vector.destroy();
  }
}
