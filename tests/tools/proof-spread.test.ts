import { describe, expect, test } from 'vitest';
import { type ProofPart, predictMs } from '../../dev/bench/modes/proofs/spread.js';
import { traceProof } from '../../dev/bench/modes/proofs/trace.js';
import { createFieldEngine } from '../../src/fields.js';
import { createMsmEngine } from '../../src/index.js';

const sum = (ms: number, ...after: readonly number[]): ProofPart => ({ kind: 'sum', ms, after });
const vectors = (ms: number, ...after: readonly number[]): ProofPart => ({ kind: 'vectors', ms, after });

const predicted = (threads: readonly number[], parts: readonly ProofPart[], restMs = 0): readonly number[] =>
  threads.map((count) => predictMs({ parts, restMs }, count));

describe('predictMs', () => {
  test('divides a long sum by the threads, but not the rest', () => {
    expect(predicted([1, 2, 4], [sum(100)], 10)).toEqual([110, 60, 35]);
  });

  test('gives a thread at least 4 ms, and a short sum no workers', () => {
    expect(predicted([64], [sum(100)])).toEqual([100 / 26]);
    expect(predicted([8], [sum(19)])).toEqual([19]);
    expect(predicted([8], [vectors(3)])).toEqual([3]);
    expect(predicted([8], [vectors(8)])).toEqual([8 / 3]);
  });

  test('has sums take turns', () => {
    expect(predicted([1, 4], [sum(30), sum(30)])).toEqual([60, 15]);
  });

  test('waits for parts before', () => {
    expect(predicted([1, 4], [vectors(40), sum(30, 0), sum(2, 1), sum(30, 2)])).toEqual([102, 10 + 7.5 + 2 + 7.5]);
  });

  test('three threads compute vectors together, before sums that could begin', () => {
    expect(predicted([3], [sum(60), vectors(30), sum(30, 1)])).toEqual([40]);
  });

  test('a single worker has the sums while the engine computes a run of vectors', () => {
    // the engine's thread is shared: 20 ms of vectors take 40 ms, in which the sum has 1.5 threads
    expect(predicted([2], [sum(60), vectors(20), sum(40, 1)])).toEqual([60]);
    expect(predicted([2], [vectors(20), sum(60), sum(40, 0)])).toEqual([60]);
  });

  test('a single worker takes part in a long run of vectors that no long sum could go before', () => {
    expect(predicted([2], [vectors(100)])).toEqual([50]);
    expect(predicted([2], [vectors(60)])).toEqual([60]);
    expect(predicted([2], [sum(10), vectors(80), sum(80, 1)])).toEqual([40 + 10 + 40]);
  });

  test('refuses parts that wait for each other', () => {
    expect(() => predicted([2], [sum(10, 1), sum(10, 0)])).toThrow('wait for each other');
  });
});

describe('traceProof', () => {
  test('times sums and runs of vectors one at a time, and knows which ended before', async () => {
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
    const fr = await createFieldEngine({ field: 'bn254-fr', backend: 'cpu' });
    const bases = await engine.loadBases(Array(100).fill({ x: 1n, y: 2n }));
    const scalars = Array.from({ length: 100 }, (_, i) => BigInt(i + 1));
    const compute = async (): Promise<void> => {
      const first = engine.msm(bases, scalars);
      const second = engine.msm(bases, scalars);
      await first;
      const vector = await fr.load(scalars);
      (await fr.run((ops) => ops.keep(ops.multiply(vector, vector)))).destroy();
      vector.destroy();
      await second;
    };
    try {
      const { parts, restMs } = await traceProof(compute);
      expect(parts.map(({ kind }) => kind)).toEqual(['sum', 'sum', 'vectors']);
      expect(parts.map(({ after }) => after.includes(0))).toEqual([false, false, true]);
      for (const { ms } of parts) expect(ms).toBeGreaterThan(0);
      expect(restMs).toBeGreaterThanOrEqual(0);
      // later sums are not traced
      await compute();
      expect(parts).toHaveLength(3);
    } finally {
      engine.destroy();
      fr.destroy();
    }
  });

  test('passes on a failure, and traces no more', async () => {
    await expect(traceProof(() => Promise.reject(new Error('no proof')))).rejects.toThrow('no proof');
    const { parts } = await traceProof(async () => undefined);
    expect(parts).toEqual([]);
  });
});
