/** The fuzzer of vectors: programs are right on both backends, and a wrong result shows. */
import { bn254 as noble } from '@noble/curves/bn254.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { executeFields, type FieldProgram, fieldPrograms, fields, operationKinds } from '../../dev/fuzz/fields.js';
import { FieldValues } from '../../dev/oracle/field-values.js';
import { getDevice } from '../support/gpu.js';

const { Fr } = noble.fields;

test('the oracle’s transforms are the values of the polynomial at powers of a root', () => {
  const oracle = new FieldValues(Fr.ORDER);
  const a = Array.from({ length: 64 }, (_, i) => Fr.create(BigInt(i + 3) ** 60n));
  const root = Fr.pow(5n, (Fr.ORDER - 1n) / 64n);
  expect(oracle.ntt(a, {})).toEqual(a.flatMap((_, i) => oracle.evaluate(a, Fr.pow(root, BigInt(i)))));
  expect(oracle.intt(oracle.ntt(a, { to: 'reversed', coset: 9n }), { from: 'reversed', coset: 9n })).toEqual(a);
});

test('programs of one seed are the same, and have all operations', () => {
  const draw = (): FieldProgram[] => fc.sample(fieldPrograms(), { seed: 5, numRuns: 200 });
  const programs = draw();
  expect(draw()).toEqual(programs);
  expect(JSON.parse(JSON.stringify(programs))).toEqual(programs);
  const seen = new Set(programs.flatMap(({ operations }) => operations.map(({ kind }) => kind)));
  expect(seen).toEqual(new Set(operationKinds));
});

test('the oracle has the roots of unity of the library in every field of the fuzzer', async () => {
  const ntt = { kind: 'ntt', operands: [0, 0, 0], seed: 0, keeps: true, ends: false } as const;
  const loaded = [{ n: 16, from: 'random', seed: 0 }] as const;
  for (const field of fields) {
    const program = {
      field,
      arithmetic: 'auto',
      verify: false,
      workers: 0,
      shares: true,
      loaded,
      operations: [ntt],
    } as const;
    expect(await executeFields(null, program), field).toBeNull();
  }
});

test('random programs are right on the CPU', async () => {
  for (const program of fc.sample(fieldPrograms(300), { seed: 6, numRuns: 25 })) {
    expect(await executeFields(null, program), JSON.stringify(program)).toBeNull();
  }
});

test('random programs are right on the GPU', { tags: 'long' }, async () => {
  const device = await getDevice();
  const programs = fc.sample(fieldPrograms(300), { seed: 7, numRuns: 12 });
  for (const program of programs) {
    const own = { ...program, field: 'bn254-fr' };
    expect(await executeFields(device, own), JSON.stringify(own)).toBeNull();
  }
});

test('a wrong result shows', async () => {
  const [program] = fc.sample(fieldPrograms(64), { seed: 8, numRuns: 1 }) as [FieldProgram];
  const operation = { kind: 'scale', operands: [0, 0, 0], seed: 4, keeps: true, ends: false } as const;
  const spoilt: FieldProgram = { ...program, field: 'bn254-fr', operations: [operation] };
  expect(await executeFields(null, spoilt)).toBeNull();
  const scale = FieldValues.prototype.scale;
  FieldValues.prototype.scale = (a, factor) => [...a.slice(0, -1), factor + 1n];
  try {
    expect(await executeFields(null, spoilt)).toMatch(
      /^on the CPU: Error: vector 0, element \d+ of \d+: got \d+, expected/,
    );
  } finally {
    FieldValues.prototype.scale = scale;
  }
});
