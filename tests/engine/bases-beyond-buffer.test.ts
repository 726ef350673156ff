/** Bases that no buffer of the device holds: the CPU keeps them, unless the GPU alone is to compute. */
import { afterAll, describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import { createFieldEngine } from '../../src/fields.js';
import { openProvingKey } from '../../src/groth16.js';
import { createMsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { leaseDevice } from '../support/leased-gpu.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';

const MOST_BYTES = 2 ** 20;
const COUNT = MOST_BYTES / 64 + 1;

/** A device that says that its buffers hold no more than `maxBufferSize` bytes. */
const deviceOf = async (maxBufferSize: number): Promise<GPUDevice> => {
  const { limits } = await getDevice();
  const said = new Proxy(limits, {
    get: (target, name) => (name === 'maxBufferSize' ? maxBufferSize : Reflect.get(target, name, target)),
  });
  return (await leaseDevice({ limits: said })).device;
};

const open = async (options: Partial<MsmEngineOptions>) =>
  createMsmEngine({
    ...{ curve: 'bn254', device: await deviceOf(MOST_BYTES) },
    ...options,
    // small sums go to the CPU, so that the software adapter is used at all
    tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 16, ...options.tuning },
  });

const bases = makeKnownBases(bn254G1, COUNT, 51);
const scalars = makeRandomScalars(bn254G1, COUNT, 52);
const expected = expectedMsm(bn254G1, bases.logs, scalars);

describe('bases beyond one buffer of the device', () => {
  const areKept = async (backend: 'auto' | 'both', options: Partial<MsmEngineOptions>): Promise<void> => {
    const engine = await open({ backend, ...options });
    expect(engine.backends).toContain('gpu');
    const loaded = await engine.loadBases(bases.bytes, { precompute: 2 });
    expect(loaded.byteLength).toBe(0);
    expect(await engine.plan(loaded, COUNT)).toEqual({ bytes: 0, submits: 0, predicted: null });
    expect(await engine.msm(loaded, scalars)).toEqual(expected);
    expect(engine.lastRun?.on).toBe('cpu');
    const later = scalars.slice(COUNT - 100);
    const sum = await engine.msm(loaded, later, { offset: COUNT - 100 });
    expect(sum).toEqual(expectedMsm(bn254G1, bases.logs.slice(COUNT - 100), later));
    engine.destroy();
  };
  const title = 'are kept and multiplied by the CPU with backend %s and %o';
  test.each([['auto', {}]] as const)(title, areKept);
  test.each([
    ['both', {}],
    ['auto', { retainBases: false }],
  ] as const)(title, { tags: 'long' }, areKept);

  test('are multiplied by vectors that the device has', async () => {
    const engine = await open({});
    const loaded = await engine.loadBases(bases.bytes);
    const fr = await createFieldEngine({ deviceOf: engine });
    const vector = await fr.load(scalars);
    expect(await engine.msm(loaded, vector)).toEqual(expected);
    expect(engine.lastRun?.on).toBe('cpu');
    fr.destroy();
    engine.destroy();
  });

  test.each([{ backend: 'gpu' }, { tuning: { cpuBelow: 0 } }] as const)('are refused with %o', async (options) => {
    const engine = await open(options);
    await expect(engine.loadBases(bases.bytes)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('16384 of these 16385 points fit. To go on, load at most 16384'),
    });
    engine.destroy();
  });

  test('are refused where only their tables do not fit', async () => {
    const engine = await open({});
    await expect(engine.loadBases(bases.bytes.slice(64), { precompute: 2 })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('precompute less'),
    });
    engine.destroy();
  });
});

test('a key with a section beyond one buffer proves', async () => {
  const { zkey, circuit, verify } = await makeStatement('groth16', 'bn254', 7, 'dense');
  const sectionBytes = 128 * 128;
  using key = await openProvingKey(zkey.data, {
    device: await deviceOf(sectionBytes / 2),
    tuning: { cpuBelow: 2 ** 16 },
  });
  expect(await verify(await key.prove(circuit.witness))).toBe(true);
});
afterAll(async () => (await ffCurveOf('bn254')).terminate());
