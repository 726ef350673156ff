/**
 * Trials of a software adapter: the CPU computes, and small parts of its calls measure the adapter.
 */
import { expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { createMsmEngine } from '../../src/index.js';
import { leaseGpu } from '../support/leased-gpu.js';

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 2 ** 14, seed: 8 });

test('the CPU computes, the GPU gets parts once it is compiled, and sums are right', { tags: 'long' }, async () => {
  const { gpu } = await leaseGpu();
  const engine = await createMsmEngine({ curve: 'bn254', gpu });
  expect(engine.adapter.software).toBe(true);
  const bases = await engine.loadBases(points.bytes);
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  // nothing is compiled for it, and nothing is said of it
  expect(engine.lastRun).toMatchObject({ on: 'cpu', gpuShare: 0 });
  await engine.warmup(2 ** 14);
  const shares: number[] = [];
  for (let i = 0; i < 12; i++) {
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    const { on, gpuShare, predicted } = engine.lastRun ?? {};
    expect(predicted).not.toBeNull();
    if (on === 'both') shares.push(gpuShare as number);
  }
  expect(shares.length).toBeGreaterThan(0);
  for (const share of shares) {
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(0.26);
  }
  engine.destroy();
});

test('a trial in which the GPU fails is computed on the CPU, and is the last', { tags: 'long' }, async () => {
  const leased = await leaseGpu();
  const engine = await createMsmEngine({ curve: 'bn254', gpu: leased.gpu, retries: 0 });
  const bases = await engine.loadBases(points.bytes);
  await engine.warmup(2 ** 14);
  let failed = 0;
  for (const device of leased.devices) {
    device.tap = (call) => {
      if (call.method !== 'submit') return call.proceed();
      failed++;
      // what was told to compute is not computed
      return undefined;
    };
  }
  for (let i = 0; i < 12; i++) {
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(engine.lastRun?.on).toBe('cpu');
  }
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(4);
  for (const device of leased.devices) device.tap = (call) => call.proceed();
  engine.destroy();
});
