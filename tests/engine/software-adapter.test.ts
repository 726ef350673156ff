/**
 * Software adapters, which have the cores of the CPU: by default the CPU computes, and nothing is
 * created or compiled on the adapter.
 */
import { describe, expect, test } from 'vitest';
import type { MsmEngineOptions } from '../../src/engine/options.js';
import { openProvingKey } from '../../src/groth16.js';
import { createMsmEngine, type MsmEngine } from '../../src/index.js';
import { leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { makeStatement } from '../support/proving.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

const { points, scalars, expected } = smallCase(40);

/** Knobs with which kernels compile fast. */
const quick = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 } as const;

const software = { vendor: 'mesa', architecture: '', device: '', description: 'llvmpipe' };

const open = (options: Partial<MsmEngineOptions>): Promise<MsmEngine> =>
  createMsmEngine({ curve: smallCurve, selfTest: false, ...options, tuning: { ...quick, ...options.tuning } });

/** Computes a sum. @returns where it was computed */
const compute = async (engine: MsmEngine): Promise<unknown> => {
  const bases = await engine.loadBases(points);
  expect(await engine.msm(bases, scalars)).toEqual(expected);
  await engine.warmup(2 ** 10);
  return engine.lastRun?.on;
};

describe('by default', () => {
  test('an engine asks a software adapter for no device', async () => {
    const leased = await leaseGpu(undefined, software);
    const engine = await open({ gpu: leased.gpu });
    expect(await compute(engine)).toBe('cpu');
    expect(leased.devices).toHaveLength(0);
    expect(engine.backends).toEqual(['cpu']);
    expect(engine.pipelines).toEqual([]);
    engine.destroy();
  });

  test('an engine does nothing on a device of a software adapter', async () => {
    const leased = await leaseDevice({ adapterInfo: software as GPUAdapterInfo });
    leased.tap = ({ method }) => expect.fail(`${method} was called`);
    const engine = await open({ device: leased.device });
    expect(await compute(engine)).toBe('cpu');
    engine.destroy();
  });

  test('an engine does not compute on the software adapter of another engine, nor destroys its device', async () => {
    const { gpu, devices } = await leaseGpu(undefined, software);
    const first = await open({ gpu, backend: 'gpu' });
    const second = await open({ deviceOf: first });
    expect(second.backends).toEqual(['cpu']);
    expect(await compute(second)).toBe('cpu');
    second.destroy();
    expect(await compute(first)).toBe('gpu');
    expect(devices).toHaveLength(1);
    first.destroy();
  });

  test('a key asks a software adapter for no device, and proves', async () => {
    const leased = await leaseGpu(undefined, software);
    const { zkey, circuit, verify } = await makeStatement('groth16', 'bn254', 5, 'dense');
    const key = await openProvingKey(zkey.data, { gpu: leased.gpu, maxWorkers: 0 });
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
    expect(leased.devices).toHaveLength(0);
    key.destroy();
  });
});

test.each([
  ['gpu', { backend: 'gpu' }],
  ['both', { backend: 'both' }],
  ['sums above a size', { tuning: { cpuBelow: 8 } }],
] as const)('a software adapter that the options ask for computes: %s', async (_, options) => {
  const { gpu, devices } = await leaseGpu(undefined, software);
  const engine = await open({ gpu, maxWorkers: 0, ...options });
  await compute(engine);
  expect(engine.backends).toContain('gpu');
  expect(devices).toHaveLength(1);
  engine.destroy();
});

test('by default a GPU is used', async () => {
  const { gpu, devices } = await leaseGpu(undefined, { ...software, description: 'a GPU' });
  const engine = await open({ gpu });
  expect(engine.backends).toEqual(['gpu', 'cpu']);
  expect(devices).toHaveLength(1);
  engine.destroy();
});
