/**
 * field-bench: every kernel it times is right first, on two fields; a device that computes wrongly
 * gets no numbers.
 */
import { describe, expect, test } from 'vitest';
import { fieldOperations, peakOperations } from '../../dev/field-bench/kernels.js';
import { type FieldBenchOptions, fieldBench } from '../../dev/field-bench/run.js';
import { bls12381 } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { modulus } from '../../src/field/modulus.js';
import { getDevice, getGpu } from '../support/gpu.js';

const options = async (): Promise<FieldBenchOptions> => ({
  threads: 100,
  chains: [1, 3],
  reps: 1,
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
      fieldOperations.flatMap(({ variant, name, alone }) =>
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

test('a device that multiplies wrongly is reported, and gets no rates', async () => {
  const device = await getDevice({ label: 'wrong' });
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create({ ...descriptor, code: descriptor.code.replace('x0 = product(x0, y)', 'x0 = product(x0, x0)') });
  await expect(fieldBench(device, modulus(bn254.p), await options())).rejects.toThrow(
    /^WRONG: product \(13-bit, plain\), 1 chains/,
  );
});
