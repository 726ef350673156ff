/** Setups that compute multiples of points on a GPU: the bytes of the CPU, which are those of snarkjs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bn254G1, makeKnownBases } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { writePoint } from '../../src/curves/point-source.js';
import { openZkey } from '../../src/formats.js';
import { scaleConfigure, scaleOperation } from '../../src/msm/gpu/scale-operation.js';
import { scalarDigits } from '../../src/msm/stages/scale.js';
import { Call } from '../../src/scheduling/call.js';
import type { DeviceView } from '../../src/session/operation.js';
import { openScaler, type Scaler } from '../../src/setup/open-scaler.js';
import { applyBeacon, applyBeaconToPowers, newKey, newPowers, preparePhase2 } from '../../src/setup.js';
import { captureGpu } from '../support/captured-gpu.js';
import { getDevice } from '../support/gpu.js';
import { endCurves, ffCurveOf, type ProverCurve, powersOf } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { expectSame, quiet } from '../support/setups.js';

const beacon = { beacon: '0102030405060708', iterations: 10 } as const;

afterAll(endCurves);

const makeKey = async (curve: ProverCurve): Promise<Uint8Array> => {
  const { r } = await ffCurveOf(curve);
  const shape = { publicInputs: 2, privateInputs: 3, constraints: 20, seed: 7n };
  const { r1cs } = randomCircuit(BigInt(r), shape);
  return newKey({ system: 'groth16', r1cs, ptau: await powersOf(curve, 5, 63, true) }, quiet);
};

const compares = (curve: ProverCurve): void => {
  it('multiplies the points of a key', async () => {
    const key = await makeKey(curve);
    const ours = await applyBeacon(key, beacon, { ...quiet, backend: 'gpu', device: await getDevice() });
    const theirs = await applyBeacon(key, beacon, { ...quiet, backend: 'cpu' });
    expectSame(ours.zkey, theirs.zkey);
    expectSame(ours.hash, theirs.hash);
  });

  it('multiplies powers of tau, and prepares them', { tags: 'long' }, async () => {
    const onGpu = { ...quiet, backend: 'gpu', device: await getDevice() } as const;
    const first = await newPowers({ curve, power: 3 }, quiet);
    const ours = await applyBeaconToPowers(first, beacon, onGpu);
    const theirs = await applyBeaconToPowers(first, beacon, quiet);
    expectSame(ours.ptau, theirs.ptau);
    expectSame(ours.hash, theirs.hash);
    expectSame(await preparePhase2(ours.ptau, onGpu), await preparePhase2(theirs.ptau, quiet));
    // powers of one: equal points, and infinity
    expectSame(await preparePhase2(first, onGpu), await preparePhase2(first, quiet));
  });
};

describe('a GPU, on bn254', () => compares('bn254'));
describe('a GPU, on bls12-381', { tags: 'long' }, () => compares('bls12-381'));

describe('a GPU that is asked for', () => {
  const commits = async (system: 'plonk' | 'fflonk'): Promise<void> => {
    const { r } = await ffCurveOf('bn254');
    const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 2, privateInputs: 3, constraints: 20, seed: 8n });
    const ptau = await powersOf('bn254', 10, 2 ** 11 - 1, false);
    let submits = 0;
    const { gpu, devices } = await captureGpu((device) => {
      const submit = device.queue.submit.bind(device.queue);
      device.queue.submit = (buffers) => {
        submits++;
        submit(buffers);
      };
    });
    const expected = await newKey({ system, r1cs, ptau }, { ...quiet, backend: 'cpu', gpu });
    expectSame(await newKey({ system, r1cs, ptau }, { ...quiet, gpu }), expected);
    expect(devices).toHaveLength(0);
    expectSame(await newKey({ system, r1cs, ptau }, { ...quiet, backend: 'gpu', gpu }), expected);
    expect(submits).toBeGreaterThan(0);
    expect(await devices[0]?.lost).toMatchObject({ reason: 'destroyed' });
    await expect(newKey({ system, r1cs, ptau }, { ...quiet, backend: 'gpu' })).rejects.toMatchObject({
      code: 'no-webgpu',
    });
  };
  it('commits to the polynomials of PLONK', () => commits('plonk'));
  it('commits to the polynomials of FFLONK', { tags: 'long' }, () => commits('fflonk'));
});

describe('a setup that asks for a GPU', () => {
  let key: Uint8Array;
  beforeAll(async () => {
    key = await makeKey('bn254');
  });

  it('destroys the device that it opened, and not that of the caller', async () => {
    const { gpu, devices } = await captureGpu();
    await applyBeacon(key, beacon, { ...quiet, backend: 'gpu', gpu });
    expect(devices).toHaveLength(1);
    expect(await devices[0]?.lost).toMatchObject({ reason: 'destroyed' });
    const device = await getDevice();
    let isLost = false;
    void device.lost.then(() => {
      isLost = true;
    });
    await applyBeacon(key, beacon, { ...quiet, backend: 'gpu', device });
    await device.queue.onSubmittedWorkDone();
    expect(isLost).toBe(false);
  });

  it('refuses a point off the curve as the CPU does', async () => {
    const device = await getDevice();
    const zkey = await openZkey(key);
    if (zkey.protocol !== 'groth16') throw new Error('the key is one of Groth16');
    const bytes = await zkey.sections.c.points(0, 1);
    const at = key.findIndex((_, i) => bytes.every((byte, k) => key[i + k] === byte));
    expect(at).toBeGreaterThan(0);
    for (const byte of [0x01, 0xff]) {
      const spoilt = key.slice();
      // a coordinate that is another number below p, and one that is not below p
      if (byte === 0xff) spoilt.fill(byte, at, at + 32);
      else spoilt[at] = (spoilt[at] as number) ^ byte;
      const seen = [
        { ...quiet, backend: 'gpu' as const, device },
        { ...quiet, backend: 'cpu' as const },
      ].map((options) =>
        applyBeacon(spoilt, beacon, options).then(
          () => 'accepted',
          (error: Error) => error.message,
        ),
      );
      const [ours, theirs] = await Promise.all(seen);
      expect(ours).toBe(theirs);
      expect(ours).toContain('not on the curve');
    }
  });

  it('ends when it is aborted, and the next one computes', async () => {
    const ended = new AbortController();
    const { gpu } = await captureGpu((device) => {
      const submit = device.queue.submit.bind(device.queue);
      device.queue.submit = (buffers) => {
        ended.abort();
        submit(buffers);
      };
    });
    const call = applyBeacon(key, beacon, { ...quiet, backend: 'gpu', gpu, signal: ended.signal });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    const device = await getDevice();
    expectSame(
      (await applyBeacon(key, beacon, { ...quiet, backend: 'gpu', device })).zkey,
      (await applyBeacon(key, beacon, quiet)).zkey,
    );
  });

  it('fails without WebGPU, and names wrong options', async () => {
    await expect(applyBeacon(key, beacon, { ...quiet, backend: 'gpu' })).rejects.toMatchObject({ code: 'no-webgpu' });
    const wrong = { ...quiet, backend: 'fast' } as unknown as typeof quiet;
    await expect(applyBeacon(key, beacon, wrong)).rejects.toThrow("backend must be 'auto' or 'cpu' or 'gpu'");
    const device = {} as GPUDevice;
    await expect(applyBeacon(key, beacon, { ...quiet, backend: 'gpu', device })).rejects.toThrow(
      'device must be a GPUDevice',
    );
  });
});

describe('the operation', () => {
  const curve = curveContext(bn254);
  const points = (count: number): Uint32Array => {
    const words = new Uint32Array(count * curve.pointWords);
    for (const [i, { x, y }] of makeKnownBases(bn254G1, count, 5).points.entries())
      writePoint(curve, words, i, { x, y });
    return words;
  };

  it('divides points into steps, and sends the scalars of each', async () => {
    const scaler: Scaler = await openScaler({ device: await getDevice() });
    // a software adapter takes the least points of a step
    const count = 2 * 2 ** 10 + 3;
    const some = points(8);
    const words = new Uint32Array(count * curve.pointWords);
    for (let i = 0; i < count; i++) words.set(some.subarray((i % 8) * 16, (i % 8) * 16 + 16), 16 * i);
    const multipliers = Array.from({ length: 40 }, (_, i) => BigInt(i));
    const which = Uint32Array.from({ length: count }, (_, i) => Math.floor((i * 40) / count));
    const scaling = { points: words, scale: 1n, which, multipliers, scales: [1n, 2n] };
    const [plain, doubled] = (await scaler.multiply(curve, scaling, undefined)) as Uint32Array[];
    await scaler.destroy();
    for (const i of [0, 1, 1023, 1024, 1025, 2047, 2048, count - 1]) {
      const { Point } = bn254G1;
      const { x, y } = makeKnownBases(bn254G1, 8, 5).points[i % 8] as { x: bigint; y: bigint };
      const product = Point.fromAffine({ x, y }).multiplyUnsafe(BigInt(which[i] as number));
      const expected = new Uint32Array(2 * curve.pointWords);
      if (!product.is0()) {
        const { x, y } = product.toAffine();
        writePoint(curve, expected, 0, { x, y });
        writePoint(curve, expected, 1, { x: (2n * x) % curve.p, y: (2n * y) % curve.p });
      }
      expect(plain?.subarray(16 * i, 16 * i + 16)).toEqual(expected.subarray(0, 16));
      expect(doubled?.subarray(16 * i, 16 * i + 16)).toEqual(expected.subarray(16));
    }
  });

  it('clears the digits of the scalars on the device after their last use', () => {
    const adapter = { vendor: '', architecture: '', device: '', description: '', software: true };
    const setup = scaleConfigure(curve).make({ device: {} as GPUDevice, owned: false, adapter, hasDot4: false });
    const device = { setup, adapter } as DeviceView<typeof setup>;
    const input = {
      points: points(2),
      scale: 1n,
      which: Uint32Array.of(0, 0),
      digits: scalarDigits(curve, [123456789n]),
      scales: [1n],
    };
    const [step] = scaleOperation.plan(input, device, new Call()) as readonly {
      first: number;
      count: number;
      submits: number;
    }[];
    const { commands } = scaleOperation.record(input, step as NonNullable<typeof step>, device, new Call(), null);
    const uses = commands.flatMap((command, i) =>
      command.kind === 'dispatch' && Object.values(command.bindings).some(({ buffer }) => buffer === 'digits')
        ? [i]
        : [],
    );
    const cleared = commands.findIndex(({ kind }) => kind === 'clear');
    expect(commands[cleared]).toEqual({ kind: 'clear', slice: { buffer: 'digits' } });
    expect(cleared).toBeGreaterThan(Math.max(...uses));
    // a clear without a dispatch behind it would not be encoded
    expect(commands.slice(cleared + 1).some(({ kind }) => kind === 'dispatch')).toBe(true);
  });
});
