/**
 * The schedule of vectors: every scalar once, bases at aligned offsets, slices that do not overlap,
 * submits within their bound.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bls12381 } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { softwareKnobs } from '../../src/msm/plan/device-profiles.js';
import { type PlanLimits, planMsm } from '../../src/msm/plan/planner.js';
import { type Job, schedule, type VectorShape } from '../../src/msm/plan/schedule.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { STORAGE_ALIGNMENT } from '../../src/shaders/limits.js';

const limits: PlanLimits = {
  ...{ knobs: softwareKnobs, product: 'unsigned', additionsPerMs: null },
  ...{ maxComputeInvocationsPerWorkgroup: 256, maxComputeWorkgroupSizeX: 256, maxComputeWorkgroupStorageSize: 16384 },
  ...{ maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 },
};
const own = ['scalars', 'vectors', 'picks', 'accounts', 'bitSums'] as const;

const assertSound = (
  jobs: readonly Job[],
  vectors: readonly VectorShape[],
  budget: number,
  curve = curveContext(bn254),
): void => {
  const next = vectors.map(() => 0);
  for (const { batches, scratch, submits, accounts, bitSums } of jobs) {
    const sizes: Record<string, number> = { ...scratch, accounts, bitSums };
    expect(Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(budget);
    expect(Math.max(...Object.values(sizes))).toBeLessThanOrEqual(limits.maxStorageBufferBindingSize);
    let [additions, begun] = [0, 0];
    batches.forEach(({ plan, n, chunks, bases, at, ownSubmit }, i) => {
      const [starts, ends]: [number[], number[]] = [[], []];
      for (const { vector, first, length } of chunks) {
        const { offset, indices } = vectors[vector] as VectorShape;
        // contiguous, and none is empty
        expect(first).toBe(next[vector]);
        expect(length).toBeGreaterThan(0);
        expect(length).toBeLessThanOrEqual(n);
        next[vector] = first + length;
        starts.push(offset + (indices === null ? first : (indices[first] as number)));
        ends.push(offset + (indices === null ? first + length : (indices[first + length - 1] as number) + 1));
      }
      expect(n).toBeLessThanOrEqual(plan.n);
      expect((bases.first * plan.tables * curve.pointBytes) % STORAGE_ALIGNMENT).toBe(0);
      expect(bases.first).toBeLessThanOrEqual(Math.min(...starts));
      expect(Math.min(...starts) - bases.first).toBeLessThan(STORAGE_ALIGNMENT);
      expect(bases.first + bases.count).toBe(Math.max(...ends));
      for (const name of own) {
        const bytes = plan.scratch[name];
        if (bytes === undefined) continue;
        expect(at[name] % STORAGE_ALIGNMENT).toBe(0);
        const following = batches[i + 1]?.at[name] ?? (sizes[name] as number);
        expect(at[name] + bytes).toBeLessThanOrEqual(following);
      }
      for (const [name, bytes] of Object.entries(plan.scratch)) expect(sizes[name]).toBeGreaterThanOrEqual(bytes);
      if (ownSubmit) {
        begun += plan.submits;
        additions = 0;
      }
      additions += plan.additions;
      expect(ownSubmit || plan.submits === 1).toBe(true);
      if (!ownSubmit) expect(additions).toBeLessThanOrEqual(plan.tuning.additionsPerSubmit);
    });
    expect(batches[0]?.ownSubmit).toBe(true);
    expect(submits).toBe(begun);
  }
  expect(next).toEqual(vectors.map(({ load }) => load.n));
};

test('schedules vectors of any length, offset and curve, with all or picked bases', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.nat(1000), fc.boolean()), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(bn254, bls12381),
      fc.integer({ min: 21, max: 27 }),
      fc.integer({ min: 13, max: 30 }),
      (drawn, named, budgetBits, additionBits) => {
        const curve = curveContext(named);
        const vectors = drawn.map(([n, offset, picked]): VectorShape => {
          const indices = picked ? Uint32Array.from({ length: n }, (_, i) => 3 * i + 1) : null;
          return { load: { ...fullWorkload(n, curve), picked }, offset, indices };
        });
        const knobs = { additionsPerSubmit: 2 ** additionBits };
        assertSound(
          schedule(vectors, curve, { limits, budget: 2 ** budgetBits }, knobs),
          vectors,
          2 ** budgetBits,
          curve,
        );
      },
    ),
    { numRuns: 60, seed: 1 },
  );
});

describe('chunks', () => {
  const curve = curveContext(bn254);

  test.each([2 ** 13, 2 ** 13 + 1, 3 * 2 ** 12])(
    'of %i scalars have equal sizes except for the last, and none is empty',
    (n) => {
      const load = fullWorkload(n, curve);
      let [budget, chunk] = [2 ** 22, n];
      while (chunk === n) {
        budget *= 0.9;
        chunk = planMsm(load, curve, { limits, budget }, {}).n;
      }
      const jobs = schedule([{ load, offset: 5, indices: null }], curve, { limits, budget }, {});
      assertSound(jobs, [{ load, offset: 5, indices: null }], budget);
      const lengths = jobs.flatMap(({ batches }) => batches.map(({ chunks: [piece] }) => piece?.length));
      expect(lengths).toHaveLength(Math.ceil(n / chunk));
      expect(new Set(lengths.slice(0, -1))).toEqual(new Set([chunk]));
    },
  );
});

test('vectors are planned together only if their reduction fits a submit', {
  tags: 'long',
}, () => {
  const curve = curveContext(bn254);
  // 96 fit 2^16 additions
  const vectors = Array.from({ length: 192 }, () => ({ load: fullWorkload(8, curve), offset: 0, indices: null }));
  for (const additionsPerSubmit of [2 ** 10, 2 ** 13, 2 ** 16]) {
    const jobs = schedule(vectors, curve, { limits, budget: 2 ** 28 }, { additionsPerSubmit });
    assertSound(jobs, vectors, 2 ** 28);
    for (const { plan, chunks } of jobs.flatMap(({ batches }) => batches)) {
      // the other walks of the reduction add little
      if (chunks.length > 1) expect(plan.reduce.splitEntries).toBeLessThanOrEqual(additionsPerSubmit);
    }
  }
});
