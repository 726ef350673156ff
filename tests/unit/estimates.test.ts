/** Estimates of a machine, before and after the CPU was asked for its arithmetic. */
import { expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { fullWorkload, NO_TABLES } from '../../src/msm/plan/workload.js';
import { Estimates } from '../../src/msm/routing/estimates.js';
import { limits } from '../support/stage-bench.js';

const curve = curveContext(bn254);
const adapter = { vendor: 'nvidia', architecture: 'ampere', device: '', description: '', software: false };
const facts = { adapter, limits, tuning: {}, isReady: true, isOnGpuOnly: false, isOnCpuOnly: false };
const loads = [fullWorkload(2 ** 12, curve, NO_TABLES)];
const cpuMs = (estimates: Estimates): number => estimates.decide(facts, loads).predicted.cpuMs;

test('the time of the CPU is expected by its arithmetic, from the first call on', () => {
  const times = (['wasm-fma', 'wasm-wide', 'wasm-simd', 'wasm', 'bigint'] as const).map((arithmetic) => {
    const estimates = new Estimates(curve, false, () => 0);
    const before = cpuMs(estimates);
    const isOther = estimates.noteArithmetic(() => arithmetic);
    expect(isOther).toBe(cpuMs(estimates) !== before);
    expect(estimates.noteArithmetic(() => 'bigint')).toBe(false);
    return cpuMs(estimates);
  });
  expect(times).toEqual(times.toSorted((left, right) => left - right));
  expect(new Set(times).size).toBe(times.length);
});

test('what the GPU taught before the CPU is asked stays', () => {
  const estimates = new Estimates(curve, false, () => 0);
  for (let call = 0; call < 8; call++) estimates.learn(estimates.decide(facts, loads), 'gpu', 777);
  estimates.noteArithmetic(() => 'wasm');
  expect(estimates.decide(facts, loads).predicted.gpuMs).toBeCloseTo(777, 0);
});
