/**
 * Second coordinates of points whose first ones a compact key has: square roots of x³ + b, of some
 * hundred points at a time, as calls of the kernels of vectors, which each thread makes in memory of
 * its own. Vectors of all points would leave the cache of a core at each product.
 *
 * Both primes are 3 modulo 4, so a^((p + 1)/4) is a root of a, if there is one. A pair a0 + a1·u with
 * u² = −1 has a root by two such powers (Adj, Rodríguez-Henríquez, https://eprint.iacr.org/2012/685,
 * algorithm 8, the complex method): with n² = a0² + a1², t = (a0 + n)/2 and w = t^((p − 3)/4), the
 * product c = t·w has c² = ±t, and c·w is this sign. Then c and d = a1·w·(c·w)/2 are the coefficients
 * of the root: (c, d) if t is a square, else (d, c).
 */
import type { ComputeWorker } from '../api/calls.js';
import type { Fp2 } from '../api/values.js';
import { openCurve } from '../curves/open-curve.js';
import { digitsOf, isBelow, mod } from '../field/modulus.js';
import { powerSteps } from '../field/powers.js';
import { openMemory } from '../fields/cpu/open-memory.js';
import { type VectorPool, VectorThreads } from '../fields/cpu/vector-threads.js';
import { openField } from '../fields/program/open-field.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { openPool } from '../msm/cpu/cpu-threads.js';
import { inTimeSlices, TimeSlice } from '../scheduling/time-slice.js';
import { TurnQueue } from '../scheduling/turn-queue.js';
import { mostWorkers } from '../threads/platform.js';
import { wordsOfElement } from '../wasm/points/kernel.js';
import type { VectorAt, VectorMemory } from '../wasm/vectors/vector-kernel.js';
import type { PlacedWords, VectorModule } from '../wasm/vectors/vector-messages.js';
import { call, type KernelCall, runCalls, writeCalls } from '../wasm/vectors/vector-program.js';
import type { SnarkjsCurve } from './binfile.js';

/** Workers of the roots. */
export interface RootWorkers {
  /** Most workers beside the thread of the caller. Default: one less than the machine has threads. */
  readonly maxWorkers?: number | undefined;
  /** Starts a worker, as `createMsmEngine` has it. */
  readonly createWorker?: (() => ComputeWorker) | undefined;
}

/** Milliseconds after the last roots until their memory is freed. Workers end by themselves. */
const IDLE_MS = 5000;

/** Points of a chain of calls: 4 to 8 ms, and vectors that a core has in its cache. */
const POINTS = 512;

/** Memory of the caller's thread, and threads beside it. */
interface Opened {
  readonly memory: VectorMemory;
  readonly setup: VectorModule;
  readonly threads: VectorThreads | null;
  /** Ends the workers. */
  end(): void;
}

/** Computes roots in the base field of a curve. */
export class PointRoots {
  readonly #curve: SnarkjsCurve['name'];
  readonly #workers: RootWorkers;
  #opened: Promise<Opened> | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(curve: SnarkjsCurve['name'], workers: RootWorkers) {
    this.#curve = curve;
    this.#workers = workers;
  }

  /**
   * Computes a y for each x, one of two. For an x without a y the result is any number.
   *
   * @param xs coordinates, one behind the other; a pair is c0‖c1
   * @param scale factor of x and y; by default R of their Montgomery form
   * @returns null if a number is not below p
   * @throws MsmError `unsupported-device` without WebAssembly; NoWasmMemory
   */
  async ysOf(xs: Uint8Array, group: 'g1' | 'g2', scale?: bigint): Promise<Uint8Array | null> {
    if (xs.length === 0) return xs;
    const { p, b, field } = await openCurve(this.#curve, group);
    const factor = scale ?? 1n << BigInt(8 * field.bytes);
    const words = new Uint32Array(xs.slice().buffer);
    if (!areBelow(words, p)) return null;
    clearTimeout(this.#idle);
    this.#opened ??= this.#open(p);
    try {
      const opened = await this.#opened;
      const parts = group === 'g1' ? [words] : split(words, opened.memory.kernel.wordBytes / 4);
      const roots = await computeRoots(opened, parts, factor, (program) =>
        group === 'g1' ? program.root(b as bigint) : program.rootOfPair(b as Fp2),
      );
      return new Uint8Array(
        (roots.length === 1 ? (roots[0] as Uint32Array) : joined(roots, opened.memory.kernel.wordBytes / 4)).buffer,
      );
    } catch (error) {
      this.#opened = null;
      throw error;
    } finally {
      this.#idle = setTimeout(() => {
        this.#opened = null;
      }, IDLE_MS);
      // in Node the timer must not keep the process alive
      (this.#idle as { unref?(): void }).unref?.();
    }
  }

  /** Frees the memory and ends the workers, which else end by themselves. */
  end(): void {
    clearTimeout(this.#idle);
    const opened = this.#opened;
    this.#opened = null;
    // an error of opening has been thrown
    opened?.then(({ end }) => end()).catch(() => undefined);
  }

  async #open(p: bigint): Promise<Opened> {
    const memory = await openMemory(await openField({ p }));
    if (memory === null) {
      throw new MsmError(
        'unsupported-device',
        "WebAssembly is missing or forbidden; a content security policy must have 'wasm-unsafe-eval'",
      );
    }
    const most = mostWorkers(this.#workers);
    // chains come and go by messages, in pages without shared memory, too
    const pool = most === 0 ? null : openPool<never, unknown>(this.#workers.createWorker, false);
    const constants = [...memory.kernel.constants].map(([at, words]) => ({ at, words }));
    return {
      memory,
      setup: { module: memory.module, constants },
      threads: pool && new VectorThreads({ pool: pool as unknown as VectorPool, most, queue: new TurnQueue() }),
      end: () => pool?.destroy(),
    };
  }
}

/** Computes the roots of all points. @param parts words of the coefficients of x, times `scale` */
const computeRoots = async (
  { memory, setup, threads }: Opened,
  parts: readonly Uint32Array[],
  scale: bigint,
  record: (program: RootProgram) => void,
): Promise<Uint32Array[]> => {
  const perNumber = memory.kernel.wordBytes / 4;
  const count = (parts[0] as Uint32Array).length / perNumber;
  const slice = new TimeSlice(() => undefined);
  const chains = Math.ceil(count / POINTS);
  const bytes = memory.elementBytes;
  const each = POINTS * bytes;
  const held: { readonly at: VectorAt; readonly elements: number }[] = [];
  const take = (elements: number): VectorAt => {
    const at = memory.take(elements);
    held.push({ at, elements });
    return at;
  };
  try {
    // chains have whole lists of points, so behind the last one are others
    const vectors = parts.map(() => take(chains * POINTS));
    for (const [k, part] of parts.entries())
      await inTimeSlices(memory.enter(vectors[k] as VectorAt, part, scale), slice);
    const first = 64 * Math.ceil(memory.kernel.end / 64);
    const there = new RootProgram(memory, parts.length, first);
    record(there);
    const here = new RootProgram(memory, parts.length, take(there.elements));
    record(here);
    here.writeNumbers();
    const list = { numbers: there.numbers, calls: writeCalls(there.calls) };
    const calls = writeCalls(here.calls);
    const input = { at: there.input, bytes: parts.length * each };
    const output = { at: there.output, bytes: parts.length * each };
    const inputOf = (chain: number): ArrayBuffer => {
      const elements = new Uint8Array(parts.length * each);
      for (const [k, at] of vectors.entries())
        elements.set(new Uint8Array(memory.elementsAt(at + chain * each, POINTS)), k * each);
      return elements.buffer;
    };
    // a chain overwrites its points with their roots
    const adopt = (chain: number, elements: ArrayBuffer): void => {
      for (const [k, at] of vectors.entries())
        memory.putWords(at + chain * each, new Uint32Array(elements, k * each, each / 4));
    };
    const compute = async (chain: number): Promise<void> => {
      memory.putWords(here.input, new Uint32Array(inputOf(chain)));
      runCalls(memory.exports, calls);
      adopt(chain, memory.elementsAt(here.output, parts.length * POINTS));
    };
    const between = () => (slice.isOver ? slice.yield() : undefined);
    if (threads === null || chains === 1) {
      for (let chain = 0; chain < chains; chain++) {
        await compute(chain);
        await between();
      }
    } else {
      const task = {
        bytes: first + there.elements * bytes,
        scratch: first,
        tables: { generation: 0, lists: [] },
        chains: Array.from({ length: chains }, () => ({ list, input, output })),
      };
      const outcome = await threads.computeChains(setup, task, threads.most, { vectorOf: inputOf, compute, between });
      for (const { chunks, results } of outcome.results) {
        for (const [i, chain] of chunks.entries()) adopt(chain, results[i] as ArrayBuffer);
      }
    }
    const roots = parts.map(() => new Uint32Array(count * perNumber));
    for (const [k, words] of roots.entries())
      await inTimeSlices(memory.leave(words, vectors[k] as VectorAt, scale), slice);
    return roots;
  } finally {
    for (const { at, elements } of held) memory.release(at, elements);
  }
};

/** Calls that compute the roots of some points in a block of memory, from an address on. */
class RootProgram {
  readonly calls: KernelCall[] = [];
  readonly numbers: PlacedWords[] = [];
  readonly #memory: VectorMemory;
  readonly #first: number;
  /** Addresses of the coefficients of x, and of those of the roots. */
  readonly input: number;
  readonly output: number;
  #next: number;

  /** @param first address of the block */
  constructor(memory: VectorMemory, degree: number, first: number) {
    this.#memory = memory;
    this.#first = first;
    this.#next = first;
    this.input = this.#take(degree);
    this.output = this.#take(degree);
  }

  /** Elements of the block. */
  get elements(): number {
    return Math.ceil((this.#next - this.#first) / this.#memory.elementBytes);
  }

  get #bytes(): number {
    return this.#memory.elementBytes;
  }

  #take(vectors = 1): number {
    const at = this.#next;
    this.#next += vectors * POINTS * this.#bytes;
    return at;
  }

  /** Reserves a number. */
  #number(value: bigint): number {
    const { field } = this.#memory.kernel;
    const at = this.#next;
    this.#next += this.#bytes;
    this.numbers.push({ at, words: wordsOfElement(field, mod(value * field.r, field.p)) });
    return at;
  }

  /** Writes the numbers into the memory. */
  writeNumbers(): void {
    for (const { at, words } of this.numbers) this.#memory.putWords(at, Uint32Array.from(words));
  }

  /** Writes a·b. @param b a vector, or a number */
  #multiply(to: number, a: number, b: number, isNumber = false): number {
    const step = this.#bytes;
    this.calls.push(call('multiply', to, a, b, POINTS, step, step, isNumber ? 0 : step));
    return to;
  }

  /** Writes a·b + c, or minus c. @param isNumber whether b is a number, and c is one */
  #multiplyAdd(
    to: number,
    [a, b, c]: readonly [number, number, number],
    { b: isB = false, c: isC = false, minus = false } = {},
  ): number {
    const step = this.#bytes;
    const name = minus ? 'multiplySubtract' : 'multiplyAdd';
    this.calls.push(call(name, to, a, b, c, POINTS, step, step, isB ? 0 : step, isC ? 0 : step));
    return to;
  }

  #sum(name: 'add' | 'subtract', to: number, a: number, b: number): number {
    const step = this.#bytes;
    this.calls.push(call(name, to, a, b, POINTS, step, step, step));
    return to;
  }

  /** Writes a^exponent. `to` is not a. */
  #power(to: number, a: number, exponent: bigint): number {
    const steps = powerSteps(exponent);
    const odd = [a];
    const square = this.#multiply(this.#take(), a, a);
    const most = Math.max(...steps.map((step) => step.odd ?? 0));
    for (let i = 1; i <= most; i++) odd.push(this.#multiply(this.#take(), odd[i - 1] as number, square));
    const [first, ...others] = steps;
    let power = odd[first?.odd ?? 0] as number;
    for (const { squares, odd: factor } of others) {
      for (let i = 0; i < squares; i++) power = this.#multiply(to, power, power);
      if (factor !== null) power = this.#multiply(to, power, odd[factor] as number);
    }
    return power;
  }

  /** Root of x³ + b. */
  root(b: bigint): void {
    const { p } = this.#memory.kernel.field;
    const x = this.input;
    const square = this.#multiply(this.#take(), x, x);
    this.#multiplyAdd(square, [square, x, this.#number(b)], { c: true });
    this.#power(this.output, square, (p + 1n) / 4n);
  }

  /** Root of (x0 + x1·u)³ + b0 + b1·u, with u² = −1. */
  rootOfPair({ c0: b0, c1: b1 }: Fp2): void {
    const { p } = this.#memory.kernel.field;
    const half = this.#number((p + 1n) / 2n);
    const three = this.#number(3n);
    const vector = POINTS * this.#bytes;
    const [x0, x1] = [this.input, this.input + vector];
    const [y0, y1] = [this.output, this.output + vector];
    const [a0, a1, s0, s1] = [this.#take(), this.#take(), this.#take(), this.#take()];
    this.#multiply(s0, x0, x0);
    this.#multiply(s1, x1, x1);
    // x³ = x0·(x0² − 3·x1²) + x1·(3·x0² − x1²)·u
    this.#multiplyAdd(a0, [s1, this.#number(-3n), s0], { b: true });
    this.#multiplyAdd(a0, [a0, x0, this.#number(b0)], { c: true });
    this.#multiplyAdd(a1, [s0, three, s1], { b: true, minus: true });
    this.#multiplyAdd(a1, [a1, x1, this.#number(b1)], { c: true });
    this.#multiply(s0, a0, a0);
    this.#multiplyAdd(s0, [a1, a1, s0]);
    const n = this.#power(s1, s0, (p + 1n) / 4n);
    const t = this.#multiply(s0, this.#sum('add', s0, a0, n), half, true);
    const w = this.#power(s1, t, (p - 3n) / 4n);
    const c = this.#multiply(y1, t, w);
    const sign = this.#multiply(a0, c, w);
    const d = this.#multiply(a1, this.#multiply(a1, a1, w), sign);
    this.#multiply(d, d, half, true);
    // (1 + sign)/2 is 1 or 0
    const isSquare = this.#multiplyAdd(a0, [sign, half, half], { b: true, c: true });
    this.#sum('subtract', s0, c, d);
    this.#multiplyAdd(y0, [isSquare, s0, d]);
    this.#sum('add', s0, c, d);
    this.#sum('subtract', y1, s0, y0);
  }
}

/** Returns whether all numbers are below a prime. */
const areBelow = (words: Uint32Array, prime: bigint): boolean => {
  const p = digitsOf(prime, 32, Math.ceil(prime.toString(16).length / 8));
  for (let at = 0; at < words.length; at += p.length) if (!isBelow(words, at, p)) return false;
  return true;
};

/** Returns the first and the second numbers of pairs. @param size words of a number */
const split = (pairs: Uint32Array, size: number): Uint32Array[] =>
  [0, 1].map((k) => {
    const part = new Uint32Array(pairs.length / 2);
    for (let at = 0; at < part.length; at += size) {
      const from = 2 * at + k * size;
      part.set(pairs.subarray(from, from + size), at);
    }
    return part;
  });

/** Returns pairs of numbers. */
const joined = ([first, second]: readonly Uint32Array[], size: number): Uint32Array => {
  const [a, b] = [first as Uint32Array, second as Uint32Array];
  const pairs = new Uint32Array(2 * a.length);
  for (let at = 0; at < a.length; at += size) {
    pairs.set(a.subarray(at, at + size), 2 * at);
    pairs.set(b.subarray(at, at + size), 2 * at + size);
  }
  return pairs;
};
