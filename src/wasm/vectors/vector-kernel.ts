/**
 * A module of vectors of a prime field in one of the forms of arithmetic, and an instance of it
 * with its memory.
 */

import { NoWasmMemory } from '../../errors.js';
import { invert, mod, wordBytesOf } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { createMemory, createSharedMemory, growMemory, PAGE_BYTES } from '../encoder/module.js';
import { type KernelField, valueOfWords, type WasmArithmetic, wordsOfElement } from '../points/kernel.js';
import { floatVectors } from './float-vectors.js';
import { integerVectors, type VectorForm, wordsVectors } from './vector-functions.js';
import { addVectorLoops, type VectorExports } from './vector-loops.js';
import { type KernelCall, runCall } from './vector-program.js';

/** A generated module, and the layout of its memory. */
export interface VectorKernel {
  readonly arithmetic: WasmArithmetic;
  /** Returns the module. @param isShared whether for a memory that threads share */
  bytes(isShared: boolean): Uint8Array<ArrayBuffer>;
  readonly field: KernelField;
  /** Bytes of a number in the public format. */
  readonly wordBytes: number;
  /** Addresses of the factors of `enter` and `leave`. */
  readonly unitIn: number;
  readonly unitOut: number;
  /** The caller may use everything from here on. */
  readonly end: number;
  /** Words of 32 bits by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

const forms: Readonly<Record<WasmArithmetic, VectorForm>> = {
  'wasm-fma': floatVectors,
  'wasm-wide': wordsVectors,
  'wasm-simd': integerVectors(2),
  wasm: integerVectors(1),
};

/** Generates the module of a prime field; null if the arithmetic does not have it. */
export const vectorKernel = (p: bigint, arithmetic: WasmArithmetic): VectorKernel | null => {
  const wordBytes = wordBytesOf(p);
  const made = forms[arithmetic](p, wordBytes);
  if (made === null) return null;
  const { module, functions, memory } = made;
  const { field } = functions;
  const [unitIn, unitOut] = [memory.take(field.bytes), memory.take(field.bytes)];
  const temporary = range(functions.lanes).map(() => memory.take(field.bytes));
  addVectorLoops({ module, functions, wordBytes, unitIn, unitOut, temporary });
  const constants = new Map(memory.constants);
  constants.set(unitIn, wordsOfElement(field, 0n));
  return {
    arithmetic,
    bytes: (isShared) => module.bytes(isShared),
    field,
    wordBytes,
    unitIn,
    unitOut,
    end: memory.end,
    constants,
  };
};

const exportsOf = async (module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<VectorExports> => {
  const { exports } = await WebAssembly.instantiate(module, { host: { memory } });
  return exports as unknown as VectorExports;
};

/** Address of the first element of a vector in memory. */
export type VectorAt = number;

/** Bytes that divide the addresses of what is allocated. */
const ALIGNMENT = 64;

/** Bytes behind a number that may be read with it. */
const READ_AHEAD = 8;

/** Numbers whose words are copied into memory, or out of it, at a time. */
const NUMBERS_AT_ONCE = 2 ** 12;

interface Range {
  readonly at: number;
  readonly bytes: number;
}

/** Returns the bytes that a vector takes. */
export const bytesOfVector = ({ field }: VectorKernel, elements: number): number =>
  ALIGNMENT * Math.ceil((elements * field.bytes) / ALIGNMENT);

/** View of the wasm memory for the vector kernels. */
export type VectorSpace = Omit<
  VectorMemory,
  'run' | 'module' | 'shared' | 'move' | 'beginBatch' | 'endBatch' | 'lateBytes' | 'elementsAt'
>;

/** Module and memory of vectors, for threads that share them. */
export interface SharedVectors {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

/** An instance of a kernel, and its memory. */
interface OpenedKernel {
  readonly memory: WebAssembly.Memory;
  readonly exports: VectorExports;
  /** Most bytes of a memory that threads share; null: not shared. */
  readonly mostBytes: number | null;
}

export class VectorMemory {
  readonly kernel: VectorKernel;
  readonly #module: WebAssembly.Module;
  /** Most bytes of a shared memory; null: this memory is not shared. */
  readonly #mostBytes: number | null;
  #memory: WebAssembly.Memory;
  #exports: VectorExports;
  #shared: SharedVectors | null = null;
  /** Words of the numbers that are converted. */
  readonly #words: number;
  /** Ranges that are not used, by address. */
  #free: Range[];
  #end: number;
  #used = 0;
  /** Vectors that are released at the end of a batch; null: at once. */
  #late: { readonly at: VectorAt; readonly elements: number }[] | null = null;

  private constructor(kernel: VectorKernel, module: WebAssembly.Module, { memory, exports, mostBytes }: OpenedKernel) {
    this.kernel = kernel;
    this.#module = module;
    this.#memory = memory;
    this.#exports = exports;
    this.#mostBytes = mostBytes;
    const view = new Int32Array(memory.buffer);
    for (const [at, values] of kernel.constants) view.set(values, at / 4);
    this.#words = ALIGNMENT * Math.ceil(kernel.end / ALIGNMENT);
    this.#end = memory.buffer.byteLength;
    const first = this.#words + ALIGNMENT * Math.ceil((NUMBERS_AT_ONCE * kernel.wordBytes + READ_AHEAD) / ALIGNMENT);
    this.#free = [{ at: first, bytes: this.#end - first }];
  }

  /**
   * Compiles and instantiates a kernel.
   *
   * @param mostBytes of a memory that threads can share, if the platform has one; null: not shared
   * @throws NoWasmMemory
   */
  static async open(kernel: VectorKernel, mostBytes: number | null = null): Promise<VectorMemory> {
    const least = kernel.end + 2 * ALIGNMENT + NUMBERS_AT_ONCE * kernel.wordBytes + READ_AHEAD;
    const shared = mostBytes === null ? null : createSharedMemory(least, mostBytes);
    const module = await WebAssembly.compile(kernel.bytes(shared !== null));
    const memory = shared ?? createMemory(least);
    const exports = await exportsOf(module, memory);
    return new VectorMemory(kernel, module, { memory, exports, mostBytes: shared && mostBytes });
  }

  /** The kernels, on the thread of the engine. */
  get exports(): VectorExports {
    return this.#exports;
  }

  /** The compiled kernels. */
  get module(): WebAssembly.Module {
    return this.#module;
  }

  /** Module and memory for other threads; null if the memory is not shared. The same object until it moves. */
  get shared(): SharedVectors | null {
    if (this.#mostBytes === null) return null;
    this.#shared ??= { module: this.#module, memory: this.#memory };
    return this.#shared;
  }

  /** Does a call on this thread. */
  run(each: KernelCall): void {
    runCall(this.#exports, each);
  }

  /**
   * Copies all vectors to another memory, with the same addresses, after a thread was lost that may
   * still write to this one.
   *
   * @throws NoWasmMemory
   */
  async move(): Promise<void> {
    const bytes = this.#memory.buffer.byteLength;
    const memory = createSharedMemory(bytes, this.#mostBytes ?? bytes);
    if (memory === null) throw new NoWasmMemory(bytes, null);
    new Uint8Array(memory.buffer).set(new Uint8Array(this.#memory.buffer));
    this.#exports = await exportsOf(this.#module, memory);
    this.#memory = memory;
    this.#shared = null;
  }

  /** Bytes of an element. */
  get elementBytes(): number {
    return this.kernel.field.bytes;
  }

  /** Bytes of all vectors. */
  get used(): number {
    return this.#used;
  }

  /** Size of the memory in bytes. */
  get bytes(): number {
    return this.#end;
  }

  /**
   * Reserves a vector, uninitialised.
   *
   * @throws NoWasmMemory
   */
  take(elements: number): VectorAt {
    const bytes = bytesOfVector(this.kernel, elements);
    let index = this.#free.findIndex((range) => range.bytes >= bytes);
    if (index < 0) {
      this.#grow(bytes);
      index = this.#free.length - 1;
    }
    const { at, bytes: all } = this.#free[index] as Range;
    if (all === bytes) this.#free.splice(index, 1);
    else this.#free[index] = { at: at + bytes, bytes: all - bytes };
    this.#used += bytes;
    return at;
  }

  /** Appends memory, so that the last free range has so many bytes. */
  #grow(bytes: number): void {
    const last = this.#free.at(-1);
    const isOpen = last !== undefined && last.at + last.bytes === this.#end;
    const missing = bytes - (isOpen ? last.bytes : 0);
    const pages = Math.ceil(missing / PAGE_BYTES);
    growMemory(this.#memory, pages * PAGE_BYTES);
    const added = { at: this.#end, bytes: pages * PAGE_BYTES };
    this.#end += added.bytes;
    if (isOpen) this.#free[this.#free.length - 1] = { at: last.at, bytes: last.bytes + added.bytes };
    else this.#free.push(added);
  }

  /**
   * Keeps what is released from now on until `endBatch`: recorded phases, which are computed later,
   * use it.
   */
  beginBatch(): void {
    this.#late ??= [];
  }

  endBatch(): void {
    const late = this.#late ?? [];
    this.#late = null;
    for (const { at, elements } of late) this.release(at, elements);
  }

  /** Bytes that `endBatch` will release. */
  get lateBytes(): number {
    return (this.#late ?? []).reduce((sum, { elements }) => sum + bytesOfVector(this.kernel, elements), 0);
  }

  /** Returns the memory of a vector, overwritten with zeros. */
  release(at: VectorAt, elements: number): void {
    if (this.#late !== null) {
      this.#late.push({ at, elements });
      return;
    }
    const bytes = bytesOfVector(this.kernel, elements);
    this.exports.clear(at, bytes);
    this.#used -= bytes;
    const index = this.#free.findIndex((range) => range.at > at);
    const position = index < 0 ? this.#free.length : index;
    this.#free.splice(position, 0, { at, bytes });
    this.#join(position);
    this.#join(position - 1);
  }

  /** Joins a free range with the next one if they are neighbours. */
  #join(index: number): void {
    const [first, second] = [this.#free[index], this.#free[index + 1]];
    if (first === undefined || second === undefined || first.at + first.bytes !== second.at) return;
    this.#free.splice(index, 2, { at: first.at, bytes: first.bytes + second.bytes });
  }

  /** Sets a factor of conversions. @param unit its address */
  #setUnit(unit: number, value: bigint): void {
    new Int32Array(this.#memory.buffer).set(wordsOfElement(this.kernel.field, value), unit / 4);
  }

  /**
   * Converts numbers to elements, some at a time.
   *
   * @param words numbers below p, little-endian
   * @param scale factor that they were multiplied by
   */
  *enter(to: VectorAt, words: Uint32Array, scale: bigint): Generator<void> {
    const { field, wordBytes, unitIn } = this.kernel;
    const { p, r } = field;
    this.#setUnit(unitIn, mod(r * r * invert(scale, p), p));
    const perNumber = wordBytes / 4;
    for (let i = 0; i * perNumber < words.length; i += NUMBERS_AT_ONCE) {
      const some = words.subarray(i * perNumber, (i + NUMBERS_AT_ONCE) * perNumber);
      new Uint32Array(this.#memory.buffer).set(some, this.#words / 4);
      this.exports.enter(to + i * this.elementBytes, this.#words, some.length / perNumber);
      yield;
    }
    this.#forgetWords();
  }

  /** Writes elements as numbers below p, times `scale`, some at a time. */
  *leave(to: Uint32Array, from: VectorAt, scale: bigint): Generator<void> {
    const { field, wordBytes, unitOut } = this.kernel;
    this.#setUnit(unitOut, mod(scale, field.p));
    const perNumber = wordBytes / 4;
    for (let i = 0; i * perNumber < to.length; i += NUMBERS_AT_ONCE) {
      const some = to.subarray(i * perNumber, (i + NUMBERS_AT_ONCE) * perNumber);
      this.exports.leave(this.#words, from + i * this.elementBytes, some.length / perNumber);
      some.set(new Uint32Array(this.#memory.buffer, this.#words, some.length));
      yield;
    }
    this.#forgetWords();
  }

  /** Copies elements from[indices[i]], at most `NUMBERS_AT_ONCE` at a time. */
  pick(to: VectorAt, from: VectorAt, indices: Uint32Array): void {
    for (let i = 0; i < indices.length; i += NUMBERS_AT_ONCE) {
      const some = indices.subarray(i, i + NUMBERS_AT_ONCE);
      new Uint32Array(this.#memory.buffer).set(some, this.#words / 4);
      this.exports.pick(to + i * this.elementBytes, from, this.#words, some.length);
    }
  }

  /** Copies consecutive elements. */
  copy(to: VectorAt, from: VectorAt, elements: number): void {
    this.exports.copy(to, from, elements * this.elementBytes);
  }

  /** Copies one element to `count` places, `distance` elements apart. */
  repeat(to: VectorAt, from: VectorAt, count: number, distance: number): void {
    for (let i = 0; i < count; i++) this.copy(to + i * distance * this.elementBytes, from, 1);
  }

  /** Sets elements to 0. */
  clear(at: VectorAt, elements: number): void {
    this.exports.clear(at, elements * this.elementBytes);
  }

  /** Reads one element. */
  number(at: VectorAt): bigint {
    const words = new Int32Array(this.#memory.buffer, at, this.elementBytes / 4);
    return valueOfWords(this.kernel.field, words);
  }

  /** Returns a copy of elements as they are in memory. */
  elementsAt(at: VectorAt, elements: number): ArrayBuffer {
    return new Uint8Array(this.#memory.buffer, at, elements * this.elementBytes).slice().buffer;
  }

  /** Copies words into a vector's memory. */
  putWords(to: VectorAt, words: Uint32Array): void {
    new Uint32Array(this.#memory.buffer).set(words, to / 4);
  }

  /** Overwrites the words of converted numbers, which may be secret. */
  #forgetWords(): void {
    this.exports.clear(this.#words, NUMBERS_AT_ONCE * this.kernel.wordBytes);
  }
}
