/**
 * Second coordinates of points whose first ones a compact key has: square roots of x³ + b, on the CPU of
 * some hundred points at a time, as calls of the kernels of vectors, which each thread makes in memory of
 * its own. Vectors of all points would leave the cache of a core at each product. A GPU has them all.
 *
 * Both primes are 3 modulo 4, so a^((p + 1)/4) is a root of a, if there is one. A pair a0 + a1·u with
 * u² = −1 has a root by two such powers (Adj, Rodríguez-Henríquez, https://eprint.iacr.org/2012/685,
 * algorithm 8, the complex method): with n² = a0² + a1², t = (a0 + n)/2 and w = t^((p − 3)/4), the
 * product c = t·w has c² = ±t, and c·w is this sign. Then c and d = a1·w·(c·w)/2 are the coefficients
 * of the root: (c, d) if t is a square, else (d, c).
 */
import type { ComputeWorker } from '../api/calls.js';
import type { FieldBytesOptions, FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { Coordinate, Fp2 } from '../api/values.js';
import { openCurve } from '../curves/open-curve.js';
import { digitsOf, isBelow, mod, wordBytesOf } from '../field/modulus.js';
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

/** Where roots are computed. */
export interface RootPlaces extends RootWorkers {
  /**
   * Opens vectors modulo p on a GPU; the CPU computes where that fails. Absent: the CPU. Keys that prove hand it
   * over, so that programs that read files have no shaders.
   */
  readonly openGpu?: ((p: bigint) => Promise<FieldEngine>) | undefined;
}

type Words = Uint32Array<ArrayBuffer>;

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
  readonly #places: RootPlaces;
  #opened: Promise<Opened> | null = null;
  #gpu: Promise<FieldEngine> | null = null;
  #hasGpuFailed = false;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(curve: SnarkjsCurve['name'], places: RootPlaces) {
    this.#curve = curve;
    this.#places = places;
  }

  /**
   * Computes a y for each x, one of two. For an x without a y the result is any number.
   *
   * @param xs coordinates, one behind the other, in a buffer of their own; a pair is c0‖c1
   * @param scale factor of x and y; by default R of their Montgomery form
   * @returns null if a number is not below p
   * @throws MsmError `unsupported-device` without WebAssembly; NoWasmMemory
   */
  async ysOf(xs: Uint8Array<ArrayBuffer>, group: 'g1' | 'g2', scale?: bigint): Promise<Uint8Array<ArrayBuffer> | null> {
    if (xs.length === 0) return xs;
    const { p, b } = await openCurve(this.#curve, group);
    const words = new Uint32Array(xs.buffer);
    if (!areBelow(words, p)) return null;
    clearTimeout(this.#idle);
    const size = wordBytesOf(p) / 4;
    const parts = group === 'g1' ? [words] : split(words, size);
    try {
      const onGpu = scale === undefined ? await this.#onGpu(p, parts, b) : null;
      const roots = onGpu ?? (await this.#onCpu(p, parts, scale ?? 1n << BigInt(32 * size), b));
      return new Uint8Array(group === 'g1' ? (roots[0] as Words).buffer : joined(roots, size).buffer);
    } finally {
      this.#idle = setTimeout(() => this.#free(), IDLE_MS);
      // in Node the timer must not keep the process alive
      (this.#idle as { unref?(): void }).unref?.();
    }
  }

  #free(): void {
    this.#opened = null;
    void this.#gpu?.then(
      (engine) => engine.destroy(),
      () => undefined,
    );
    this.#gpu = null;
  }

  async #onCpu(p: bigint, parts: readonly Words[], scale: bigint, b: Coordinate): Promise<Words[]> {
    this.#opened ??= this.#open(p);
    try {
      return await computeRoots(await this.#opened, parts, scale, b);
    } catch (error) {
      this.#opened = null;
      throw error;
    }
  }

  /** Returns null where the CPU is to compute. */
  async #onGpu(p: bigint, parts: readonly Words[], b: Coordinate): Promise<Words[] | null> {
    const { openGpu } = this.#places;
    if (openGpu === undefined || this.#hasGpuFailed) return null;
    this.#gpu ??= openGpu(p);
    try {
      return await computeOnGpu(await this.#gpu, parts, b);
    } catch (error) {
      if (!(error instanceof MsmError)) throw error;
      this.#hasGpuFailed = true;
      return null;
    }
  }

  /** Frees the memory and ends the workers, which else end by themselves. */
  end(): void {
    clearTimeout(this.#idle);
    const opened = this.#opened;
    this.#free();
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
    const most = mostWorkers(this.#places);
    // chains come and go by messages, in pages without shared memory, too
    const pool = most === 0 ? null : openPool<never, unknown>(this.#places.createWorker, false);
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
  parts: readonly Words[],
  scale: bigint,
  b: Coordinate,
): Promise<Words[]> => {
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
    const there = new RootProgram(memory, b, first);
    const here = new RootProgram(memory, b, take(there.elements));
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

/* The formulas, alike on the CPU and on a GPU. */

/** Operations on vectors, of which a root is made. */
interface RootOperations<Vector> {
  readonly p: bigint;
  multiply(a: Vector, b: Vector): Vector;
  /** a^(2^times)·b. If a is a result of this operation, it is not used again. */
  squareMultiply(a: Vector, times: number, b: Vector): Vector;
  add(a: Vector, b: Vector): Vector;
  subtract(a: Vector, b: Vector): Vector;
  /** factor·a. */
  scale(a: Vector, factor: bigint): Vector;
  /** a + number. */
  plus(a: Vector, number: bigint): Vector;
}

const square = <Vector>(f: RootOperations<Vector>, a: Vector): Vector => f.multiply(a, a);

/** Returns a^exponent. */
const powerOf = <Vector>(f: RootOperations<Vector>, a: Vector, exponent: bigint): Vector => {
  const [first, ...others] = powerSteps(exponent);
  const most = Math.max(...[first, ...others].map((step) => step?.odd ?? 0));
  const odd = [a];
  const twice = square(f, a);
  for (let i = 1; i <= most; i++) odd.push(f.multiply(odd[i - 1] as Vector, twice));
  let power = odd[first?.odd ?? 0] as Vector;
  for (const { squares, odd: factor } of others) {
    if (factor !== null) power = f.squareMultiply(power, squares, odd[factor] as Vector);
    else for (let i = 0; i < squares; i++) power = square(f, power);
  }
  return power;
};

/** Returns roots of x³ + b. */
const rootOf = <Vector>(f: RootOperations<Vector>, x: Vector, b: bigint): Vector =>
  powerOf(f, f.plus(f.multiply(square(f, x), x), b), (f.p + 1n) / 4n);

/** Returns roots of (x0 + x1·u)³ + b0 + b1·u, with u² = −1. */
const rootOfPair = <Vector>(
  f: RootOperations<Vector>,
  [x0, x1]: readonly [Vector, Vector],
  b: Fp2,
): [Vector, Vector] => {
  const half = (f.p + 1n) / 2n;
  const [s0, s1] = [square(f, x0), square(f, x1)];
  // x³ = x0·(x0² − 3·x1²) + x1·(3·x0² − x1²)·u
  const a0 = f.plus(f.multiply(f.subtract(s0, f.scale(s1, 3n)), x0), b.c0);
  const a1 = f.plus(f.multiply(f.subtract(f.scale(s0, 3n), s1), x1), b.c1);
  const n = powerOf(f, f.add(square(f, a0), square(f, a1)), (f.p + 1n) / 4n);
  const t = f.scale(f.add(a0, n), half);
  const w = powerOf(f, t, (f.p - 3n) / 4n);
  const c = f.multiply(t, w);
  const sign = f.multiply(c, w);
  const d = f.scale(f.multiply(f.multiply(a1, w), sign), half);
  // (sign + 1)/2 is 1 or 0
  const isSquare = f.scale(f.plus(sign, 1n), half);
  const y0 = f.add(f.multiply(isSquare, f.subtract(c, d)), d);
  return [y0, f.subtract(f.add(c, d), y0)];
};

/** Returns a root for each x, as its coefficients. @param xs coefficients of x */
const rootsBy = <Vector>(f: RootOperations<Vector>, xs: readonly Vector[], b: Coordinate): Vector[] =>
  typeof b === 'bigint' ? [rootOf(f, xs[0] as Vector, b)] : rootOfPair(f, xs as [Vector, Vector], b);

/* On a GPU, as a run of an engine of vectors. */

/** Computes the roots of all points. @param parts words of the coefficients of x, in Montgomery form */
const computeOnGpu = async (engine: FieldEngine, parts: readonly Words[], b: Coordinate): Promise<Words[]> => {
  const encoding = 'le-montgomery' as const;
  const vectors: FieldVector[] = [];
  const load = async (numbers: Uint32Array, options: FieldBytesOptions = {}): Promise<FieldVector> => {
    const vector = await engine.load(numbers, options);
    vectors.push(vector);
    return vector;
  };
  try {
    const xs: FieldVector[] = [];
    for (const part of parts) xs.push(await load(part, { encoding }));
    const [{ length }] = parts as [Uint32Array];
    const numbers = new Uint32Array(length);
    for (let at = 0; at < length; at += engine.numberBytes / 4) numbers[at] = 1;
    const ones = await load(numbers);
    const roots = await engine.run((ops) => rootsBy(operationsOf(engine.p, ops, ones), xs, b).map((y) => ops.keep(y)));
    vectors.push(...roots);
    const words: Words[] = [];
    for (const root of roots) words.push(new Uint32Array((await engine.read(root, { encoding })).buffer));
    return words;
  } finally {
    for (const vector of vectors) vector.destroy();
  }
};

/** @param ones a vector of ones */
const operationsOf = (p: bigint, ops: FieldOperations, ones: FieldVector): RootOperations<FieldVector> => ({
  p,
  multiply: (a, b) => ops.multiply(a, b),
  squareMultiply: (a, times, b) => {
    let power = a;
    for (let i = 0; i < times; i++) power = ops.multiply(power, power);
    return ops.multiply(power, b);
  },
  add: (a, b) => ops.add(a, b),
  subtract: (a, b) => ops.subtract(a, b),
  scale: (a, factor) => ops.scale(a, factor),
  plus: (a, number) =>
    ops.linearCombination([
      [1n, a],
      [number, ones],
    ]),
});

/* On the CPU, as calls of kernels. */

/** Calls that compute the roots of some points in a block of memory, from an address on. */
class RootProgram implements RootOperations<number> {
  readonly calls: KernelCall[] = [];
  readonly numbers: PlacedWords[] = [];
  readonly #memory: VectorMemory;
  readonly #first: number;
  /** Addresses of the coefficients of x, and of those of the roots. */
  readonly input: number;
  readonly output: number;
  /** Results of `squareMultiply`, which the next one overwrites. */
  readonly #powers = new Set<number>();
  #next: number;

  /** @param first address of the block */
  constructor(memory: VectorMemory, b: Coordinate, first: number) {
    const degree = typeof b === 'bigint' ? 1 : 2;
    this.#memory = memory;
    this.#first = first;
    this.#next = first;
    this.input = this.#take(degree);
    this.output = this.#take(degree);
    const bytes = POINTS * this.#bytes;
    const xs = Array.from({ length: degree }, (_, k) => this.input + k * bytes);
    for (const [k, root] of rootsBy(this, xs, b).entries())
      this.calls.push(call('copy', this.output + k * bytes, root, bytes));
  }

  get p(): bigint {
    return this.#memory.kernel.field.p;
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

  /** @param stepB bytes between elements of b; 0: b is a number */
  #ofTwo(name: 'multiply' | 'add' | 'subtract', a: number, b: number, stepB = this.#bytes): number {
    const to = this.#take();
    this.calls.push(call(name, to, a, b, POINTS, this.#bytes, this.#bytes, stepB));
    return to;
  }

  multiply(a: number, b: number): number {
    return this.#ofTwo('multiply', a, b);
  }

  squareMultiply(a: number, times: number, b: number): number {
    const to = this.#powers.has(a) ? a : this.#take();
    this.#powers.add(to);
    this.calls.push(call('squareMultiply', to, a, b, times, POINTS));
    return to;
  }

  add(a: number, b: number): number {
    return this.#ofTwo('add', a, b);
  }

  subtract(a: number, b: number): number {
    return this.#ofTwo('subtract', a, b);
  }

  scale(a: number, factor: bigint): number {
    return this.#ofTwo('multiply', a, this.#number(factor), 0);
  }

  plus(a: number, number: bigint): number {
    return this.#ofTwo('add', a, this.#number(number), 0);
  }
}

/** Returns whether all numbers are below a prime. */
const areBelow = (words: Uint32Array, prime: bigint): boolean => {
  const p = digitsOf(prime, 32, wordBytesOf(prime) / 4);
  for (let at = 0; at < words.length; at += p.length) if (!isBelow(words, at, p)) return false;
  return true;
};

/** Returns the first and the second numbers of pairs. @param size words of a number */
const split = (pairs: Uint32Array, size: number): Words[] =>
  [0, size].map((first) => {
    const part = new Uint32Array(pairs.length / 2);
    for (let at = 0; at < part.length; at += size)
      for (let j = 0; j < size; j++) part[at + j] = pairs[2 * at + first + j] as number;
    return part;
  });

/** Returns pairs of numbers. */
const joined = (parts: readonly Uint32Array[], size: number): Words => {
  const [{ length }] = parts as [Uint32Array];
  const pairs = new Uint32Array(2 * length);
  for (const [k, part] of parts.entries())
    for (let at = 0; at < length; at += size)
      for (let j = 0; j < size; j++) pairs[2 * at + k * size + j] = part[at + j] as number;
  return pairs;
};
