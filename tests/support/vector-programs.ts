/**
 * Programs on vectors, and engines that compute them with and without workers, for tests of what threads compute
 * together.
 */
import { Worker } from 'node:worker_threads';
import { numberToBytesLE } from '@noble/curves/utils.js';
import { expect } from 'vitest';
import { createFieldEngine, type FieldEngine, type FieldOperations, type FieldVector } from '../../src/fields.js';
import { createMsmEngine, type MsmEngine } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { hastenClock } from './time.js';

const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** A factor of the numbers of tests, near p. */
const STEP = 7n ** 80n % P;

/** Returns numbers below p, of which some are 0, 1 and p − 1. */
export const numbers = (length: number, seed: bigint): bigint[] => {
  const edges = [0n, 1n, P - 1n];
  let last = seed;
  return Array.from({ length }, (_, i) => {
    last = (last * STEP + 1n) % P;
    return edges[i % 11] ?? last;
  });
};

const encoded = new Map<string, Uint8Array>();

/** Returns `numbers` as little-endian bytes. Programs are run many times on the same vectors. */
const numberBytes = (length: number, seed: bigint): Uint8Array => {
  const key = `${length} ${seed}`;
  const before = encoded.get(key);
  if (before !== undefined) return before;
  const bytes = new Uint8Array(32 * length);
  for (const [i, number] of numbers(length, seed).entries()) bytes.set(numberToBytesLE(number, 32), 32 * i);
  encoded.set(key, bytes);
  return bytes;
};

export type Vectors = readonly [FieldVector, FieldVector, FieldVector];
export type Program = (ops: FieldOperations, vectors: Vectors, engine: FieldEngine) => FieldVector;

/** Operations on vectors of any length. */
export const ofAnyLength: Readonly<Record<string, Program>> = {
  add: (ops, [a, b]) => ops.add(a, b),
  subtract: (ops, [a, b]) => ops.subtract(a, b),
  multiplyAdd: (ops, [a, b, c]) => ops.multiplyAdd(a, b, c),
  multiplySubtract: (ops, [a, b, c]) => ops.multiplySubtract(a, b, c),
  scale: (ops, [a]) => ops.scale(a, 12345n),
  scalePowers: (ops, [a]) => ops.scalePowers(a, 3n, { factor: 5n }),
  linearCombination: (ops, [a, b, c]) =>
    ops.linearCombination([
      [1n, a],
      [P - 1n, b],
      [77n, c],
    ]),
  invert: (ops, [a]) => ops.invert(a),
  prefixProduct: (ops, [a]) => ops.prefixProduct(ops.add(a, ops.scale(a, 2n))),
  evaluate: (ops, [a]) => ops.evaluate(a, 99n),
  divideByLinear: (ops, [a]) => ops.divideByLinear(a, 98n),
  'slice and pad': (ops, [a]) => ops.pad(ops.slice(a, 1), a.length + 3, 2),
};

/** Operations on vectors of 2^k elements. */
export const ofPowers: Readonly<Record<string, Program>> = {
  ntt: (ops, [a]) => ops.ntt(a),
  'ntt reversed': (ops, [a]) => ops.ntt(a, { to: 'reversed' }),
  'intt reversed': (ops, [a]) => ops.intt(a, { from: 'reversed', coset: 7n }),
  quotient: (ops, [a, b]) => {
    const there = (v: FieldVector): FieldVector =>
      ops.ntt(ops.intt(v, { to: 'reversed' }), { from: 'reversed', coset: 5n });
    const product = there(ops.multiply(a, b));
    return ops.multiplySubtract(there(a), there(b), product);
  },
};

/** Returns the bytes of a program's result. */
export const computed = async (
  fr: FieldEngine,
  length: number,
  program: Program,
  signal?: AbortSignal,
): Promise<Buffer> => {
  const loaded: FieldVector[] = [];
  try {
    for (const seed of [1n, 2n, 3n]) loaded.push(await fr.load(numberBytes(length, seed)));
    const options = signal === undefined ? {} : { signal };
    const result = await fr.run((ops) => ops.keep(program(ops, loaded as unknown as Vectors, fr)), options);
    loaded.push(result);
    return Buffer.from(await fr.read(result));
  } finally {
    for (const each of loaded) each.destroy();
  }
};

/** Three chains of transforms, between products. */
export const quotient = ofPowers.quotient as Program;

/** An engine with workers, and vectors with and without them. */
export class Bench {
  readonly engine: MsmEngine;
  readonly alone: FieldEngine;
  readonly together: FieldEngine;

  private constructor(engine: MsmEngine, alone: FieldEngine, together: FieldEngine) {
    this.engine = engine;
    this.alone = alone;
    this.together = together;
  }

  static async open(maxWorkers: number, start?: () => Worker): Promise<Bench> {
    const createWorker = start === undefined ? {} : { createWorker: start };
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers, ...createWorker });
    return new Bench(
      engine,
      await createFieldEngine({ backend: 'cpu' }),
      await createFieldEngine({ backend: 'cpu', deviceOf: engine }),
    );
  }

  /** Computes until so many workers take part. */
  async bring(workers: number, program: Program = quotient): Promise<void> {
    for (let runs = 0; runs < 100; runs++) {
      await computed(this.together, 2 ** 13, program);
      if (this.together.lastRun?.workers === workers) return;
    }
    expect.fail('the workers do not come');
  }

  /** Returns the bytes that one thread computes. Benches share them. */
  async expected(program: Program, length: number): Promise<Buffer> {
    const byLength = ofOneThread.get(program) ?? new Map<number, Buffer>();
    ofOneThread.set(program, byLength);
    const bytes = byLength.get(length) ?? (await computed(this.alone, length, program));
    byLength.set(length, bytes);
    return bytes;
  }

  /** Returns the lengths for which a program with workers differs from one without. */
  async differences(program: Program, lengths: readonly number[]): Promise<number[]> {
    const wrong: number[] = [];
    for (const length of lengths) {
      const expected = await this.expected(program, length);
      if (!expected.equals(await computed(this.together, length, program))) wrong.push(length);
    }
    return wrong;
  }

  close(): void {
    for (const each of [this.alone, this.together, this.engine]) each.destroy();
  }
}

/** Results of programs that one thread computed, by length. */
const ofOneThread = new WeakMap<Program, Map<number, Buffer>>();

const started: Worker[] = [];

/** Returns the address of the worker's file. */
const workerFile = (): string => {
  const threads = process.getBuiltinModule('node:worker_threads');
  const { Worker: real } = threads;
  let file = '';
  threads.Worker = class {
    constructor(url: URL) {
      file = String(url);
    }
  } as unknown as typeof real;
  workerStarter()?.();
  threads.Worker = real;
  return file;
};

/** Starts the worker of the package after a script that runs in it first. */
export const startAfter = (script: string) => (): Worker => {
  const text = `${script}\nawait import(${JSON.stringify(workerFile())});`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`));
  started.push(worker);
  return worker;
};

/**
 * Starts workers as `startAfter` does. Once two are ready the clock goes ten times as fast, so that a silence counts
 * as an end after 0.3 s.
 */
export const startImpatient = (script: string): (() => Worker) => {
  const start = startAfter(script);
  let ready = 0;
  return () => {
    const worker = start();
    worker.once('message', () => ++ready === 2 && hastenClock(10));
    return worker;
  };
};

/** Expects right results, whenever a worker ends. @param moments milliseconds from the start of a run */
export const expectRightWhileWorkersEnd = async (
  bench: Bench,
  length: number,
  moments: readonly number[],
): Promise<void> => {
  const expected = await bench.expected(quotient, length);
  let ended = 0;
  for (const moment of moments) {
    const last = started.at(-1);
    const timer = setTimeout(() => last?.terminate().then(() => ended++), moment);
    expect(await computed(bench.together, length, quotient)).toEqual(expected);
    clearTimeout(timer);
  }
  expect(ended).toBeGreaterThan(0);
};

/** Expects right results after workers that are not heard of any more. @param why the reason of the repetition */
export const expectRightAfterSilence = async (bench: Bench, length: number, why: RegExp): Promise<Buffer> => {
  const expected = await bench.expected(quotient, length);
  const runs: (string | null | undefined)[] = [];
  for (let i = 0; i < 20 && !runs.some(Boolean); i++) {
    expect(await computed(bench.together, length, quotient)).toEqual(expected);
    runs.push(bench.together.lastRun?.retried);
  }
  expect(runs.find(Boolean)).toMatch(why);
  return expected;
};

/** Expects right results after aborts, and no memory that is kept. @param moments milliseconds from the start of a run */
export const expectRightAfterAborts = async (
  bench: Bench,
  length: number,
  moments: readonly number[],
): Promise<void> => {
  await bench.bring(2);
  const expected = await bench.expected(quotient, length);
  const { used } = bench.together.memory;
  const codes: string[] = [];
  for (const moment of moments) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), moment);
    const outcome = await computed(bench.together, length, quotient, controller.signal).catch(({ code }) => code);
    if (typeof outcome === 'string') codes.push(outcome);
    else expect(outcome).toEqual(expected);
    expect(await computed(bench.together, length, quotient)).toEqual(expected);
  }
  expect(new Set(codes)).toEqual(new Set(['aborted']));
  expect(bench.together.memory.used).toBeLessThanOrEqual(used);
};
