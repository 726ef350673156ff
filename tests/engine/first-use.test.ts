/**
 * `calibrate: 'first-use'` of engines: real devices, whose adapter calls itself a GPU. A software
 * adapter is never measured.
 */
import { describe, expect, test, vi } from 'vitest';
import type { CalibrationStore } from '../../src/api/device.js';
import { rememberedName } from '../../src/calibrate/store.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import type { MsmEngineOptions } from '../../src/engine/options.js';
import { describeAdapter } from '../../src/gpu/device.js';
import { readOptions } from '../../src/option-table.js';
import type { ProvingKeyOptions } from '../../src/proofs/api.js';
import { keyOptions, keySettingsOf } from '../../src/proofs/circuit-prover.js';
import { noCounts, readAccelerateOptions } from '../../src/provers/accelerate-options.js';
import { ProverEngines } from '../../src/provers/prover-engines.js';
import { version } from '../../src/version.js';
import { getDevice } from '../support/gpu.js';
import { type LeasedDevice, leaseDevice, leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

const { points, scalars, expected } = smallCase(40);

/** Knobs with which the GPU computes every sum. */
const tuning = { cpuBelow: 0 } as const;

/** Returns a device whose adapter has a name of the test's. */
const deviceNamed = async (vendor: string): Promise<GPUDevice> =>
  (await leaseDevice({ adapterInfo: { vendor } as GPUAdapterInfo })).device;

/** A store that has walks of five slots for a curve on a device, and tells what it is asked. */
const storeFor = (device: GPUDevice, curve: string) => {
  const name = rememberedName({ version, adapter: describeAdapter(device.adapterInfo), device, curve });
  const text = JSON.stringify({ tuning: { walkerSlots: 5 }, trials: [{ tuning: {}, ms: 1 }] });
  const asked: string[] = [];
  const store: CalibrationStore = {
    get: async (wanted) => {
      asked.push(wanted);
      return wanted === name ? text : null;
    },
    set: async () => undefined,
  };
  return { store, asked, name };
};

const untouched: CalibrationStore = { get: () => expect.fail('asked'), set: () => expect.fail('told') };

/** Has only the first walk of a device compile, so that a calibration is soon over. */
const compileOneWalk = (device: GPUDevice): void => {
  const create = device.createShaderModule.bind(device);
  let first: string | null = null;
  device.createShaderModule = ({ code, label, ...rest }) => {
    if (label === 'webgpu-msm walk') first ??= code;
    const isOther = label === 'webgpu-msm walk' && code !== first;
    return create({ ...rest, label: label as string, code: isOther ? `${code} fn broken() -> u32 {}` : code });
  };
};

describe('an engine', () => {
  test('uses what is remembered, as if it was given', async () => {
    const device = await deviceNamed('has a calibration');
    const { store, asked, name } = storeFor(device, 'small');
    const options = { curve: smallCurve, device, calibrate: 'first-use', calibrationStore: store } as const;
    const engine = await createMsmEngine({ ...options, tuning });
    expect(asked).toEqual([name]);
    expect(engine.stats).toMatchObject({ calibration: 'remembered', done: 0 });
    const bases = await engine.loadBases(points);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(gpuRunOf(engine).tuning.walkerSlots).toBe(5);
    // knobs that are set by hand have precedence
    const other = await createMsmEngine({ ...options, tuning: { ...tuning, walkerSlots: 3 } });
    const others = await other.loadBases(points);
    expect(await other.msm(others, scalars)).toEqual(expected);
    expect(gpuRunOf(other).tuning.walkerSlots).toBe(3);
    for (const each of [engine, other]) each.destroy();
  });

  test('with a calibration asks for no other', async () => {
    const device = await deviceNamed('is given a calibration');
    const calibration = { tuning: { walkerSlots: 7 } } as unknown as NonNullable<MsmEngineOptions['calibration']>;
    const engine = await createMsmEngine({
      ...{ curve: smallCurve, device, calibration, tuning },
      ...{ calibrate: 'first-use', calibrationStore: untouched },
    });
    const bases = await engine.loadBases(points);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(gpuRunOf(engine).tuning.walkerSlots).toBe(7);
    expect(engine.stats.calibration).toBe('none');
    engine.destroy();
  });

  test('on a software adapter or without a GPU asks for nothing and measures nothing', async () => {
    const device = await deviceNamed('llvmpipe');
    const options = { curve: smallCurve, calibrate: 'first-use', calibrationStore: untouched } as const;
    const engine = await createMsmEngine({ ...options, device, tuning });
    const cpu = await createMsmEngine({ ...options, backend: 'cpu', maxWorkers: 0 });
    for (const each of [engine, cpu]) {
      expect(await each.msm(await each.loadBases(points), scalars)).toEqual(expected);
    }
    const compiled = vi.spyOn(device, 'createShaderModule');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect([engine, cpu].map(({ stats }) => stats.calibration)).toEqual(['none', 'none']);
    expect(compiled).not.toHaveBeenCalled();
    for (const each of [engine, cpu]) each.destroy();
  });

  test('measures when it is idle, for the engines after it', { tags: 'long' }, async () => {
    const device = await deviceNamed('is measured');
    compileOneWalk(device);
    const { store, name } = storeFor(device, 'another curve');
    const told = vi.spyOn(store, 'set');
    const options = { curve: smallCurve, device, tuning, calibrate: 'first-use', calibrationStore: store } as const;
    const engine = await createMsmEngine(options);
    const bases = await engine.loadBases(points);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(engine.stats.calibration).toBe('none');
    await vi.waitFor(() => expect(engine.stats.calibration).toBe('measuring'), 5000);
    // a call ends it, and is right
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    await vi.waitFor(() => expect(engine.stats.calibration).toBe('none'), 5000);
    await vi.waitFor(() => expect(engine.stats.calibration).toBe('measured'), 60_000);
    expect(told).toHaveBeenCalledOnce();
    expect(told.mock.calls[0]?.[0]).toBe(name?.replace('another curve', 'small'));
    const second = await createMsmEngine(options);
    expect(second.stats.calibration).toBe('remembered');
    expect(await second.msm(await second.loadBases(points), scalars)).toEqual(expected);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    for (const each of [engine, second]) each.destroy();
  });

  test('that is destroyed while it measures ends its own device', async () => {
    const { gpu, devices } = await leaseGpu(undefined, { vendor: 'is destroyed' });
    const store = { get: async () => null, set: () => expect.fail('told') };
    const engine = await createMsmEngine({
      ...{ curve: smallCurve, gpu, tuning },
      ...{ calibrate: 'first-use', calibrationStore: store },
    });
    const [{ device }] = devices as [LeasedDevice];
    compileOneWalk(device);
    expect(await engine.msm(await engine.loadBases(points), scalars)).toEqual(expected);
    await vi.waitFor(() => expect(engine.stats.calibration).toBe('measuring'), 5000);
    engine.destroy();
    expect((await device.lost).reason).toBe('destroyed');
    await vi.waitFor(() => expect(engine.stats.calibration).toBe('none'), 10_000);
    expect(devices).toHaveLength(1);
  });
});

describe('the options', () => {
  test('name what is wrong', async () => {
    const device = await getDevice();
    const create = (options: object) => createMsmEngine({ curve: smallCurve, device, ...options });
    await expect(create({ calibrate: true })).rejects.toThrow("calibrate must be 'first-use', got true");
    const stores = [7, 'indexedDB', {}, { get: async () => null }];
    for (const calibrationStore of stores) {
      const error = { code: 'bad-argument', message: expect.stringContaining('calibrationStore must be { get, set }') };
      await expect(create({ calibrate: 'first-use', calibrationStore })).rejects.toMatchObject(error);
      const options = { calibrate: 'first-use', calibrationStore } as never;
      await expect(readAccelerateOptions(options)).rejects.toMatchObject(error);
    }
    await expect(readAccelerateOptions({ calibrate: 'always' } as never)).rejects.toThrow('calibrate must be');
  });

  test('reach the engines of accelerate and of keys', async () => {
    const device = await deviceNamed('proves');
    const { store, asked, name } = storeFor(device, 'bn254');
    const options = { device, calibrate: 'first-use', calibrationStore: store } as const;
    const engines = new ProverEngines(await readAccelerateOptions(options), noCounts());
    const g1 = await engines.get('bn254', 'g1');
    const g2 = await engines.get('bn254', 'g2');
    expect([g1, g2].map(({ stats }) => stats.calibration)).toEqual(['remembered', 'none']);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toBe(name);
    engines.destroy();
    expect(keySettingsOf(readOptions(keyOptions, { ...options } as ProvingKeyOptions)).ofEngines).toEqual(options);
  });
});
