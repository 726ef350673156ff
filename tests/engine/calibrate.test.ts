/**
 * `calibrate` keeps only settings with right results, stores them by adapter, curve and version,
 * and makes them the defaults of an engine.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { AdapterDescription, Calibration, CalibrationStore } from '../../src/api/device.js';
import { indexedDbStore, recall, remember, rememberedName } from '../../src/calibrate/store.js';
import { calibrate } from '../../src/calibrate.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { MsmError } from '../../src/errors.js';
import { checkTuning } from '../../src/msm/plan/tuning.js';
import { fileStore } from '../../src/node.js';
import { version } from '../../src/version.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCurve } from '../support/small-curve.js';

const memoryStore = (): CalibrationStore & { readonly texts: Map<string, string> } => {
  const texts = new Map<string, string>();
  return {
    texts,
    get: async (name) => texts.get(name) ?? null,
    set: async (name, text) => {
      texts.set(name, text);
    },
  };
};

/** Fields of a calibration other than its trials. */
const blank: Omit<Calibration, 'trials'> = {
  tuning: {},
  curve: 'small',
  adapter: { vendor: '', architecture: '', device: '', description: '', software: true },
  version,
  remembered: false,
  tookMs: 1,
  compileMs: 1,
};

/** Plain copies of the limits and features that decide the key of a device. */
const like = ({ limits, features }: GPUDevice) => ({
  limits: {
    maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    maxBufferSize: limits.maxBufferSize,
    maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupSizeX: limits.maxComputeWorkgroupSizeX,
    maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
  } as GPUSupportedLimits,
  features: new Set([...features].reverse()) as GPUSupportedFeatures,
});

/** Returns the key of a result in a store. */
const nameOf = (
  adapter: AdapterDescription,
  device: Pick<GPUDevice, 'limits' | 'features'>,
  curve: string,
): string | null => rememberedName({ version, adapter, device, curve });

test('the version is that of the package', () => {
  expect(version).toBe(packageJson.version);
});

describe('calibrate on this adapter', { tags: 'long' }, () => {
  const store = memoryStore();
  let device: GPUDevice;
  let found: Calibration;
  const told: { done: number; total: number }[] = [];
  beforeAll(async () => {
    device = await getDevice({ label: 'calibrated' });
    found = await calibrate(device, { curve: smallCurve, store, onProgress: (progress) => told.push(progress) });
  }, 120_000);

  test('every setting was right, and chosen settings were faster', () => {
    expect(found.trials.length).toBeGreaterThanOrEqual(9);
    for (const { ms } of found.trials) expect(ms).toBeGreaterThan(0);
    expect(found).toMatchObject({ curve: 'small', version, remembered: false });
    expect(found.compileMs).toBeGreaterThan(0);
    expect(found.tookMs).toBeGreaterThan(found.compileMs / 4);
    expect(told.map(({ done }) => done)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(told.at(-1)?.total).toBe(12);
    // each setting once, the defaults first
    expect(found.trials[0]?.tuning).toEqual({});
    expect(new Set(found.trials.map(({ tuning }) => JSON.stringify(tuning))).size).toBe(found.trials.length);
    const time = (tuning: object): number =>
      found.trials.find((trial) => JSON.stringify(trial.tuning) === JSON.stringify(tuning))?.ms as number;
    if (Object.keys(found.tuning).length > 0) expect(time(found.tuning)).toBeLessThan(time({}));
  });

  test('the next calibration reads the stored one, and measures nothing', async () => {
    const compiled = vi.spyOn(device, 'createShaderModule');
    const again = await calibrate(device, { curve: smallCurve, store });
    expect(again).toEqual({ ...found, remembered: true });
    expect(compiled).not.toHaveBeenCalled();
    compiled.mockRestore();
    // another curve is another entry
    expect(store.texts.size).toBe(1);
    expect([...store.texts.keys()][0]).toContain(version);
  });

  test('other limits, features, curves or adapters have other entries', () => {
    const { adapter } = found;
    const names = [
      nameOf(adapter, device, 'small'),
      nameOf(adapter, device, 'another'),
      nameOf({ ...adapter, device: `${adapter.device}, the next` }, device, 'small'),
      nameOf(adapter, { ...like(device), features: new Set([...device.features, 'shader-f16']) }, 'small'),
      ...(['maxBufferSize', 'maxComputeWorkgroupStorageSize'] as const).map((limit) =>
        nameOf(adapter, { ...like(device), limits: { ...like(device).limits, [limit]: 12_345 } }, 'small'),
      ),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect([...store.texts.keys()]).toEqual([names[0]]);
    expect(nameOf(adapter, like(device), 'small')).toBe(names[0]);
  });

  test('an adapter without a name is neither stored nor found', async () => {
    const nameless = { vendor: '', architecture: '', device: '', description: '' };
    expect(nameOf({ ...nameless, software: false }, device, 'bn254')).toBe(null);
    expect(nameOf({ ...nameless, vendor: 'a vendor', software: false }, device, 'bn254')).not.toBe(null);
    const untouched = { get: () => expect.fail('asked'), set: () => expect.fail('told') };
    expect(await recall(untouched, null, { checkTuning })).toBe(null);
    await remember(untouched, null, found);
  });

  test('the result becomes the defaults of an engine, and `tuning` overrides it', async () => {
    const calibration = { ...found, tuning: { walkerSlots: 5, walkerThreadsPerWorkgroup: 32 } };
    const engine = await createMsmEngine({
      curve: smallCurve,
      device,
      calibration,
      tuning: { walkerSlots: 7, walkerThreadsPerWorkgroup: undefined as never, cpuBelow: 0 },
    });
    const bases = await engine.loadBases([{ ...smallCurve.generator, infinity: false }]);
    await engine.msm(bases, [3n]);
    expect(gpuRunOf(engine).tuning).toMatchObject({ walkerSlots: 7, walkerThreadsPerWorkgroup: 32 });
    expect(engine.pipelines.map(({ name }) => name)).toContain('walk');
    for (const { ms } of engine.pipelines) expect(ms).toBeGreaterThan(0);
    engine.destroy();
  });

  test('unreadable or missing entries are measured again, and a failing store is no error', async () => {
    const controller = new AbortController();
    const spoilt: CalibrationStore[] = [
      { get: async () => 'no JSON', set: async () => undefined },
      {
        get: async () => JSON.stringify({ trials: [{ tuning: {}, ms: 1 }], tuning: { walkerSlots: 1e9 } }),
        set: async () => undefined,
      },
      { get: () => Promise.reject(new Error('gone')), set: () => Promise.reject(new Error('gone')) },
    ];
    for (const store of spoilt) {
      const onProgress = () => controller.abort();
      const measured = calibrate(device, { curve: smallCurve, store, signal: controller.signal, onProgress });
      // it had begun to measure, and could be stopped
      await expect(measured).rejects.toMatchObject({ code: 'aborted' });
    }
  });
});

describe('calibrate on a faulty device', () => {
  test('a setting with wrong results is excluded', { tags: 'long' }, async () => {
    const device = await getDevice({ label: 'wrong floats' });
    const create = device.createShaderModule.bind(device);
    // products by floats take half of 2^48
    device.createShaderModule = (descriptor) =>
      create({ ...descriptor, code: descriptor.code.replaceAll(' 281474976710656.0f)', ' 140737488355328.0f)') });
    const { trials, tuning } = await calibrate(device, { store: null, curve: smallCurve });
    const floats = trials.filter((trial) => trial.ms === null);
    expect(floats.length).toBeGreaterThan(0);
    expect(floats.every((trial) => trial.tuning.fieldProduct === 'fma')).toBe(true);
    expect(tuning.fieldProduct).not.toBe('fma');
  });

  test('if no setting works, nothing is stored', async () => {
    const device = await getDevice({ label: 'compiles nothing' });
    const create = device.createShaderModule.bind(device);
    device.createShaderModule = ({ code, ...rest }) => create({ ...rest, code: `${code} fn broken() -> u32 {}` });
    const store = memoryStore();
    const { trials, tuning } = await calibrate(device, { store, curve: smallCurve });
    expect(new Set(trials.map(({ ms }) => ms))).toEqual(new Set([null]));
    expect(tuning).toEqual({});
    expect(store.texts.size).toBe(0);
    // not even where an earlier version did remember
    const calibration: Calibration = { ...blank, trials };
    expect(await recall({ ...store, get: async () => JSON.stringify(calibration) }, 'name', { checkTuning })).toBe(
      null,
    );
    const found = { ...calibration, trials: [...trials, { tuning: {}, ms: 1 }] };
    expect(await recall({ ...store, get: async () => JSON.stringify(found) }, 'name', { checkTuning })).toMatchObject({
      tuning: {},
    });
  });

  test('sizes of the search compile once', { tags: 'long' }, async () => {
    const device = await getDevice({ label: 'hardware' });
    // on a CPU there is nothing to choose
    Object.defineProperty(device, 'adapterInfo', { value: { vendor: 'a GPU' } });
    const compiled = vi.spyOn(device, 'createShaderModule');
    const mine = new Error('enough');
    const onProgress = (): never => {
      throw mine;
    };
    await expect(calibrate(device, { store: null, curve: smallCurve, onProgress })).rejects.toBe(mine);
    const labels = compiled.mock.calls.map(([{ label }]) => label);
    expect(labels.filter((label) => label === 'webgpu-msm decompose')).toHaveLength(1);
    expect(new Set(compiled.mock.calls.map(([{ code }]) => code)).size).toBe(labels.length);
  });

  test('an abort while the store is read gives neither the stored result nor a measurement', async () => {
    const device = await getDevice();
    for (const text of [JSON.stringify({ ...blank, trials: [{ tuning: {}, ms: 1 }] }), null]) {
      const controller = new AbortController();
      const get = async (): Promise<string | null> => {
        controller.abort('enough');
        return text;
      };
      const onProgress = () => expect.fail('measured');
      const call = calibrate(device, { store: { ...memoryStore(), get }, signal: controller.signal, onProgress });
      await expect(call).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    }
  });

  test('bad arguments are rejected', async () => {
    const device = await getDevice();
    await expect(calibrate({} as GPUDevice)).rejects.toThrow('device must be a GPUDevice');
    await expect(calibrate(device, null as never)).rejects.toBeInstanceOf(MsmError);
    await expect(calibrate(device, { curve: 'no such' as never })).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(calibrate(device, { signal: AbortSignal.abort('no') })).rejects.toMatchObject({ code: 'aborted' });
    await expect(createMsmEngine({ curve: 'bn254', device, calibration: 7 as never })).rejects.toThrow('calibration');
    const calibration = { tuning: { walkerSlots: 0 } } as unknown as Calibration;
    await expect(createMsmEngine({ curve: 'bn254', device, calibration })).rejects.toThrow('tuning.walkerSlots');
  });
});

describe('a file store', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'calibration-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('stores by name, in a folder that it makes', async () => {
    const path = join(folder, 'a', 'b.json');
    const store = fileStore(path);
    expect(await store.get('x')).toBe(null);
    await store.set('x', 'one');
    await store.set('y', 'two');
    await store.set('x', 'three');
    expect([await store.get('x'), await fileStore(path).get('y'), await store.get('toString')]).toEqual([
      'three',
      'two',
      null,
    ]);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ x: 'three', y: 'two' });
  });

  test('returns nothing from a file with other contents', async () => {
    for (const text of ['', '[', 'null', '7', '{"x": 7}']) {
      const path = join(folder, 'spoilt.json');
      await writeFile(path, text);
      expect(await fileStore(path).get('x')).toBe(null);
    }
  });
});

test('there is no IndexedDB in Node', () => {
  expect(indexedDbStore()).toBe(null);
});
