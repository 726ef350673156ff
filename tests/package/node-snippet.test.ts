/**
 * The README's program for Node, word for word, in a project that has the package: with an adapter,
 * and without any driver.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildLibrary } from '../support/build-library.js';
import { inProject, type Outcome, runNode } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-node-'));

beforeAll(async () => {
  const program = /```js\n(\/\/ msm\.mjs\n.*?)```/s.exec(readFileSync(inProject('README.md'), 'utf8'))?.[1];
  writeFileSync(join(folder, 'msm.mjs'), program as string);
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(inProject('node_modules/webgpu'), join(modules, 'webgpu'));
  await buildLibrary(join(modules, 'webgpu-msm/dist'));
  cpSync(inProject('package.json'), join(modules, 'webgpu-msm/package.json'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (environment: Readonly<Record<string, string>>): Promise<Outcome> =>
  runNode(['msm.mjs'], { cwd: folder, env: { ...process.env, ...environment }, timeout: 60_000 });

test('with an adapter it prints the sum and ends', async () => {
  const { x, y } = bn254.G1.Point.BASE.multiply(5n).toAffine();
  const { code, stdout, stderr } = await run({});
  expect(code, stderr).toBe(0);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`{ x: ${x}n, y: ${y}n, infinity: false }`);
});

test.runIf(process.platform === 'linux')('without a driver it prints the same, computed on the CPU', async () => {
  const nowhere = join(folder, 'no-driver.json');
  const none = { VK_ICD_FILENAMES: nowhere, VK_DRIVER_FILES: nowhere, LD_LIBRARY_PATH: '' };
  const { code, stdout, stderr } = await run(none);
  const { x, y } = bn254.G1.Point.BASE.multiply(5n).toAffine();
  expect(code, stderr).toBe(0);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`{ x: ${x}n, y: ${y}n, infinity: false }`);
  // what there is are warnings of Dawn's
  expect(stderr).not.toMatch(/\.m?js:\d/);
});
