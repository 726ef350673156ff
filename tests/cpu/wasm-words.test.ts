/** Wide arithmetic, in Deno: Node does not have it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wgslTemplates } from '../../scripts/templates/wgsl-templates.js';
import { runDeno } from '../support/run-deno.js';
import { inProject } from '../support/run-script.js';
import type { WordsReport } from '../support/words-program.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-wide-'));
let report: WordsReport;

beforeAll(async () => {
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [wgslTemplates()],
    build: {
      outDir: folder,
      target: 'es2022',
      lib: { entry: inProject('tests/support/words-program.ts'), formats: ['es'], fileName: 'words' },
      rolldownOptions: { external: [/^node:/] },
    },
  });
  const flag = '--v8-flags=--experimental-wasm-wide-arithmetic';
  report = JSON.parse(await runDeno(folder, [flag, join(folder, 'words.js')])) as WordsReport;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every formula, inverse and addition is right', () => {
  expect(report.wrong).toEqual([]);
  expect(report.formulas).toBeGreaterThan(100_000);
  expect(report.inverses).toBeGreaterThan(300);
  expect(report.additions).toBeGreaterThan(5_000);
});

test('an MSM is right, and its record has the name', () => {
  expect(report.msm).toEqual({ arithmetic: 'wasm-wide', isRight: true });
});

test('long primes are computed on in it first', () => {
  expect(report.order[0]).toBe('wasm-wide');
});
