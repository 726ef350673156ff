/** An instance of a kernel with its memory: points at addresses, and a list of additions. */
import { digitsOf, invert, joinLimbs, mod } from '../../field/modulus.js';
import { PAGE_BYTES } from '../encoder/module.js';
import { fromMontgomery, type WasmField } from './field-programs.js';
import type { KernelLayout, WasmCurve } from './kernel-memory.js';
import type { Lanes } from './lane-code.js';
import type { KernelExports } from './point-kernel.js';

/**
 * Address of a point in the memory of an adder. The address plus 1 stands for the negative of the
 * point, and 0 for infinity.
 */
export type PointAt = number;

/** Bytes that divide the addresses of what is allocated. */
const ALIGNMENT = 8;

/** Points whose words are copied into memory at a time. */
const POINTS_PER_COPY = 2 ** 12;

/** Compiled module of a curve. Can be sent to another thread. */
export interface CompiledKernel {
  readonly curve: WasmCurve;
  readonly lanes: Lanes;
  readonly layout: KernelLayout;
  readonly module: WebAssembly.Module;
}

export class PointAdder {
  readonly field: WasmField;
  readonly pointBytes: number;
  readonly #layout: KernelLayout;
  readonly #memory: WebAssembly.Memory;
  readonly #exports: KernelExports;
  readonly #lanes: Lanes;
  readonly #pointWords: number;
  readonly #list: number;
  readonly #nothing: PointAt;
  readonly #ground: number;
  #words: Int32Array;
  #next: number;
  #queued = 0;

  private constructor(
    { curve, lanes, layout }: CompiledKernel,
    memory: WebAssembly.Memory,
    instance: WebAssembly.Instance,
  ) {
    this.field = curve.field;
    this.pointBytes = layout.point;
    this.#layout = layout;
    this.#lanes = lanes;
    this.#pointWords = (layout.point / curve.field.bytes) * (curve.wordBytes / 4);
    this.#memory = memory;
    this.#exports = instance.exports as unknown as KernelExports;
    this.#words = new Int32Array(memory.buffer);
    for (const [at, values] of layout.constants) this.#words.set(values, at / 4);
    this.#next = ALIGNMENT * Math.ceil(layout.end / ALIGNMENT);
    this.#nothing = this.take(1);
    this.#list = this.#takeBytes(12 * this.#layout.additions);
    this.#ground = this.#next;
  }

  /** Instantiates a kernel. */
  static async open(kernel: CompiledKernel): Promise<PointAdder> {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(kernel.layout.end / PAGE_BYTES) });
    return new PointAdder(kernel, memory, await WebAssembly.instantiate(kernel.module, { host: { memory } }));
  }

  /** Size of its memory in bytes. */
  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  #takeBytes(bytes: number): number {
    const at = this.#next;
    this.#next += bytes;
    const missing = this.#next + ALIGNMENT - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
      this.#words = new Int32Array(this.#memory.buffer);
    }
    return at;
  }

  /** Reserves memory for points, uninitialised. */
  take(points: number): PointAt {
    return this.#takeBytes(points * this.#layout.point);
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
    this.#words.set(digitsOf(unit, f.width, f.limbs), this.#layout.unit / 4);
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

  /** Computes the queued additions. */
  flush(): void {
    while (this.#queued % this.#lanes !== 0) {
      const at = this.#list / 4 + 3 * this.#queued++;
      this.#words.fill(this.#nothing, at, at + 3);
    }
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
    const { width, limbs, p, bytes } = this.field;
    const { point } = this.#layout;
    const from = (at & ~1) / 4;
    const coefficients = Array.from({ length: point / bytes }, (_, i) => {
      const own = this.#words.subarray(from + i * limbs, from + (i + 1) * limbs);
      return fromMontgomery(this.field, joinLimbs([...own], width));
    });
    return coefficients.map((value, i) => (at & 1 && 2 * i >= coefficients.length ? mod(-value, p) : value));
  }
}
