/** An instance of a kernel with its memory: points at addresses, and a list of additions. */
import { invert, mod } from '../../field/modulus.js';
import type { BucketExports } from '../arithmetic/bucket-functions.js';
import type { KernelLayout } from '../arithmetic/kernel-memory.js';
import { LIST_ITEM, LIST_PADDING } from '../arithmetic/list-adder.js';
import type { KernelExports } from '../arithmetic/point-kernel.js';
import { growMemory, instantiate } from '../encoder/module.js';
import { type CompiledKernel, type KernelField, type KernelTest, valueOfWords, wordsOfElement } from './kernel.js';

/**
 * Address of a point in the memory of an adder. The address plus 1 stands for the negative of the
 * point, and 0 for infinity.
 */
export type PointAt = number;

/** Bytes that divide the addresses of what is allocated. */
const ALIGNMENT = 16;

/** Points whose words are copied into memory at a time. */
const POINTS_PER_COPY = 2 ** 12;

/** An arithmetic that computes wrong sums here. */
export class WrongKernelError extends Error {
  constructor(arithmetic: string) {
    super(`the arithmetic '${arithmetic}' does not compute the known answer on this machine`);
    this.name = 'WrongKernelError';
  }
}

export class PointAdder {
  readonly field: KernelField;
  readonly pointBytes: number;
  readonly #layout: KernelLayout;
  readonly #memory: WebAssembly.Memory;
  readonly #exports: KernelExports;
  readonly #pointWords: number;
  readonly #list: number;
  readonly #nothing: PointAt;
  readonly #ground: number;
  #words: Int32Array;
  #capacity: number;
  #next: number;
  #queued = 0;

  private constructor(
    { curve, field, layout }: CompiledKernel,
    memory: WebAssembly.Memory,
    instance: WebAssembly.Instance,
  ) {
    this.field = field;
    this.pointBytes = layout.point;
    this.#layout = layout;
    this.#pointWords = (layout.point / field.bytes) * (curve.wordBytes / 4);
    this.#memory = memory;
    this.#exports = instance.exports as unknown as KernelExports;
    this.#words = new Int32Array(memory.buffer);
    this.#capacity = memory.buffer.byteLength;
    for (const [at, values] of layout.constants) this.#words.set(values, at / 4);
    this.#next = ALIGNMENT * Math.ceil(layout.end / ALIGNMENT);
    this.#nothing = this.take(1);
    this.#list = this.#takeBytes(LIST_ITEM * (layout.additions + LIST_PADDING));
    this.#ground = this.#next;
  }

  /**
   * Instantiates a kernel.
   *
   * @throws WrongKernelError if it does not compute the known answer on this thread; NoWasmMemory
   */
  static async open(kernel: CompiledKernel): Promise<PointAdder> {
    const { memory, instance } = await instantiate(kernel.module, kernel.layout.end);
    const adder = new PointAdder(kernel, memory, instance);
    if (!adder.#passes(kernel.test)) throw new WrongKernelError(kernel.arithmetic);
    return adder;
  }

  /** Returns whether the known answer is computed. Leaves the memory as it was. */
  #passes({ words, sums, images }: KernelTest): boolean {
    const mark = this.#next;
    const points = this.enter(words, 1n);
    const count = words.length / this.#pointWords;
    const at = (index: number, negates: boolean): PointAt => points + index * this.pointBytes + (negates ? 1 : 0);
    const results = sums.map(([P, negatesP, Q, negatesQ]) => {
      const to = this.take(1);
      this.add(to, at(P, negatesP), at(Q, negatesQ));
      return to;
    });
    this.flush();
    const isRight = sums.every(([, , , , sum], i) =>
      this.read(results[i] as PointAt).every((value, k) => value === sum[k]),
    );
    const mapped = this.images(at(1, false), images.length, at(0, false));
    const areImages = images.every((image, i) =>
      this.read(mapped + i * this.pointBytes).every((value, k) => value === image[k]),
    );
    const isOnCurve = this.check(points, count) === count;
    const isLeft = this.leave(points, count, 1n).every((word, i) => word === words[i]);
    this.#next = mark;
    return isRight && areImages && isOnCurve && isLeft;
  }

  /** Size of its memory in bytes. */
  get bytes(): number {
    return this.#capacity;
  }

  #takeBytes(bytes: number): number {
    const at = this.#next;
    this.#next += ALIGNMENT * Math.ceil(bytes / ALIGNMENT);
    const missing = this.#next + ALIGNMENT - this.#capacity;
    if (missing > 0) {
      growMemory(this.#memory, missing);
      this.#words = new Int32Array(this.#memory.buffer);
      this.#capacity = this.#memory.buffer.byteLength;
    }
    return at;
  }

  /** Reserves memory for points, uninitialised. */
  take(points: number): PointAt {
    return this.#takeBytes(points * this.#layout.point);
  }

  /** Reserves words, uninitialised. @returns their address */
  takeWords(count: number): number {
    return this.#takeBytes(4 * count);
  }

  /** Copies words into memory. @returns their address */
  putWords(words: Uint32Array): number {
    const at = this.takeWords(words.length);
    this.#words.set(words, at / 4);
    return at;
  }

  /** Returns a view of words in memory, until the next reservation. */
  words(at: number, count: number): Int32Array {
    return this.#words.subarray(at / 4, at / 4 + count);
  }

  /** Functions that sort points into buckets and add each bucket up. */
  get buckets(): BucketExports {
    return this.#exports;
  }

  /** Address of the list of additions, which `flush` leaves empty. */
  get list(): number {
    return this.#list;
  }

  /** Address of the next reservation, for `release`. */
  get mark(): number {
    return this.#next;
  }

  /** Releases all memory reserved since `mark` was read; by default all. */
  release(mark = this.#ground): void {
    this.#next = mark;
  }

  /**
   * Copies points into memory.
   *
   * @param words x‖y of each, little-endian; infinity is zeros
   * @param scale factor that the coordinates were multiplied by
   */
  enter(words: Uint32Array, scale: bigint): PointAt {
    const { field: f } = this;
    const count = words.length / this.#pointWords;
    const to = this.take(count);
    // words are copied behind the points, some at a time, and released
    const some = Math.min(count, POINTS_PER_COPY);
    const from = this.#takeBytes(some * this.#pointWords * 4);
    const unit = mod(f.r * f.r * invert(scale, f.p), f.p);
    this.#words.set(wordsOfElement(f, unit), this.#layout.unit / 4);
    for (let i = 0; i < count; i += some) {
      const own = words.subarray(i * this.#pointWords, Math.min(count, i + some) * this.#pointWords);
      this.#words.set(own, from / 4);
      this.#exports.enter(
        to + i * this.pointBytes,
        from,
        ((own.length / this.#pointWords) * this.pointBytes) / f.bytes,
      );
    }
    this.#next = from;
    return to;
  }

  /** Copies points within memory. */
  copy(to: PointAt, from: PointAt, points: number): void {
    this.#words.copyWithin(to / 4, from / 4, (from + points * this.pointBytes) / 4);
  }

  /**
   * Copies points out of memory.
   *
   * @param scale factor that the coordinates are multiplied by
   * @returns x‖y of each as little-endian words; infinity is zeros
   */
  leave(points: PointAt, count: number, scale: bigint): Uint32Array<ArrayBuffer> {
    const { field: f } = this;
    const numberWords = (this.#pointWords * f.bytes) / this.pointBytes;
    const all = new Uint32Array(count * this.#pointWords);
    // two lanes may write a number more
    const some = Math.min(count, POINTS_PER_COPY);
    const to = this.#takeBytes((some * this.#pointWords + numberWords) * 4);
    this.#words.set(wordsOfElement(f, mod(scale, f.p)), this.#layout.unit / 4);
    for (let i = 0; i < count; i += some) {
      const taken = Math.min(some, count - i);
      this.#exports.leave(to, points + i * this.pointBytes, (taken * this.pointBytes) / f.bytes);
      all.set(this.#words.subarray(to / 4, to / 4 + taken * this.#pointWords), i * this.#pointWords);
    }
    this.#next = to;
    return all;
  }

  /** Sets points to infinity. */
  clear(points: PointAt, count: number): void {
    this.#words.fill(0, points / 4, (points + count * this.pointBytes) / 4);
  }

  /**
   * Writes the images of points under an endomorphism to other addresses.
   *
   * @param factors address of a point by whose coordinates those of the points, conjugated if they are pairs,
   *   are multiplied
   * @returns the address of the first
   */
  images(points: PointAt, count: number, factors: PointAt): PointAt {
    const images = this.take(count);
    if (count > 0) this.#exports.images(images, points, factors, count);
    return images;
  }

  /** Returns how many of `count` consecutive points precede the first not on the curve. */
  check(points: PointAt, count: number): number {
    return count === 0 ? 0 : this.#exports.check(points, count);
  }

  /**
   * Queues P + Q, computed by `flush` at the latest. No operand may be the result of another queued
   * addition.
   *
   * @returns whether the list is full, so that the next addition flushes it
   */
  add(to: PointAt, P: PointAt, Q: PointAt): boolean {
    if (this.#queued === this.#layout.additions) this.flush();
    const at = this.#list / 4 + 3 * this.#queued++;
    const words = this.#words;
    words[at] = to;
    words[at + 1] = P || this.#nothing;
    words[at + 2] = Q || this.#nothing;
    return this.#queued === this.#layout.additions;
  }

  /**
   * Computes P + Q for addresses in arrays, from index `first` to before `end`; those of Q are `offset` further
   * on. No operand may be the result of another of these additions, and no address 0.
   */
  addEach([to, P, Q]: readonly [Uint32Array, Uint32Array, Uint32Array], first: number, end: number, offset = 0): void {
    this.flush();
    const words = this.#words;
    const { additions } = this.#layout;
    for (let from = first; from < end; from += additions) {
      const next = Math.min(end, from + additions);
      let at = this.#list / 4;
      for (let i = from; i < next; i++) {
        words[at++] = to[i] as number;
        words[at++] = P[i] as number;
        words[at++] = (Q[i] as number) + offset;
      }
      this.#exports.add(this.#list, next - from);
    }
  }

  /** Computes the queued additions. */
  flush(): void {
    if (this.#queued > 0) this.#exports.add(this.#list, this.#queued);
    this.#queued = 0;
  }

  /**
   * Copies points out of memory, for `copyIn` of an adder of the same kernel.
   *
   * @param points addresses, none of them of a negative
   */
  copyOut(points: readonly PointAt[]): Int32Array {
    const words = this.pointBytes / 4;
    const out = new Int32Array(points.length * words);
    for (const [i, at] of points.entries()) out.set(this.#words.subarray(at / 4, at / 4 + words), i * words);
    return out;
  }

  /** Copies points into memory. @param points as `copyOut` returned them */
  copyIn(points: Int32Array): PointAt {
    const to = this.#takeBytes(4 * points.length);
    this.#words.set(points, to / 4);
    return to;
  }

  /** Returns the coefficients of x and y of a point; zeros for infinity. */
  read(address: PointAt): bigint[] {
    const at = address || this.#nothing;
    const { p, bytes } = this.field;
    const { point } = this.#layout;
    const from = (at & ~1) / 4;
    const words = bytes / 4;
    const coefficients = Array.from({ length: point / bytes }, (_, i) =>
      valueOfWords(this.field, this.#words.subarray(from + i * words, from + (i + 1) * words)),
    );
    return coefficients.map((value, i) => (at & 1 && 2 * i >= coefficients.length ? mod(-value, p) : value));
  }
}
