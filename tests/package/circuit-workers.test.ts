/** Circuits of the built package in workers: in Node, and in Chromium from a project that Vite builds. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright';
import { build, preview } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import type { Circuit, CircuitFiles, CircuitOptions, CircuitProgress } from '../../src/circom.js';
import type { KeyCache } from '../../src/formats.js';
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

  test('ends in every stage of a proof by its signal, and goes on', async () => {
    const circuit = await open({ wasm: compiled.wasm, zkey });
    for (const part of ['values', 'quotient', 'B2', 'H', 'verification']) {
      const ending = new AbortController();
      const parts: string[] = [];
      const onProgress = (progress: CircuitProgress) => {
        parts.push(progress.part);
        if (progress.part === part) ending.abort('enough');
      };
      const proving = circuit.prove(input, { signal: ending.signal, verifyProof: true, onProgress });
      await expect(proving, part).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
      // nothing goes on where the caller hears of it
      expect(parts.at(-1)).toBe(part);
    }
    const { proof, publicSignals } = await circuit.prove(input);
    const ending = new AbortController();
    const verifying = circuit.verify(proof, publicSignals, { signal: ending.signal });
    ending.abort('enough');
    await expect(verifying).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(await circuit.verify(proof, publicSignals)).toBe(true);
    const proving = circuit.prove({ ...input, turns: ENDLESS });
    expect((await open({ wasm: compiled.wasm, zkey })).key).toEqual(circuit.key);
    circuit.destroy();
    await expect(proving).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('ends in every stage of its opening by the signal, and opens again', async () => {
    /** A download that has sent a part of its file. */
    const stalled = (file: Uint8Array<ArrayBuffer>): Response =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(file.slice(0, 100)) }));
    const stages: readonly (readonly [stage: string, files: () => CircuitFiles])[] = [
      ['download wasm 100', () => ({ wasm: stalled(compiled.wasm), zkey })],
      ['download zkey 100', () => ({ wasm: compiled.wasm, zkey: stalled(zkey) })],
      ['key section 1', () => ({ wasm: compiled.wasm, zkey })],
      ['key section 6', () => ({ wasm: compiled.wasm, zkey })],
    ];
    for (const [stop, files] of stages) {
      const ending = new AbortController();
      const seen: string[] = [];
      const onProgress = ({ stage, part, done }: CircuitProgress) => {
        seen.push(`${stage} ${part} ${done}`);
        if (seen.at(-1) === stop) ending.abort('enough');
      };
      const opening = open(files(), { signal: ending.signal, onProgress });
      await expect(opening, stop).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
      expect(seen.at(-1)).toBe(stop);
    }
    const circuit = await open({ wasm: compiled.wasm, zkey });
    expect((await circuit.prove(input)).publicSignals).toEqual(['116', '4']);
  });

  test('survives a program that traps', async () => {
    // deep enough for the stack of WebAssembly
    const { wasm } = await compileCircuit(`pragma circom 2.0.0;
      function deep(n) { if (n == 0) { return 0; } return 1 + deep(n - 1); }
      template Deep() { signal input n; signal output depth; depth <-- deep(n); depth * 0 === 0; }
      component main = Deep();`);
    const circuit = await open({ wasm });
    const before = await circuit.witness({ n: 3 });
    await expect(circuit.witness({ n: 10 ** 9 })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('wasm: the program ended in an error of WebAssembly'),
    });
    expect(await circuit.witness({ n: 3 })).toEqual(before);
  });

  test('keeps its key in a folder, which the worker opens', async () => {
    const { folderCache } = await import(/* @vite-ignore */ pathToFileURL(join(installed, 'dist/node.js')).href);
    const cache: KeyCache = folderCache(join(folder, 'keys'));
    const warnings: string[] = [];
    const visit = async (): Promise<number> => {
      let bytes = 0;
      const read = async (from: number, to: number) => {
        bytes += to - from;
        return zkey.slice(from, to);
      };
      const file = { byteLength: zkey.length, version: 'first', read };
      const onWarning = (message: string) => void warnings.push(message);
      const circuit = await open({ wasm: compiled.wasm, zkey: file }, { cache, onWarning });
      const result = await circuit.prove(input, { verifyProof: true });
      expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
      return bytes;
    };
    expect(await visit()).toBeGreaterThan(zkey.length);
    expect(await cache.list()).toMatchObject([{ protocol: 'groth16', byteLength: zkey.length }]);
    expect(await visit()).toBeLessThan(zkey.length);
    expect(warnings.filter((each) => !each.includes('γ equals δ'))).toEqual([]);
  });

  test('keeps its key within a limit of memory, which the worker is told', async () => {
    const files = { wasm: compiled.wasm, zkey: new Blob([zkey]) };
    const error = await open(files, { memoryLimit: 1 }).catch((each: Error) => each);
    expect(error).toMatchObject({ code: 'out-of-memory' });
    const memoryLimit = Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
    const circuit = await open(files, { memoryLimit });
    expect(await verifyBySnarkjs('groth16', zkey, await circuit.prove(input))).toBe(true);
    const plonk = await makeZkey('plonk', 'bn254', compiled.r1cs);
    await expect(open({ wasm: compiled.wasm, zkey: plonk }, { memoryLimit: 1 })).rejects.toMatchObject({
      code: 'out-of-memory',
      message: expect.stringContaining('options.memoryLimit is 1 bytes'),
    });
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

  test('sends a million lines of a log', { tags: 'long' }, async () => {
    const lines = 1_000_000;
    const { wasm } = await compileCircuit(`pragma circom 2.0.0;
      template Loud() {
        signal input n; signal output out;
        var i = 0;
        while (i < n) { log(i); i++; }
        out <-- i; out === n;
      }
      component main = Loud();`);
    const circuit = await open({ wasm });
    let next = 0;
    const onLog = (line: string) => {
      if (line !== String(next++)) throw new Error(`line ${next - 1} is ${line}`);
    };
    await circuit.witness({ n: lines }, { onLog });
    expect(next).toBe(lines);
  });
});

describe('in Chromium', { tags: 'long' }, () => {
  /** Builds a page by Vite. @param main its module @param worker another one @returns its address, and what ends its server */
  const serve = async (name: string, main: string, worker = '') => {
    const files = {
      'index.html': '<!doctype html><script type="module" src="/main.js"></script><output></output>',
      'main.js': main,
      'worker.js': worker,
      'public/circuit.wasm': compiled.wasm,
      'public/circuit.zkey': zkey,
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), content);
    }
    const base = { configFile: false, root: join(folder, name), logLevel: 'error' } as const;
    await build(base);
    const server = await preview({ ...base, preview: { host: '127.0.0.1', port: 0 } });
    return { address: server.resolvedUrls?.local[0] as string, end: () => server.close() };
  };

  /** Returns the JSON that a page says. */
  const saidBy = async (page: Page, address: string) => {
    await page.goto(address);
    const output = page.locator('output', { hasText: /./ });
    await output.waitFor({ timeout: 60_000 });
    return JSON.parse((await output.textContent()) as string);
  };

  test('proves in a page that Vite builds', async () => {
    const { address, end } = await serve(
      'app',
      `import { openCircuit } from 'webgpu-msm/circom';
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
    );
    const { browser } = await launchChromium('software');
    try {
      const said = await saidBy(await browser.newPage(), address);
      expect(said).toMatchObject({ worker: true, code: 'aborted', publicSignals: ['116', '4'], warnings: 1 });
      expect(said.stages).toEqual(['download wasm', 'download zkey', 'key section']);
      expect(await verifyBySnarkjs('groth16', zkey, said)).toBe(true);
    } finally {
      await browser.close();
      await end();
    }
  });

  test('keeps its key in the origin private file system, whole or damaged', async () => {
    const { address, end } = await serve(
      'kept',
      `import { openCircuit } from 'webgpu-msm/circom';
      import { opfsCache } from 'webgpu-msm/formats';
      const cache = opfsCache('keys');
      const how = new URLSearchParams(location.search);
      const folder = async () => (await navigator.storage.getDirectory()).getDirectoryHandle('keys');
      const damage = async () => {
        for await (const handle of (await folder()).values()) {
          if (!handle.name.endsWith('.key')) continue;
          const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
          bytes[3000] ^= 1;
          const stream = await handle.createWritable();
          await stream.write(bytes);
          await stream.close();
        }
      };
      try {
        const before = (await cache.list()).length;
        if (how.has('damage')) await damage();
        const warnings = [];
        const onWarning = (message) => warnings.push(message);
        let bytes = 0;
        const all = new Uint8Array(await (await fetch('/circuit.zkey')).arrayBuffer());
        const read = async (from, to) => { bytes += to - from; return all.slice(from, to); };
        const source = { byteLength: all.length, version: 'first', read };
        const [last] = await cache.list();
        const zkey = how.has('alone') ? await cache.open(last.id) : source;
        const worker = !how.has('here');
        const circuit = await openCircuit({ wasm: '/circuit.wasm', zkey }, { cache, worker, onWarning });
        const result = await circuit.prove(${JSON.stringify(input)}, { verifyProof: true });
        document.querySelector('output').textContent = JSON.stringify({
          ...result, bytes, before, after: (await cache.list()).length,
          warnings: warnings.filter((each) => !each.includes('γ equals δ')),
        });
      } catch (error) {
        document.querySelector('output').textContent = JSON.stringify({ error: String(error.stack) });
      }`,
    );
    const { browser } = await launchChromium('software');
    try {
      const page = await browser.newPage();
      const visit = async (how: string) => {
        const said = await saidBy(page, `${address}?${how}`);
        expect(said.error).toBeUndefined();
        expect(await verifyBySnarkjs('groth16', zkey, said)).toBe(true);
        return said;
      };
      expect(await visit('')).toMatchObject({ before: 0, after: 1, warnings: [] });
      const second = await visit('');
      expect(second).toMatchObject({ before: 1, after: 1, warnings: [] });
      expect(second.bytes).toBeLessThan(zkey.length);
      expect(await visit('here')).toMatchObject({ bytes: second.bytes, before: 1, after: 1, warnings: [] });
      expect(await visit('alone')).toMatchObject({ bytes: 0, before: 1, after: 1, warnings: [] });
      expect(await visit('damage')).toMatchObject({
        before: 1,
        after: 0,
        warnings: [expect.stringContaining('damaged in the cache')],
      });
      expect(await visit('here')).toMatchObject({ before: 0, after: 1, warnings: [] });
      expect(await visit('')).toMatchObject({ bytes: second.bytes, before: 1, after: 1, warnings: [] });
    } finally {
      await browser.close();
      await end();
    }
  });

  test('keeps the key of a response there as it arrives, in a page, in a worker and where no file moves', async () => {
    const { address, end } = await serve(
      'streamed',
      `import { openCircuit } from 'webgpu-msm/circom';
      import { opfsCache } from 'webgpu-msm/formats';
      import { openProvingKey } from 'webgpu-msm/groth16';
      const how = location.search.slice(1);
      const warnings = [];
      const onWarning = (message) => warnings.push(message);
      const cache = opfsCache(how);
      const namesIn = async () => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(how);
        const names = [];
        for await (const { name } of folder.values()) if (name !== 'times.json') names.push(name);
        return names;
      };
      const storeHere = async () =>
        (await openProvingKey(await fetch('/circuit.zkey'), { cache, onWarning })).destroy();
      const storeThere = () => new Promise((resolve, reject) => {
        const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
        worker.onmessage = ({ data }) => (data === 'stored' ? resolve() : reject(new Error(data)));
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(how);
      });
      try {
        if (how === 'copied') delete FileSystemFileHandle.prototype.move;
        await (how === 'worker' ? storeThere() : storeHere());
        const names = await namesIn();
        const [last] = await cache.list();
        const zkey = await cache.open(last.id);
        const circuit = await openCircuit({ wasm: '/circuit.wasm', zkey }, { cache, worker: false, onWarning });
        const result = await circuit.prove(${JSON.stringify(input)}, { verifyProof: true });
        await storeHere();
        document.querySelector('output').textContent = JSON.stringify({
          ...result, names, after: await namesIn(), byteLength: last.byteLength,
          warnings: warnings.filter((each) => !each.includes('γ equals δ')),
        });
      } catch (error) {
        document.querySelector('output').textContent = JSON.stringify({ error: String(error.stack) });
      }`,
      `import { opfsCache } from 'webgpu-msm/formats';
      import { openProvingKey } from 'webgpu-msm/groth16';
      onmessage = async ({ data }) => {
        try {
          const options = { cache: opfsCache(data), onWarning() {} };
          (await openProvingKey(await fetch('/circuit.zkey'), options)).destroy();
          postMessage('stored');
        } catch (error) {
          postMessage(String(error.stack));
        }
      };`,
    );
    const { browser } = await launchChromium('software');
    try {
      const page = await browser.newPage();
      for (const how of ['page', 'worker', 'copied']) {
        const said = await saidBy(page, `${address}?${how}`);
        expect(said.error, how).toBeUndefined();
        expect(said, how).toMatchObject({
          names: [expect.stringMatching(/^[0-9a-f]{64}\..*\.key$/)],
          byteLength: zkey.length,
          warnings: [],
        });
        expect(said.after, how).toEqual(said.names);
        expect(await verifyBySnarkjs('groth16', zkey, said)).toBe(true);
      }
    } finally {
      await browser.close();
      await end();
    }
  });

  test('keeps the key of a tab from being evicted by another tab, until it is closed', async () => {
    const { address, end } = await serve(
      'tabs',
      `import { openCircuit } from 'webgpu-msm/circom';
      import { opfsCache } from 'webgpu-msm/formats';
      // room for one key
      const cache = opfsCache('keys', { maxBytes: 800_000 });
      const [version, place] = location.search.slice(1).split('-');
      const warnings = [];
      try {
        const all = new Uint8Array(await (await fetch('/circuit.zkey')).arrayBuffer());
        // each version is another key
        const zkey = { byteLength: all.length, version, read: async (from, to) => all.slice(from, to) };
        const onWarning = (message) => warnings.push(message);
        window.circuit = await openCircuit({ wasm: '/circuit.wasm', zkey }, { cache, worker: place === 'worker', onWarning });
        const result = await window.circuit.prove(${JSON.stringify(input)});
        document.querySelector('output').textContent = JSON.stringify({
          ...result, ids: (await cache.list()).map(({ id }) => id),
          warnings: warnings.filter((each) => !each.includes('γ equals δ')),
        });
      } catch (error) {
        document.querySelector('output').textContent = JSON.stringify({ error: String(error.stack) });
      }`,
    );
    const { browser } = await launchChromium('software');
    try {
      for (const place of ['worker', 'here']) {
        const context = await browser.newContext();
        const [first, second] = [await context.newPage(), await context.newPage()];
        const visit = async (page: Page, version: string) => {
          const said = await saidBy(page, `${address}?${version}-${place}`);
          expect(said.error).toBeUndefined();
          expect(await verifyBySnarkjs('groth16', zkey, said)).toBe(true);
          return said;
        };
        const { ids } = await visit(first, 'one');
        expect(ids).toHaveLength(1);
        expect(await visit(second, 'two')).toMatchObject({
          ids,
          warnings: [expect.stringContaining('finds no room, so it is not kept')],
        });
        await first.close();
        const later = await visit(second, 'two');
        expect(later).toMatchObject({ ids: [expect.any(String)], warnings: [] });
        expect(later.ids).not.toEqual(ids);
        await context.close();
      }
    } finally {
      await browser.close();
      await end();
    }
  });
});
