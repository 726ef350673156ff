/** Memories of WebAssembly that the platform does not give: fewer workers, BigInts, typed errors. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { oracleOf } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import type { StartWorker } from '../../src/threads/platform.js';
import { sections } from '../support/failure-table.js';
import { cpuRunOf } from '../support/runs.js';

// large enough for three workers
const large = makeCase({ points: 'distinct', scalars: 'random', n: 8192, seed: 8 });
// more than the first memory has room for
const medium = makeCase({ points: 'distinct', scalars: 'random', n: 1500, seed: 7 });
const small = makeCase({ points: 'distinct', scalars: 'random', n: 100, seed: 9 });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Modules of the library that have compiled nothing, and no memory. */
const freshModules = async () => {
  vi.resetModules();
  const [{ createMsmEngine }, { createFieldEngine }, { workerStarter }] = await Promise.all([
    import('../../src/index.js'),
    import('../../src/fields.js'),
    import('../../src/msm/cpu/cpu-threads.js'),
  ]);
  return { createMsmEngine, createFieldEngine, workerStarter };
};

/** Has the platform refuse all memories but the first, as Chromium does from the 126th on. */
const giveMemories = (count: number) => {
  const { Memory } = WebAssembly;
  let given = 0;
  const state = { refused: 0, isShort: true };
  vi.spyOn(WebAssembly, 'Memory').mockImplementation(function make(descriptor) {
    if (!state.isShort || given++ < count) return new Memory(descriptor);
    state.refused++;
    throw new RangeError('WebAssembly.Memory(): could not allocate memory');
  });
  return state;
};

/** Rows whose calls reject; those of `computed` and `short` come to a result. */
const { asked, vectors } = sections.noMemory.rows;

describe('sums', () => {
  test('are right however many memories there are, and use WebAssembly again when there are more', async () => {
    const arithmetics = new Set<string>();
    for (let count = 0; ; count++) {
      const { createMsmEngine } = await freshModules();
      const state = giveMemories(count);
      const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
      const bases = await engine.loadBases(small.points.bytes, { checkSubgroup: true });
      expect(await engine.msm(bases, small.scalars.bytes)).toEqual(small.expected);
      const { refused } = state;
      const { arithmetic, retried } = cpuRunOf(engine);
      arithmetics.add(arithmetic);
      if (arithmetic === 'bigint')
        expect(retried).toMatch(/^WebAssembly gets no memory of \d+ bytes.*BigInts computed/);
      state.isShort = false;
      expect(await engine.msm(bases, small.scalars.bytes)).toEqual(small.expected);
      expect(engine.lastRun).toMatchObject({ arithmetic: expect.stringContaining('wasm'), retried: null });
      engine.destroy();
      vi.restoreAllMocks();
      if (refused === 0) break;
    }
    expect(arithmetics.size).toBe(2);
  });

  test('are right where a memory does not grow', async () => {
    const { createMsmEngine } = await freshModules();
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
    const bases = await engine.loadBases(small.points.bytes);
    const growing = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
      throw new RangeError('WebAssembly.Memory.grow(): Unable to grow instance memory');
    });
    const more = await engine.loadBases(medium.points.bytes);
    expect(await engine.msm(more, medium.scalars.bytes)).toEqual(medium.expected);
    expect(engine.lastRun).toMatchObject({
      arithmetic: 'bigint',
      retried: expect.stringContaining('BigInts computed'),
    });
    expect(growing).toHaveBeenCalled();
    vi.restoreAllMocks();
    expect(await engine.msm(bases, small.scalars.bytes)).toEqual(small.expected);
    expect(cpuRunOf(engine).arithmetic).toContain('wasm');
    engine.destroy();
  });

  test('of a form of arithmetic that was asked for reject, with a code', async () => {
    const { createMsmEngine } = await freshModules();
    const state = giveMemories(0);
    const tuning = { cpuArithmetic: 'wasm' } as const;
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0, tuning });
    const bases = await engine.loadBases(small.points.bytes);
    await expect(engine.msm(bases, small.scalars.bytes)).rejects.toMatchObject({
      code: asked.code,
      message: expect.stringContaining(asked.says),
      cause: expect.any(RangeError),
    });
    state.isShort = false;
    expect(await engine.msm(bases, small.scalars.bytes)).toEqual(small.expected);
    engine.destroy();
  });

  test('have as many workers as get memory', async () => {
    const { createMsmEngine, workerStarter } = await freshModules();
    const start = workerStarter() as StartWorker;
    /** A worker of the library in a thread without memories. */
    class ShortWorker extends Worker {
      constructor(url: URL) {
        const short = "WebAssembly.Memory = function () { throw new RangeError('no more'); };";
        super(`${short}import(${JSON.stringify(url.href)});`, { eval: true });
      }
    }
    const getBuiltinModule = process.getBuiltinModule;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((name: string) => {
      const real = getBuiltinModule(name as 'node:worker_threads');
      return name === 'node:worker_threads' ? { ...real, Worker: ShortWorker } : real;
    });
    const startShort = workerStarter() as StartWorker;
    vi.restoreAllMocks();
    let started = 0;
    const engine = await createMsmEngine({
      ...{ curve: 'bn254', backend: 'cpu', maxWorkers: 3, tuning: { cpuDistribution: 'static' } },
      createWorker: () => (started++ === 0 ? start() : startShort()),
    });
    const bases = await engine.loadBases(large.points.bytes);
    const retried: string[] = [];
    for (let call = 0; call < 6; call++) {
      expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
      retried.push(engine.lastRun?.retried ?? '');
    }
    // one of them works, and the other, without memory, is not replaced
    expect(cpuRunOf(engine).workers).toBe(1);
    expect(started).toBe(2);
    expect(retried.join()).toMatch(/worker 2 failed: MsmError: WebAssembly gets no memory/);
    expect(retried.at(-1)).toBe('');
    engine.destroy();
  });
});

test('compressed points are decoded without a memory', async () => {
  const { createMsmEngine } = await freshModules();
  const state = giveMemories(0);
  const points = pointsIn(oracleOf({ curve: 'bn254', group: 'g1' }), small.points.points, 'ark-compressed');
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  const bases = await engine.loadBases(points, { encoding: 'ark-compressed' });
  expect(state.refused).toBeGreaterThan(0);
  expect(await engine.msm(bases, small.scalars.bytes)).toEqual(small.expected);
  engine.destroy();
});

test('vectors on the CPU reject with a code', async () => {
  const { createFieldEngine } = await freshModules();
  const state = giveMemories(0);
  await expect(createFieldEngine()).rejects.toMatchObject({
    code: vectors.code,
    message: expect.stringContaining(vectors.says),
    cause: expect.any(RangeError),
  });
  state.isShort = false;
  const fr = await createFieldEngine();
  expect((await fr.read(await fr.load([7n])))[0]).toBe(7);
  fr.destroy();
});
