/**
 * The five rounds of a proof: Gabizon, Williamson and Ciobotaru, "PLONK"
 * (https://eprint.iacr.org/2019/953), section 8.3, with the challenges in the order of snarkjs.
 */
import type { FieldOperations, FieldVector } from '../api/fields.js';
import { mod } from '../field/modulus.js';
import { fromCoset, onCoset } from '../proofs/plonkish/domain.js';
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
import { type Challenges, type Evaluations, linearize } from './linearization.js';
import { computeCosetValues, type LoadedKey } from './loaded-key.js';

/** Operations with the numbers of a proof. */
export class Rounds {
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
  wires(ops: FieldOperations, inputs: FieldVector, blinding: Wires): { values: Wires; polynomials: Wires } {
    const { n } = this.#key.domain;
    const values = valuesOfWires(ops, this.#key, inputs);
    const polynomials = values.map((each, i) =>
      ops.keep(blind(ops, ops.intt(each), blinding[i] as FieldVector, { n, p: this.#p })),
    );
    for (const each of values) ops.keep(each);
    return { values, polynomials: polynomials as unknown as Wires };
  }

  /** Round 2: the blinded polynomial of the permutation. */
  permutation(ops: FieldOperations, values: Wires, blinding: FieldVector, beta: bigint, gamma: bigint): FieldVector {
    const { domain, permutations, ones, k1, k2 } = this.#key;
    const { n, root } = domain;
    const p = this.#p;
    const own = ops.slice(ones, 0, n);
    const there = { wires: values, x: ops.scalePowers(own, root), permutations, ones: own };
    const z = permutationPolynomial(ops, there, { k1, k2, p }, { beta, gamma });
    return ops.keep(blind(ops, z, blinding, { n, p }));
  }

  /**
   * Round 3: coefficients of the quotient; those from 3n + 6 on are 0.
   *
   * @param given values of the wire a, which begin with the public ones, and polynomials
   */
  quotient(
    ops: FieldOperations,
    { ofA, polynomials, z }: { ofA: FieldVector; polynomials: Wires; z: FieldVector },
    { beta, gamma, alpha }: { beta: bigint; gamma: bigint; alpha: bigint },
  ): FieldVector {
    const key = this.#key;
    const { domain, ones, k1, k2, publicSignals } = key;
    const p = this.#p;
    const values = key.cosetValues ?? computeCosetValues(ops, key, p);
    const there = (coefficients: FieldVector): FieldVector => onCoset(ops, domain, coefficients);
    const wires = polynomials.map(there) as [FieldVector, FieldVector, FieldVector];
    let gates = gatesOf(ops, values, wires);
    if (publicSignals > 0) {
      gates = ops.subtract(gates, there(ops.intt(publicValues(ops, ofA, publicSignals, domain.n))));
    }
    const zValues = there(z);
    const shifted = there(ops.scalePowers(z, domain.root));
    const { x, s1, s2, s3 } = values;
    const both = { wires, x, permutations: [s1, s2, s3], ones } as const;
    const [above, below] = permutationProducts(ops, both, { k1, k2, p }, { beta, gamma }, [zValues, shifted]);
    const start = ops.multiply(ops.subtract(zValues, ones), values.l1);
    const numerator = ops.linearCombination([
      [1n, gates],
      [alpha, above],
      [p - alpha, below],
      [mod(alpha * alpha, p), start],
    ]);
    return fromCoset(ops, domain, ops.multiply(numerator, values.vanishingInverse));
  }

  /** Values that are 0 for each constraint that the wires satisfy. */
  constraints(ops: FieldOperations, values: Wires): FieldVector {
    const { qm, ql, qr, qo, qc } = this.#key.coefficients;
    const selectors = { qm: ops.ntt(qm), ql: ops.ntt(ql), qr: ops.ntt(qr), qo: ops.ntt(qo), qc: ops.ntt(qc) };
    return ops.keep(remaindersOf(ops, selectors, values, this.#key.publicSignals));
  }

  /** Returns the three parts of the quotient, blinded by b10 and b11. */
  parts(ops: FieldOperations, quotient: FieldVector, b10: FieldVector, b11: FieldVector): Wires {
    const { n } = this.#key.domain;
    const minus = this.#p - 1n;
    const low = ops.linearCombination([
      [1n, ops.slice(quotient, 0, n)],
      [1n, ops.pad(b10, n + 1, n)],
    ]);
    const middle = ops.linearCombination([
      [1n, ops.slice(quotient, n, 2 * n)],
      [minus, b10],
      [1n, ops.pad(b11, n + 1, n)],
    ]);
    const high = ops.linearCombination([
      [1n, ops.slice(quotient, 2 * n, 3 * n + 6)],
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
