/**
 * Constraints of a circuit, A·B = C of sums over its variables, and the first one that a witness does
 * not satisfy. The program of a circuit checks most constraints itself; a witness can fail here if it is
 * of another version of the circuit, or another program made or changed it.
 */
import { assertNotAborted, badArgument, warnBy } from '../errors.js';
import { mod } from '../field/modulus.js';
import { orderOf, type SnarkjsFileOptions } from '../formats/binfile.js';
import { type Matrix, type R1cs, readR1cs } from '../formats/r1cs.js';
import type { FileSource } from '../formats/source.js';
import { readWitness, SCALAR_BYTES } from '../proofs/witness.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import type { ConstraintSum, UnsatisfiedConstraint } from './api.js';
import type { KeyFacts } from './circuit-parts.js';
import type { ProgramFacts } from './program.js';
import { namesOfVariables } from './variable-names.js';

/** Terms and constraints after which the clock is read: some 0.2 ms. */
const STEPS_PER_LOOK = 512;

/** A check of one witness. */
interface CheckRun {
  /** Ends the check. */
  readonly signal: AbortSignal | undefined;
  /** Whether the result has values of the witness, which are secret. */
  readonly withValues: boolean;
}

export class Constraints {
  readonly #r1cs: R1cs;
  /** Names of signals, read if a constraint fails. */
  readonly #sym: FileSource | null;
  readonly #onWarning: SnarkjsFileOptions['onWarning'];

  private constructor(r1cs: R1cs, sym: FileSource | null, onWarning: SnarkjsFileOptions['onWarning']) {
    this.#r1cs = r1cs;
    this.#sym = sym;
    this.#onWarning = onWarning;
  }

  /** Reads the constraints. @throws MsmError `bad-argument`, `aborted` */
  static async open(source: FileSource, sym: FileSource | null, options: SnarkjsFileOptions): Promise<Constraints> {
    const slice = new TimeSlice(() => assertNotAborted(options.signal, 'load'));
    const pause = async (): Promise<void> => {
      if (slice.isOver) await slice.yield();
    };
    return new Constraints(await readR1cs(source, options, pause), sym, options.onWarning);
  }

  /** Number of constraints. */
  get count(): number {
    return this.#r1cs.constraints;
  }

  /** Checks that a program is of this circuit, as far as headers tell. @throws MsmError `bad-argument` */
  assertProgram({ prime, values }: ProgramFacts): void {
    const { order, variables } = this.#r1cs;
    if (order !== prime) {
      throw badArgument(
        `wasm and r1cs are of different fields: the prime of the constraints is ${order}, and that of the program ${prime}`,
      );
    }
    if (variables !== values) {
      throw badArgument(
        `wasm and r1cs are of different circuits: the program computes ${values} values, and the constraints have ${variables} variables`,
      );
    }
  }

  /** As `assertProgram`, for a key. @throws MsmError `bad-argument` */
  assertKey({ protocol, curve, publicSignals, domainSize }: KeyFacts): void {
    const { order, constraints, publicSignals: expected } = this.#r1cs;
    if (order !== orderOf(curve)) {
      throw badArgument(
        `zkey and r1cs are of different fields: the key is on ${curve}, and the prime of the constraints is ${order}`,
      );
    }
    if (publicSignals !== expected) {
      throw badArgument(
        `zkey and r1cs are of different circuits: the key has ${publicSignals} public signals, and the constraints have ${expected}`,
      );
    }
    // one row of the domain for each constraint, for each public signal, and for the constant 1
    const rows = constraints + publicSignals + 1;
    if (protocol === 'groth16' && rows > domainSize) {
      throw badArgument(
        `zkey and r1cs are of different circuits: ${constraints} constraints need a domain of ${rows}, and the key has ${domainSize}`,
      );
    }
  }

  /**
   * Returns the first constraint that a witness does not satisfy; null if it satisfies all.
   *
   * @throws MsmError `bad-argument` for a file that is no witness of this circuit; `aborted`
   */
  async firstUnsatisfied(witness: FileSource, run: CheckRun): Promise<UnsatisfiedConstraint | null> {
    const { order, variables } = this.#r1cs;
    const warn = (message: string): void => warnBy(this.#onWarning, message);
    const bytes = await readWitness(witness, { order, variables }, { ending: run, warn });
    try {
      return await this.#firstUnsatisfied(new Values(bytes), run);
    } finally {
      bytes.fill(0);
    }
  }

  async #firstUnsatisfied(values: Values, { signal, withValues }: CheckRun): Promise<UnsatisfiedConstraint | null> {
    const { order, constraints, matrices, numbers } = this.#r1cs;
    const [a, b, c] = [matrices.a, matrices.b, matrices.c].map((matrix) => new Rows(matrix, numbers)) as [
      Rows,
      Rows,
      Rows,
    ];
    const slice = new TimeSlice(() => assertNotAborted(signal, 'call'));
    for (let [constraint, steps] = [0, 0]; constraint < constraints; constraint++) {
      steps += 1 + a.goTo(constraint) + b.goTo(constraint) + c.goTo(constraint);
      if (mod(a.sum(values) * b.sum(values) - c.sum(values), order) !== 0n) {
        const names = await this.#namesOf([a, b, c], slice, signal);
        const [sumA, sumB, sumC] = [a, b, c].map((row) => row.show(order, names, withValues ? values : null)) as [
          ConstraintSum,
          ConstraintSum,
          ConstraintSum,
        ];
        return { constraint, a: sumA, b: sumB, c: sumC };
      }
      if (steps < STEPS_PER_LOOK) continue;
      steps = 0;
      if (slice.isOver) await slice.yield();
    }
    return null;
  }

  async #namesOf(
    rows: readonly Rows[],
    slice: TimeSlice,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<number, readonly string[]>> {
    if (this.#sym === null) return new Map();
    const wanted = new Set(rows.flatMap((row) => row.variables));
    return namesOfVariables(this.#sym, wanted, { variables: this.#r1cs.variables, slice, signal });
  }
}

/** Values of a witness by variable. */
class Values {
  readonly #view: DataView;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#view = new DataView(buffer, byteOffset, length);
  }

  at(variable: number): bigint {
    let value = 0n;
    for (let at = (variable + 1) * SCALAR_BYTES - 8; at >= variable * SCALAR_BYTES; at -= 8) {
      const word = this.#view.getBigUint64(at, true);
      // most values of a witness are bits and small numbers
      value = value === 0n ? word : (value << 64n) | word;
    }
    return value;
  }
}

/** The terms of one constraint after the other, in one matrix. */
class Rows {
  readonly #matrix: Matrix;
  readonly #numbers: readonly bigint[];
  #from = 0;
  #to = 0;

  constructor(matrix: Matrix, numbers: readonly bigint[]) {
    this.#matrix = matrix;
    this.#numbers = numbers;
  }

  /** Goes to a constraint, the one after the last. @returns its number of terms */
  goTo(constraint: number): number {
    const { constraints } = this.#matrix;
    this.#from = this.#to;
    while (constraints[this.#to] === constraint) this.#to++;
    return this.#to - this.#from;
  }

  get variables(): number[] {
    return [...this.#matrix.variables.subarray(this.#from, this.#to)];
  }

  /** Returns the sum, which is not reduced. */
  sum(values: Values): bigint {
    const { variables, numbers } = this.#matrix;
    let sum = 0n;
    for (let i = this.#from; i < this.#to; i++) {
      const value = values.at(variables[i] as number);
      sum += numbers[i] === 0 ? value : value * (this.#numbers[numbers[i] as number] as bigint);
    }
    return sum;
  }

  /** Returns the terms as their reader wants them: with names, and coefficients around 0. */
  show(order: bigint, names: ReadonlyMap<number, readonly string[]>, values: Values | null): ConstraintSum {
    const terms = this.variables.map((variable, i) => {
      const number = this.#numbers[this.#matrix.numbers[this.#from + i] as number] as bigint;
      return {
        coefficient: 2n * number > order ? number - order : number,
        variable,
        signals: names.get(variable) ?? [],
        value: values === null ? null : values.at(variable),
      };
    });
    return { terms, value: values === null ? null : mod(this.sum(values), order) };
  }
}
