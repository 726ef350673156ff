/**
 * Transforms of arkworks' radix-2 domains, kept in tests/vectors with the program that makes them.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { getDevice } from '../support/gpu.js';

interface Transforms {
  readonly software: string;
  readonly fields: readonly {
    readonly curve: string;
    readonly p: string;
    readonly generator: string;
    readonly coefficients: readonly string[];
    readonly sizes: readonly {
      readonly n: number;
      readonly values: readonly string[];
      readonly onCoset: readonly string[];
      readonly inverse: readonly string[];
    }[];
  }[];
}

const path = fileURLToPath(new URL('../vectors/transforms.json', import.meta.url));
const { software, fields } = JSON.parse(readFileSync(path, 'utf8')) as Transforms;

const decimals = async (fr: FieldEngine, vector: FieldVector): Promise<string[]> => {
  const bytes = await fr.read(vector);
  return Array.from({ length: vector.length }, (_, i) =>
    String(
      bytes
        .subarray(i * fr.numberBytes, (i + 1) * fr.numberBytes)
        .reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n),
    ),
  );
};

const expectSame = async ({ p, generator, coefficients, sizes }: Transforms['fields'][number], device?: GPUDevice) => {
  const coset = BigInt(generator);
  using fr = await createFieldEngine({ field: { p: BigInt(p), generator: coset }, ...(device && { device }) });
  for (const { n, values, onCoset, inverse } of sizes) {
    const a = await fr.load(coefficients.slice(0, n).map(BigInt));
    const made = await fr.run((ops) => {
      const there = ops.keep(ops.ntt(a));
      const moved = ops.keep(ops.ntt(a, { coset }));
      return { there, moved, inverse: ops.keep(ops.intt(a)), back: ops.keep(ops.intt(moved, { coset })) };
    });
    expect(await decimals(fr, made.there), `${n}`).toEqual(values);
    expect(await decimals(fr, made.moved), `${n}`).toEqual(onCoset);
    expect(await decimals(fr, made.inverse), `${n}`).toEqual(inverse);
    expect(await decimals(fr, made.back), `${n}`).toEqual(coefficients.slice(0, n));
  }
};

describe(`transforms are those of ${software}`, () => {
  test.each(fields)('in the scalar field of $curve, on the CPU', (field) => expectSame(field));

  test.each(fields)('in the scalar field of $curve, on the GPU', { tags: 'long' }, async (field) =>
    expectSame(field, await getDevice()),
  );

  test('whose primes are those of the named fields', async () => {
    for (const { curve, p } of fields) {
      using fr = await createFieldEngine({ field: `${curve}-fr` as 'bn254-fr' });
      expect(String(fr.p)).toBe(p);
    }
  });
});
