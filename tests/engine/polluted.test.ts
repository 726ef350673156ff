/**
 * Options are never read from `Object.prototype`: each has a value there that would be rejected.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { calibrate } from '../../src/calibrate.js';
import { bn254 } from '../../src/curves/bn254.js';
import { openFile, pointSection } from '../../src/formats/source.js';
import { openGnarkSrs } from '../../src/formats.js';
import { createMsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { tuningChoices, tuningRanges } from '../../src/msm/plan/tuning.js';
import { readAccelerateOptions } from '../../src/provers/accelerate-options.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 9, seed: 3 });

let polluted: string | null = null;
const pollute = (name: string, value: unknown = Symbol('polluted')): void => {
  polluted = name;
  // not enumerable, as the test runner and Dawn have loops of their own
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
};
afterEach(() => {
  if (polluted !== null) delete (Object.prototype as unknown as Record<string, unknown>)[polluted];
  polluted = null;
});

const ofEngines = [
  ...['group', 'device', 'backend', 'maxWorkers', 'createWorker', 'deviceOf', 'gpu', 'powerPreference', 'memoryBudget'],
  ...['deviceBudget', 'sharing', 'calibration', 'calibrate', 'calibrationStore', 'tuning', 'retainBases', 'retries'],
  ...['verify', 'maxQueued'],
  ...['onEvent', 'selfTest'],
];
const inside = ['overlap', 'merge', 'keep', 'sidePool', 'throttle', 'yieldWhile', 'calls', 'bytes'];
const ofCalls = ['label', 'offset', 'offsets', 'precompute', 'checkSubgroup', 'encoding', 'scalarEncoding', 'result'];
const ofAllCalls = [...ofCalls, 'priority', 'deadline', 'signal', 'onProgress'];
const ofCurves = ['nonResidue', 'encodings', 'membership'];
const knobs = ['instrument', ...Object.keys(tuningChoices), ...Object.keys(tuningRanges)];

const computes = async (options: Partial<MsmEngineOptions>): Promise<void> => {
  const engine = await createMsmEngine({ curve: 'bn254', maxWorkers: 0, ...options });
  const bases = await engine.loadBases(points.bytes, {});
  expect(await engine.msm(bases, scalars.bytes, {})).toEqual(expected);
  expect(await engine.msmBatch(bases, [scalars.bytes])).toEqual([expected]);
  const loaded = await engine.loadScalars(scalars.bytes);
  expect(await engine.msm(bases, loaded)).toEqual(expected);
  engine.destroy();
};

describe('no option is inherited', () => {
  test.each([...new Set([...ofEngines, ...inside, ...ofAllCalls, ...ofCurves, ...knobs])])('%s', async (name) => {
    pollute(name);
    await computes({ backend: 'cpu', ...(name === 'maxWorkers' && { maxWorkers: 0 }) });
    await computes({ backend: 'cpu', curve: { ...bn254 }, sharing: {}, maxQueued: {}, tuning: {} });
  });

  test('knob cpuBelow on a device: the CPU computes a small MSM', async () => {
    const device = await getDevice();
    const plain = await createMsmEngine({ curve: 'bn254', device });
    pollute('cpuBelow', 0);
    const engine = await createMsmEngine({ curve: 'bn254', device });
    expect(engine.backends).toEqual(plain.backends);
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(engine.lastRun?.on).toBe('cpu');
    for (const each of [plain, engine]) each.destroy();
  });

  test.each([
    ['fieldProduct', 'fma'],
    ['walkerSlots', 3],
    ['additionsPerSubmit', 1024],
  ] as const)('knob %s on a device', async (name, value) => {
    const device = await getDevice();
    pollute(name, value);
    const engine = await createMsmEngine({ curve: 'bn254', device, backend: 'gpu' });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    expect(gpuRunOf(engine).tuning[name]).not.toBe(value);
    engine.destroy();
  });

  test.each(['basesBudget', 'leastPoints', 'singleThread', 'signal', 'onWarning', 'backend', 'verify'])(
    'accelerate does not inherit %s',
    async (name) => {
      pollute(name);
      expect(await readAccelerateOptions({})).toMatchObject({
        basesBudget: undefined,
        leastPoints: 64,
        singleThread: false,
      });
    },
  );

  test.each(['store', 'again', 'signal', 'onProgress', 'group'])('calibrate does not inherit %s', async (name) => {
    const device = await getDevice();
    pollute(name, Symbol('polluted'));
    const aborted = AbortSignal.abort();
    // gets as far as the signal of its own, and looks at no store
    const options = { signal: aborted, ...(name !== 'store' && { store: null }) };
    await expect(calibrate(device, options)).rejects.toMatchObject({ code: 'aborted' });
  });

  test.each(['from', 'to', 'chunkBytes'])('chunks do not inherit %s', async (name) => {
    const at = { name: 'A', curve: 'bn254', group: 'g1', encoding: 'le', count: 9, pointBytes: 64, at: 0 } as const;
    const section = pointSection(openFile('file', points.bytes), at);
    pollute(name);
    for await (const chunk of section.chunks()) expect(chunk).toEqual(points.bytes);
  });

  test('openGnarkSrs inherits no option', async () => {
    pollute('curve');
    await expect(openGnarkSrs(new Uint8Array(1))).rejects.toThrow(/must have more than 4 bytes/);
  });
});
