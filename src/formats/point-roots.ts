/**
 * Second coordinates of points whose first ones a compact key has: square roots of x³ + b, for many
 * points at a time, as operations on vectors of the base field, which all threads divide.
 *
 * Both primes are 3 modulo 4, so a^((p + 1)/4) is a root of a, if there is one. A pair a0 + a1·u with
 * u² = −1 has a root by two such powers (Adj, Rodríguez-Henríquez, https://eprint.iacr.org/2012/685,
 * algorithm 8, the complex method): with n² = a0² + a1², t = (a0 + n)/2 and w = t^((p − 3)/4), the
 * product c = t·w has c² = ±t, and c·w is this sign. Then c and d = a1·w·(c·w)/2 are the coefficients
 * of the root: (c, d) if t is a square, else (d, c).
 */
import type { ComputeWorker } from '../api/calls.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { Fp2 } from '../api/values.js';
import { openCurve } from '../curves/open-curve.js';
import { powerSteps } from '../field/powers.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import { cpuThreads } from '../handle.js';
import { openPool } from '../msm/cpu/cpu-threads.js';
import { TurnQueue } from '../scheduling/turn-queue.js';
import { mostWorkers } from '../threads/platform.js';
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

/** Most bytes of vectors: some twenty of 2^16 elements. */
const VECTOR_BYTES = 2 ** 28;

/** Computes roots in the base field of a curve. */
export class PointRoots {
  readonly #curve: SnarkjsCurve['name'];
  readonly #workers: RootWorkers;
  #engine: Promise<FieldEngine> | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(curve: SnarkjsCurve['name'], workers: RootWorkers) {
    this.#curve = curve;
    this.#workers = workers;
  }

  /**
   * Computes a y for each x, one of two, in Montgomery form as x. For an x without a y the result is
   * any number.
   *
   * @param xs coordinates, one behind the other; a pair is c0‖c1
   * @throws MsmError `bad-argument` if a number is not below p; `unsupported-device` without
   *   WebAssembly; `out-of-memory`
   */
  async ysOf(xs: Uint8Array, group: 'g1' | 'g2'): Promise<Uint8Array> {
    if (xs.length === 0) return xs;
    clearTimeout(this.#idle);
    this.#engine ??= this.#open();
    try {
      const fq = await this.#engine;
      return await (group === 'g1' ? this.#roots(fq, xs) : this.#rootsOfPairs(fq, xs));
    } catch (error) {
      await this.#free();
      throw error;
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => void this.#free(), IDLE_MS);
      // in Node the timer must not keep the process alive
      (this.#idle as { unref?(): void }).unref?.();
    }
  }

  async #open(): Promise<FieldEngine> {
    const most = mostWorkers(this.#workers);
    const pool = most === 0 ? null : openPool(this.#workers.createWorker);
    const lender = { [cpuThreads]: async () => (pool === null ? null : { pool, most, queue: new TurnQueue() }) };
    const { p } = await openCurve(this.#curve, 'g1');
    const options = { field: { p }, backend: 'cpu', memoryBudget: VECTOR_BYTES } as const;
    return createFieldEngine({ ...options, deviceOf: lender as never });
  }

  async #free(): Promise<void> {
    const engine = this.#engine;
    this.#engine = null;
    (await engine?.catch(() => null))?.destroy();
  }

  async #roots(fq: FieldEngine, xs: Uint8Array): Promise<Uint8Array> {
    const { p, b } = await openCurve(this.#curve, 'g1');
    const count = xs.length / fq.numberBytes;
    const [y] = await computed(fq, [xs, new Array<bigint>(count).fill(b as bigint)], (ops, x, constant) => [
      powerOf(ops, ops.multiplyAdd(ops.multiply(x, x), x, constant), (p + 1n) / 4n),
    ]);
    return y as Uint8Array;
  }

  async #rootsOfPairs(fq: FieldEngine, xs: Uint8Array): Promise<Uint8Array> {
    const { p, b } = await openCurve(this.#curve, 'g2');
    const { c0: b0, c1: b1 } = b as Fp2;
    const half = (p + 1n) / 2n;
    const [real, imaginary] = split(xs, fq.numberBytes);
    const units = new Array<bigint>(real.length / fq.numberBytes).fill(1n);
    const [y0, y1] = await computed(fq, [real, imaginary, units], (ops, x0, x1, ones) => {
      const sum = (...terms: Parameters<FieldOperations['linearCombination']>[0]) => ops.linearCombination(terms);
      const [s0, s1] = [ops.multiply(x0, x0), ops.multiply(x1, x1)];
      // (x0 + x1·u)³ = x0·(x0² − 3·x1²) + x1·(3·x0² − x1²)·u
      const a0 = sum([1n, ops.multiply(x0, sum([1n, s0], [p - 3n, s1]))], [b0, ones]);
      const a1 = sum([1n, ops.multiply(x1, sum([3n, s0], [p - 1n, s1]))], [b1, ones]);
      const norm = ops.multiplyAdd(a0, a0, ops.multiply(a1, a1));
      const t = sum([half, a0], [half, powerOf(ops, norm, (p + 1n) / 4n)]);
      const w = powerOf(ops, t, (p - 3n) / 4n);
      const c = ops.multiply(t, w);
      const sign = ops.multiply(c, w);
      const d = ops.scale(ops.multiply(ops.multiply(a1, w), sign), half);
      // (1 + sign)/2 is 1 or 0
      const isSquare = sum([half, ones], [half, sign]);
      const first = ops.multiplyAdd(isSquare, ops.subtract(c, d), d);
      return [first, ops.subtract(ops.add(c, d), first)];
    });
    return joined(y0 as Uint8Array, y1 as Uint8Array, fq.numberBytes);
  }
}

const MONTGOMERY = { encoding: 'le-montgomery' } as const;

/**
 * Computes vectors from others, and reads them.
 *
 * @param inputs numbers, or bytes in Montgomery form
 */
const computed = async <const Inputs extends readonly (Uint8Array | readonly bigint[])[]>(
  fq: FieldEngine,
  inputs: Inputs,
  record: (ops: FieldOperations, ...vectors: { readonly [K in keyof Inputs]: FieldVector }) => FieldVector[],
): Promise<Uint8Array[]> => {
  const held: FieldVector[] = [];
  try {
    for (const input of inputs) held.push(await fq.load(input, input instanceof Uint8Array ? MONTGOMERY : {}));
    const results = await fq.run((ops) => record(ops, ...(held as never)).map((result) => ops.keep(result)));
    held.push(...results);
    const bytes: Uint8Array[] = [];
    for (const result of results) bytes.push(await fq.read(result, MONTGOMERY));
    return bytes;
  } finally {
    for (const vector of held) vector.destroy();
  }
};

/** Returns the first and the second numbers of pairs. */
const split = (pairs: Uint8Array, bytes: number): [Uint8Array, Uint8Array] => {
  const parts: [Uint8Array, Uint8Array] = [new Uint8Array(pairs.length / 2), new Uint8Array(pairs.length / 2)];
  for (let at = 0; at < pairs.length; at += 2 * bytes) {
    for (const [k, part] of parts.entries()) part.set(pairs.subarray(at + k * bytes, at + (k + 1) * bytes), at / 2);
  }
  return parts;
};

/** Returns pairs of numbers. */
const joined = (first: Uint8Array, second: Uint8Array, bytes: number): Uint8Array => {
  const pairs = new Uint8Array(2 * first.length);
  for (let at = 0; at < first.length; at += bytes) {
    pairs.set(first.subarray(at, at + bytes), 2 * at);
    pairs.set(second.subarray(at, at + bytes), 2 * at + bytes);
  }
  return pairs;
};

/** Records a^exponent. */
const powerOf = (ops: FieldOperations, a: FieldVector, exponent: bigint): FieldVector => {
  const steps = powerSteps(exponent);
  const square = ops.multiply(a, a);
  const odd = [a];
  const most = Math.max(...steps.map((step) => step.odd ?? 0));
  for (let i = 1; i <= most; i++) odd.push(ops.multiply(odd[i - 1] as FieldVector, square));
  const [first, ...others] = steps;
  let power = odd[first?.odd ?? 0] as FieldVector;
  for (const { squares, odd: factor } of others) {
    for (let i = 0; i < squares; i++) power = ops.multiply(power, power);
    if (factor !== null) power = ops.multiply(power, odd[factor] as FieldVector);
  }
  return power;
};
