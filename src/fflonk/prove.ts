/** Computes a proof, round by round. */
import type { FieldOperations, FieldVector } from '../api/fields.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { Computation } from '../proofs/plonkish/computation.js';
import { challengeOf } from '../proofs/plonkish/transcript.js';
import type { DrawScalar } from '../proofs/randomness.js';
import type { LoadedKey } from './loaded-key.js';
import { inverseOfDenominators, openedAt, vanishingAt } from './openings.js';
import { type Blindings, type PermutationPolynomials, Rounds, type WirePolynomials } from './rounds.js';

/** Commitments to C1, C2, W1 and W2 as x‖y, big-endian, and values of polynomials. */
export interface RawProof {
  readonly commitments: readonly Uint8Array[];
  /** In the order of `evaluationNames`. */
  readonly evaluations: readonly bigint[];
  /** Inverse of the denominators of a verifier contract. */
  readonly inverse: bigint;
}

/** Random numbers by the places that snarkjs has for them, in the order that they are loaded in. */
const blindings: readonly number[] = [1, 2, 3, 4, 5, 6, 9, 8, 7];

const blindingsOf = (ops: FieldOperations, inputs: FieldVector): Blindings => {
  const first = inputs.length - blindings.length;
  const slice = (from: number, to: number): FieldVector => ops.slice(inputs, first + from, first + to);
  return { wires: [slice(0, 2), slice(2, 4), slice(4, 6)], z: slice(6, 9) };
};

export class Proof {
  readonly #key: LoadedKey;
  readonly #run: ProofRun;
  readonly #rounds: Rounds;
  readonly #computation: Computation;

  constructor(key: LoadedKey, run: ProofRun) {
    this.#key = key;
    this.#run = run;
    this.#rounds = new Rounds(key);
    this.#computation = new Computation(key, run);
  }

  /** Proves. @param witness 32 little-endian bytes for each variable but the additions */
  async compute(witness: Uint8Array, draw: DrawScalar): Promise<RawProof> {
    try {
      return await this.#compute(witness, draw);
    } finally {
      this.#computation.end();
    }
  }

  async #compute(witness: Uint8Array, draw: DrawScalar): Promise<RawProof> {
    const { fr, commitment, publicSignals, domain } = this.#key;
    const { p } = fr;
    const { onPart } = this.#run;
    const { inputs, publicValues } = await this.#computation.load(witness, blindings, draw);
    const wires = await this.#wires(inputs);
    const ofC1 = await this.#commit(wires.c1);
    onPart('round 1');
    const beta = challengeOf(p, commitment, ...publicValues, ofC1);
    const gamma = challengeOf(p, beta);
    const permutation = await this.#permutation(inputs, wires, { beta, gamma });
    const ofC2 = await this.#commit(permutation.c2);
    onPart('round 2');
    const seed = challengeOf(p, gamma, ofC2);
    const at = openedAt({ p, domain }, seed);
    const opened = await this.#record((ops) => this.#rounds.evaluations(ops, wires, permutation, at));
    const evaluations = await this.#computation.read(opened);
    onPart('round 3');
    const alpha = challengeOf(p, seed, ...evaluations);
    const w1 = await this.#record((ops) => this.#rounds.quotient(ops, wires, permutation, at, alpha));
    const ofW1 = await this.#commit(w1);
    onPart('round 4');
    const y = challengeOf(p, alpha, ofW1);
    const { c1 } = wires;
    const { c2 } = permutation;
    const w2 = await this.#record((ops) => this.#rounds.opening(ops, { c1, c2, w1 }, at, alpha, y));
    const ofW2 = await this.#commit(w2);
    onPart('round 5');
    const inverse = inverseOfDenominators({ p, domain }, at, vanishingAt(p, at, y), publicSignals);
    return { commitments: [ofC1, ofC2, ofW1, ofW2], evaluations, inverse };
  }

  /** Records operations that result in one vector. */
  async #record(record: (operations: FieldOperations) => FieldVector): Promise<FieldVector> {
    return this.#computation.own(await this.#computation.record(record));
  }

  async #commit(polynomial: FieldVector): Promise<Uint8Array> {
    const [commitment] = await this.#computation.commit(polynomial);
    return commitment as Uint8Array;
  }

  async #wires(inputs: FieldVector): Promise<WirePolynomials> {
    const made = await this.#computation.record((ops) => this.#rounds.wires(ops, inputs, blindingsOf(ops, inputs)));
    const { values, polynomials, onCoset, t0, c1, remainders } = made;
    for (const vector of [...values, ...polynomials, ...onCoset, t0, c1, remainders]) this.#computation.own(vector);
    return made;
  }

  /** @throws MsmError `bad-argument` if the witness does not satisfy the circuit */
  async #permutation(
    inputs: FieldVector,
    wires: WirePolynomials,
    challenges: { readonly beta: bigint; readonly gamma: bigint },
  ): Promise<PermutationPolynomials> {
    const computation = this.#computation;
    const made = await computation.record((ops) =>
      this.#rounds.permutation(ops, wires, blindingsOf(ops, inputs), challenges),
    );
    const { z, t1, t2, c2, checks } = made;
    for (const vector of [z, t1, t2, c2, checks]) computation.own(vector);
    const rests = await computation.read(checks);
    if (rests.some((rest) => rest !== 0n)) throw await computation.unsatisfied(wires.remainders);
    // nothing needs these any more
    for (const vector of [...wires.values, ...wires.onCoset, wires.remainders]) vector.destroy();
    return made;
  }
}
