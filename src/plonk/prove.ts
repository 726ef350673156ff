/** Computes a proof, round by round. */
import type { FieldOperations, FieldVector } from '../api/fields.js';
import { mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { Computation } from '../proofs/plonkish/computation.js';
import type { Wires } from '../proofs/plonkish/relations.js';
import { challengeOf } from '../proofs/plonkish/transcript.js';
import type { DrawScalar } from '../proofs/randomness.js';
import type { Evaluations } from './linearization.js';
import type { LoadedKey } from './loaded-key.js';
import { Rounds } from './rounds.js';

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
    const computation = this.#computation;
    const { fr, commitments } = this.#key;
    const { p } = fr;
    const { onPart } = this.#run;
    const { inputs, publicValues } = await computation.load(witness, coefficients, draw);
    const { values, polynomials } = await this.#wires(inputs);
    const wires = await computation.commit(...polynomials);
    onPart('round 1');
    const beta = challengeOf(p, ...commitments, ...publicValues, ...wires);
    const gamma = challengeOf(p, beta);
    const z = await computation.record((ops) =>
      this.#rounds.permutation(ops, values, blindingOf(ops, inputs, 'z'), beta, gamma),
    );
    computation.own(z);
    const [commitmentZ] = (await computation.commit(z)) as [Uint8Array];
    onPart('round 2');
    const alpha = challengeOf(p, beta, gamma, commitmentZ);
    const parts = await this.#quotient({ ofA: values[0], polynomials, z }, { beta, gamma, alpha }, inputs);
    if (parts === null) {
      throw await computation.unsatisfied(
        computation.own(await computation.record((ops) => this.#rounds.constraints(ops, values))),
      );
    }
    const commitmentsT = await computation.commit(...parts);
    onPart('round 3');
    const xi = challengeOf(p, alpha, ...commitmentsT);
    const evaluations = await this.#evaluate(polynomials, z, xi);
    onPart('round 4');
    const challenges = { beta, gamma, alpha, xi, v: challengeOf(p, xi, ...evaluations) };
    const openings = await computation.record((ops) =>
      this.#rounds.openings(ops, { polynomials, z, parts }, challenges, evaluations),
    );
    for (const vector of openings) computation.own(vector);
    const commitmentsW = await computation.commit(...openings);
    onPart('round 5');
    return { commitments: [...wires, commitmentZ, ...commitmentsT, ...commitmentsW], evaluations };
  }

  async #wires(inputs: FieldVector): Promise<{ values: Wires; polynomials: Wires }> {
    const made = await this.#computation.record((ops) => {
      const blinding = [
        blindingOf(ops, inputs, 'a'),
        blindingOf(ops, inputs, 'b'),
        blindingOf(ops, inputs, 'c'),
      ] as const;
      return this.#rounds.wires(ops, inputs, blinding);
    });
    for (const vector of [...made.values, ...made.polynomials]) this.#computation.own(vector);
    return made;
  }

  /** Round 4: values of the wires and of two permutations at ξ, and of Z at ξ·ω. */
  async #evaluate(polynomials: Wires, z: FieldVector, xi: bigint): Promise<Evaluations> {
    const { domain, coefficients, fr } = this.#key;
    const at: readonly (readonly [FieldVector, bigint])[] = [
      ...[...polynomials, coefficients.s1, coefficients.s2].map((each) => [each, xi] as const),
      [z, mod(xi * domain.root, fr.p)],
    ];
    const opened = await this.#computation.record((ops) => at.map(([each, x]) => ops.keep(ops.evaluate(each, x))));
    const values: bigint[] = [];
    for (const vector of opened) values.push(...(await this.#computation.read(this.#computation.own(vector))));
    return values as unknown as Evaluations;
  }

  /** Round 3: the parts of the quotient; null if it is no polynomial. */
  async #quotient(
    given: Parameters<Rounds['quotient']>[1],
    challenges: Parameters<Rounds['quotient']>[2],
    inputs: FieldVector,
  ): Promise<Wires | null> {
    const { fr, domain } = this.#key;
    const { n, size } = domain;
    const { parts, rest } = await this.#computation.record((ops) => {
      const quotient = this.#rounds.quotient(ops, given, challenges);
      const [b10, b11] = [blindingOf(ops, inputs, 'b10'), blindingOf(ops, inputs, 'b11')];
      const made = this.#rounds.parts(ops, quotient, b10, b11);
      for (const part of made) this.#computation.own(part);
      // a polynomial of the right degree has none of these coefficients
      const above = size > 3 * n + 6 ? ops.slice(quotient, 3 * n + 6) : null;
      const point = power(challenges.alpha, 3n, fr.p);
      return { parts: made, rest: above && this.#computation.own(ops.keep(ops.evaluate(above, point))) };
    });
    return rest !== null && (await this.#computation.read(rest))[0] !== 0n ? null : parts;
  }
}
