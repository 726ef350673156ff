/** Computes a proof, round by round. */
import type { FieldOperations } from '../api/field-operations.js';
import type { FieldVector } from '../api/field-vectors.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { mod } from '../field/modulus.js';
import { power } from '../field/square-root.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import type { DrawScalar } from '../proofs/randomness.js';
import { numbersIn, SCALAR_BYTES } from '../proofs/scalars.js';
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
const blindings = [[2, 1], [4, 3], [6, 5], [9, 8, 7], [10], [11]] as const;

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

  async #load(numbers: Uint8Array | readonly bigint[]): Promise<FieldVector> {
    return this.#owned(await this.#key.engines.fr.load(numbers, { signal: this.#signal }));
  }

  /** Commits to polynomials. */
  async #commit(...polynomials: readonly FieldVector[]): Promise<Uint8Array[]> {
    const { engines, bases } = this.#key;
    return engines.g1.msmBatch(bases, polynomials, { ...this.#run.turn, signal: this.#signal, result: 'be' });
  }

  async #loadBlindings(draw: DrawScalar): Promise<FieldVector[]> {
    const { p } = this.#key.engines.fr;
    const drawn = Array.from({ length: 11 }, () => draw(p));
    this.#run.secrets.push(...drawn);
    const loaded = [];
    for (const numbers of blindings) {
      const bytes = new Uint8Array(numbers.length * SCALAR_BYTES);
      for (const [i, number] of numbers.entries()) bytes.set(drawn[number - 1] as Uint8Array, i * SCALAR_BYTES);
      this.#run.secrets.push(bytes);
      loaded.push(await this.#load(bytes));
    }
    return loaded;
  }

  async #read(vector: FieldVector): Promise<bigint[]> {
    return numbersIn(await this.#key.engines.fr.read(vector, { signal: this.#signal }));
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
    const { engines, commitments, publicSignals } = this.#key;
    const { p } = engines.fr;
    const { onPart } = this.#run;
    const variables = await this.#loadVariables(witness);
    const [ofA, ofB, ofC, ofZ, b10, b11] = (await this.#loadBlindings(draw)) as [
      ...[FieldVector, FieldVector, FieldVector, FieldVector, FieldVector, FieldVector],
    ];
    const { values, polynomials } = await this.#wires(variables, [ofA, ofB, ofC]);
    const wires = await this.#commit(...polynomials);
    onPart('round 1');
    const publicValues = (await this.#read(values[0])).slice(0, publicSignals);
    const beta = challengeOf(p, ...commitments, ...publicValues, ...wires);
    const gamma = challengeOf(p, beta);
    const z = await this.#record((ops) => this.#rounds.permutation(ops, values, ofZ, beta, gamma));
    this.#owned(z);
    const [commitmentZ] = (await this.#commit(z)) as [Uint8Array];
    onPart('round 2');
    const alpha = challengeOf(p, beta, gamma, commitmentZ);
    const minusPublic = publicSignals === 0 ? null : await this.#load(publicValues.map((value) => mod(-value, p)));
    const given = { polynomials, z, publicValues: minusPublic };
    const parts = await this.#quotient(given, { beta, gamma, alpha }, [b10, b11]);
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
    return this.#key.engines.fr.run(record, { signal: this.#signal });
  }

  async #loadVariables(witness: Uint8Array): Promise<FieldVector> {
    const { additions, engines } = this.#key;
    const { secrets } = this.#run;
    const signal = this.#signal;
    const all = await extendWitness(witness, additions, engines.fr.p, async () => {
      await nextTurn();
      assertNotAborted(signal, 'proof');
    });
    secrets.push(all);
    return this.#load(all);
  }

  async #wires(variables: FieldVector, blinding: Wires): Promise<{ values: Wires; polynomials: Wires }> {
    const made = await this.#record((ops) => this.#rounds.wires(ops, variables, blinding));
    for (const vector of [...made.values, ...made.polynomials]) this.#owned(vector);
    return made;
  }

  /** Round 4: values of the wires and of two permutations at ξ, and of Z at ξ·ω. */
  async #evaluate(polynomials: Wires, z: FieldVector, xi: bigint): Promise<Evaluations> {
    const { domain, coefficients, engines } = this.#key;
    const at: readonly (readonly [FieldVector, bigint])[] = [
      ...[...polynomials, coefficients.s1, coefficients.s2].map((each) => [each, xi] as const),
      [z, mod(xi * domain.root, engines.fr.p)],
    ];
    const opened = await this.#record((ops) => at.map(([each, x]) => ops.keep(ops.evaluate(each, x))));
    const values: bigint[] = [];
    for (const vector of opened) values.push(...(await this.#read(this.#owned(vector))));
    return values as unknown as Evaluations;
  }

  /** Round 3: the parts of the quotient. @throws MsmError `bad-argument` if it is no polynomial */
  async #quotient(
    given: Parameters<Rounds['quotient']>[1],
    challenges: Parameters<Rounds['quotient']>[2],
    [b10, b11]: readonly [FieldVector, FieldVector],
  ): Promise<Wires> {
    const { engines, domain } = this.#key;
    const { fr } = engines;
    const { n, size } = domain;
    const { parts, rest } = await this.#record((ops) => {
      const quotient = this.#rounds.quotient(ops, given, challenges);
      const made = this.#rounds.parts(ops, quotient, b10, b11);
      for (const part of made) this.#owned(part);
      // a polynomial of the right degree has none of these coefficients
      const above = size > 3 * n + 6 ? ops.slice(quotient, 3 * n + 6) : null;
      const point = power(challenges.alpha, 3n, fr.p);
      return { parts: made, rest: above && this.#owned(ops.keep(ops.evaluate(above, point))) };
    });
    if (rest !== null && (await this.#read(rest))[0] !== 0n) {
      throw badArgument('witness: it does not satisfy the circuit');
    }
    return parts;
  }
}
