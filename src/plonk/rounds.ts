/**
 * The five rounds of a proof: Gabizon, Williamson and Ciobotaru, "PLONK"
 * (https://eprint.iacr.org/2019/953), section 8.3, with the challenges in the order of snarkjs.
 */
import type { FieldOperations } from '../api/field-operations.js';
import type { FieldVector } from '../api/field-vectors.js';
import { mod } from '../field/modulus.js';
import { type Challenges, type Evaluations, linearize } from './linearization.js';
import { computeCosetValues, type LoadedKey, onCoset } from './loaded-key.js';

/** Three vectors, for the wires a, b and c. */
export type Wires = readonly [FieldVector, FieldVector, FieldVector];

/** Returns qm·a·b + ql·a + qr·b + qo·c + qc, of values at the same points. */
const gatesOf = (
  ops: FieldOperations,
  { qm, ql, qr, qo, qc }: Readonly<Record<'qm' | 'ql' | 'qr' | 'qo' | 'qc', FieldVector>>,
  [a, b, c]: Wires,
): FieldVector => {
  const gates = ops.multiplyAdd(ops.multiply(qm, a), b, qc);
  return ops.multiplyAdd(qo, c, ops.multiplyAdd(qr, b, ops.multiplyAdd(ql, a, gates)));
};

/** Operations with the numbers of a proof. */
export class Rounds {
  readonly #key: LoadedKey;
  readonly #p: bigint;

  constructor(key: LoadedKey) {
    this.#key = key;
    this.#p = key.fr.p;
  }

  /** Returns a polynomial plus (X^n − 1) times another. */
  #blind(ops: FieldOperations, coefficients: FieldVector, blinding: FieldVector): FieldVector {
    const { n } = this.#key.domain;
    const length = n + blinding.length;
    return ops.linearCombination([
      [1n, ops.pad(coefficients, length)],
      [this.#p - 1n, blinding],
      [1n, ops.pad(blinding, length, n)],
    ]);
  }

  /**
   * Round 1: values of the wires, and their blinded polynomials.
   *
   * @param inputs begin with the variables
   */
  wires(ops: FieldOperations, inputs: FieldVector, blinding: Wires): { values: Wires; polynomials: Wires } {
    const { wires, domain } = this.#key;
    const values = wires.map((indices) => ops.keep(ops.pad(ops.gather(inputs, indices), domain.n)));
    const polynomials = values.map((each, i) => ops.keep(this.#blind(ops, ops.intt(each), blinding[i] as FieldVector)));
    return { values: values as unknown as Wires, polynomials: polynomials as unknown as Wires };
  }

  /** Round 2: the blinded polynomial of the permutation. */
  permutation(ops: FieldOperations, values: Wires, blinding: FieldVector, beta: bigint, gamma: bigint): FieldVector {
    const { domain, permutations, ones, k1, k2 } = this.#key;
    const own = ops.slice(ones, 0, domain.n);
    const roots = ops.scalePowers(own, domain.root);
    const product = (factorOf: (i: number) => readonly [bigint, FieldVector]): FieldVector =>
      values
        .map((wire, i) => ops.linearCombination([[1n, wire], factorOf(i), [gamma, own]]))
        .reduce((all, each) => ops.multiply(all, each));
    const above = product((i) => [mod(beta * ([1n, k1, k2][i] as bigint), this.#p), roots]);
    const below = product((i) => [beta, permutations[i] as FieldVector]);
    const z = ops.prefixProduct(ops.multiply(above, ops.invert(below)));
    return ops.keep(this.#blind(ops, ops.intt(z), blinding));
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
      const publicValues = ops.pad(ops.slice(ofA, 0, publicSignals), domain.n);
      gates = ops.subtract(gates, there(ops.intt(publicValues)));
    }
    const product = (factors: readonly (readonly [bigint, FieldVector])[], last: FieldVector): FieldVector =>
      wires.reduceRight(
        (all, wire, i) =>
          ops.multiply(
            all,
            ops.linearCombination([[1n, wire], factors[i] as readonly [bigint, FieldVector], [gamma, ones]]),
          ),
        last,
      );
    const zValues = there(z);
    const shifted = there(ops.scalePowers(z, domain.root));
    const above = product(
      [1n, k1, k2].map((k) => [mod(beta * k, p), values.x] as const),
      zValues,
    );
    const below = product(
      [values.s1, values.s2, values.s3].map((s) => [beta, s] as const),
      shifted,
    );
    const start = ops.multiply(ops.subtract(zValues, ones), values.l1);
    const numerator = ops.linearCombination([
      [1n, gates],
      [alpha, above],
      [p - alpha, below],
      [mod(alpha * alpha, p), start],
    ]);
    return ops.intt(ops.multiply(numerator, values.vanishingInverse), { from: 'reversed', coset: domain.coset });
  }

  /** Values that are 0 for each constraint that the wires satisfy. */
  constraints(ops: FieldOperations, values: Wires): FieldVector {
    const { domain, coefficients, publicSignals } = this.#key;
    const { qm, ql, qr, qo, qc } = coefficients;
    const selectors = { qm: ops.ntt(qm), ql: ops.ntt(ql), qr: ops.ntt(qr), qo: ops.ntt(qo), qc: ops.ntt(qc) };
    const gates = gatesOf(ops, selectors, values);
    if (publicSignals === 0) return ops.keep(gates);
    return ops.keep(ops.subtract(gates, ops.pad(ops.slice(values[0], 0, publicSignals), domain.n)));
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
