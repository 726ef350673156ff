/** `verify` of vectors: right results pass, and wrong ones that nothing else shows are found. */
import { afterEach, describe, expect, test } from 'vitest';
import { createFieldEngine, type FieldEngine, type FieldEngineOptions, type FieldVector } from '../../src/fields.js';
import { getDevice } from '../support/gpu.js';
import { type LeasedDevice, leaseDevice } from '../support/leased-gpu.js';

const engines: FieldEngine[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
});

const open = async (options: FieldEngineOptions): Promise<FieldEngine> => {
  const engine = await createFieldEngine(options);
  engines.push(engine);
  return engine;
};

const numbersOf = (n: number, p: bigint): bigint[] =>
  Array.from({ length: n }, (_, i) => (i % 7 === 3 ? p - 1n : BigInt(i) ** 9n % p));

/** Computes with vectors in many ways, and returns all numbers. */
const compute = async (fr: FieldEngine, n: number, options: { verify?: boolean } = {}): Promise<Uint8Array[]> => {
  const a = await fr.load(numbersOf(n, fr.p));
  const entries = { rows: 3, columns: n, row: [0, 0, 2], column: [0, n - 1, 1 % n], values: [3n, 5n, 7n] };
  const matrix = await fr.loadMatrix(entries);
  const made = await fr.run((ops) => {
    const values = ops.ntt(a, { coset: 7n });
    const reversed = ops.ntt(a, { to: 'reversed' });
    return [
      ops.intt(values, { coset: 7n }),
      ops.intt(ops.multiply(reversed, ops.negate(reversed)), { from: 'reversed' }),
      ops.multiplySubtract(values, a, reversed),
      ops.scalePowers(ops.subtract(values, a), 11n, { factor: 3n }),
      ops.invert(values),
      ops.prefixProduct(a),
      ops.divideByLinear(ops.pad(values, n + 1), 5n),
      ops.linearCombination([
        [2n, a],
        [fr.p - 1n, values],
      ]),
      ops.apply(matrix, a),
      ops.gather(a, [n - 1, 0]),
    ].map((each) => ops.keep(each));
  }, options);
  const read: Uint8Array[] = [];
  for (const each of made) read.push(await fr.read(each));
  for (const each of [a, matrix, ...made]) each.destroy();
  return read;
};

test.each([1, 2, 64, 512, 2048])('right results of %i elements are verified', async (n) => {
  const [gpu, cpu] = [await open({ device: await getDevice() }), await open({ backend: 'cpu' })];
  const found = await compute(gpu, n, { verify: true });
  expect(gpu.lastRun).toMatchObject({ on: 'gpu', verified: true });
  const expected = await compute(cpu, n);
  expect(cpu.lastRun).toMatchObject({ on: 'cpu', verified: true });
  expect(found.map((each, i) => Buffer.compare(each, expected[i] as Uint8Array))).toEqual(found.map(() => 0));
  gpu.trim();
  expect(gpu.memory.used).toBe(0);
});

/**
 * Fills the output of the dispatch before a pass with zeros.
 *
 * @param isMeant chooses among the passes of that name, by their number
 */
const clearBefore = (
  lease: LeasedDevice,
  name: string,
  times: number,
  isMeant: (pass: number) => boolean = () => true,
): { count: number } => {
  let passes = 0;
  const strikes = { count: 0 };
  let encoder: GPUCommandEncoder | null = null;
  let dispatched: GPUBindingResource[] = [];
  lease.tap = (call) => {
    if (call.method === 'createCommandEncoder') {
      encoder = call.proceed() as GPUCommandEncoder;
      return encoder;
    }
    // the first runs of an engine make all bind groups
    if (call.method === 'createBindGroup') {
      const [{ entries }] = call.args as [{ entries: GPUBindGroupEntry[] }];
      dispatched = entries.map(({ resource }) => resource);
    }
    const isNamed = call.method === 'beginComputePass' && call.label === name;
    if (!isNamed || !isMeant(passes++) || strikes.count === times) return call.proceed();
    strikes.count++;
    // the output and the chain are the last two
    const { buffer, offset, size } = dispatched.at(-2) as Required<GPUBufferBinding>;
    encoder?.clearBuffer(buffer, offset, size);
    return call.proceed();
  };
  return strikes;
};

describe('a result that is wrong and accounted for', () => {
  const run = async (fr: FieldEngine, a: FieldVector, options: { verify?: boolean | number }) => {
    const made = await fr.run(
      (ops) => ops.keep(ops.multiply(ops.add(a, a), ops.linearCombination([[1n, a]]))),
      options,
    );
    const low = [...(await fr.read(made))].filter((_, i) => i % 32 === 0);
    made.destroy();
    return low;
  };
  const expected = [2, 8, 18, 32];

  test.each([
    ['is returned without a check', false],
    ['is found by a check, and computed again', true],
  ])('%s', async (_, verify) => {
    const lease = await leaseDevice();
    const fr = await open({ device: lease.device });
    const a = await fr.load([1n, 2n, 3n, 4n]);
    const strikes = clearBefore(lease, 'multiply', 1);
    const found = await run(fr, a, { verify });
    if (verify) expect(found).toEqual(expected);
    else expect(found).not.toEqual(expected);
    expect([strikes.count, fr.lastRun?.verified]).toEqual([1, verify]);
  });

  test('is rejected if it is wrong again', async () => {
    const lease = await leaseDevice();
    const fr = await open({ device: lease.device, verify: true });
    const a = await fr.load([1n, 2n, 3n, 4n]);
    const { used } = fr.memory;
    // of two evaluations an attempt, the first is wrong
    const strikes = clearBefore(lease, 'multiply', 3, (pass) => pass % 2 === 0);
    await expect(run(fr, a, {})).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('a second evaluation gives another result'),
    });
    expect(strikes.count).toBe(2);
    lease.tap = (call) => call.proceed();
    expect(fr.memory.used).toBe(used);
    expect(await run(fr, a, {})).toEqual(expected);
  });
});

test('what is no probability is refused', async () => {
  const fr = await open({ backend: 'cpu' });
  const refusal = { code: 'bad-argument', message: expect.stringContaining('verify must be true, false or a number') };
  await expect(fr.run(() => undefined, { verify: 2 })).rejects.toMatchObject(refusal);
  await expect(createFieldEngine({ verify: 'yes' as never })).rejects.toMatchObject(refusal);
});
