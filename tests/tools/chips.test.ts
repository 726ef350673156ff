/**
 * Checks that docs/reference/chips.md describes the present kernels, compiled with the knobs that
 * the library uses for each chip.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext, withProduct } from '../../src/curves/curve.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { modulus } from '../../src/field/modulus.js';
import { fieldKernels } from '../../src/fields/gpu/open-vectors.js';
import { createKernels } from '../../src/msm/stages/kernels.js';
import { programKernel } from '../../src/msm/stages/program.js';
import { tablesKernels } from '../../src/msm/stages/tables.js';
import { type ChipName, chipNames, chips, type Figures, figuresOf } from '../../tools/isa/chips.js';
import { type ChipKernel, stageKernels, vectorKernels } from '../../tools/isa/kernels.js';
import { chipReport, docsTable, kernelsOfTable, sourcesOf, tableChips } from '../../tools/isa/report.js';
import { inProject, runNode } from '../support/run-script.js';

const page = readFileSync(inProject('docs/reference/chips.md'), 'utf8');

const kernels = new Map<ChipName, ChipKernel[]>();
beforeAll(async () => {
  for (const chip of tableChips) kernels.set(chip, await kernelsOfTable(chip));
});

test('docs/reference/chips.md describes the present kernels', async () => {
  const [, sources] = /^Made from the sources `([0-9a-f]{16})`\.$/m.exec(page) ?? [];
  const renew =
    '`npm --prefix tools/isa start -- --write` renews it; tools/isa/README.md says how to install the compilers';
  expect(sources, renew).toBe(await sourcesOf(kernels));
});

test('docs/reference/chips.md has a line for every chip and kernel', () => {
  for (const [chip, own] of kernels) {
    const [, section = ''] = page.split(`### ${chips[chip].title}\n`);
    for (const { title } of own) expect(section.split('\n### ')[0], chip).toContain(`\n| ${title} |`);
  }
});

describe('the digest of sources', () => {
  const kernel = { name: 'k', title: 'k', bindings: [] };
  const sourcesOfOne = (source: string): Promise<string> =>
    sourcesOf(new Map([['navi31', [{ ...kernel, source }]]] as const));
  const source = 'fn k() {\n  let a = 1u / 2u; // one\n}';

  test.each([
    'fn k() {\n  let a = 1u / 2u;\n}',
    'fn k() {\n  let a = 1u / 2u; // two\n\n}',
    '// what it does\nfn k() { /* nothing\n */ let a = 1u / 2u;\n}',
  ])('is the same where comments differ: %j', async (other) => {
    expect(await sourcesOfOne(other)).toBe(await sourcesOfOne(source));
  });

  test('differs if code differs', async () => {
    expect(await sourcesOfOne(source.replace('2u', '3u'))).not.toBe(await sourcesOfOne(source));
  });
});

test.each([
  ['navi31', 'dot4', 'xyzz'],
  ['sm_90', 'fma', 'xyzz'],
  ['m1', 'fma', 'affine'],
] as const)('%s compiles with its own products and coordinates, and 64 threads', async (chip, product, coordinates) => {
  const chosen = withProduct(curveContext(bn254), product);
  const ours = createKernels(chosen);
  const { count, scan, scatter } = ours.sort({
    threads: 128,
    perThread: coordinates === 'xyzz' ? 16 : 8,
    bins: 64,
  });
  const { spread, double } = tablesKernels(chosen);
  const walks =
    coordinates === 'xyzz'
      ? [ours.walkXyzz({ threads: 64, instrumented: false }), ours.normalize()]
      : [ours.walk({ prefixMemory: 'private', threads: 64, slots: 8, instrumented: false })];
  const expected = [
    ...[ours.importPoints(), ours.digest(), spread, double, programKernel(chosen), ours.decompose()],
    ...[count, scan, scatter, ours.partition(), ...walks, ours.reduce()],
  ];
  const asked = await stageKernels({ createMsmEngine }, chip, bn254, {});
  // programs and tables have arrays whose length is each chip's own
  const byName = (all: readonly { name: string; source: string }[]) =>
    new Map(
      all.filter(({ name }) => !/^(run_program|tables_double)$/.test(name)).map(({ name, source }) => [name, source]),
    );
  expect(asked.map(({ name }) => name).sort()).toEqual(expected.map(({ name }) => name).sort());
  expect(byName(asked)).toEqual(byName(expected));
});

test.each([
  ['navi31', 'dot4'],
  ['sm_90', 'fma'],
  ['dg2', 'unsigned'],
] as const)('%s compiles the kernels of vectors with its own products, and 256 threads', async (chip, product) => {
  const { digest: _, ...ours } = fieldKernels(modulus(bn254.order, product), 256);
  const expected = Object.values(ours).map((kernel) => kernel());
  const asked = await vectorKernels(chip);
  expect(asked.map(({ title }) => title)).toEqual(expected.map(({ name }) => `vectors: ${name}`));
  expect(asked.map(({ source }) => source)).toEqual(expected.map(({ source }) => source));
});

test.each([
  ['navi31', 'dot4', []],
  ['ampere', 'fma', ['program', 'tables']],
  ['adreno740', 'dot4', ['program']],
  ['m1', 'fma', ['program']],
  ['dg2', 'unsigned', ['program']],
  ['malig610', 'unsigned', []],
] as const)('%s pads the private arrays that would take its registers', async (chip, product, padded) => {
  const asked = await stageKernels({ createMsmEngine }, chip, bn254, {});
  const ours = createKernels(withProduct(curveContext(bn254), product), undefined, padded);
  const sourceOf = (name: string) => asked.find((kernel) => kernel.name === name)?.source;
  expect(sourceOf('run_program')).toBe(ours.program().source);
  expect(sourceOf('tables_double')).toBe(ours.tables().double.source);
  // elements of 32 bytes and matrices of 8, so that 1,600 bytes are reached
  expect(sourceOf('run_program')).toContain(
    `array<Packed, ${(padded as readonly string[]).includes('program') ? 50 : 12}>`,
  );
  const matrices = (padded as readonly string[]).includes('tables') ? 200 : 40;
  expect(sourceOf('tables_double')).toContain(`const MATRICES = ${matrices}u;`);
});

test('the digest depends on the knobs', async () => {
  const walkOf = async (tuning: object): Promise<string | undefined> =>
    (await stageKernels({ createMsmEngine }, 'm1', bn254, tuning)).find(({ name }) => name === 'walk')?.source;
  expect(await walkOf({ walkerSlots: 4 })).not.toBe(await walkOf({}));
});

test('rejected knobs are an error, not an empty table', async () => {
  await expect(stageKernels({ createMsmEngine }, 'navi31', bn254, { walkerSlots: 65 })).rejects.toThrow(/walkerSlots/);
});

describe('figures of drivers', () => {
  const common = { device: 'a chip', driver: 'a driver', compile_cpu_s: 1.5 };
  const amd = {
    ...common,
    ...{ Instructions: 10, VGPRs: 24, 'Spilled VGPRs': 1, 'Spilled SGPRs': 2, 'Scratch size': 64 },
    ...{ 'Subgroups per SIMD': 8, 'Inverse Throughput': 99, 'Code size': 80 },
  };
  const expected: Figures = {
    ...{ instructions: 10, registers: 24, spills: 3, memory: 64, waves: 8, cycles: 99, codeBytes: 80 },
    alone: null,
    compileSeconds: 1.5,
  };

  test.each([
    ['navi31', amd, expected],
    [
      'ampere',
      { ...common, 'Instruction count': 10, 'Number of GPRs': 33, 'SLM Size': 64, 'Code Size': 160 },
      // 33 registers are 40 as they are given out: 51 warps, and an SM has room for 48
      { ...expected, registers: 33, spills: null, waves: 48, cycles: null, codeBytes: 160 },
    ],
    [
      'dg2',
      {
        ...{ ...common, 'Instruction Count': 10, 'Max live registers': 24, 'Spill Count': 1, 'Fill Count': 2 },
        ...{ 'Scratch Memory Size': 64, 'Max dispatch width': 8, 'Cycle Count': 99 },
      },
      { ...expected, codeBytes: null },
    ],
    [
      'adreno740',
      {
        ...{ ...common, 'Instruction Count': 10, 'Registers used': 6, 'STP Count': 1, 'LDP Count': 2 },
        ...{ 'Max Waves Per Core': 16, 'Code size': 20 },
      },
      { ...expected, registers: 6, memory: null, waves: 16, cycles: null, codeBytes: 80 },
    ],
    [
      'm1',
      {
        ...{ ...common, Instructions: 10, GPRs: 24, Spills: 1, Fills: 2, Scratch: 64, Threads: 1024, ALU: 99 },
        'Code size': 80,
      },
      { ...expected, waves: 1024 },
    ],
    [
      'malig610',
      {
        ...common,
        'shader-db': '10 inst, 9.500000 cycles, 1.0 fma, 5 quadwords, 2 threads, 1 loops, 1:2 spills:fills',
      },
      { ...expected, registers: null, memory: null, waves: 2, cycles: 9.5 },
    ],
  ] as const)('%s', (chip, statistics, figures) => {
    expect(figuresOf(chip, statistics)).toEqual(figures);
  });

  test('name a figure that is missing', () => {
    expect(() => figuresOf('navi31', common)).toThrow("the driver of navi31 does not report 'Instructions'");
  });

  test('show two settings side by side with their ratio, without columns that a driver lacks', () => {
    const rows = [{ chip: 'navi31', kernel: 'walk', figures: [expected, { ...expected, registers: 12 }] }] as const;
    const text = chipReport(rows, new Map([['navi31', 'a chip; a driver']])).join('\n');
    expect(text).toMatch(/walk +10 +24 → 12 ×0\.50/);
    const nvidia = [{ chip: 'ampere', kernel: 'walk', figures: [{ ...expected, cycles: null }, null] }] as const;
    const other = chipReport(nvidia, new Map([['ampere', '']])).join('\n');
    expect(other).not.toContain('cycles');
    expect(other).toMatch(/walk +10 → –/);
  });

  test('have a table with a line for every kernel, and one for the kernel on each chip', () => {
    const rows = [{ chip: 'navi31', kernel: 'walk', figures: [expected] }] as const;
    const text = docsTable('0123456789abcdef', rows, new Map([['navi31', 'a chip; a driver']]));
    expect(text).toContain('| walk | 99 |');
    expect(text).toContain('| walk | 10 | 24 | 3 | 64 | 8 | 99 | 80 | 1.5 |');
  });
});

test('every chip has a maker whose figures can be parsed', () => {
  expect(tableChips.every((chip) => chipNames.includes(chip))).toBe(true);
  for (const chip of chipNames) expect(() => figuresOf(chip, {})).toThrow(/does not report/);
});

test('without the compilers the command says how to install them', async () => {
  const env = { ...process.env, GPU_COMPILERS_DIR: '/nowhere' };
  const outcome = await runNode([inProject('tools/isa/main.mjs')], { cwd: inProject('.'), env, timeout: 60_000 });
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain('tools/isa/compilers/setup.sh');
});
