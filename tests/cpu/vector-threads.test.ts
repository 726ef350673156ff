/**
 * Vectors that threads compute together, in Node: every operation is bit-equal with one thread, on
 * every number of threads; a run is right, or ends with an error, whatever happens to its workers.
 */
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { VectorThreads } from '../../src/fields/cpu/vector-threads.js';
import { createFieldEngine, type FieldEngine, type FieldOperations, type FieldVector } from '../../src/fields.js';
import { createMsmEngine, type MsmEngine } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { useAllWorkers } from '../support/all-workers.js';

useAllWorkers();

// short vectors take all workers, too
beforeEach(() => {
  vi.spyOn(VectorThreads.prototype, 'workersFor').mockImplementation(function (this: VectorThreads) {
    return this.most;
  });
});

const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Returns numbers below p, of which some are 0, 1 and p − 1. */
const numbers = (length: number, seed: bigint): bigint[] => {
  const edges = [0n, 1n, P - 1n];
  let last = seed;
  return Array.from({ length }, (_, i) => {
    last = (last * 7n ** 80n + 1n) % P;
    return edges[i % 11] ?? last;
  });
};

type Vectors = readonly [FieldVector, FieldVector, FieldVector];
type Program = (ops: FieldOperations, vectors: Vectors, engine: FieldEngine) => FieldVector;

/** Operations on vectors of any length. */
const ofAnyLength: Readonly<Record<string, Program>> = {
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
const ofPowers: Readonly<Record<string, Program>> = {
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
const computed = async (fr: FieldEngine, length: number, program: Program, signal?: AbortSignal): Promise<Buffer> => {
  const loaded: FieldVector[] = [];
  try {
    for (const seed of [1n, 2n, 3n]) loaded.push(await fr.load(numbers(length, seed)));
    const options = signal === undefined ? {} : { signal };
    const result = await fr.run((ops) => ops.keep(program(ops, loaded as unknown as Vectors, fr)), options);
    loaded.push(result);
    return Buffer.from(await fr.read(result));
  } finally {
    for (const each of loaded) each.destroy();
  }
};

/** An engine with workers, and vectors with and without them. */
class Bench {
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
  async bring(workers: number): Promise<void> {
    for (let runs = 0; runs < 100; runs++) {
      await computed(this.together, 2 ** 13, ofPowers.quotient as Program);
      if (this.together.lastRun?.workers === workers) return;
    }
    expect.fail('the workers do not come');
  }

  close(): void {
    for (const each of [this.alone, this.together, this.engine]) each.destroy();
  }
}

let bench: Bench;
afterEach(() => bench.close());

/** Returns the lengths for which a program with workers differs from one without. */
const differences = async (program: Program, lengths: readonly number[]): Promise<number[]> => {
  const wrong: number[] = [];
  for (const length of lengths) {
    const expected = await computed(bench.alone, length, program);
    if (!expected.equals(await computed(bench.together, length, program))) wrong.push(length);
  }
  return wrong;
};

describe('equal on every number of threads', () => {
  test.each([2, 3])('with %i workers', async (workers) => {
    bench = await Bench.open(workers);
    await bench.bring(workers);
    expect(bench.together.workers).toBe(workers);
    const wrong: Record<string, number[]> = {};
    for (const [name, program] of Object.entries(ofPowers)) {
      wrong[name] = await differences(program, [1, 2, 4, 2 ** 10, 2 ** 13]);
    }
    for (const [name, program] of Object.entries(ofAnyLength)) {
      wrong[name] = await differences(program, [2, 3, 2 ** 9 + 1, 5000]);
    }
    expect(Object.values(wrong).flat(), JSON.stringify(wrong)).toEqual([]);
  });

  test('of a sparse matrix with rows of 0, 1 and many entries', async () => {
    bench = await Bench.open(3);
    const rows = 2 ** 11;
    const entries = { row: [] as number[], column: [] as number[], values: [] as bigint[] };
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < (i === 77 ? 900 : i % 4); k++) {
        entries.row.push(i);
        entries.column.push((i * 31 + k * 7) % rows);
        entries.values.push(numbers(1, BigInt(i + k))[0] as bigint);
      }
    }
    const apply = async (fr: FieldEngine): Promise<Buffer> => {
      const matrix = await fr.loadMatrix({ rows, columns: rows, ...entries });
      return computed(fr, rows, (ops, [a]) => ops.apply(matrix, a));
    };
    expect(await apply(bench.together)).toEqual(await apply(bench.alone));
  });

  test('of random programs @long', { tags: ['long'] }, async () => {
    bench = await Bench.open(3);
    const wrong: Record<string, number[]> = {};
    for (const [name, program] of Object.entries({ ...ofPowers, ...ofAnyLength })) {
      wrong[name] = await differences(program, [2 ** 13, 2 ** 15, 2 ** 15, 2 ** 16]);
    }
    expect(Object.values(wrong).flat(), JSON.stringify(wrong)).toEqual([]);
  });
});

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
const startAfter = (script: string) => (): Worker => {
  const text = `${script}\nawait import(${JSON.stringify(workerFile())});`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`));
  started.push(worker);
  return worker;
};

/** A quotient of vectors that keep all threads busy for some 20 ms. */
const quotient = ofPowers.quotient as Program;
const LENGTH = 2 ** 13;

test('one worker computes no vectors: it adds up meanwhile', async () => {
  bench = await Bench.open(1);
  expect(bench.together.workers).toBe(0);
  await computed(bench.together, LENGTH, quotient);
  expect(bench.together.lastRun?.workers).toBe(0);
});

describe('right, whatever happens to workers', () => {
  test('that are ended at any moment of a run', async () => {
    bench = await Bench.open(2, startAfter(''));
    const expected = await computed(bench.alone, LENGTH, quotient);
    let ended = 0;
    for (let i = 0; i < 12; i++) {
      const last = started.at(-1);
      const timer = setTimeout(() => last?.terminate().then(() => ended++), 2 * i);
      expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
      clearTimeout(timer);
    }
    expect(ended).toBeGreaterThan(0);
  });

  test('that stop in the middle of a chunk, and go on when nobody waits any more', async () => {
    const stops = `
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...parameters) => {
        const made = await instantiate(...parameters);
        if (!('multiplySubtract' in made.exports)) return made;
        const exports = Object.fromEntries(Object.entries(made.exports).map(([name, run]) => [name, (...of) => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
          run(...of);
        }]));
        return { exports };
      };`;
    bench = await Bench.open(2, startAfter(stops));
    const expected = await computed(bench.alone, LENGTH, quotient);
    const runs: (string | null | undefined)[] = [];
    for (let i = 0; i < 20 && !runs.some(Boolean); i++) {
      expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
      runs.push(bench.together.lastRun?.retried);
    }
    expect(runs.find(Boolean)).toMatch(/was not heard of any more while it computed vectors/);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
  });

  test('that hear of a run long after it began: nobody waits for them', async () => {
    const late = `
      const { parentPort } = process.getBuiltinModule('node:worker_threads');
      const { on } = parentPort;
      parentPort.on = (event, listener) => on.call(parentPort, event, (message) => setTimeout(listener, 1000, message));`;
    bench = await Bench.open(2, startAfter(late));
    const expected = await computed(bench.alone, LENGTH, quotient);
    for (let i = 0; i < 3; i++) {
      expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
      expect(bench.together.lastRun?.retried).toBeNull();
    }
  });

  test('after a run is aborted at any moment', async () => {
    bench = await Bench.open(2);
    await bench.bring(2);
    const expected = await computed(bench.alone, LENGTH, quotient);
    const { used } = bench.together.memory;
    const codes: string[] = [];
    for (let i = 0; i < 8; i++) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 4 * i);
      const outcome = await computed(bench.together, LENGTH, quotient, controller.signal).catch(({ code }) => code);
      if (typeof outcome === 'string') codes.push(outcome);
      else expect(outcome).toEqual(expected);
      expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
    }
    expect(new Set(codes)).toEqual(new Set(['aborted']));
    expect(bench.together.memory.used).toBeLessThanOrEqual(used);
  });
});
