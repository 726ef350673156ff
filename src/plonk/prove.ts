/** Computes a proof, round by round. */
import type { FieldOperations } from '../api/field-operations.js';
import type { FieldVector } from '../api/field-vectors.js';
import { assertNotAborted, badArgument, type MsmError } from '../errors.js';
import { mod } from '../field/modulus.js';
import { power } from '../field/square-root.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { numberOf, SCALAR_BYTES } from '../proofs/scalars.js';
import { nextTurn } from '../scheduling/time-slice.js';
import type { Evaluations } from './linearization.js';
import type { LoadedKey } from './loaded-key.js';
import { Rounds, type Wires } from './rounds.js';
import { challengeOf } from './transcript.js';
import { extendWitness } from './variables.js';

/** Commitments as x‖y, big-endian, and values of polynomials. */
export interface RawProof {
  readonly commitments: readonly Uint8Array[];
  readonly evaluations: readonly bigint[];
}

/** Polynomials of blinding: their coefficients by the numbers that snarkjs has for them. */
const blindings = { a: [2, 1], b: [4, 3], c: [6, 5], z: [9, 8, 7], b10: [10], b11: [11] } as const;

/** Coefficients in the order in which they follow the variables. */
const coefficients: readonly number[] = /* @__PURE__ */ Object.values(blindings).flat();

/** Returns a polynomial of blinding. @param inputs variables, and then `coefficients` */
const blindingOf = (ops: FieldOperations, inputs: FieldVector, name: keyof typeof blindings): FieldVector => {
  const own = blindings[name];
  const from = inputs.length - coefficients.length + coefficients.indexOf(own[0]);
  return ops.slice(inputs, from, from + own.length);
};

export class Proof {
  readonly #key: LoadedKey;
  readonly #run: ProofRun;
  readonly #rounds: Rounds;
  /** Vectors with secrets. */
  readonly #vectors: FieldVector[] = [];

  constructor(key: LoadedKey, run: ProofRun) {
    this.#key = key;
    this.#run = run;
    this.#rounds = new Rounds(key);
  }

  get #signal(): AbortSignal {
    return this.#run.ending.signal;
  }

  #owned<Vector extends FieldVector>(vector: Vector): Vector {
    this.#vectors.push(vector);
    return vector;
  }

  /** Commits to polynomials. */
  async #commit(...polynomials: readonly FieldVector[]): Promise<Uint8Array[]> {
    const { g1, bases } = this.#key;
    return g1.msmBatch(bases, polynomials, { ...this.#run.turn, signal: this.#signal, result: 'be' });
  }

  /** Returns the value of a vector of one element. */
  async #read(vector: FieldVector): Promise<bigint> {
    return numberOf(await this.#key.fr.read(vector, { signal: this.#signal }));
  }

  /** Proves. @param witness 32 little-endian bytes for each variable but the additions */
  async compute(witness: Uint8Array, draw: DrawScalar): Promise<RawProof> {
    try {
      return await this.#compute(witness, draw);
    } finally {
      for (const vector of this.#vectors) vector.destroy();
    }
  }

  async #compute(witness: Uint8Array, draw: DrawScalar): Promise<RawProof> {
    const { fr, commitments } = this.#key;
    const { p } = fr;
    const { onPart } = this.#run;
    const numbers = await this.#numbers(witness, draw);
    const inputs = this.#owned(await fr.load(numbers, { signal: this.#signal }));
    const { values, polynomials } = await this.#wires(inputs);
    const wires = await this.#commit(...polynomials);
    onPart('round 1');
    const beta = challengeOf(p, ...commitments, ...this.#publicValues(numbers), ...wires);
    const gamma = challengeOf(p, beta);
    const z = await this.#record((ops) =>
      this.#rounds.permutation(ops, values, blindingOf(ops, inputs, 'z'), beta, gamma),
    );
    this.#owned(z);
    const [commitmentZ] = (await this.#commit(z)) as [Uint8Array];
    onPart('round 2');
    const alpha = challengeOf(p, beta, gamma, commitmentZ);
    const parts = await this.#quotient({ ofA: values[0], polynomials, z }, { beta, gamma, alpha }, inputs);
    if (parts === null) throw await this.#unsatisfied(values);
    const commitmentsT = await this.#commit(...parts);
    onPart('round 3');
    const xi = challengeOf(p, alpha, ...commitmentsT);
    const evaluations = await this.#evaluate(polynomials, z, xi);
    onPart('round 4');
    const challenges = { beta, gamma, alpha, xi, v: challengeOf(p, xi, ...evaluations) };
    const openings = await this.#record((ops) =>
      this.#rounds.openings(ops, { polynomials, z, parts }, challenges, evaluations),
    );
    for (const vector of openings) this.#owned(vector);
    const commitmentsW = await this.#commit(...openings);
    onPart('round 5');
    return { commitments: [...wires, commitmentZ, ...commitmentsT, ...commitmentsW], evaluations };
  }

  #record<Result>(record: (operations: FieldOperations) => Result): Promise<Result> {
    return this.#key.fr.run(record, { signal: this.#signal });
  }

  /** Returns the values of all variables, and then the coefficients of blinding. */
  async #numbers(witness: Uint8Array, draw: DrawScalar): Promise<Uint8Array> {
    const { additions, fr } = this.#key;
    const { secrets } = this.#run;
    const { p } = fr;
    const signal = this.#signal;
    const all = await extendWitness(witness, additions, p, coefficients.length * SCALAR_BYTES, async () => {
      await nextTurn();
      assertNotAborted(signal, 'proof');
    });
    const drawn = coefficients.map(() => draw(p));
    secrets.push(all, ...drawn);
    const first = all.length - coefficients.length * SCALAR_BYTES;
    for (const [i, number] of coefficients.entries())
      all.set(drawn[number - 1] as Uint8Array, first + i * SCALAR_BYTES);
    return all;
  }

  /** Returns the first values of the wire a. @param numbers as `#numbers` returns them */
  #publicValues(numbers: Uint8Array): bigint[] {
    const { wires, publicSignals } = this.#key;
    const value = (variable: number): bigint =>
      numberOf(numbers.subarray(variable * SCALAR_BYTES, (variable + 1) * SCALAR_BYTES));
    return Array.from(wires[0].subarray(0, publicSignals), value);
  }

  async #wires(inputs: FieldVector): Promise<{ values: Wires; polynomials: Wires }> {
    const made = await this.#record((ops) => {
      const blinding = [
        blindingOf(ops, inputs, 'a'),
        blindingOf(ops, inputs, 'b'),
        blindingOf(ops, inputs, 'c'),
      ] as const;
      return this.#rounds.wires(ops, inputs, blinding);
    });
    for (const vector of [...made.values, ...made.polynomials]) this.#owned(vector);
    return made;
  }

  /** Round 4: values of the wires and of two permutations at ξ, and of Z at ξ·ω. */
  async #evaluate(polynomials: Wires, z: FieldVector, xi: bigint): Promise<Evaluations> {
    const { domain, coefficients, fr } = this.#key;
    const at: readonly (readonly [FieldVector, bigint])[] = [
      ...[...polynomials, coefficients.s1, coefficients.s2].map((each) => [each, xi] as const),
      [z, mod(xi * domain.root, fr.p)],
    ];
    const opened = await this.#record((ops) => at.map(([each, x]) => ops.keep(ops.evaluate(each, x))));
    const values: bigint[] = [];
    for (const vector of opened) values.push(await this.#read(this.#owned(vector)));
    return values as unknown as Evaluations;
  }

  /** Returns the error of a witness, with the first constraint that it does not satisfy. */
  async #unsatisfied(values: Wires): Promise<MsmError> {
    const { fr } = this.#key;
    const remainders = this.#owned(await this.#record((ops) => this.#rounds.constraints(ops, values)));
    const bytes = await fr.read(remainders, { signal: this.#signal });
    const first = Math.floor(bytes.findIndex((byte) => byte !== 0) / fr.numberBytes);
    bytes.fill(0);
    const which = first < 0 ? 'the circuit' : `constraint ${first} of the key`;
    return badArgument(`witness: it does not satisfy ${which}`);
  }

  /** Round 3: the parts of the quotient; null if it is no polynomial. */
  async #quotient(
    given: Parameters<Rounds['quotient']>[1],
    challenges: Parameters<Rounds['quotient']>[2],
    inputs: FieldVector,
  ): Promise<Wires | null> {
    const { fr, domain } = this.#key;
    const { n, size } = domain;
    const { parts, rest } = await this.#record((ops) => {
      const quotient = this.#rounds.quotient(ops, given, challenges);
      const [b10, b11] = [blindingOf(ops, inputs, 'b10'), blindingOf(ops, inputs, 'b11')];
      const made = this.#rounds.parts(ops, quotient, b10, b11);
      for (const part of made) this.#owned(part);
      // a polynomial of the right degree has none of these coefficients
      const above = size > 3 * n + 6 ? ops.slice(quotient, 3 * n + 6) : null;
      const point = power(challenges.alpha, 3n, fr.p);
      return { parts: made, rest: above && this.#owned(ops.keep(ops.evaluate(above, point))) };
    });
    return rest !== null && (await this.#read(rest)) !== 0n ? null : parts;
  }
}
