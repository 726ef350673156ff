/** Vectors of a proving key on two backends, and the way from one to the other. */
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { FieldEngine, FieldVector } from '../../src/api/fields.js';
import { MsmError, type MsmErrorCode } from '../../src/errors.js';
import { openProvingKeyWith as openFflonk } from '../../src/fflonk/open-proving-key.js';
import { openProvingKeyWith as openGroth16 } from '../../src/groth16/open-proving-key.js';
import { createMsmEngine } from '../../src/index.js';
import { openProvingKeyWith as openPlonk } from '../../src/plonk/open-proving-key.js';
import type { EngineOptions } from '../../src/proofs/api.js';
import { KeyVectors } from '../../src/proofs/key-vectors.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { ffCurveOf, makeStatement, sameDraws, withSameRandomness } from '../support/proving.js';

/** A GPU that says that it is none of software; the library knows nothing of its speed. */
const hardware = { vendor: 'a GPU', architecture: '', device: '', description: '' };

/** The GPU computes all sums, and vectors with them. */
const onGpu = { cpuBelow: 0, walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };

interface Loaded {
  readonly fr: FieldEngine;
  readonly numbers: FieldVector;
}

const load = async (fr: FieldEngine): Promise<Loaded> => ({ fr, numbers: await fr.load([3n, 5n, 7n, 11n]) });

const open = async (
  options: EngineOptions,
  { said, loadInto = load }: { said?: Partial<GPUAdapterInfo>; loadInto?: typeof load } = {},
) => {
  const { gpu, devices } = await leaseGpu(undefined, said);
  const g1 = await createMsmEngine({ curve: 'bn254', gpu, tuning: onGpu, ...options });
  const bases = await g1.loadBases([{ x: 1n, y: 2n, infinity: false }]);
  const vectors = await KeyVectors.open('bn254', g1, options, loadInto, undefined);
  /** Squares the numbers. @returns where */
  const square = (before: (fr: FieldEngine) => void = () => undefined, signal = new AbortController().signal) =>
    vectors.compute({ bases, lengths: 1 }, signal, async ({ fr, numbers }) => {
      const squares = await fr.run((ops) => ops.keep(ops.multiply(numbers, numbers)));
      before(fr);
      expect((await fr.read(squares)).filter((_, i) => i % 32 === 0)).toEqual(Uint8Array.of(9, 25, 49, 121));
      squares.destroy();
      return fr.lastRun?.on;
    });
  const close = (): void => {
    vectors.destroy();
    g1.destroy();
  };
  return { vectors, square, devices, [Symbol.dispose]: close };
};

const failing =
  (code: MsmErrorCode, on: 'gpu' | 'cpu' = 'gpu') =>
  (fr: FieldEngine): void => {
    if (fr.lastRun?.on === on) throw new MsmError(code, 'injected');
  };

describe('vectors of a key', () => {
  test.each([
    ['a software adapter', {}, {}, 'cpu'],
    ['another GPU', {}, { said: hardware }, 'gpu'],
    ['another GPU that is not wanted', { backend: 'cpu' }, { said: hardware }, 'cpu'],
    ['a software adapter that is wanted', { backend: 'gpu' }, {}, 'gpu'],
  ] as const)('with %s', async (_, options, about, expected) => {
    using key = await open(options, about);
    await key.vectors.loading;
    expect(await key.square()).toBe(expected);
  });

  test('are on the CPU while the GPU is loading', async () => {
    using key = await open({}, { said: hardware });
    expect(await key.square()).toBe('cpu');
    await key.vectors.loading;
    expect(await key.square()).toBe('gpu');
  });

  test('are on the CPU where sums are', async () => {
    using key = await open({ tuning: {} }, { said: hardware });
    await key.vectors.loading;
    expect(await key.square()).toBe('cpu');
  });

  test('are on the CPU if the GPU does not take them', async () => {
    const loads: FieldEngine[] = [];
    const loadInto = (fr: FieldEngine): Promise<Loaded> => {
      loads.push(fr);
      if (loads.length === 2) throw new MsmError('out-of-memory', 'injected');
      return load(fr);
    };
    using key = await open({}, { said: hardware, loadInto });
    await key.vectors.loading;
    expect(await key.square()).toBe('cpu');
    expect(loads.length).toBe(2);
    await expect(load(loads[1] as FieldEngine)).rejects.toMatchObject({ code: 'destroyed' });
  });

  test.each(['internal', 'device-lost', 'out-of-memory'] as const)(
    'stay on the CPU after a failure with code %s',
    async (code) => {
      using key = await open({}, { said: hardware });
      await key.vectors.loading;
      expect(await key.square(failing(code))).toBe('cpu');
      expect(await key.square()).toBe('cpu');
    },
  );

  test('move to the CPU for all proofs that the failure meets', async () => {
    using key = await open({}, { said: hardware });
    await key.vectors.loading;
    expect(await Promise.all([key.square(failing('internal')), key.square(), key.square()])).toEqual(
      expect.arrayContaining(['cpu']),
    );
    expect(await key.square()).toBe('cpu');
  });

  test('move to the CPU when the device is lost', async () => {
    using key = await open({}, { said: hardware });
    await key.vectors.loading;
    (key.devices[0] as LeasedDevice).takeAway('at once');
    expect(await key.square()).toBe('cpu');
  });

  test('stay where they are after other errors, and no abort is followed by work', async () => {
    using key = await open({}, { said: hardware });
    await key.vectors.loading;
    await expect(key.square(failing('bad-argument'))).rejects.toMatchObject({ code: 'bad-argument' });
    const ending = new AbortController();
    const abort = (fr: FieldEngine): void => {
      ending.abort();
      failing('internal')(fr);
    };
    await expect(key.square(abort, ending.signal)).rejects.toMatchObject({ code: 'internal' });
    await expect(key.square(failing('internal', 'cpu'))).resolves.toBe('gpu');
  });

  test('may be destroyed while they are loading', async () => {
    using key = await open({}, { said: hardware });
    key.vectors.destroy();
    await key.vectors.loading;
    await expect(key.square()).rejects.toMatchObject({ code: 'destroyed' });
  });
});

describe('a proof', () => {
  afterAll(async () => (await ffCurveOf('bn254')).terminate());

  const outOfMemory = (lease: LeasedDevice): void => lease.report('out-of-memory', 'injected');
  const lost = (lease: LeasedDevice): void => lease.takeAway('at once');
  test.each([
    ['groth16', 'on the GPU', null, () => undefined],
    ['groth16', 'when the GPU is out of memory', 'ntt', outOfMemory],
    ['groth16', 'when it is lost in the sum of the quotient', 'scalars', lost],
    ['plonk', 'on the GPU', null, () => undefined],
    ['plonk', 'when the GPU is out of memory', 'prefixProduct', outOfMemory],
    ['fflonk', 'on the GPU', null, () => undefined],
    ['fflonk', 'when the GPU is out of memory', 'prefixProduct', outOfMemory],
  ] as const)('of %s has the bytes of snarkjs %s', { tags: 'long' }, async (system, _, failsAt, fail) => {
    const { zkey, circuit, prove } = await makeStatement(system, 'bn254', 6, 'dense', 'example');
    const theirs = await withSameRandomness('bn254', prove);
    const passes: string[] = [];
    const { gpu } = await leaseGpu((lease) => {
      lease.tap = (call) => {
        if (call.method === 'beginComputePass') passes.push(call.label);
        // the first such pass is of the self-test
        if (call.label === failsAt && passes.filter((label) => label === failsAt).length === 2) fail(lease);
        return call.proceed();
      };
    }, hardware);
    const opening = vi.spyOn(KeyVectors, 'open');
    const openKey = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk }[system];
    using key = await openKey(zkey.data, { gpu, tuning: onGpu }, sameDraws());
    const opened = opening.mock.results[0] as { readonly value: ReturnType<typeof KeyVectors.open> };
    await (await opened.value).loading;
    const parts: number[] = [];
    expect(await key.prove(circuit.witness, { onProgress: ({ done }) => parts.push(done) })).toEqual(theirs);
    expect(parts).toEqual(system === 'groth16' ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3, 4, 5]);
    expect(passes).toContain(failsAt ?? 'scalars');
    opening.mockRestore();
  });
});
