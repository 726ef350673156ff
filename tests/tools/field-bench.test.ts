/**
 * field-bench: every kernel it times is right first, on two fields; a device that computes wrongly
 * gets no numbers.
 */
import { describe, expect, test } from 'vitest';
import { batchInversions } from '../../dev/field-bench/batch-inverse/kernel.js';
import { libraryOperations, peakOperations } from '../../dev/field-bench/kernels.js';
import { type FieldBenchOptions, fieldBench } from '../../dev/field-bench/run.js';
import { bls12381 } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { modulus } from '../../src/field/modulus.js';
import { getDevice, getGpu } from '../support/gpu.js';

const batches = batchInversions(4);

const options = async (): Promise<FieldBenchOptions> => ({
  threads: 100,
  chains: [1, 3],
  reps: 1,
  // the other products have their own test, tests/tools/field-bench-variants.test.ts
  operations: libraryOperations,
  leastMs: 1,
  features: (await getGpu()).wgslLanguageFeatures as ReadonlySet<string>,
});

const measures = (_: string, p: bigint): void => {
  test('every operation is checked, and has a rate', { tags: 'long' }, async () => {
    const said: string[] = [];
    const result = await fieldBench(await getDevice(), modulus(p), {
      ...(await options()),
      onProgress: (text) => said.push(text),
    });
    const rates = result.rows.map(({ variant, operation, chains }) => `${variant} ${operation} ${chains}`);
    expect(result.skipped).toEqual([]);
    expect(rates).toEqual(
      libraryOperations.flatMap(({ variant, name, alone }) =>
        (alone ? [1] : [1, 3]).map((chains) => `${variant} ${name} ${chains}`),
      ),
    );
    expect(result.peaks.map(({ operation }) => operation)).toContain(peakOperations[0]?.name);
    for (const { perSecond } of [...result.rows, ...result.peaks]) expect(perSecond).toBeGreaterThan(0);
    for (const { operation, ofPeak } of result.rows) {
      expect(ofPeak !== null).toBe(operation === 'product' || operation === 'square');
    }
    expect(result.copyBytesPerSecond).toBeGreaterThan(0);
    expect(said.at(-1)).toBe('repetition 1 of 1');
  });
};
describe.each([['BN254', bn254.p]] as const)('the base field of %s', measures);
describe.each([['BLS12-381', bls12381.p]] as const)('the base field of %s', { tags: 'long' }, measures);

test('batches of inversions are checked, and have rates', { tags: 'long' }, async () => {
  const result = await fieldBench(await getDevice(), modulus(bn254.p), {
    ...(await options()),
    operations: [],
    batches,
  });
  expect(result.batches.map(({ batch }) => batch)).toEqual(batches);
  for (const { perSecond } of result.batches) expect(perSecond).toBeGreaterThan(0);
  expect(result.rows).toEqual([]);
});

test('a device that multiplies wrongly is reported, and gets no rates', async () => {
  const device = await getDevice({ label: 'wrong' });
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create({ ...descriptor, code: descriptor.code.replace('x0 = product(x0, y)', 'x0 = product(x0, x0)') });
  await expect(fieldBench(device, modulus(bn254.p), await options())).rejects.toThrow(
    /^WRONG: product \(13-bit, plain\), 1 chains/,
  );
});

test('a device that inverts wrongly in batches is reported', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'wrong' });
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create({
      ...descriptor,
      code: descriptor.code.replace('batch_put(0u, inverse)', 'batch_put(0u, inverse_of_product)'),
    });
  const options4 = { ...(await options()), operations: [], batches: batches.filter(({ size }) => size === 4) };
  await expect(fieldBench(device, modulus(bn254.p), options4)).rejects.toThrow(
    /^WRONG: batch inversion, thread \(14-bit signed, float\), 4 chains, thread/,
  );
});
