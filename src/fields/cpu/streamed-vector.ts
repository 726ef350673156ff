/**
 * A vector beside which little else is in memory of WebAssembly: numbers that it meets, such as those of a
 * witness or the entries of a matrix, come as words, some at a time, and transforms have short tables.
 */
import { finish, type TimeSlice } from '../../scheduling/time-slice.js';
import type { WasmArithmetic } from '../../wasm/points/kernel.js';
import { moveToCoset, twiddleElements } from '../../wasm/vectors/short-twiddles.js';
import type { VectorAt, VectorMemory } from '../../wasm/vectors/vector-kernel.js';
import { runPhases } from '../../wasm/vectors/vector-program.js';
import type { OpenField } from '../program/open-field.js';
import { Arena } from './arena.js';
import { noWebAssembly, openMemory } from './open-memory.js';

/** Elements of a window, which are computed beside the vector, at most; and windows of a short vector. */
const [MOST_WINDOW, LEAST_WINDOWS] = [2 ** 11, 8];

/** Products that are added at a time, and elements that are converted, for each element of a window. */
const PER_ELEMENT = 2;

/** Words of a triple: target, and both operands. */
const TRIPLE = 3;

/** Numbers in words, which are overwritten if they are results. */
type Numbers = Uint32Array<ArrayBuffer>;

export class StreamedVector {
  readonly length: number;
  /** Elements of a window. */
  readonly window: number;
  readonly #memory: VectorMemory;
  readonly #arena: Arena;
  /** The vector, and an element that is never read. */
  readonly #at: VectorAt;
  /** Two windows, one after the other, and an element that is never read. */
  readonly #windows: VectorAt;
  /** Operands of products, and converted numbers. */
  readonly #numbers: VectorAt;
  readonly #triples: VectorAt;
  readonly #twiddles: VectorAt;
  /** Triples of a batch, in words. */
  readonly #list: Uint32Array;

  private constructor(field: OpenField, memory: VectorMemory, length: number) {
    this.#memory = memory;
    this.length = length;
    this.window = Math.max(1, Math.min(MOST_WINDOW, length / LEAST_WINDOWS));
    this.#list = new Uint32Array(2 * this.#products * TRIPLE);
    this.#arena = new Arena(field, memory, Number.POSITIVE_INFINITY);
    const take = (elements: number): VectorAt => this.#arena.take(elements);
    [this.#at, this.#windows, this.#numbers] = [take(length + 1), take(2 * this.window + 1), take(2 * this.#products)];
    this.#triples = take(Math.ceil((4 * this.#list.length) / memory.elementBytes));
    this.#twiddles = take(twiddleElements(length));
  }

  /**
   * Opens a vector.
   *
   * @param length a power of two
   * @param arithmetics in the order in which they are tried; default: the fastest first
   * @throws MsmError `out-of-memory`, `unsupported-device`
   */
  static async open(
    field: OpenField,
    length: number,
    arithmetics?: readonly WasmArithmetic[],
  ): Promise<StreamedVector> {
    const memory = await openMemory(field, arithmetics);
    if (memory === null) throw noWebAssembly();
    return new StreamedVector(field, memory, length);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#memory.bytes;
  }

  /** Products that are added at a time, and elements that are converted. */
  get #products(): number {
    return PER_ELEMENT * this.window;
  }

  /** Words of a number. */
  get #perNumber(): number {
    return this.#memory.kernel.wordBytes / 4;
  }

  /** Returns an empty batch of products. */
  batch(): ProductBatch {
    return new ProductBatch(this.#products, this.#perNumber);
  }

  /**
   * Adds products to elements of the vector, or of both windows, one after the other, and empties the batch.
   *
   * @param scale both operands are numbers times `scale`
   */
  addProducts(batch: ProductBatch, scale: bigint, to: 'vector' | 'windows'): void {
    const { count, words, targets } = batch;
    if (count === 0) return;
    const list = this.#list;
    const [at, unread] = to === 'vector' ? [this.#at, this.length] : [this.#windows, 2 * this.window];
    let triples = 0;
    const add = (target: number, product: number): void => {
      list[TRIPLE * triples] = target;
      list[TRIPLE * triples + 1] = 2 * product;
      list[TRIPLE * triples + 2] = 2 * product + 1;
      triples++;
    };
    // the two lanes of the arithmetic must not add to the same element at a time
    const middle = count >>> 1;
    for (let i = 0; i < middle; i++) {
      const [first, second] = [targets[i] as number, targets[middle + i] as number];
      add(first, i);
      if (first === second) add(unread, i);
      add(second, middle + i);
      if (first === second) add(unread, i);
    }
    if (count % 2 === 1) {
      add(targets[count - 1] as number, count - 1);
      add(unread, count - 1);
    }
    finish(this.#memory.enter(this.#numbers, words.subarray(0, 2 * count * this.#perNumber), scale));
    this.#memory.putWords(this.#triples, list.subarray(0, TRIPLE * triples));
    this.#memory.exports.addProducts(this.#triples, triples, at, this.#numbers, this.#numbers);
    batch.empty();
  }

  clearVector(): void {
    this.#memory.clear(this.#at, this.length + 1);
  }

  clearWindows(): void {
    this.#memory.clear(this.#windows, 2 * this.window + 1);
  }

  /** Returns the address of an element. */
  #element(index: number): VectorAt {
    return this.#at + index * this.#memory.elementBytes;
  }

  /** Copies the first elements of the first window to the elements from `row` on. */
  putWindow(row: number): void {
    this.#memory.copy(this.#element(row), this.#windows, this.#windowAt(row));
  }

  /** Writes the first elements of the second window to the numbers from `row` on. */
  leaveWindow(row: number, numbers: Numbers): void {
    const count = this.#windowAt(row);
    const second = this.#windows + this.window * this.#memory.elementBytes;
    finish(this.#memory.leave(this.#wordsAt(numbers, row, count), second, 1n));
  }

  /** Sets the elements from `row` on to the products of both windows. */
  multiplyWindows(row: number): void {
    const { exports, elementBytes: bytes } = this.#memory;
    const second = this.#windows + this.window * bytes;
    exports.multiply(this.#element(row), this.#windows, second, this.#windowAt(row), bytes, bytes, bytes);
  }

  /** Returns how many elements of a window are in the vector. */
  #windowAt(row: number): number {
    return Math.min(this.window, this.length - row);
  }

  #wordsAt(numbers: Numbers, first: number, count: number): Numbers {
    return numbers.subarray(first * this.#perNumber, (first + count) * this.#perNumber);
  }

  /**
   * Transforms values of a polynomial on the roots of unity of order n, the length, to its values on a coset.
   *
   * @param root a number of order n
   */
  async moveToCoset(root: bigint, coset: bigint, slice: TimeSlice): Promise<void> {
    const transform = { memory: this.#memory, at: this.#at, length: this.length, scratch: this.#twiddles };
    await runPhases(this.#memory, moveToCoset(transform, root, coset), slice);
  }

  /** Exchanges the elements with numbers. */
  async swap(numbers: Numbers, slice: TimeSlice): Promise<void> {
    await this.#inParts(slice, (first, count) => {
      const [words, element] = [this.#wordsAt(numbers, first, count), this.#element(first)];
      finish(this.#memory.enter(this.#numbers, words, 1n));
      finish(this.#memory.leave(words, element, 1n));
      this.#memory.copy(element, this.#numbers, count);
    });
  }

  /** Writes the elements as numbers. */
  async leave(numbers: Numbers, slice: TimeSlice): Promise<void> {
    await this.#inParts(slice, (first, count) => {
      finish(this.#memory.leave(this.#wordsAt(numbers, first, count), this.#element(first), 1n));
    });
  }

  /** Multiplies the elements by numbers. */
  async multiplyBy(numbers: Numbers, slice: TimeSlice): Promise<void> {
    const { exports, elementBytes: bytes } = this.#memory;
    await this.#inParts(slice, (first, count) => {
      const element = this.#element(first);
      finish(this.#memory.enter(this.#numbers, this.#wordsAt(numbers, first, count), 1n));
      exports.multiply(element, element, this.#numbers, count, bytes, bytes, bytes);
    });
  }

  /** Multiplies numbers by the elements. */
  async multiplyNumbers(numbers: Numbers, slice: TimeSlice): Promise<void> {
    await this.#changeNumbers('multiply', numbers, slice);
  }

  /** Subtracts the elements from numbers. */
  async subtractFrom(numbers: Numbers, slice: TimeSlice): Promise<void> {
    await this.#changeNumbers('subtract', numbers, slice);
  }

  async #changeNumbers(kind: 'multiply' | 'subtract', numbers: Numbers, slice: TimeSlice): Promise<void> {
    const { exports, elementBytes: bytes } = this.#memory;
    await this.#inParts(slice, (first, count) => {
      const words = this.#wordsAt(numbers, first, count);
      finish(this.#memory.enter(this.#numbers, words, 1n));
      exports[kind](this.#numbers, this.#numbers, this.#element(first), count, bytes, bytes, bytes);
      finish(this.#memory.leave(words, this.#numbers, 1n));
    });
  }

  async #inParts(slice: TimeSlice, part: (first: number, count: number) => void): Promise<void> {
    for (let first = 0; first < this.length; first += this.#products) {
      part(first, Math.min(this.#products, this.length - first));
      if (slice.isOver) await slice.yield();
    }
  }

  /** Sets the vector and all scratch to 0, which may be secret. */
  clear(): void {
    this.clearVector();
    this.clearWindows();
    this.#memory.clear(this.#numbers, 2 * this.#products);
  }
}

/** Products of two numbers, and the elements that they are added to. */
export class ProductBatch {
  /** Words of both operands of each product. */
  readonly words: Numbers;
  readonly targets: Uint32Array;
  readonly #perNumber: number;
  #count = 0;

  /** @param most number of products @param perNumber words of a number */
  constructor(most: number, perNumber: number) {
    this.#perNumber = perNumber;
    this.words = new Uint32Array(2 * most * perNumber);
    this.targets = new Uint32Array(most);
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === this.targets.length;
  }

  /** Adds the product of the numbers at a[fromA] and b[fromB]. */
  add(target: number, a: Uint32Array, fromA: number, b: Uint32Array, fromB: number): void {
    const { words } = this;
    const perNumber = this.#perNumber;
    const at = 2 * this.#count * perNumber;
    for (let j = 0; j < perNumber; j++) {
      words[at + j] = a[fromA + j] as number;
      words[at + perNumber + j] = b[fromB + j] as number;
    }
    this.targets[this.#count++] = target;
  }

  empty(): void {
    this.#count = 0;
  }

  /** Overwrites the numbers, which may be secret. */
  clear(): void {
    this.#count = 0;
    this.words.fill(0);
  }
}
