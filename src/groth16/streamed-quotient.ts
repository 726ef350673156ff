/**
 * The scalars of H with one vector in memory, beside the witness and the result: entries of the matrices are
 * read from the file for each proof. With L = A·w, R = B·w and ' for values on the coset, the result is
 * L'·R' − (L·R)'. L' and R' go first, the one in the vector and the other in the result, which then has their
 * product; L·R is made of the entries again, row by row. To keep L was rejected: it takes another vector.
 */
import { roomFor } from '../engine/arguments.js';
import { badArgument, MsmError } from '../errors.js';
import { rootOfOrder } from '../field/powers.js';
import { type ProductBatch, StreamedVector } from '../fields/cpu/streamed-vector.js';
import type { OpenField } from '../fields/program/open-field.js';
import { SCALAR_BYTES } from '../proofs/witness.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { type CoefficientSection, ENTRIES_PER_STEP, ENTRY_WORDS, VALUE_AT, VALUE_WORDS } from './coefficients.js';

/** Words of 32 bits, of numbers one after the other. */
type Numbers = Uint32Array<ArrayBuffer>;

/** A circuit whose matrices stay in the file. */
interface StreamedCircuit {
  readonly section: CoefficientSection;
  readonly field: OpenField;
  readonly domainSize: number;
  /** Shifts the n-th roots of unity to the coset of H. */
  readonly coset: bigint;
  /** True if the rows of both matrices together ascend in the file. */
  readonly isInOrder: boolean;
}

/** Computes quotients, one at a time. */
export class StreamedQuotient {
  readonly #circuit: StreamedCircuit;
  /** Memory that one proof after the other uses; null before the first one, and after `trim`. */
  #vector: StreamedVector | null = null;
  #isUsed = false;
  #isDestroyed = false;

  constructor(circuit: StreamedCircuit) {
    this.#circuit = circuit;
  }

  /** Bytes of memory that stays for the next proof. */
  get memoryUsed(): number {
    return this.#vector?.bytes ?? 0;
  }

  trim(): void {
    if (!this.#isUsed) this.#vector = null;
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.trim();
  }

  /**
   * Computes the scalars of H, one for each element of the domain, 32 little-endian bytes each.
   *
   * @param witness 32 little-endian bytes for each variable, which stay as they are until the end
   * @param check called after each time slice; ends the computation by throwing
   * @param signal ends the wait for a file that does not answer
   * @throws MsmError `bad-argument` if the file has changed; `aborted`, `out-of-memory`, and errors of reading the
   *   file
   */
  async compute(witness: Uint8Array, check: () => void, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { field, domainSize } = this.#circuit;
    if (this.#isDestroyed) throw new MsmError('destroyed', 'the proving key was destroyed');
    const scalars = roomFor('quotient', domainSize, SCALAR_BYTES, 'scalars');
    this.#isUsed = true;
    let isDone = false;
    try {
      this.#vector ??= await StreamedVector.open(field, domainSize);
      const run = new Run(this.#circuit, this.#vector, witness, { slice: new TimeSlice(check), signal });
      await run.compute(new Uint32Array(scalars.buffer));
      isDone = true;
      return scalars;
    } finally {
      if (!isDone) scalars.fill(0);
      this.#vector?.clear();
      this.#isUsed = false;
      if (this.#isDestroyed) this.trim();
    }
  }
}

/** The computation of one quotient. */
class Run {
  readonly #circuit: StreamedCircuit;
  readonly #vector: StreamedVector;
  readonly #witness: Uint32Array;
  readonly #slice: TimeSlice;
  readonly #signal: AbortSignal | undefined;
  readonly #batch: ProductBatch;
  /** Values of matrices are written times 2^512. Read times 2^256, and w likewise, their products are right. */
  readonly #scale: bigint;

  constructor(
    circuit: StreamedCircuit,
    vector: StreamedVector,
    witness: Uint8Array,
    { slice, signal }: { readonly slice: TimeSlice; readonly signal: AbortSignal | undefined },
  ) {
    this.#circuit = circuit;
    this.#vector = vector;
    this.#witness = new Uint32Array(witness.buffer, witness.byteOffset, witness.byteLength / 4);
    this.#slice = slice;
    this.#signal = signal;
    this.#batch = vector.batch();
    this.#scale = (1n << BigInt(8 * SCALAR_BYTES)) % circuit.field.p;
  }

  /** @param result takes the scalars of H */
  async compute(result: Numbers): Promise<void> {
    const vector = this.#vector;
    const slice = this.#slice;
    try {
      await this.#evaluate(result);
      await this.#moveToCoset();
      await vector.swap(result, slice);
      await this.#moveToCoset();
      await vector.multiplyNumbers(result, slice);
      await this.#evaluateProduct();
      await this.#moveToCoset();
      await vector.subtractFrom(result, slice);
    } finally {
      this.#batch.clear();
    }
  }

  async #moveToCoset(): Promise<void> {
    const { field, domainSize, coset } = this.#circuit;
    await this.#vector.moveToCoset(rootOfOrder(field, domainSize), coset, this.#slice);
  }

  /** Sets the vector to L, and numbers to R. */
  async #evaluate(numbers: Numbers): Promise<void> {
    const vector = this.#vector;
    if (this.#circuit.isInOrder) {
      await this.#eachWindow((row) => {
        vector.putWindow(row);
        vector.leaveWindow(row, numbers);
      });
      return;
    }
    await this.#multiplyMatrix(1);
    await vector.leave(numbers, this.#slice);
    await this.#multiplyMatrix(0);
  }

  /** Sets the vector to L·R. */
  async #evaluateProduct(): Promise<void> {
    const vector = this.#vector;
    if (this.#circuit.isInOrder) {
      await this.#eachWindow((row) => vector.multiplyWindows(row));
      return;
    }
    const numbers = new Uint32Array(roomFor('quotient', vector.length, SCALAR_BYTES, 'scalars').buffer);
    try {
      await this.#multiplyMatrix(1);
      await vector.leave(numbers, this.#slice);
      await this.#multiplyMatrix(0);
      await vector.multiplyBy(numbers, this.#slice);
    } finally {
      numbers.fill(0);
    }
  }

  /** Reads entries in the order of their rows. @param visit called with L and R of each window, from a row on */
  async #eachWindow(visit: (row: number) => void): Promise<void> {
    const { section } = this.#circuit;
    const vector = this.#vector;
    const slice = this.#slice;
    let window = 0;
    const endWindow = (): void => {
      this.#add('windows');
      visit(window);
      vector.clearWindows();
      window += vector.window;
    };
    vector.clearWindows();
    for await (const { first, count, words } of section.chunks(this.#signal)) {
      for (let i = 0; i < count; i++) {
        const from = i * ENTRY_WORDS;
        section.assertEntry(first + i, words, from);
        const row = words[from + 1] as number;
        if (row < window) {
          throw badArgument(`${section.name}: entry ${first + i} is in a row before those before it; the file changed`);
        }
        while (row >= window + vector.window) {
          endWindow();
          if (slice.isOver) await slice.yield();
        }
        this.#put(row - window + ((words[from] as number) === 0 ? 0 : vector.window), words, from, 'windows');
        if (i % ENTRIES_PER_STEP === 0 && slice.isOver) await slice.yield();
      }
    }
    while (window < vector.length) {
      endWindow();
      if (slice.isOver) await slice.yield();
    }
  }

  /** Sets the vector to the product of a matrix and the witness; entries may have any order. */
  async #multiplyMatrix(matrix: 0 | 1): Promise<void> {
    const { section } = this.#circuit;
    const slice = this.#slice;
    this.#vector.clearVector();
    for await (const { first, count, words } of section.chunks(this.#signal)) {
      for (let i = 0; i < count; i++) {
        const from = i * ENTRY_WORDS;
        section.assertEntry(first + i, words, from);
        if (words[from] === matrix) this.#put(words[from + 1] as number, words, from, 'vector');
        if (i % ENTRIES_PER_STEP === 0 && slice.isOver) await slice.yield();
      }
    }
    this.#add('vector');
  }

  /** Adds the product of an entry, at words[from], to the batch. */
  #put(target: number, words: Uint32Array, from: number, to: 'vector' | 'windows'): void {
    const column = words[from + 2] as number;
    this.#batch.add(target, words, from + VALUE_AT, this.#witness, column * VALUE_WORDS);
    if (this.#batch.isFull) this.#add(to);
  }

  #add(to: 'vector' | 'windows'): void {
    this.#vector.addProducts(this.#batch, this.#scale, to);
  }
}
