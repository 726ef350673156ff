/**
 * Computes a proof: `Proof` has the order of the rounds and their challenges, `Rounds` the mathematics.
 * Gabizon and Williamson, "fflonk" (https://eprint.iacr.org/2021/1167), section 7, with the challenges
 * and the blinding of snarkjs.
 */
import type { FieldOperations, FieldVector } from '../api/fields.js';
import { invert, mod } from '../field/modulus.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { coefficientsIn, columnReader, divideByVanishing, onColumn } from '../proofs/plonkish/columns.js';
import { Computation } from '../proofs/plonkish/proving-key.js';
import {
  blind,
  gatesOf,
  type PermutationChallenges,
  permutationPolynomial,
  permutationProducts,
  publicValues,
  remaindersOf,
  valuesOfWires,
  type Wires,
} from '../proofs/plonkish/relations.js';
import { challengeOf } from '../proofs/plonkish/transcript.js';
import { type DrawScalar, SCALAR_BYTES } from '../proofs/witness.js';
import { BLINDED_ROWS, circuitPolynomials, type LoadedKey, permutationNames } from './circuit.js';
import { factorsOf, inverseOfDenominators, type OpenedAt, openedAt, vanishingAt } from './verify.js';

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
    const { values, polynomials, t0, c1, remainders } = made;
    for (const vector of [...values, ...polynomials, t0, c1, remainders]) this.#computation.own(vector);
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
    for (const vector of [...wires.values, wires.remainders]) vector.destroy();
    return made;
  }
}

/** Results of round 1. */
interface WirePolynomials {
  /** Values at the n-th roots of unity. */
  readonly values: Wires;
  readonly polynomials: Wires;
  /** Quotient of the gates. */
  readonly t0: FieldVector;
  readonly c1: FieldVector;
  /** 0 for each constraint that is satisfied. */
  readonly remainders: FieldVector;
}

/** Results of round 2. */
interface PermutationPolynomials {
  readonly z: FieldVector;
  /** Quotient of the condition that z begins with 1. */
  readonly t1: FieldVector;
  /** Quotient of the permutation. */
  readonly t2: FieldVector;
  readonly c2: FieldVector;
  /** Two zeros if the witness satisfies the circuit. */
  readonly checks: FieldVector;
}

/** Polynomials of blinding. */
interface Blindings {
  /** Values of the wires in the last rows. */
  readonly wires: Wires;
  readonly z: FieldVector;
}

const all = (wires: Wires, map: (wire: FieldVector, i: number) => FieldVector): Wires => {
  const [a, b, c] = wires;
  return [map(a, 0), map(b, 1), map(c, 2)];
};

/** Operations with the numbers of a proof. */
class Rounds {
  readonly #key: LoadedKey;
  readonly #p: bigint;

  constructor(key: LoadedKey) {
    this.#key = key;
    this.#p = key.fr.p;
  }

  /** Round 1. @param inputs begin with the variables */
  wires(ops: FieldOperations, inputs: FieldVector, { wires: blindings }: Blindings): WirePolynomials {
    const { domain, kept, coefficients, publicSignals } = this.#key;
    const { n } = domain;
    // snarkjs converts wires to Montgomery form with these rows, which are in that form already
    const factor = mod(1n << BigInt(8 * SCALAR_BYTES), this.#p);
    const values = all(valuesOfWires(ops, this.#key, inputs), (each, i) =>
      ops.keep(
        ops.linearCombination([
          [1n, each],
          [factor, ops.pad(blindings[i] as FieldVector, n, n - BLINDED_ROWS)],
        ]),
      ),
    );
    const polynomials = all(values, (each) => ops.keep(ops.intt(each)));
    const t0 = ops.keep(this.#gateQuotient(ops, values, polynomials));
    const { qm, ql, qr, qo, qc } = coefficients;
    const here = (each: FieldVector): FieldVector => ops.ntt(each);
    const selectors = kept?.selectors ?? { qm: here(qm), ql: here(ql), qr: here(qr), qo: here(qo), qc: here(qc) };
    return {
      ...{ values, polynomials, t0 },
      c1: ops.keep(interleave(ops, [...polynomials, t0])),
      remainders: ops.keep(remaindersOf(ops, selectors, values, publicSignals)),
    };
  }

  #gateQuotient(ops: FieldOperations, values: Wires, polynomials: Wires): FieldVector {
    const key = this.#key;
    const { publicSignals, domain, columns, columnValues } = key;
    const { n } = domain;
    const p = this.#p;
    const ofPublic = publicSignals > 0 ? ops.intt(publicValues(ops, values[0], publicSignals, n)) : null;
    // the quotient has 2n − 2 coefficients, and every second column makes a coset of 2n elements
    const half = columns.filter((_, j) => j % 2 === 0);
    const parts = divideByVanishing(ops, half, p, (column, i) => {
      const there = (coefficients: FieldVector): FieldVector => onColumn(ops, column, p, coefficients);
      const value = columnReader(ops, key, 2 * i, columnValues?.[2 * i]);
      const [qm, ql, qr, qo, qc] = [value('qm'), value('ql'), value('qr'), value('qo'), value('qc')];
      const gates = gatesOf(ops, { qm, ql, qr, qo, qc }, all(polynomials, there));
      return ofPublic === null ? gates : ops.subtract(gates, there(ofPublic));
    });
    return coefficientsIn(ops, parts, 0, 2 * n - 2);
  }

  /** Round 2. `checks` are values of both remainders at a point that no witness chooses. */
  permutation(
    ops: FieldOperations,
    { values, polynomials, remainders }: WirePolynomials,
    { z: blinding }: Blindings,
    challenges: PermutationChallenges,
  ): PermutationPolynomials {
    const key = this.#key;
    const { domain, kept, coefficients, ones, k1, k2, columns, columnValues } = key;
    const p = this.#p;
    const { n, root } = domain;
    const here = {
      wires: values,
      x: ops.scalePowers(ones, root),
      permutation: (i: number) => kept?.permutations[i] ?? ops.ntt(coefficients[permutationNames[i] as 's1']),
      ones,
    };
    const circuit = { k1, k2, p };
    const z = ops.keep(blind(ops, permutationPolynomial(ops, here, circuit, challenges), blinding, { n, p }));
    // the first Lagrange polynomial is (X^n − 1)/(n·(X − 1))
    const t1 = ops.keep(ops.scale(ops.divideByLinear(z, 1n), invert(BigInt(n), p)));
    const shifted = ops.scalePowers(z, root);
    const parts = divideByVanishing(ops, columns, p, (column, j) => {
      const there = (coefficients: FieldVector): FieldVector => onColumn(ops, column, p, coefficients);
      const value = columnReader(ops, key, j, columnValues?.[j]);
      const permutation = (i: number): FieldVector => value(permutationNames[i] as 's1');
      const both = { wires: all(polynomials, there), x: value('x'), permutation, ones };
      return ops.subtract(...permutationProducts(ops, both, circuit, challenges, [there(z), there(shifted)]));
    });
    const t2 = ops.keep(coefficientsIn(ops, parts, 0, 3 * n));
    // a quotient without remainder has 3n coefficients
    const rests = [remainders, parts[3] as FieldVector].map((each) => ops.evaluate(each, challenges.gamma));
    return { z, t1, t2, c2: ops.keep(interleave(ops, [z, t1, t2])), checks: ops.keep(concatenate(ops, rests, 1)) };
  }

  /** Round 3: the values of `evaluationNames`. */
  evaluations(
    ops: FieldOperations,
    { polynomials }: WirePolynomials,
    { z, t1, t2 }: PermutationPolynomials,
    { xi, xiw }: OpenedAt,
  ): FieldVector {
    const { ql, qr, qm, qo, qc, s1, s2, s3 } = this.#key.coefficients;
    const atXi = [ql, qr, qm, qo, qc, s1, s2, s3, ...polynomials, z].map((each) => ops.evaluate(each, xi));
    const atXiw = [z, t1, t2].map((each) => ops.evaluate(each, xiw));
    return ops.keep(concatenate(ops, [...atXi, ...atXiw], 1));
  }

  /** Round 4: the quotient of C0, C1 and C2 less their remainders. */
  quotient(
    ops: FieldOperations,
    { polynomials, t0 }: WirePolynomials,
    { z, t1, t2 }: PermutationPolynomials,
    { xi, xiw }: OpenedAt,
    alpha: bigint,
  ): FieldVector {
    const { coefficients } = this.#key;
    const divided = (parts: readonly FieldVector[], x: bigint): FieldVector[] =>
      parts.map((each) => ops.divideByLinear(each, x));
    const ofCircuit = circuitPolynomials.map((name) => coefficients[name]);
    return ops.keep(
      ops.linearCombination([
        [1n, interleave(ops, divided(ofCircuit, xi))],
        [alpha, interleave(ops, divided([...polynomials, t0], xi))],
        [mod(alpha * alpha, this.#p), interleave(ops, divided(divided([z, t1, t2], xi), xiw))],
      ]),
    );
  }

  /** Round 5: the opening at y. */
  opening(
    ops: FieldOperations,
    { c1, c2, w1 }: Readonly<Record<'c1' | 'c2' | 'w1', FieldVector>>,
    at: OpenedAt,
    alpha: bigint,
    y: bigint,
  ): FieldVector {
    const p = this.#p;
    const vanishing = vanishingAt(p, at, y);
    const [f0, f1, f2] = factorsOf(p, alpha, vanishing);
    const sum = ops.linearCombination([
      [f0, this.#key.kept?.c0 ?? interleavedCircuit(ops, this.#key.coefficients)],
      [f1, c1],
      [f2, c2],
      [mod(-vanishing[0], p), w1],
    ]);
    return ops.keep(ops.divideByLinear(sum, y));
  }
}

/** Returns vectors one after the other, each padded with zeros to a length. */
const concatenate = (ops: FieldOperations, parts: readonly FieldVector[], length: number): FieldVector => {
  const padded = parts.map((part, j) => ops.pad(part, (j + 1) * length, j * length));
  return ops.linearCombination(padded.map((part) => [1n, part]));
};

/** Returns the polynomials of a circuit, interleaved. */
export const interleavedCircuit = (ops: FieldOperations, coefficients: LoadedKey['coefficients']): FieldVector =>
  interleave(
    ops,
    circuitPolynomials.map((name) => coefficients[name]),
  );

/** Interleaves polynomials; shorter ones count as padded with zeros. */
const interleave = (ops: FieldOperations, parts: readonly FieldVector[]): FieldVector => {
  const count = parts.length;
  const length = Math.max(...parts.map((part) => part.length));
  const indices = new Uint32Array(count * length);
  for (let i = 0, at = 0; i < length; i++) for (let j = 0; j < count; j++, at++) indices[at] = j * length + i;
  return ops.gather(concatenate(ops, parts, length), indices);
};
