/**
 * Every shader that an engine can ask for compiles, at the limits that every device has: on Dawn's
 * null backend, which checks all that a browser would and executes nothing, in milliseconds. Each
 * as src/ has it, and as the built package does: the same tokens.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckKernels, checkKernels, watch } from '../../dev/checks/kernels.js';
import { bls12381, p256Curve, secp192r1 } from '../../dev/oracle/curves.js';
import { closeGpu, openGpu } from '../../scripts/adapter/open-gpu.mjs';
import { bn254 } from '../../src/curves/bn254.js';
import { type AnyCurve, type Curve, curveContext, withProduct } from '../../src/curves/curve.js';
import { bls12377G2, bn254G2 } from '../../src/curves/pairing-friendly.js';
import { type FieldProduct, modulus } from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { fieldKernels } from '../../src/fields/gpu/open-vectors.js';
import { pipelineFor } from '../../src/gpu/device.js';
import { gpuKnobs, softwareKnobs } from '../../src/msm/plan/device-profiles.js';
import { resolveTuning } from '../../src/msm/plan/tuning.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { createKernels, type Kernels } from '../../src/msm/stages/kernels.js';
import { programKernel } from '../../src/msm/stages/program.js';
import { scaleKernel } from '../../src/msm/stages/scale.js';
import { type TablesKernels, tablesKernels } from '../../src/msm/stages/tables.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { builtLibrary, withKernels } from '../support/build-library.js';

const folder = await builtLibrary(withKernels);
const built: typeof import('../support/all-kernels.js') = await import(
  /* @vite-ignore */ pathToFileURL(join(folder, 'kernels.js')).href
);

const builtExtension: { quadraticField: typeof quadraticField } = await import(
  /* @vite-ignore */ pathToFileURL(join(folder, 'quadratic.js')).href
);

let device: GPUDevice;
const uncaught: string[] = [];

beforeAll(async () => {
  const adapter = await openGpu(['backend=null']).requestAdapter();
  // no limits asked for: the defaults of the specification
  device = (await adapter?.requestDevice()) as GPUDevice;
  device.addEventListener('uncapturederror', ({ error }) => uncaught.push(error.message));
});
afterAll(() => {
  device?.destroy();
  closeGpu();
  expect(uncaught, 'errors outside the scopes of the library').toEqual([]);
});

/** 412 bits, the widest modulus that 32 limbs hold; no prime, which no shader notices. */
const widest: Curve = {
  ...bn254,
  name: 'widest',
  p: 2n ** 412n - 2n ** 100n - 1n,
  generator: { x: 1n, y: 2n },
};
/** The defaults of WebGPU. */
const limits = {
  additionsPerMs: null,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16384,
};
const pairingCurves: readonly AnyCurve[] = [bn254, bls12381, bn254G2, bls12377G2];
const curves: AnyCurve[] = [bn254, bls12381, p256Curve, secp192r1, widest, bn254G2, bls12377G2];

/** Bytes of all variables that a shader keeps in an address space. */
const bytesIn = (space: 'workgroup' | 'private', { source }: Kernel, fieldBytes: number): number => {
  const sizes: Record<string, number> = {
    u32: 4,
    'atomic<u32>': 4,
    'vec2<u32>': 8,
    'vec4<u32>': 16,
    Packed: fieldBytes,
    Point: 2 * fieldBytes,
  };
  const constant = (text: string): number => {
    const value = /^(\d+)u?$/.exec(text)?.[1] ?? new RegExp(`const ${text} = (\\d+)u;`).exec(source)?.[1];
    if (value === undefined) throw new Error(`what is ${text}?`);
    return Number(value);
  };
  const declared = [...source.matchAll(new RegExp(`var<${space}> \\w+: (.*);`, 'g'))].map(([, type = '']) => {
    const [, element = type, length = '1'] = /^array<([\w<>]+), (\w+)>$/.exec(type) ?? [];
    const size = sizes[element];
    if (size === undefined) throw new Error(`how large is a ${type}?`);
    return size * constant(length);
  });
  return declared.reduce((sum, bytes) => sum + bytes, 0);
};

/** Those that loading with `precompute`, or of compressed points, and setups take, too. */
type AllKernels = Kernels & {
  tables(): TablesKernels;
  program(): Kernel;
  checks(): CheckKernels;
  scale(): Kernel;
  xyzz(): readonly Kernel[];
};

/** The kernels of a curve, as src/ makes them and as the built package does. */
interface TwoBuilds {
  readonly own: AllKernels;
  readonly shipped: AllKernels;
  /**
   * Whether what is shipped is compiled as well: the same tokens are the same to a compiler, which
   * one curve is enough to show.
   */
  readonly compilesBoth: boolean;
}

const products = ['unsigned', 'dot4', 'fma'] as const;

/** Returns the kernels of walks with extended coordinates. */
const xyzzKernels = (kernels: Kernels, checks: CheckKernels): readonly Kernel[] => [
  ...[false, true].map((instrumented) => kernels.walkXyzz({ threads: 64, instrumented })),
  kernels.normalize(),
  ...Object.values(checks),
];

const twoBuilds = (constants: AnyCurve, product: FieldProduct = 'unsigned'): TwoBuilds => {
  const curve = withProduct(curveContext(constants, quadraticField), product);
  const { nonResidue } = constants;
  const coordinates =
    nonResidue === undefined ? curve.coordinates : builtExtension.quadraticField(curve.field, nonResidue);
  const shipped = { ...curve, coordinates };
  return {
    own: {
      ...createKernels(curve, watch),
      tables: () => tablesKernels(curve),
      program: () => programKernel(curve),
      scale: () => scaleKernel(curve),
      checks: () => checkKernels(curve, 'affine'),
      xyzz: () => xyzzKernels(createKernels(curve, watch), checkKernels(curve, 'xyzz')),
    },
    shipped: {
      ...built.createKernels(shipped, built.watch),
      tables: () => built.tablesKernels(shipped),
      program: () => built.programKernel(shipped),
      scale: () => built.scaleKernel(shipped),
      checks: () => built.checkKernels(shipped, 'affine'),
      xyzz: () => xyzzKernels(built.createKernels(shipped, built.watch), built.checkKernels(shipped, 'xyzz')),
    },
    compilesBoth: constants === bn254 || constants === bn254G2,
  };
};

/** Returns the tokens of a source: words, numbers, operators; neither comments nor white space. */
const tokensOf = (source: string): readonly string[] =>
  source.replace(/\/\/.*$/gm, '').match(/\w+(\.\w+)?|<<|>>|&&|\|\||->|\+\+|--|[-+*/%&|^=!<>]=|[^\s\w]/g) ?? [];

const compileKernels = async (
  { own, shipped, compilesBoth }: TwoBuilds,
  kernelsOf: (kernels: AllKernels) => readonly Kernel[],
  fieldBytes: number,
): Promise<void> => {
  const small = kernelsOf(shipped);
  for (const [i, kernel] of kernelsOf(own).entries()) {
    await checkKernel(kernel, fieldBytes);
    const { source, bindings } = small[i] as Kernel;
    if (compilesBoth) await checkKernel({ ...kernel, source }, fieldBytes);
    expect(bindings).toEqual(kernel.bindings);
    expect(tokensOf(source)).toEqual(tokensOf(kernel.source));
    expect(source.length).toBeLessThan(kernel.source.length);
  }
};

const checkKernel = async (kernel: Kernel, fieldBytes: number): Promise<void> => {
  const { source, bindings } = kernel;
  expect(source).not.toMatch(/\{\{|\}\}|undefined|NaN|\[object/);
  expect(bindings.filter(({ access }) => access !== 'uniform').length).toBeLessThanOrEqual(8);
  expect(source.match(/var<(storage|uniform)/g)).toHaveLength(bindings.length);
  expect(bytesIn('workgroup', kernel, fieldBytes)).toBeLessThanOrEqual(16384);
  // the layout is made from the same list as the declarations; Dawn compares it with what the
  // shader uses
  expect(await pipelineFor(device, kernel)).toBeTruthy();
};

const first: readonly AnyCurve[] = [bn254];
/** Threads and slots: lengths of arrays and loops, whatever the curve. The first curve has all. */
const moreShapes = [
  [1, 64],
  [16, 16],
  [256, 1],
  [256, 2],
] as const;

const compiles = (_: string, constants: AnyCurve): void => {
  const curve = curveContext(constants, quadraticField);
  const builds = twoBuilds(constants);
  const kernels = builds.own;
  const { bytes } = curve.coordinates;

  test.each(products)('import, tables, programs, checks and a walk compile, %s products', (product) => {
    const shape = { prefixMemory: 'private', threads: 64, slots: 8 } as const;
    return compileKernels(
      twoBuilds(constants, product),
      (kernels) => [
        ...[kernels.importPoints(), kernels.program(), kernels.walk(shape)],
        ...[...Object.values(kernels.tables()), ...Object.values(kernels.checks())],
      ],
      bytes,
    );
  });
  // it takes the endomorphism of y² = x³ + b
  test.each(pairingCurves.includes(constants) ? products : [])('scale compiles, %s products', (product) =>
    compileKernels(twoBuilds(constants, product), (kernels) => [kernels.scale()], bytes),
  );
  test.each(products)('walks with extended coordinates compile, %s products', (product) =>
    compileKernels(twoBuilds(constants, product), (kernels) => kernels.xyzz(), bytes),
  );
  test('decompose and digest compile', () =>
    compileKernels(builds, (kernels) => [kernels.decompose(), kernels.digest()], bytes));

  describe.each(['private', 'workgroup'] as const)('walk with %s prefixes', (prefixMemory) => {
    const isSound = async (threads: number, slots: number): Promise<void> => {
      // what an engine makes of these knobs
      const knobs = { walkerPrefixMemory: prefixMemory, walkerThreadsPerWorkgroup: threads, walkerSlots: slots };
      const tuning = resolveTuning(
        fullWorkload(1000, curve),
        curve,
        { ...limits, knobs: gpuKnobs, product: 'unsigned' },
        knobs,
      );
      const shape = { prefixMemory, threads: tuning.walkerThreadsPerWorkgroup, slots: tuning.walkerSlots };
      await compileKernels(
        builds,
        (kernels) => [kernels.walk(shape), kernels.walk({ ...shape, instrumented: true })],
        bytes,
      );
      const expected = prefixMemory === 'workgroup' ? shape.threads * shape.slots * bytes : 0;
      expect(bytesIn('workgroup', kernels.walk(shape), bytes)).toBe(expected);
    };
    test.each([
      [1, 1],
      [64, 8],
      [3, 5],
      [256, 64],
    ])('%i threads of %i slots', isSound);
    test.each(first.includes(constants) ? moreShapes : [])('%i threads of %i slots', { tags: 'long' }, isSound);
  });

  test.each(products)(
    'the most slots keep to the 8 KB of private memory that WGSL promises, %s products',
    (product) => {
      const of = withProduct(curve, product);
      const { walk } = createKernels(of, watch);
      for (const prefixMemory of ['private', 'workgroup'] as const) {
        const knobs = { walkerSlots: 64, walkerThreadsPerWorkgroup: 1, walkerPrefixMemory: prefixMemory };
        const { walkerThreadsPerWorkgroup: threads, walkerSlots: slots } = resolveTuning(
          fullWorkload(64, of),
          of,
          { ...limits, knobs: softwareKnobs, product },
          knobs,
        );
        const kernel = walk({ prefixMemory, threads, slots, instrumented: true });
        expect(bytesIn('private', kernel, bytes)).toBeLessThanOrEqual(8192);
      }
    },
  );

  test.each([true, false])(
    'the defaults keep to the 8 KB of private memory that WGSL promises, software: %s',
    (software) => {
      const { walkerThreadsPerWorkgroup: threads, walkerSlots: slots } = resolveTuning(
        fullWorkload(2 ** 16, curve),
        curve,
        { ...limits, knobs: software ? softwareKnobs : gpuKnobs, product: 'unsigned' },
        {},
      );
      expect(bytesIn('private', kernels.walk({ prefixMemory: 'private', threads, slots }), bytes)).toBeLessThanOrEqual(
        8192,
      );
    },
  );
};

const named = curves.map((curve) => [curve.name, curve] as const);
describe.each(named.filter(([, curve]) => first.includes(curve)))('%s', compiles);
describe.each(named.filter(([, curve]) => !first.includes(curve)))('%s', { tags: 'long' }, compiles);

describe('kernels for all curves', () => {
  const builds = twoBuilds(bn254);
  test('partition compiles', () => compileKernels(builds, (kernels) => [kernels.partition()], 32));
  test('reduce compiles', () => compileKernels(builds, (kernels) => [kernels.reduce()], 32));

  test.each([
    [1, 1, 64],
    [1, 256, 64],
    [8, 256, 32],
    [64, 256, 64],
    [64, 17, 64],
    [128, 16, 32],
    [128, 16, 64],
    [7, 13, 64],
  ])('sort with %i threads of %i entries and %i bins', async (threads, perThread, bins) => {
    await compileKernels(builds, (kernels) => Object.values(kernels.sort({ threads, perThread, bins })), 32);
    // its counters are 8 bits wide and count the entries of 8 threads, or 16 bits and a tile
    expect(perThread <= 16 ? 8 * perThread : threads * perThread).toBeLessThan(perThread <= 16 ? 2 ** 8 : 2 ** 16);
  });
});

test('a field of more than 414 bits is rejected', () => {
  expect(modulus(2n ** 414n - 17n).bits).toBe(414);
  expect(() => modulus(2n ** 414n + 1n)).toThrow('a 415-bit modulus is too large');
});

test('a shader that does not compile is an error with the kernel, the line and the message', async () => {
  const kernel: Kernel = {
    name: 'broken',
    source: '@compute @workgroup_size(1)\nfn broken() {\n  let a: u32 = 1.5;\n}\n',
    bindings: [],
  };
  await expect(pipelineFor(device, kernel)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringMatching(/broken does not compile: line 3: [\s\S]*let a: u32 = 1\.5;/),
  });
});

test('a layout that does not fit the shader is an error, and so is a shader beyond the limits', async () => {
  // the size also makes every source another one: pipelines are known by their source
  const sized = (size: number, access: 'read' | 'write'): Kernel => ({
    name: 'main',
    source: `@group(0) @binding(0) var<storage, read_write> data: array<u32>;
      @compute @workgroup_size(${size}) fn main() { data[0] = 1u; }`,
    bindings: [{ name: 'data', access, type: 'array<u32>' }],
  });
  expect(await pipelineFor(device, sized(256, 'write'))).toBeTruthy();
  await expect(pipelineFor(device, sized(255, 'read'))).rejects.toMatchObject({ code: 'internal' });
  await expect(pipelineFor(device, sized(257, 'write'))).rejects.toMatchObject({ code: 'internal' });
});

test('a kernel is compiled once for a device, and a failure is not remembered', async () => {
  const kernel = createKernels(curveContext(bn254)).partition();
  expect(pipelineFor(device, kernel)).toBe(pipelineFor(device, { ...kernel }));
  const broken: Kernel = { name: 'broken', source: 'fn', bindings: [] };
  const first = pipelineFor(device, broken);
  await expect(first).rejects.toThrow();
  const second = pipelineFor(device, broken);
  expect(second).not.toBe(first);
  await expect(second).rejects.toThrow();
});

describe('shaders avoid WGSL that compilers for D3D and Metal fail on', () => {
  const kernels = createKernels(curveContext(bn254));
  const walk = kernels.walk({ prefixMemory: 'private', threads: 16, slots: 4 });
  const { double, spread } = tablesKernels(curveContext(bn254));
  const program = programKernel(curveContext(bn254));
  const xyzz = kernels.walkXyzz({ threads: 16 });
  const scale = scaleKernel(curveContext(bn254));
  const all = [
    ...[kernels.importPoints(), spread, double, program, walk, xyzz, scale],
    ...[kernels.normalize(), kernels.decompose(), kernels.partition()],
  ];

  test.each(all)('$name has no switch', ({ source }) => {
    expect(source).not.toMatch(/\bswitch\b/);
  });

  test.each([walk, double, scale, kernels.normalize()])(
    '$name has no constant number of inversion steps',
    ({ source }) => {
      expect(source).toMatch(/let batches = \d+u \+ unseen_zero;/);
      expect(source).toContain('batch < batches');
      // a field of a uniform that is far below 2^31
      expect(source).toMatch(/unseen_zero = config\.(level|points|sums) >> 31u;/);
    },
  );

  // naga 30 declares a name for each operand of dot4U8Packed in the Metal that it writes
  test.each([bn254, bn254G2])('only one function of $name calls dot4U8Packed', (constants) => {
    const curve = withProduct(curveContext(constants, quadraticField), 'dot4');
    const { source } = createKernels(curve).walk({ prefixMemory: 'private', threads: 64, slots: 8 });
    expect(source.match(/dot4U8Packed\(.*\)/g)).toEqual(['dot4U8Packed(a, b)']);
    expect(source).toMatch(/fn (prime_)?dot4\(a: u32, b: u32\) -> u32 \{\s*return dot4U8Packed\(a, b\);\s*\}/);
    expect(source.match(/\bdot4\(|prime_dot4\(/g)?.length).toBeGreaterThan(500);
  });

  test('the import has no constant number of inversion steps', () => {
    expect(kernels.importPoints().source).toMatch(/let steps = 5u \+ \(config\.points >> 31u\);/);
  });
});

describe('kernels for vectors', () => {
  const primes = [
    ['64 bits', 2n ** 64n - 2n ** 32n + 1n],
    ['254 bits', bn254.order],
    ['412 bits', widest.p],
  ] as const;
  test.each(products.flatMap((product) => primes.map(([name, p]) => [name, product, p] as const)))(
    'compile for a field of %s, %s products',
    async (_, product, p) => {
      const field = modulus(p, product);
      const { digest: _digest, ...ofVectors } = fieldKernels(field, 256);
      for (const make of Object.values(ofVectors)) await checkKernel(make(), field.bytes);
    },
  );
});
