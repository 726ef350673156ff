import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { DecomposeConfig } from '../../src/msm/stages/decompose.js';
import { Entry, Level } from '../../src/msm/stages/entry.js';
import { importConfig } from '../../src/msm/stages/import.js';
import { PartitionConfig } from '../../src/msm/stages/partition.js';
import { ReduceConfig } from '../../src/msm/stages/reduce.js';
import { SortConfig } from '../../src/msm/stages/sort.js';
import { WalkConfig } from '../../src/msm/stages/walk.js';
import { struct } from '../../src/shaders/kernel.js';
import { getDevice } from '../support/gpu.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

const structs = [
  DecomposeConfig,
  Entry,
  importConfig(curveContext(bn254)),
  Level,
  PartitionConfig,
  ReduceConfig,
  SortConfig,
  WalkConfig,
] as const;
type AnyStruct = (typeof structs)[number];
/** Common type of all structs, for tests that go through all of them. */
const asAny = (s: AnyStruct) => s as ReturnType<typeof struct<string>>;

/** The members that WGSL declares, read back from the text rather than from the description. */
const declared = (wgsl: string): { name: string; members: string[] } => {
  const [, name = '', body = ''] = /^struct (\w+) \{\n(.*)\}\n$/s.exec(wgsl) ?? [];
  const members = body
    .trimEnd()
    .split('\n')
    .map((line) => /^ {2}(\w+): u32, \/\/.*$/.exec(line)?.[1] ?? `not a member: ${line}`);
  return { name, members };
};

describe.each(structs.map((s) => [s.name, asAny(s)] as const))('%s', (name, s) => {
  test('declaration and packer have the same members in the same order', () => {
    expect(declared(s.wgsl)).toEqual({ name, members: s.fields });
    expect(s.byteLength).toBe(4 * s.fields.length);
    const values = Object.fromEntries(s.fields.map((field, i) => [field, 100 + i]));
    expect([...s.pack(values)]).toEqual(s.fields.map((_, i) => 100 + i));
  });

  test('unpack is the inverse of pack, at any index', () => {
    const value = fc.record(
      Object.fromEntries(s.fields.map((field) => [field, fc.integer({ min: 0, max: 0xffffffff })])),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (list) => {
        const words = Uint32Array.from(list.flatMap((values) => [...s.pack(values as Record<string, number>)]));
        list.forEach((values, i) => {
          expect(s.unpack(words, i)).toEqual({ ...values });
        });
      }),
      { numRuns: 50, seed: 1 },
    );
  });

  test.each([-1, 2 ** 32, 0.5, Number.NaN, Number.POSITIVE_INFINITY, undefined as unknown as number])(
    'refuses %s in any field, and names the field',
    (wrong) => {
      for (const field of s.fields) {
        const values = { ...Object.fromEntries(s.fields.map((each) => [each, 0])), [field]: wrong };
        expect(() => s.pack(values)).toThrow(`${name}.${field} must be a u32, got ${wrong}`);
      }
    },
  );
});

test('the ends of the range of a u32 pass', () => {
  const s = struct('Ends', { low: '', high: '' });
  expect([...s.pack({ low: 0, high: 0xffffffff })]).toEqual([0, 0xffffffff]);
});

test('the order of the values given to pack has no effect', () => {
  const s = struct('Order', { first: '', second: '' });
  expect([...s.pack({ second: 2, first: 1 })]).toEqual([1, 2]);
});

test('a shader reads by name what the packer wrote, in uniform and in storage memory', async () => {
  const device = await getDevice();
  // every field of every struct, from a uniform and from the second element of an array
  for (const each of structs) {
    const s = asAny(each);
    const reads = s.fields.map(
      (field, i) => `result[${2 * i}] = one.${field}; result[${2 * i + 1}] = many[1].${field};`,
    );
    const code = `${s.wgsl}
      @group(0) @binding(0) var<uniform> one: ${s.name};
      @group(0) @binding(1) var<storage, read> many: array<${s.name}>;
      @group(0) @binding(2) var<storage, read_write> result: array<u32>;
      @compute @workgroup_size(1) fn main() { ${reads.join('\n')} }`;
    const values = (from: number) => s.pack(Object.fromEntries(s.fields.map((field, i) => [field, from + i])));
    const [, , result] = await runKernel(
      device,
      await compileKernel(device, code, 'main'),
      [
        { data: values(1000), usage: 'uniform' },
        { data: Uint32Array.from([...values(2000), ...values(3000)]) },
        { data: new Uint32Array(2 * s.fields.length) },
      ],
      [1],
    );
    expect([...(result as Uint32Array)], s.name).toEqual(s.fields.flatMap((_, i) => [1000 + i, 3000 + i]));
  }
});
