/**
 * Circuits in `.r1cs` files: constraints A·B = C of sums of variables times numbers. Source:
 * https://github.com/iden3/r1csfile/blob/master/doc/r1cs_bin_format.md.
 */
import { badArgument, type MsmError } from '../errors.js';
import { Fields, ORDER_BYTES, openSnarkjsFile, readSections, type SnarkjsFileOptions, sectionOf } from './binfile.js';
import { type FileSource, type OpenFile, readRange } from './source.js';

/** Terms of one of the matrices A, B and C, constraint by constraint. */
export interface Matrix {
  /** Variable of each term. */
  readonly variables: Uint32Array;
  /** Constraint of each term. */
  readonly constraints: Uint32Array;
  /** Index of the number of each term. */
  readonly numbers: Uint32Array;
}

/** Constraints of a circuit. */
export interface R1cs {
  /** Prime of its field. */
  readonly order: bigint;
  /** Number of variables, with the constant 1. */
  readonly variables: number;
  /** Number of public variables, without the constant 1. */
  readonly publicSignals: number;
  readonly constraints: number;
  readonly matrices: { readonly a: Matrix; readonly b: Matrix; readonly c: Matrix };
  /** Different numbers of all terms; the first is 1. */
  readonly numbers: readonly bigint[];
}

const NEWEST = 1;

/** Bytes of the numbers of terms of a constraint, and of a term: a variable and a number. */
const [COUNTS_BYTES, TERM_BYTES] = [3 * 4, 4 + ORDER_BYTES];

/**
 * Reads the constraints of a circuit.
 *
 * @param pause called now and then, so that the event loop runs
 * @param check called with the number of all terms, and of different numbers so far, before the constraints are
 *   read and now and then after it; its errors end the read
 * @throws MsmError `bad-argument` naming the section or the constraint
 */
export const readR1cs = async (
  source: FileSource,
  { signal, onWarning }: SnarkjsFileOptions,
  pause: () => Promise<void>,
  check: (terms: number, numbers: number) => void = () => undefined,
): Promise<R1cs> => {
  const { file, warn } = openSnarkjsFile('r1cs', source, { signal, onWarning });
  const sections = await readSections(file, 'r1cs', NEWEST, warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const bytes = header.u32();
  if (bytes !== ORDER_BYTES) {
    throw badArgument(
      `r1cs: the header has a prime of ${bytes} bytes, and only primes of ${ORDER_BYTES} bytes are supported`,
    );
  }
  const order = header.number(bytes);
  const [variables, outputs, inputs] = [header.u32(), header.u32(), header.u32()];
  // private inputs and labels
  header.skip(4 + 8);
  const constraints = header.u32();
  header.end();
  const publicSignals = outputs + inputs;
  if (publicSignals >= variables) {
    throw badArgument(
      `r1cs: the header says ${publicSignals} public signals of ${variables} variables, which include the constant 1`,
    );
  }
  const { at, byteLength } = sectionOf(file, sections, 2, 'constraints');
  if (byteLength < COUNTS_BYTES * constraints) throw cutOff(file);
  const count = Math.floor((byteLength - COUNTS_BYTES * constraints) / TERM_BYTES);
  check(count, 1);
  const terms = new TermReader(file, await readRange(file, at, at + byteLength), { order, variables });
  for (let constraint = 0; constraint < constraints; constraint++) {
    for (const matrix of ['a', 'b', 'c'] as const) terms.read(matrix, constraint);
    if (constraint % 1024 !== 0) continue;
    check(count, terms.numbers.length);
    await pause();
  }
  terms.end();
  return { order, variables, publicSignals, constraints, matrices: terms.matrices(), numbers: terms.numbers };
};

const cutOff = ({ what }: OpenFile): MsmError => badArgument(`${what}: section 2 (constraints) is cut off`);

/** Reads terms one after the other. */
class TermReader {
  readonly numbers: bigint[] = [1n];
  readonly #file: OpenFile;
  readonly #view: DataView;
  readonly #limits: { readonly order: bigint; readonly variables: number };
  /** Indices of numbers, by their words. */
  readonly #known = new Map<string, number>();
  readonly #terms = { a: newTerms(), b: newTerms(), c: newTerms() };
  #at = 0;

  constructor(file: OpenFile, bytes: Uint8Array, limits: { readonly order: bigint; readonly variables: number }) {
    this.#file = file;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#limits = limits;
  }

  #u32(): number {
    if (this.#at + 4 > this.#view.byteLength) throw cutOff(this.#file);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  /** Reads the terms of one constraint in one matrix. */
  read(matrix: 'a' | 'b' | 'c', constraint: number): void {
    const terms = this.#terms[matrix];
    for (let left = this.#u32(); left > 0; left--) {
      const variable = this.#u32();
      if (variable >= this.#limits.variables) {
        throw badArgument(
          `${this.#file.what}: constraint ${constraint} has variable ${variable} of ${this.#limits.variables}`,
        );
      }
      terms.variables.push(variable);
      terms.constraints.push(constraint);
      terms.numbers.push(this.#number(constraint));
    }
  }

  /** Reads a number. @returns its index */
  #number(constraint: number): number {
    const words: number[] = [];
    for (let i = 0; i < ORDER_BYTES / 4; i++) words.push(this.#u32());
    if (words[0] === 1 && words.every((word, i) => i === 0 || word === 0)) return 0;
    const key = words.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
    if (value >= this.#limits.order) {
      throw badArgument(`${this.#file.what}: constraint ${constraint} has a number that is not below the prime`);
    }
    this.numbers.push(value);
    this.#known.set(key, this.numbers.length - 1);
    return this.numbers.length - 1;
  }

  end(): void {
    const left = this.#view.byteLength - this.#at;
    if (left > 0) throw badArgument(`${this.#file.what}: section 2 (constraints) has ${left} bytes too many`);
  }

  matrices(): R1cs['matrices'] {
    const { a, b, c } = this.#terms;
    return { a: matrixOf(a), b: matrixOf(b), c: matrixOf(c) };
  }
}

interface Terms {
  readonly variables: number[];
  readonly constraints: number[];
  readonly numbers: number[];
}

const newTerms = (): Terms => ({ variables: [], constraints: [], numbers: [] });

const matrixOf = ({ variables, constraints, numbers }: Terms): Matrix => ({
  variables: Uint32Array.from(variables),
  constraints: Uint32Array.from(constraints),
  numbers: Uint32Array.from(numbers),
});
