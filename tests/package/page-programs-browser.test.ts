/**
 * The programs of README.md and docs/ that are for pages, word for word, built by Vite without
 * configuration, in Chromium.
 *
 * @module-tag long
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bn254 } from '@noble/curves/bn254.js';
import type { Browser, Page } from 'playwright';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { buildLibrary } from '../support/build-library.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { programWith } from '../support/page-programs.js';
import { makePowersOfTau } from '../support/powers-of-tau.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-pages-'));
let browser: Browser;
const servers: PreviewServer[] = [];

beforeAll(async () => {
  const modules = join(folder, 'node_modules');
  for (const name of ['snarkjs', '@noble/curves']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(inProject(`node_modules/${name}`), join(modules, name));
  }
  await buildLibrary(join(modules, 'webgpu-msm/dist'));
  cpSync(inProject('package.json'), join(modules, 'webgpu-msm/package.json'));
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await Promise.all(servers.map((server) => server.close()));
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Builds a project as Vite does by default, and opens its page.
 *
 * @param files contents by path
 * @param policy Content-Security-Policy of the page
 * @param aliases modules in place of packages
 */
const open = async (
  name: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  policy?: string,
  aliases: Readonly<Record<string, string>> = {},
): Promise<{ page: Page; said: string[] }> => {
  const root = join(folder, name);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const base = { configFile: false, root, logLevel: 'error' } as const;
  const alias = Object.entries(aliases).map(([find, replacement]) => ({
    find: new RegExp(`^${find}$`),
    replacement: join(root, replacement),
  }));
  await build({ ...base, resolve: { alias } });
  const headers = policy === undefined ? {} : { 'Content-Security-Policy': policy };
  const server = await preview({ ...base, preview: { host: '127.0.0.1', port: 0, headers } });
  servers.push(server);
  const page = await browser.newPage();
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(server.resolvedUrls?.local[0] as string);
  return { page, said };
};

/** Returns the policy that the page on snarkjs gives. */
const policyOfPage = (): string => {
  const [, policy] = /`(script-src [^`]+)`/.exec(readFileSync(inProject('docs/how-to/snarkjs.md'), 'utf8')) ?? [];
  return policy as string;
};

const onePage = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>';

test('the worker of the README computes the sum', async () => {
  const { page, said } = await open('worker', {
    'index.html': onePage,
    'main.js': programWith('README.md', '// main.js'),
    'msm-worker.js': programWith('README.md', '// msm-worker.js'),
  });
  const { x, y } = bn254.G1.Point.BASE.multiply(5n).toAffine();
  await expect.poll(() => said.length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(said).toEqual([`{x: ${x}n, y: ${y}n, infinity: false}`]);
  await page.close();
});

test('the first sum of the tutorial is right in a page, on GPU or CPU', async () => {
  const { page, said } = await open('first-sum', {
    'index.html': `<link rel="icon" href="data:,">${programWith('docs/tutorials/first-sum.md', '<script')}`,
    'sum.mjs': programWith('docs/tutorials/first-sum.md', '// sum.mjs'),
  });
  await expect.poll(() => said.at(-1), { timeout: 60_000 }).toBe('right');
  expect(said[0]).toMatch(/^available: (gpu,)?cpu; computed on: \w+, in /);
  await page.close();
});

test('the page of the tutorial proves, under a strict policy', async () => {
  const { wasm, r1cs } = await compileCircuit(`pragma circom 2.0.0;
    template Product() { signal input a; signal input b; signal output product; product <== a * b; }
    component main = Product();`);
  const zkey = await makeZkey('groth16', 'bn254', r1cs);
  const tutorial = 'docs/tutorials/prove-in-a-page.md';
  const { page, said } = await open(
    'prove',
    {
      'index.html': programWith(tutorial, '<!doctype html>').replace(
        '<title>',
        '<link rel="icon" href="data:,"><title>',
      ),
      'main.js': programWith(tutorial, '// main.js'),
      'public/circuit.zkey': zkey,
      'public/circuit.wasm': wasm,
    },
    "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
  );
  for (let proofs = 0; proofs < 2; proofs++) {
    await page.getByRole('button', { name: 'Prove', disabled: false }).click({ timeout: 60_000 });
    const output = page.locator('pre');
    await expect.poll(() => output.textContent(), { timeout: 60_000 }).toContain('"totalMs"');
    const result = JSON.parse((await output.textContent()) ?? '');
    expect(result.publicSignals).toEqual(['33']);
    expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
    await output.evaluate((element) => element.replaceChildren());
  }
  // the key has no contribution to its second phase
  expect(said).toEqual([expect.stringContaining('γ equals δ')]);
  await page.close();
});

test('the page of docs/how-to/snarkjs.md proves, under the policy that it gives', async () => {
  const { circuit, zkey } = await makeStatement('groth16', 'bn254', 8, 'dense');
  await (await ffCurveOf('bn254')).terminate();
  const { page, said } = await open(
    'accelerated',
    {
      'index.html': onePage,
      'accelerated.js': programWith('docs/how-to/snarkjs.md', '// accelerated.js'),
      'main.js': `import { accelerate } from 'webgpu-msm/snarkjs';
        import { prove } from './accelerated.js';
        for (const input of [{}, {}]) console.log(await prove(input), accelerate.stats.wholeProofs, accelerate.stats.snarkjsProofs);`,
      'public/circuit.zkey': zkey.data,
      'public/circuit.wtns': circuit.witness,
      // of this circuit there is no program: the witness is there already
      'snarkjs.js': `export { curves, groth16, zKey } from '${inProject('node_modules/snarkjs/build/browser.esm.js')}';
        export const wtns = {
          calculate: async (input, wasm, witness) => {
            witness.data = new Uint8Array(await (await fetch('circuit.wtns')).arrayBuffer());
          },
        };`,
    },
    `default-src 'none'; connect-src 'self'; img-src data:; ${policyOfPage()}`,
    { snarkjs: 'snarkjs.js' },
  );
  await expect.poll(() => said, { timeout: 60_000 }).toEqual(['true 1 0', 'true 2 0']);
  await page.close();
});

test('whole proofs of accelerate need no `blob:`, from which snarkjs starts threads', async () => {
  const { circuit, zkey } = await makeStatement('groth16', 'bn254', 8, 'dense');
  await (await ffCurveOf('bn254')).terminate();
  const { page, said } = await open(
    'prove-without-blob',
    {
      'index.html': onePage,
      'main.js': `import * as snarkjs from 'snarkjs';
        import { openProvingKey } from 'webgpu-msm/groth16';
        import { accelerate } from 'webgpu-msm/snarkjs';
        const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
        const [zkey, witness] = [await bytes('circuit.zkey'), await bytes('circuit.wtns')];
        const { groth16 } = await accelerate(snarkjs, { backend: 'cpu' });
        const { proof, publicSignals } = await groth16.prove(zkey, witness);
        const key = await openProvingKey(zkey, { backend: 'cpu' });
        console.log(accelerate.stats.wholeProofs, await key.verify(proof, publicSignals));`,
      'public/circuit.zkey': zkey.data,
      'public/circuit.wtns': circuit.witness,
      'snarkjs.js': `export * from '${inProject('node_modules/snarkjs/build/browser.esm.js')}';`,
    },
    `default-src 'none'; connect-src 'self'; img-src data:; ${policyOfPage().replace(' blob:', '')}`,
    { snarkjs: 'snarkjs.js' },
  );
  await expect.poll(() => said, { timeout: 60_000 }).toEqual(['1 true']);
  await page.close();
});

test('provers and vectors compute in a dedicated worker under a strict policy', async () => {
  const systems = ['groth16', 'plonk'] as const;
  const made = systems.map((system) => makeStatement(system, 'bn254', 6, 'dense'));
  const [groth16, plonk] = (await Promise.all(made)) as [Statement, Statement];
  const { page, said } = await open(
    'provers',
    {
      'index.html': onePage,
      ...{ 'public/groth16.zkey': groth16.zkey.data, 'public/groth16.wtns': groth16.circuit.witness },
      ...{ 'public/plonk.zkey': plonk.zkey.data, 'public/plonk.wtns': plonk.circuit.witness },
      'prove.js': `import { createFieldEngine } from 'webgpu-msm/fields';
        import * as groth16 from 'webgpu-msm/groth16';
        import * as plonk from 'webgpu-msm/plonk';
        const fileOf = async (name) => (await fetch(new URL('/' + name, location))).blob();
        const prove = async (name, { openProvingKey }) => {
          const key = await openProvingKey(await fileOf(name + '.zkey'), { backend: 'cpu' });
          const result = await key.prove(await fileOf(name + '.wtns'));
          key.destroy();
          return result;
        };
        const compute = async () => {
          const fr = await createFieldEngine();
          const [vector] = [await fr.load([1n, 2n, 3n, 4n])];
          const product = await fr.run((ops) => ops.keep(ops.multiply(vector, vector)));
          const squares = [...(await fr.read(product))].filter((byte) => byte > 0);
          fr.destroy();
          return { groth16: await prove('groth16', groth16), plonk: await prove('plonk', plonk), squares };
        };
        compute().then(postMessage, (error) => postMessage(String(error.stack)));`,
      'main.js': `const worker = new Worker(new URL('./prove.js', import.meta.url), { type: 'module' });
        worker.onmessage = ({ data }) => console.log(JSON.stringify(data));
        worker.onerror = ({ message }) => console.log(message);`,
    },
    "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
  );
  await expect.poll(() => said.length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(said).toEqual([expect.stringMatching(/^\{/)]);
  const results = JSON.parse(said[0] as string);
  expect(results.squares).toEqual([1, 4, 9, 16]);
  expect(await groth16.verify(results.groth16)).toBe(true);
  expect(await plonk.verify(results.plonk)).toBe(true);
  await (await ffCurveOf('bn254')).terminate();
  await page.close();
});

test('workers of a script of your own compute', async () => {
  const { page, said } = await open('own-workers', {
    'index.html': onePage,
    'compute-worker.js': "import 'webgpu-msm/worker';",
    'workers.js': programWith('docs/how-to/bundlers-workers-csp.md', '// workers.js')
      // two of them on any machine, and the GPU computes nothing
      .replace("curve: 'bn254',", "curve: 'bn254', backend: 'cpu', maxWorkers: 2,"),
    'main.js': `import { engine } from './workers.js';
      const points = new Uint8Array(8192 * 64);
      for (let i = 0; i < points.length; i += 64) [points[i], points[i + 32]] = [1, 2];
      const bases = await engine.loadBases(points);
      const scalars = Uint8Array.from({ length: 8192 * 32 }, (_, i) => (i * 7919) % 251);
      do await engine.msm(bases, scalars);
      while (engine.lastRun.workers === 0 && engine.lastRun.noWorkers === null);
      console.log(engine.lastRun.workers > 0 ? 'has workers' : engine.lastRun.noWorkers);`,
  });
  await expect.poll(() => said.length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(said).toEqual(['has workers']);
  await page.close();
});

test('a worker reads the pages of a file by FileReaderSync', async () => {
  const { Fn } = bn254.G1.Point;
  const root = Fn.pow(5n, (Fn.ORDER - 1n) / 16n);
  const { page, said } = await open('sync-source', {
    'index.html': onePage,
    'public/setup.ptau': makePowersOfTau({ curve: 'bn254', power: 3, powers: 15, root, seed: 5 }),
    'sync-source.js': programWith('docs/how-to/files-and-encodings.md', '// sync-source.js'),
    'read.js': `import { createMsmEngine } from 'webgpu-msm';
      import { openPtau } from 'webgpu-msm/formats';
      import { syncSource } from './sync-source.js';
      onmessage = async ({ data }) => {
        const { tauG1 } = (await openPtau(syncSource(data))).sections;
        const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu' });
        const bases = await engine.loadBases(tauG1.pages(), { encoding: tauG1.encoding });
        postMessage([bases.length, (await engine.msm(bases, [1n])).y].join());
      };`,
    'main.js': `const worker = new Worker(new URL('./read.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => console.log(data);
      worker.postMessage(await (await fetch('setup.ptau')).blob());`,
  });
  await expect.poll(() => said.length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(said).toEqual(['15,2']);
  await page.close();
});
