/** The record of a call that was computed in parts, by one backend or by both. */
import { describe, expect, test } from 'vitest';
import type { CpuRun, GpuRun } from '../../src/api/run-record.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { joinedRecord } from '../../src/msm/joined-record.js';
import { resolveTuning } from '../../src/msm/plan/tuning.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { limits } from '../support/stage-bench.js';

const whole = { vectors: 2, wallMs: 50 };
const curve = curveContext(bn254);
const tuning = resolveTuning(fullWorkload(1000, curve), curve, limits, {});
const adapter = { vendor: 'a GPU', architecture: '', device: '', description: '', software: false };
const facts = { n: 100, vectors: 1, windowBits: 8, windows: 32, wallMs: 5, retried: null, verified: true };

const onGpu = (changes: Partial<GpuRun> = {}): GpuRun => ({
  ...facts,
  on: 'gpu',
  entries: 3000,
  predicted: null,
  tasks: 40,
  dispatches: 20,
  uploadedBytes: 3200,
  submits: 2,
  hostTimes: { encodeMs: 1, submitToResultMs: 3, readBackMs: 1 },
  fallback: null,
  phases: [{ name: 'walk', ms: 2 }],
  timeline: [{ name: 'walk', startMs: 0, ms: 2, submit: 0 }],
  tuning,
  adapter,
  ...changes,
});

const onCpu = (changes: Partial<CpuRun> = {}): CpuRun => ({
  ...facts,
  on: 'cpu',
  entries: 3000,
  predicted: null,
  arithmetic: 'wasm',
  workers: 0,
  noWorkers: null,
  chunkRows: 0,
  cpuMs: 4,
  ...changes,
});

describe('parts on one backend', () => {
  test('of the GPU are one run on it: counts add up, and the rest is that of the largest part', () => {
    const wide = { ...tuning, windowBits: 9 };
    const large = { n: 700, entries: 20_000, windowBits: 9, windows: 29, tasks: 60, tuning: wide };
    const joined = joinedRecord([onGpu(), onGpu({ ...large, verified: false }), onGpu()], whole);
    expect(joined).toEqual({
      ...onGpu({ ...whole, ...large, n: 900, entries: 26_000, verified: false }),
      dispatches: 60,
      uploadedBytes: 9600,
      submits: 6,
      // those of the parts overlap with the other backend
      hostTimes: null,
      phases: null,
      timeline: null,
    });
  });

  test('of the CPU are one run on it, in the arithmetic of the largest part, not of the last', () => {
    const few = onCpu({ n: 1, entries: 3, windowBits: 1, windows: 254, cpuMs: 1 });
    const many = onCpu({ entries: 20_000, arithmetic: 'wasm-fma', workers: 3, chunkRows: 16, cpuMs: 9 });
    for (const parts of [
      [many, few],
      [few, many],
    ]) {
      expect(joinedRecord(parts, whole)).toEqual({ ...many, ...whole, n: 101, entries: 20_003, cpuMs: 10 });
    }
  });

  test('of the CPU have a reason for no workers only if no part had any', () => {
    const without = onCpu({ noWorkers: 'a worker died' });
    expect(joinedRecord([without, onCpu()], whole)).toMatchObject({ workers: 0, noWorkers: 'a worker died' });
    expect(joinedRecord([without, onCpu({ workers: 2 })], whole)).toMatchObject({ workers: 2, noWorkers: null });
  });
});

test('parts on both backends are a divided run, which has both halves', () => {
  const parts = [
    onGpu({ n: 600, entries: 18_000 }),
    onCpu({ n: 150, entries: 4000, windowBits: 6, windows: 43, retried: 'a worker died' }),
    onGpu({ n: 200, entries: 6000, retried: 'the GPU lost a dispatch' }),
    onCpu({ n: 50, entries: 1000, retried: 'a worker died' }),
  ] as const;
  const [front, back, frontAgain, backAgain] = parts;
  const joined = joinedRecord(parts, whole);
  expect(joined).toEqual({
    ...whole,
    on: 'both',
    n: 1000,
    gpuShare: 0.8,
    windowBits: 8,
    windows: 32,
    entries: 29_000,
    retried: 'a worker died; the GPU lost a dispatch',
    verified: true,
    predicted: null,
    gpu: joinedRecord([front, frontAgain], whole),
    cpu: joinedRecord([back, backAgain], whole),
  });
  expect(joined).toMatchObject({
    gpu: { n: 800, submits: 4, windowBits: 8, retried: 'the GPU lost a dispatch' },
    cpu: { n: 200, cpuMs: 8, windowBits: 6, retried: 'a worker died' },
  });
});
