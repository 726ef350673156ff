/** Circuits of the built package in workers: in Node, and in Chromium from a project that Vite builds. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, preview } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import type { Circuit, CircuitFiles, CircuitOptions, CircuitProgress } from '../../src/circom.js';
import { buildLibrary } from '../support/build-library.js';
import { type CompiledCircuit, compileCircuit, shapes } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { runProgram } from '../support/packed-package.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-circuits-'));
const installed = join(folder, 'node_modules/webgpu-msm');
const input = { a: [1, 2, 3, 4, 5, 6], k: 4, turns: 2 };
/** More turns than a program makes in minutes. */
const ENDLESS = 10 ** 12;

let compiled: CompiledCircuit;
let zkey: Uint8Array<ArrayBuffer>;
let openCircuit: (files: CircuitFiles, options?: CircuitOptions) => Promise<Circuit>;
beforeAll(async () => {
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  ({ openCircuit } = await import(/* @vite-ignore */ pathToFileURL(join(installed, 'dist/circom.js')).href));
  compiled = await compileCircuit(shapes);
  zkey = await makeZkey('groth16', 'bn254', compiled.r1cs);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const opened: Circuit[] = [];
const open = async (files: CircuitFiles, options: CircuitOptions = {}): Promise<Circuit> => {
  const circuit = await openCircuit(files, { backend: 'cpu', maxWorkers: 0, onWarning: () => undefined, ...options });
  opened.push(circuit);
  expect(circuit.worker).toBe(true);
  return circuit;
};
afterEach(() => {
  for (const circuit of opened.splice(0)) circuit.destroy();
});

describe('in Node', () => {
  test('proves, and reports stages and lines', async () => {
    const loads: CircuitProgress[] = [];
    const warnings: string[] = [];
    const circuit = await open(
      { wasm: compiled.wasm, zkey: new Blob([zkey]) },
      { onProgress: (each) => void loads.push(each), onWarning: (message) => void warnings.push(message) },
    );
    expect(loads.map(({ stage, done }) => `${stage} ${done}`)).toEqual(
      Array.from({ length: 7 }, (_, i) => `key ${i + 1}`),
    );
    expect(warnings.filter((each) => each.includes('γ equals δ'))).toHaveLength(1);
    const stages: string[] = [];
    const log: string[] = [];
    const result = await circuit.prove(input, {
      verifyProof: true,
      onProgress: ({ stage }) => void stages.push(stage),
      onLog: (line) => void log.push(line),
    });
    expect(result.publicSignals).toEqual(['116', '4']);
    expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
    expect(await circuit.verify(result.proof, ['116', '5'])).toBe(false);
    expect([...new Set(stages)]).toEqual(['witness', 'proof', 'verification']);
    expect(log).toEqual(['out 116 4', 'second']);
  });

  test('sends errors with their codes', async () => {
    const circuit = await open({ wasm: compiled.wasm, zkey });
    await expect(circuit.prove({ ...input, k: 7 })).rejects.toMatchObject({
      name: 'MsmError',
      code: 'unsatisfied',
      message: expect.stringMatching(/Assert Failed.*line: 13/),
    });
    await expect(circuit.prove({ ...input, b: 1 })).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(circuit.verify({} as never, [])).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(open({ wasm: compiled.wasm, zkey: zkey.subarray(0, 5000) })).rejects.toMatchObject({
      code: 'bad-argument',
    });
    const thrown = new Error('of the caller');
    const file = { byteLength: zkey.length, read: () => Promise.reject(thrown) };
    await expect(open({ wasm: compiled.wasm, zkey: file })).rejects.toBe(thrown);
    const onLog = () => {
      throw thrown;
    };
    await expect(circuit.witness(input, { onLog })).rejects.toBe(thrown);
    expect((await circuit.prove(input)).publicSignals).toEqual(['116', '4']);
  });

  test('ends a program that computes without end, and no other call', async () => {
    const circuit = await open({ wasm: compiled.wasm, zkey });
    const ending = new AbortController();
    const before = circuit.prove(input);
    const endless = circuit.prove({ ...input, turns: ENDLESS }, { signal: ending.signal });
    const after = circuit.prove({ ...input, k: 5 });
    expect((await before).publicSignals).toEqual(['116', '4']);
    ending.abort('enough');
    await expect(endless).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    expect((await after).publicSignals).toEqual(['131', '5']);
  });

  test('ends proofs by their signals, and goes on', async () => {
    const circuit = await open({ wasm: compiled.wasm, zkey });
    for (const part of ['values', 'quotient', 'assembly']) {
      const ending = new AbortController();
      const onProgress = (progress: CircuitProgress) => progress.part === part && ending.abort();
      await expect(circuit.prove(input, { signal: ending.signal, onProgress })).rejects.toMatchObject({
        code: 'aborted',
      });
    }
    const proving = circuit.prove({ ...input, turns: ENDLESS });
    expect((await open({ wasm: compiled.wasm, zkey })).key).toEqual(circuit.key);
    circuit.destroy();
    await expect(proving).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('has a process end that did not destroy its circuit', async () => {
    writeFileSync(join(folder, 'circuit.wasm'), compiled.wasm);
    writeFileSync(join(folder, 'circuit.zkey'), zkey);
    writeFileSync(
      join(folder, 'prove.mjs'),
      `import { openCircuit } from 'webgpu-msm/circom';
      const circuit = await openCircuit({ wasm: 'circuit.wasm', zkey: 'circuit.zkey' }, { onWarning() {} });
      const { publicSignals } = await circuit.prove(${JSON.stringify(input)}, { verifyProof: true });
      console.log(circuit.worker, publicSignals.join());`,
    );
    expect(await runProgram([process.execPath, 'prove.mjs'], folder, 60_000)).toBe('true 116,4\n');
  });

  test('sends many lines of a log', { tags: 'long' }, async () => {
    const lines = 20_000;
    const { wasm } = await compileCircuit(`pragma circom 2.0.0;
      template Loud() {
        signal input n; signal output out;
        var i = 0;
        while (i < n) { log(i); i++; }
        out <-- i; out === n;
      }
      component main = Loud();`);
    const circuit = await open({ wasm });
    const log: number[] = [];
    await circuit.witness({ n: lines }, { onLog: (line) => void log.push(Number(line)) });
    expect(log).toEqual(Array.from({ length: lines }, (_, i) => i));
  });
});

describe('in Chromium', { tags: 'long' }, () => {
  test('proves in a page that Vite builds', async () => {
    const files = {
      'index.html': '<!doctype html><script type="module" src="/main.js"></script><output></output>',
      'main.js': `import { openCircuit } from 'webgpu-msm/circom';
        const seen = [];
        try {
          const warnings = [];
          const circuit = await openCircuit({ wasm: '/circuit.wasm', zkey: '/circuit.zkey' }, {
            onWarning: (message) => warnings.push(message),
            onProgress: ({ stage, part }) => seen.push(stage + ' ' + part),
          });
          const ending = new AbortController();
          setTimeout(() => ending.abort(), 300);
          const input = ${JSON.stringify(input)};
          const code = await circuit.prove({ ...input, turns: ${ENDLESS} }, { signal: ending.signal }).catch(({ code }) => code);
          const { publicSignals, proof } = await circuit.prove(input, { verifyProof: true });
          document.querySelector('output').textContent = JSON.stringify({
            worker: circuit.worker, code, publicSignals, proof,
            stages: [...new Set(seen)], warnings: warnings.length,
          });
        } catch (error) {
          document.querySelector('output').textContent = JSON.stringify({ error: String(error.stack) });
        }`,
      'public/circuit.wasm': compiled.wasm,
      'public/circuit.zkey': zkey,
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, 'app', path)), { recursive: true });
      writeFileSync(join(folder, 'app', path), content);
    }
    const base = { configFile: false, root: join(folder, 'app'), logLevel: 'error' } as const;
    await build(base);
    const server = await preview({ ...base, preview: { host: '127.0.0.1', port: 0 } });
    const { browser } = await launchChromium('software');
    try {
      const page = await browser.newPage();
      await page.goto(server.resolvedUrls?.local[0] as string);
      const output = page.locator('output', { hasText: /./ });
      await output.waitFor({ timeout: 60_000 });
      const said = JSON.parse((await output.textContent()) as string);
      expect(said).toMatchObject({ worker: true, code: 'aborted', publicSignals: ['116', '4'], warnings: 1 });
      expect(said.stages).toEqual(['download wasm', 'download zkey', 'key section']);
      expect(await verifyBySnarkjs('groth16', zkey, said)).toBe(true);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
