/**
 * The built package in Deno: wgpu instead of Dawn, and naga, the second WGSL compiler, on every
 * shader.
 *
 * @module-tag long
 */
import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { stageChecks } from '../../dev/checks/instrument.js';
import { checkKernels } from '../../dev/checks/kernels.js';
import { bls12381, p256Curve } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type Curve, curveContext, withProduct } from '../../src/curves/curve.js';
import type { Kernel } from '../../src/shaders/kernel.js';
import { builtLibrary, withKernels } from '../support/build-library.js';
import { runDeno } from '../support/run-deno.js';
import { inProject } from '../support/run-script.js';

const N = 2 ** 10;
const REPETITIONS = 2;

/** Output of scripts/deno/check-library.mjs. */
interface Seen {
  readonly adapter: { readonly description: string; readonly software: boolean } | null;
  readonly shaders: readonly { readonly name: string; readonly complaints: readonly string[] }[];
  readonly sums: readonly { readonly x: string; readonly y: string; readonly infinity: boolean }[];
  readonly on: string;
  readonly pipelines: number;
}

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-deno-'));
const { points, scalars, expected } = makeCase({ points: 'few-with-signs', scalars: 'carry-patterns', n: N, seed: 11 });
const shaders: { readonly name: string; readonly source: string }[] = [];
let seen: Seen;

/** All that an engine may ask for on a curve, in the shapes of a GPU and of a CPU. */
type Builders = typeof import('../support/all-kernels.js');

const kernelsOf = (
  { createKernels, programKernel, scaleKernel, tablesKernels }: Builders,
  constants: Curve,
): Kernel[] => {
  const curve = curveContext(constants);
  const kernels = createKernels(curve, stageChecks.walk);
  const products = ['unsigned', 'dot4', 'fma'] as const;
  return [
    ...products.flatMap((product) => {
      const chosen = withProduct(curve, product);
      const own = createKernels(chosen, stageChecks.walk);
      return [
        own.importPoints(),
        ...Object.values(tablesKernels(chosen)),
        programKernel(chosen),
        ...(constants.a === 0n ? [scaleKernel(chosen)] : []),
        ...Object.values(checkKernels(chosen, 'affine')),
        ...Object.values(checkKernels(chosen, 'xyzz')),
        ...[false, true].map((instrumented) => own.walkXyzz({ threads: 64, instrumented })),
        own.normalize(),
        ...(['private', 'workgroup'] as const).flatMap((prefixMemory) =>
          [
            { threads: 16, slots: 4 },
            { threads: 64, slots: 1 },
          ].flatMap((shape) => [false, true].map((instrumented) => own.walk({ prefixMemory, ...shape, instrumented }))),
        ),
      ];
    }),
    kernels.decompose(),
    kernels.partition(),
    kernels.reduce(),
    ...Object.values(kernels.sort({ threads: 8, perThread: 256, bins: 64 })),
    ...Object.values(kernels.sort({ threads: 128, perThread: 16, bins: 32 })),
  ];
};

beforeAll(async () => {
  cpSync(await builtLibrary(withKernels), folder, { recursive: true });
  const built: Builders = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'kernels.js')).href);
  for (const curve of [bn254, bls12381, p256Curve]) {
    const kernels = kernelsOf(built, curve);
    shaders.push(...kernels.map(({ name, source }, i) => ({ name: `${curve.name}, ${name} (${i})`, source })));
  }
  // and one that no compiler takes, so that silence means something
  shaders.push({ name: 'wrong', source: 'fn wrong() -> u32 { return 1.5; }' });
  writeFileSync(join(folder, 'shaders.json'), JSON.stringify(shaders));
  const msm = { points: [...points.bytes], scalars: [...scalars.bytes], repetitions: REPETITIONS };
  writeFileSync(join(folder, 'msm.json'), JSON.stringify(msm));
  seen = JSON.parse(
    await runDeno(folder, ['--unstable-webgpu', '--allow-read', inProject('scripts/deno/check-library.mjs'), folder]),
  ) as Seen;
  if (seen.adapter === null) {
    throw new Error(
      'wgpu found no adapter here, so that nothing was compiled and nothing computed: start with npm test',
    );
  }
  console.log(`Deno: ${seen.shaders.length} shaders by naga, and an MSM of ${N} points on ${seen.adapter.description}`);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('naga accepts every shader, and rejects a wrong one', () => {
  expect(seen.shaders.map(({ name }) => name)).toEqual(shaders.map(({ name }) => name));
  expect(seen.shaders.length).toBeGreaterThan(100);
  expect(seen.shaders.filter(({ complaints }) => complaints.length > 0).map(({ name }) => name)).toEqual(['wrong']);
});

test('an MSM is right on the adapter of wgpu', () => {
  expect([seen.on, seen.pipelines]).toEqual(['gpu', 9]);
  const { x, y, infinity } = expected;
  const sum = { x: String(x), y: String(y), infinity };
  expect(seen.sums).toEqual(Array(REPETITIONS).fill(sum));
});

test('a file is read beyond 2^32 by `openFile`', async () => {
  // sparse: the bytes behind the first are zeros that no disk has
  writeFileSync(join(folder, 'large'), Uint8Array.of(7));
  truncateSync(join(folder, 'large'), 2 ** 32 + 3);
  const program = `import { openFile } from './node.js';
    const file = await openFile('large');
    console.log(file.byteLength, String(await file.read(0, 2)), String(await file.read(2 ** 32, 2 ** 32 + 3)));
    await file.close();`;
  writeFileSync(join(folder, 'read.mjs'), program);
  expect(await runDeno(folder, ['--allow-read', 'read.mjs'])).toBe('4294967299 7,0 0,0,0\n');
});
