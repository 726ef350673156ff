/**
 * Computes a proof: `Proof` has the order of the rounds and their challenges, `Rounds` the mathematics.
 * Gabizon, Williamson and Ciobotaru, "PLONK" (https://eprint.iacr.org/2019/953), section 8.3, with the
 * challenges in the order of snarkjs.
 */
import type { FieldOperations, FieldVector } from '../api/fields.js';
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { coefficientsIn, columnReader, divideByVanishing, onColumn } from '../proofs/plonkish/columns.js';
import { Computation } from '../proofs/plonkish/proving-key.js';
import {
  blind,
  gatesOf,
  permutationPolynomial,
  permutationProducts,
  publicValues,
  remaindersOf,
  valuesOfWires,
  type Wires,
} from '../proofs/plonkish/relations.js';
import { challengeOf } from '../proofs/plonkish/transcript.js';
import type { DrawScalar } from '../proofs/witness.js';
import type { LoadedKey } from './circuit.js';
import { type Challenges, type Evaluations, linearize } from './verify.js';

/** Commitments as x‖y, big-endian, and values of polynomials. */
export interface RawProof {
  readonly commitments: readonly Uint8Array[];
  readonly evaluations: readonly bigint[];
}

/** Polynomials of blinding: their coefficients by the numbers that snarkjs has for them. */
const blindings = { a: [2, 1], b: [4, 3], c: [6, 5], z: [9, 8, 7], b10: [10], b11: [11] } as const;

/** Coefficients in the order in which they follow the variables. */
const coefficients: readonly number[] = /* @__PURE__ */ Object.values(blindings).flat();

/** Names of the permutations. */
const permutationNames = ['s1', 's2', 's3'] as const;

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
    const { values, polynomials, ofPublic } = await this.#wires(inputs);
    const wires = await computation.commit(...polynomials);
    onPart('round 1');
    const beta = challengeOf(p, ...commitments, ...publicValues, ...wires);
    const gamma = challengeOf(p, beta);
    const z = await computation.record((ops) =>
      this.#rounds.permutation(ops, values, blindingOf(ops, inputs, 'z'), beta, gamma),
    );
    computation.own(z);
    // later rounds use the polynomials
    for (const each of values) each.destroy();
    const [commitmentZ] = (await computation.commit(z)) as [Uint8Array];
    onPart('round 2');
    const alpha = challengeOf(p, beta, gamma, commitmentZ);
    const parts = await this.#quotient({ ofPublic, polynomials, z }, { beta, gamma, alpha }, inputs);
    if (parts === null) {
      throw await computation.unsatisfied(
        computation.own(await computation.record((ops) => this.#rounds.constraints(ops, inputs))),
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

  async #wires(inputs: FieldVector): Promise<WirePolynomials> {
    const made = await this.#computation.record((ops) => {
      const blinding = [
        blindingOf(ops, inputs, 'a'),
        blindingOf(ops, inputs, 'b'),
        blindingOf(ops, inputs, 'c'),
      ] as const;
      return this.#rounds.wires(ops, inputs, blinding);
    });
    const { values, polynomials, ofPublic } = made;
    for (const vector of [...values, ...polynomials]) this.#computation.own(vector);
    if (ofPublic !== null) this.#computation.own(ofPublic);
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
      const start = this.#rounds.start(ops, given.z, challenges.alpha);
      const made = this.#rounds.parts(ops, quotient, start, [b10, b11]);
      for (const part of made) this.#computation.own(part);
      // a polynomial of the right degree has none of these coefficients
      const above = size > 3 * n + 6 ? coefficientsIn(ops, quotient, 3 * n + 6, size) : null;
      const point = power(challenges.alpha, 3n, fr.p);
      return { parts: made, rest: above && this.#computation.own(ops.keep(ops.evaluate(above, point))) };
    });
    return rest !== null && (await this.#computation.read(rest))[0] !== 0n ? null : parts;
  }
}

/** Results of round 1. */
interface WirePolynomials {
  /** Values at the n-th roots of unity. */
  readonly values: Wires;
  /** Blinded. */
  readonly polynomials: Wires;
  /** The public values; null without. */
  readonly ofPublic: FieldVector | null;
}

/** Operations with the numbers of a proof. */
class Rounds {
  readonly #key: LoadedKey;
  readonly #p: bigint;

  constructor(key: LoadedKey) {
    this.#key = key;
    this.#p = key.fr.p;
  }

  /**
   * Round 1: values of the wires, and their blinded polynomials.
   *
   * @param inputs begin with the variables
   */
  wires(ops: FieldOperations, inputs: FieldVector, blinding: Wires): WirePolynomials {
    const { domain, publicSignals } = this.#key;
    const { n } = domain;
    const values = valuesOfWires(ops, this.#key, inputs);
    const polynomials = values.map((each, i) =>
      ops.keep(blind(ops, ops.intt(each), blinding[i] as FieldVector, { n, p: this.#p })),
    );
    for (const each of values) ops.keep(each);
    const ofPublic = publicSignals > 0 ? ops.keep(ops.slice(values[0], 0, publicSignals)) : null;
    return { values, polynomials: polynomials as unknown as Wires, ofPublic };
  }

  /** Round 2: the blinded polynomial of the permutation. */
  permutation(ops: FieldOperations, values: Wires, blinding: FieldVector, beta: bigint, gamma: bigint): FieldVector {
    const { domain, permutations, ones, k1, k2 } = this.#key;
    const { n, root } = domain;
    const p = this.#p;
    const { coefficients } = this.#key;
    const permutation = (i: number): FieldVector =>
      permutations?.[i] ?? ops.ntt(coefficients[permutationNames[i] as 's1']);
    const there = { wires: values, x: ops.scalePowers(ones, root), permutation, ones };
    const z = permutationPolynomial(ops, there, { k1, k2, p }, { beta, gamma });
    return ops.keep(blind(ops, z, blinding, { n, p }));
  }

  /**
   * Round 3: the quotient without `start`, in parts of n coefficients; those from 3n + 6 on are 0.
   *
   * @param given public values, and polynomials
   */
  quotient(
    ops: FieldOperations,
    { ofPublic: values, polynomials, z }: { ofPublic: FieldVector | null; polynomials: Wires; z: FieldVector },
    { beta, gamma, alpha }: { beta: bigint; gamma: bigint; alpha: bigint },
  ): readonly FieldVector[] {
    const key = this.#key;
    const { domain, ones, k1, k2, columns } = key;
    const p = this.#p;
    const ofPublic = values && ops.intt(publicValues(ops, values, values.length, domain.n));
    const shifted = ops.scalePowers(z, domain.root);
    return divideByVanishing(ops, columns, p, (column, j) => {
      const there = (coefficients: FieldVector): FieldVector => onColumn(ops, column, p, coefficients);
      const value = columnReader(ops, key, j, key.columnValues?.[j]);
      const wires = polynomials.map(there) as [FieldVector, FieldVector, FieldVector];
      const [qm, ql, qr, qo, qc] = [value('qm'), value('ql'), value('qr'), value('qo'), value('qc')];
      let gates = gatesOf(ops, { qm, ql, qr, qo, qc }, wires);
      if (ofPublic !== null) gates = ops.subtract(gates, there(ofPublic));
      const both = { wires, x: value('x'), permutation: (i: number) => value(permutationNames[i] as 's1'), ones };
      const last = [there(z), there(shifted)] as const;
      const [above, below] = permutationProducts(ops, both, { k1, k2, p }, { beta, gamma }, last);
      return ops.linearCombination([
        [1n, gates],
        [alpha, above],
        [p - alpha, below],
      ]);
    });
  }

  /**
   * The quotient of the condition that z begins with 1, which it does: α²·(z − 1)·L/(X^n − 1) with
   * the first Lagrange polynomial L = (X^n − 1)/(n·(X − 1)).
   */
  start(ops: FieldOperations, z: FieldVector, alpha: bigint): FieldVector {
    const p = this.#p;
    const factor = mod(mod(alpha * alpha, p) * invert(BigInt(this.#key.domain.n), p), p);
    return ops.scale(ops.divideByLinear(z, 1n), factor);
  }

  /** Values that are 0 for each constraint that the wires satisfy. */
  constraints(ops: FieldOperations, inputs: FieldVector): FieldVector {
    const values = valuesOfWires(ops, this.#key, inputs);
    const { qm, ql, qr, qo, qc } = this.#key.coefficients;
    const selectors = { qm: ops.ntt(qm), ql: ops.ntt(ql), qr: ops.ntt(qr), qo: ops.ntt(qo), qc: ops.ntt(qc) };
    return ops.keep(remaindersOf(ops, selectors, values, this.#key.publicSignals));
  }

  /**
   * Returns the three parts of the quotient, blinded by b10 and b11.
   *
   * @param quotient without `start`, in parts of n coefficients
   */
  parts(
    ops: FieldOperations,
    quotient: readonly FieldVector[],
    start: FieldVector,
    [b10, b11]: readonly [FieldVector, FieldVector],
  ): Wires {
    const { n } = this.#key.domain;
    const minus = this.#p - 1n;
    const low = ops.linearCombination([
      [1n, quotient[0] as FieldVector],
      [1n, ops.slice(start, 0, n)],
      [1n, ops.pad(b10, n + 1, n)],
    ]);
    const middle = ops.linearCombination([
      [1n, quotient[1] as FieldVector],
      [1n, ops.slice(start, n)],
      [minus, b10],
      [1n, ops.pad(b11, n + 1, n)],
    ]);
    const high = ops.linearCombination([
      [1n, coefficientsIn(ops, quotient, 2 * n, 3 * n + 6)],
      [minus, b11],
    ]);
    return [ops.keep(low), ops.keep(middle), ops.keep(high)];
  }

  /** Round 5: the polynomials of the openings at ξ and ξ·ω. */
  openings(
    ops: FieldOperations,
    { polynomials, z, parts }: { polynomials: Wires; z: FieldVector; parts: Wires },
    challenges: Challenges,
    evaluations: Evaluations,
  ): readonly [FieldVector, FieldVector] {
    const { coefficients: q, domain, k1, k2 } = this.#key;
    const p = this.#p;
    const { xi } = challenges;
    const factors = linearize({ p, n: domain.n, k1, k2 }, challenges, evaluations);
    const terms: (readonly [bigint, FieldVector])[] = [
      ...[q.qm, q.ql, q.qr, q.qo, q.qc].map((each, i) => [factors.selectors[i] as bigint, each] as const),
      [factors.z, z],
      [factors.s3, q.s3],
      ...parts.map((part, i) => [factors.parts[i] as bigint, part] as const),
      ...[...polynomials, q.s1, q.s2].map((each, i) => [factors.opened[i] as bigint, each] as const),
    ];
    return [
      ops.keep(ops.divideByLinear(ops.linearCombination(terms), xi)),
      ops.keep(ops.divideByLinear(z, mod(xi * domain.root, p))),
    ];
  }
}
