/**
 * PLONKish gates of a circuit: qm·a·b + ql·a + qr·b + qo·c + qc = 0 for the variables a, b and c of
 * each ("PLONK", https://eprint.iacr.org/2019/953, section 6). A constraint of an R1CS with longer sums
 * has further gates, each of which adds two terms to a new variable. Which gates there are, and their
 * order, is that of snarkjs.
 */
import { mod } from '../field/modulus.js';
import type { Matrix, R1cs } from '../formats/r1cs.js';

/** Factors of a gate. */
export interface Selectors<Of> {
  readonly qm: Of;
  readonly ql: Of;
  readonly qr: Of;
  readonly qo: Of;
  readonly qc: Of;
}

/** The gates of a circuit. */
export interface Gates {
  readonly count: number;
  readonly additionCount: number;
  /** Number of variables: those of the circuit, and one for each addition. */
  readonly variables: number;
  /** Variables a, b and c of each gate. */
  readonly wires: readonly [Uint32Array, Uint32Array, Uint32Array];
  readonly selectors: Selectors<readonly bigint[]>;
  /** Sums of two terms, by which the prover computes the new variables. */
  readonly additions: readonly Addition[];
}

/** A variable, and its factor. */
type Term = readonly [variable: number, factor: bigint];

/** The terms whose sum is a new variable. */
export type Addition = readonly [Term, Term];

/** Terms of different variables in ascending order. */
type Combination = readonly Term[];

/** Constraints between two pauses. */
const CONSTRAINTS_AT_ONCE = 2 ** 8;

/** Gates between two looks at the room for them. */
const GATES_AT_ONCE = 2 ** 10;

/**
 * Returns the gates of a circuit. Of several terms of one variable in one sum the last one counts, as
 * in snarkjs; circom writes one.
 *
 * @param dropsZeros leaves out terms with the factor 0, as FFLONK does and PLONK does not
 * @param hasRoom called with the numbers of gates and of additions so far: once it returns false they are counted,
 *   and neither these nor those before are kept
 */
export const gatesOf = async (
  { order, variables, constraints, publicSignals, matrices, numbers }: R1cs,
  dropsZeros: boolean,
  pause: () => Promise<void>,
  hasRoom: (gates: number, additions: number) => boolean = () => true,
): Promise<Gates> => {
  const list = new GateList(order, variables, dropsZeros, hasRoom);
  for (let signal = 1; signal <= publicSignals; signal++) list.addPublic(signal);
  const rows = [matrices.a, matrices.b, matrices.c].map((matrix) => new RowReader(matrix, numbers, dropsZeros));
  const [ofA, ofB, ofC] = rows as [RowReader, RowReader, RowReader];
  for (let constraint = 0; constraint < constraints; constraint++) {
    list.addConstraint(ofA.row(constraint), ofB.row(constraint), ofC.row(constraint));
    if (constraint % CONSTRAINTS_AT_ONCE === 0) await pause();
  }
  return list.gates();
};

/** Reads the rows of a matrix one after the other. */
class RowReader {
  readonly #matrix: Matrix;
  readonly #numbers: readonly bigint[];
  readonly #dropsZeros: boolean;
  #next = 0;

  constructor(matrix: Matrix, numbers: readonly bigint[], dropsZeros: boolean) {
    this.#matrix = matrix;
    this.#numbers = numbers;
    this.#dropsZeros = dropsZeros;
  }

  /** Returns the terms of the next constraint. */
  row(constraint: number): Combination {
    const { variables, constraints, numbers } = this.#matrix;
    const factors = new Map<number, bigint>();
    for (; constraints[this.#next] === constraint; this.#next++) {
      factors.set(variables[this.#next] as number, this.#numbers[numbers[this.#next] as number] as bigint);
    }
    return ordered(factors, this.#dropsZeros);
  }
}

const ordered = (factors: ReadonlyMap<number, bigint>, dropsZeros: boolean): Combination => {
  const terms = [...factors].sort(([left], [right]) => left - right);
  return dropsZeros ? terms.filter(([, factor]) => factor !== 0n) : terms;
};

/** The constant of a combination that has nothing else; null for other ones. */
const constantOf = ([first, ...others]: Combination): bigint | null =>
  first?.[0] === 0 && others.length === 0 ? first[1] : null;

/** Gates that are made one after the other. */
class GateList {
  readonly #order: bigint;
  readonly #dropsZeros: boolean;
  readonly #hasRoom: (gates: number, additions: number) => boolean;
  readonly #wires: readonly [number[], number[], number[]] = [[], [], []];
  readonly #selectors: Selectors<bigint[]> = { qm: [], ql: [], qr: [], qo: [], qc: [] };
  readonly #additions: Addition[] = [];
  #variables: number;
  #count = 0;
  #additionCount = 0;
  /** False: gates are counted, and not kept. */
  #areKept = true;

  constructor(
    order: bigint,
    variables: number,
    dropsZeros: boolean,
    hasRoom: (gates: number, additions: number) => boolean,
  ) {
    this.#order = order;
    this.#variables = variables;
    this.#dropsZeros = dropsZeros;
    this.#hasRoom = hasRoom;
  }

  gates(): Gates {
    const [a, b, c] = this.#wires;
    return {
      count: this.#count,
      additionCount: this.#additionCount,
      variables: this.#variables,
      wires: [Uint32Array.from(a), Uint32Array.from(b), Uint32Array.from(c)],
      selectors: this.#selectors,
      additions: this.#additions,
    };
  }

  /** Adds the gate of a public variable, whose value the verifier knows. */
  addPublic(variable: number): void {
    this.#add([variable, 0, 0], { ql: 1n });
  }

  /** Adds the gates of a·b = c. */
  addConstraint(a: Combination, b: Combination, c: Combination): void {
    const [constantA, constantB] = [constantOf(a), constantOf(b)];
    if (a.length === 0 || b.length === 0) this.#addSum(c);
    else if (constantA !== null) this.#addSum(this.#difference(constantA, b, c));
    else if (constantB !== null) this.#addSum(this.#difference(constantB, a, c));
    else this.#addProduct(a, b, c);
  }

  /** Returns factor · left − right. */
  #difference(factor: bigint, left: Combination, right: Combination): Combination {
    const factors = new Map<number, bigint>();
    for (const [variable, each] of left) factors.set(variable, (factor * each) % this.#order);
    for (const [variable, each] of right) {
      factors.set(variable, mod((factors.get(variable) ?? 0n) - each, this.#order));
    }
    return ordered(factors, this.#dropsZeros);
  }

  /** Adds the gates of a combination that is 0. */
  #addSum(combination: Combination): void {
    const { constant, terms } = this.#reduced(combination, 3);
    const [[a, ql], [b, qr], [c, qo]] = terms as [Term, Term, Term];
    this.#add([a, b, c], { ql, qr, qo, qc: constant });
  }

  /** Adds the gates of a product. */
  #addProduct(left: Combination, right: Combination, product: Combination): void {
    const order = this.#order;
    const [A, B, C] = [left, right, product].map((combination) => this.#reduced(combination, 1)) as [
      ...[Reduced, Reduced, Reduced],
    ];
    const [[a, ofA], [b, ofB], [c, ofC]] = [A, B, C].map(({ terms }) => terms[0]) as [Term, Term, Term];
    this.#add([a, b, c], {
      qm: (ofA * ofB) % order,
      ql: (ofA * B.constant) % order,
      qr: (A.constant * ofB) % order,
      qo: mod(-ofC, order),
      qc: mod(A.constant * B.constant - C.constant, order),
    });
  }

  /** Adds up terms, the first two first, until at most `most` are left. */
  #reduced(combination: Combination, most: number): Reduced {
    const isWithConstant = combination[0]?.[0] === 0;
    const terms = combination.slice(isWithConstant ? 1 : 0);
    let next = 0;
    for (; terms.length - next > most; next += 2) {
      const [first, second] = [terms[next], terms[next + 1]] as [Term, Term];
      const sum = this.#variables++;
      const [ql, qr] = [mod(-first[1], this.#order), mod(-second[1], this.#order)];
      this.#add([first[0], second[0], sum], { ql, qr, qo: 1n });
      this.#additionCount++;
      if (this.#areKept) this.#additions.push([first, second]);
      terms.push([sum, 1n]);
    }
    const left = terms.slice(next);
    while (left.length < most) left.push([0, 0n]);
    return { constant: isWithConstant ? (combination[0] as Term)[1] : 0n, terms: left };
  }

  #add(variables: readonly [number, number, number], factors: Partial<Selectors<bigint>>): void {
    if (++this.#count % GATES_AT_ONCE === 0 && this.#areKept) this.#makeRoom();
    if (!this.#areKept) return;
    for (const [wire, variable] of variables.entries()) (this.#wires[wire] as number[]).push(variable);
    for (const name of ['qm', 'ql', 'qr', 'qo', 'qc'] as const) this.#selectors[name].push(factors[name] ?? 0n);
  }

  /** Frees what was kept, where there is no room for more. */
  #makeRoom(): void {
    if (this.#hasRoom(this.#count, this.#additionCount)) return;
    this.#areKept = false;
    for (const list of [...this.#wires, ...Object.values(this.#selectors), this.#additions]) list.length = 0;
  }
}

/** A combination of a few variables. */
interface Reduced {
  readonly constant: bigint;
  /** As many as asked for; missing ones are 0 times the constant 1. */
  readonly terms: readonly Term[];
}
