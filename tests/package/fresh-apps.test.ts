/**
 * From input to a verified proof in fresh projects that npm makes of the packed package, by the programs of
 * README.md and docs/, word for word: Node, a page without a bundler, Vite, webpack and Next. snarkjs is
 * installed in none of them.
 *
 * @module-tag long
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { installProject, packPackage, runProgram } from '../support/packed-package.js';
import { programWith } from '../support/page-programs.js';
import { runIn as run, whileFolderServed, whileProjectServed } from '../support/project-server.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-fresh-'));
let packed: string;
let browser: Browser;
let wasm: Uint8Array<ArrayBuffer>;
let zkey: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  packed = await packPackage();
  ({ browser } = await launchChromium('software'));
  const product = await compileCircuit(`pragma circom 2.0.0;
    template Product() { signal input a; signal input b; signal output product; product <== a * b; }
    component main = Product();`);
  wasm = product.wasm;
  zkey = await makeZkey('groth16', 'bn254', product.r1cs);
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Makes a project with the package, its bundler and the files of the circuit, at `filesIn`. */
const makeProject = async (name: string, packages: readonly string[], filesIn: string, files: Files) => {
  const project = join(folder, name);
  await installProject(project, [...packages, packed]);
  expect(existsSync(join(project, 'node_modules/snarkjs'))).toBe(false);
  const circuit = { [join(filesIn, 'circuit.wasm')]: wasm, [join(filesIn, 'circuit.zkey')]: zkey };
  for (const [path, content] of Object.entries({ ...circuit, ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  }
  return project;
};

const tutorial = 'docs/tutorials/prove-in-a-page.md';
const main = programWith(tutorial, '// main.js');
const html = programWith(tutorial, '<!doctype html>').replace('<title>', '<link rel="icon" href="data:,"><title>');

/** Presses the button of a page, and checks what it shows, and that the workers of the package computed. */
const expectProofAt = async (url: string): Promise<void> => {
  const page = await browser.newPage();
  const said: string[] = [];
  page.on('console', (message) => ['warning', 'error'].includes(message.type()) && said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  try {
    await page.goto(url);
    await page.getByRole('button', { name: 'Prove', disabled: false }).click({ timeout: 60_000 });
    const output = page.locator('pre', { hasText: /\S/ });
    await output.waitFor({ timeout: 60_000 }).catch((cause) => {
      throw new Error(`${url} says nothing. ${said.join('\n')}`, { cause });
    });
    const result = JSON.parse((await output.textContent()) ?? '');
    expect(result.publicSignals).toEqual(['33']);
    expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
    // one for the program, one for the key; strict mode of React opens more
    expect(page.workers().length).toBeGreaterThanOrEqual(2);
    // the key has no contribution to its second phase
    expect(said.filter((each) => !each.includes('γ equals δ'))).toEqual([]);
  } finally {
    await page.close();
  }
};

const runIn = (project: string, command: readonly string[]): Promise<string> => run(project, command, 300_000);

const expectProofIn = (built: string): Promise<void> =>
  whileFolderServed(built, (origin) => expectProofAt(`${origin}/index.html`));

/** Starts a server of a project, and proves in its page once it answers. */
const expectProofServed = (project: string, commandOf: (port: string) => readonly string[]): Promise<void> =>
  whileProjectServed(project, commandOf, expectProofAt);

it('a script of Node proves', async () => {
  const program = programWith('README.md', '// prove-input.mjs');
  const project = await makeProject('node', [], '.', { 'prove-input.mjs': program });
  const said = await runProgram([process.execPath, 'prove-input.mjs'], project, 60_000);
  expect(said.split('\n').filter((line) => !line.includes('γ equals δ'))).toEqual(["groth16 [ '33' ]", '']);
});

it('a page without a bundler proves', async () => {
  const map = programWith(tutorial, 'importmap');
  const files = { 'public/index.html': html.replace('<script', `${map}<script`), 'public/main.js': main };
  const project = await makeProject('plain', [], 'public', files);
  cpSync(join(project, 'node_modules/webgpu-msm/dist'), join(project, 'public/webgpu-msm'), { recursive: true });
  await expectProofIn(join(project, 'public'));
});

describe('Vite 8', () => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject('vite', ['vite@8.3.8'], 'public', { 'index.html': html, 'main.js': main });
  });

  it('builds a page that proves', async () => {
    await runIn(project, ['vite', 'build']);
    const assets = readdirSync(join(project, 'dist/assets'));
    for (const name of ['webgpu-msm-circuit-worker', 'webgpu-msm-worker']) {
      expect(assets).toContainEqual(expect.stringMatching(`^${name}-[\\w-]+\\.js$`));
    }
    await expectProofIn(join(project, 'dist'));
  });

  it('serves it', () =>
    expectProofServed(project, (port) => ['vite', '--host', '127.0.0.1', '--port', port, '--strictPort']));
});

it('webpack 5 builds a page that proves', async () => {
  const project = await makeProject('webpack', ['webpack@5.112.2', 'webpack-cli@7.3.1'], 'built', { 'main.js': main });
  await runIn(project, ['webpack', '--entry', './main.js', '--mode', 'production', '--output-path', 'built']);
  writeFileSync(join(project, 'built/index.html'), html);
  await expectProofIn(join(project, 'built'));
});

describe.each(['turbopack', 'webpack'])('Next 16 with %s', (bundler) => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject(`next-${bundler}`, ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'], 'public', {
      'app/page.jsx': programWith(tutorial, '// app/page.jsx'),
      'app/use-circuit.js': programWith('docs/how-to/prove-from-inputs.md', '// use-circuit.js'),
    });
    cpSync(inProject('tests/package/bundlers/next/layout.jsx'), join(project, 'app/layout.jsx'));
  });
  const at = (port: string) => ['-H', '127.0.0.1', '-p', port];

  it('builds a page that proves', async () => {
    await runIn(project, ['next', 'build', `--${bundler}`]);
    await expectProofServed(project, (port) => ['next', 'start', ...at(port)]);
  });

  it('serves it', () => expectProofServed(project, (port) => ['next', 'dev', `--${bundler}`, ...at(port)]));
});
