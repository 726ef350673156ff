/** Straight-line programs as WebAssembly, in one lane (i64) or two (i64x2). */
import type { Limbs, Operand, Statement, Term } from '../../field/straight-line.js';
import type { Local } from '../encoder/code.js';
import type { LaneCode } from './lane-code.js';

/** Indices of a shuffle that puts the low halves of both lanes where `LaneCode.load` has them. */
const HALVES = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11];

/** Value of a program in a local. */
interface ProgramValue {
  readonly local: Local;
  /** With two lanes: true if the values are the two lowest of four i32; else they are i64. */
  readonly isNarrow: boolean;
}

class ProgramWriter {
  readonly #writer: LaneCode;
  readonly #width: number;
  readonly #values: Map<string, ProgramValue>;
  /** Values of two i64 that were narrowed, by name. */
  readonly #narrowed = new Map<string, Local>();

  constructor(writer: LaneCode, width: number, inputs: ReadonlyMap<string, Local>) {
    this.#writer = writer;
    this.#width = width;
    this.#values = new Map([...inputs].map(([name, local]) => [name, { local, isNarrow: true }]));
  }

  valueOf(name: string): ProgramValue {
    return this.#values.get(name) as ProgramValue;
  }

  get #hasOneLane(): boolean {
    return this.#writer.lanes === 1;
  }

  #constant(value: number): void {
    const { code } = this.#writer;
    const low = BigInt.asUintN(32, BigInt(value));
    if (this.#hasOneLane) code.i64(value);
    else code.i64x2(low | (low << 32n));
  }

  /** Leaves a factor; with two lanes in the two lowest of four i32. */
  #factor(operand: Operand): void {
    if (typeof operand === 'number') {
      this.#constant(operand);
      return;
    }
    const { code, type } = this.#writer;
    const { local, isNarrow } = this.valueOf(operand);
    const known = this.#hasOneLane || isNarrow ? local : this.#narrowed.get(operand);
    if (known !== undefined) {
      code.get(known);
      return;
    }
    const low = code.local(type);
    this.#narrowed.set(operand, low);
    code.get(local).get(local).shuffle(HALVES).tee(low);
  }

  /** Returns whether a term is ± a value that needs no multiplication. */
  #isPlain([x, y]: Term): boolean {
    if (typeof x !== 'string' || (y !== 1 && y !== -1)) return false;
    return this.#hasOneLane || !this.valueOf(x).isNarrow;
  }

  /** Leaves the absolute value of a plain term, or another term. @returns how to accumulate it */
  #term(term: Term): 'add' | 'sub' {
    const { code } = this.#writer;
    const [x, y] = term;
    if (this.#isPlain(term)) {
      code.get(this.valueOf(x as string).local);
      return y === 1 ? 'add' : 'sub';
    }
    this.#factor(x);
    this.#factor(y);
    code.do(this.#hasOneLane ? 'i64.mul' : 'i64x2.extmul_low_i32x4_s');
    return 'add';
  }

  #sum(given: readonly Term[]): void {
    const { code } = this.#writer;
    // negative terms last: a subtraction needs what it subtracts from
    const terms = [...given].sort((a, b) => Number(a[1] === -1) - Number(b[1] === -1));
    const [first] = terms;
    if (first === undefined || (this.#isPlain(first) && first[1] === -1)) {
      if (this.#hasOneLane) code.i64(0);
      else code.i64x2(0);
    }
    for (const [i, term] of terms.entries()) {
      const how = this.#term(term);
      if (i > 0 || how === 'sub') code.do(this.#hasOneLane ? `i64.${how}` : `i64x2.${how}`);
    }
  }

  #floor(of: string): void {
    const { code } = this.#writer;
    code.get(this.valueOf(of).local);
    if (this.#hasOneLane) code.i64(this.#width).do('i64.shr_s');
    else code.i32(this.#width).do('i64x2.shr_s');
  }

  #mask(of: string): void {
    const { code } = this.#writer;
    const mask = 2 ** this.#width - 1;
    code.get(this.valueOf(of).local);
    if (this.#hasOneLane) code.i64(mask).do('i64.and');
    else code.i64x2(mask).do('v128.and');
  }

  /** Writes a statement, and sets a local to its value. */
  write(statement: Statement): void {
    if (statement.kind === 'sum') this.#sum(statement.terms);
    else if (statement.kind === 'mask') this.#mask(statement.of);
    else this.#floor(statement.of);
    const { code, type } = this.#writer;
    const local = code.local(type);
    code.set(local);
    this.#values.set(statement.name, { local, isNarrow: false });
  }
}

/**
 * Writes a program.
 *
 * @param inputs locals of its inputs, in the format of `LaneCode.load`
 * @returns locals of the limbs of its result
 */
export const writeProgram = (
  writer: LaneCode,
  { program, result }: Limbs,
  inputs: ReadonlyMap<string, Local>,
): Local[] => {
  const values = new ProgramWriter(writer, program.width, inputs);
  for (const statement of program.statements) values.write(statement);
  return result.map((name) => values.valueOf(name).local);
};
