/** The page examples/prover/, in Chromium, with the package as it is built. */
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { type CompiledCircuit, compileCircuit, shapes } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { type ExampleServer, serveExample } from '../support/example-server.js';
import { installPacked } from '../support/install-packed.js';
import { ffCurveOf, makeStatement, type SystemName, snarkjs, systems } from '../support/proving.js';
import { inProject, runNode } from '../support/run-script.js';

let server: ExampleServer;
let browser: Browser;

beforeAll(async () => {
  server = await serveExample('prover');
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the page; what goes wrong in it fails the test. */
const open = async (query: string): Promise<{ page: Page; faults: string[] }> => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(`${server.origin}${query}`);
  return { page, faults };
};

const input = { a: [1, 2, 3, 4, 5, 6], k: 4, turns: 2 };
/** More turns than a program makes in minutes. */
const ENDLESS = 10 ** 12;

let compiled: CompiledCircuit;
const keys = new Map<SystemName, Uint8Array<ArrayBuffer>>();
beforeAll(async () => {
  compiled = await compileCircuit(shapes);
  for (const system of systems) keys.set(system, await makeZkey(system, 'bn254', compiled.r1cs));
});

const keyOf = (system: SystemName): Uint8Array<ArrayBuffer> => keys.get(system) as Uint8Array<ArrayBuffer>;
const fileOf = (name: string, bytes: Uint8Array) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(bytes),
});

const fill = async (page: Page, { system = 'groth16', values = input }: { system?: SystemName; values?: object }) => {
  await page.getByLabel('Program').setInputFiles(fileOf('circuit.wasm', compiled.wasm));
  await page.getByLabel('Key').setInputFiles(fileOf('circuit.zkey', keyOf(system)));
  await page.getByLabel('Values').fill(JSON.stringify(values));
};

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();
const hasProof = (page: Page): Promise<void> =>
  page.getByRole('heading', { name: 'The proof verifies.' }).waitFor({ timeout: 120_000 });
const textIn = (page: Page, label: string): Promise<string> => page.getByRole('textbox', { name: label }).inputValue();
const resultIn = async (page: Page) => ({
  proof: JSON.parse(await textIn(page, 'Proof')),
  publicSignals: JSON.parse(await textIn(page, 'Public signals')),
});

describe('the prover in a separate project', { tags: 'long' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-prover-'));
  const inFolder = (path: string): string => join(folder, path);

  /** Makes the folder that `npm install webgpu-msm snarkjs vite` would make. */
  beforeAll(async () => {
    await installPacked(folder);
    expect(readdirSync(inFolder('node_modules/webgpu-msm')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
    for (const name of ['snarkjs', 'vite'])
      symlinkSync(inProject(`node_modules/${name}`), inFolder(`node_modules/${name}`));
    cpSync(inProject('examples/prover'), inFolder('page'), { recursive: true });
    writeFileSync(inFolder('package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a script of Node proves', async () => {
    const { circuit, zkey } = await makeStatement('groth16', 'bn254', 8, 'dense');
    await (await ffCurveOf('bn254')).terminate();
    writeFileSync(inFolder('circuit.zkey'), zkey.data);
    writeFileSync(inFolder('witness.wtns'), circuit.witness);
    writeFileSync(
      inFolder('prove.js'),
      `import * as snarkjs from 'snarkjs';
import { accelerate } from 'webgpu-msm/snarkjs';

const restore = await accelerate(snarkjs);
const { proof, publicSignals } = await snarkjs.groth16.prove('circuit.zkey', 'witness.wtns');
const key = await snarkjs.zKey.exportVerificationKey('circuit.zkey');
console.log(await snarkjs.groth16.verify(key, publicSignals, proof), accelerate.stats.calls, accelerate.stats.fallbacks);
restore();
await (await snarkjs.curves.getCurveFromName('bn128')).terminate();
`,
    );
    const { code, stdout, stderr } = await runNode(['prove.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout.trim()], stderr).toEqual([0, 'true 5 0']);
  });

  test('a page built with vite proves', async () => {
    await build({ root: inFolder('page'), configFile: inFolder('page/vite.config.ts'), logLevel: 'error' });
    const served = await preview({
      root: inFolder('page'),
      configFile: false,
      preview: { host: '127.0.0.1', port: 0 },
      logLevel: 'error',
    });
    try {
      const page = await browser.newPage();
      await page.goto(served.resolvedUrls?.local[0] as string);
      await fill(page, {});
      await press(page, 'Prove');
      await hasProof(page);
      expect(await verifyBySnarkjs('groth16', keyOf('groth16'), await resultIn(page))).toBe(true);
      await press(page, 'Time snarkjs, too');
      await page.locator('.line.snarkjs').nth(3).waitFor({ timeout: 60_000 });
      await page.close();
    } finally {
      await served.close();
    }
  });
});

describe('the page of the prover', { tags: 'long' }, () => {
  test.each(systems)('proves %s on a phone, and times snarkjs on request', async (system) => {
    const { page, faults } = await open('');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.setViewportSize({ width: 320, height: 640 });
    await fill(page, { system });
    for (const proofs of [1, 2]) {
      await press(page, 'Prove');
      await page.getByText(`proof ${proofs} since the key was loaded`).waitFor({ timeout: 120_000 });
      await hasProof(page);
    }
    const result = await resultIn(page);
    expect(result.publicSignals).toEqual(['116', '4']);
    expect(await verifyBySnarkjs(system, keyOf(system), result)).toBe(true);
    const { exportSolidityCallData } = snarkjs[system] as unknown as {
      exportSolidityCallData(...proof: readonly unknown[]): Promise<string>;
    };
    const { proof, publicSignals } = result;
    const calldata = system === 'fflonk' ? [publicSignals, proof] : [proof, publicSignals];
    expect(await textIn(page, 'Calldata')).toBe(await exportSolidityCallData(...calldata));
    expect(requests.filter((url) => url.includes('snarkjs'))).toEqual([]);
    expect(await page.locator('.line.snarkjs').count()).toBe(0);
    await press(page, 'Time snarkjs, too');
    await page.locator('.line.snarkjs').nth(3).waitFor({ timeout: 120_000 });
    expect(await page.locator('tbody th').allTextContents()).toEqual(['witness', 'proof', 'verification', 'in all']);
    expect(await page.locator('.line.library').count()).toBe(4);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
    // the key has no contribution to its second phase, of which the page warns
    expect(await page.locator('#warning').textContent()).toMatch(system === 'groth16' ? /γ equals δ/ : /^$/);
    expect(faults).toEqual([]);
    await page.close();
  });

  test.each([
    ['Loading the key', input],
    ['Computing the witness', { ...input, turns: ENDLESS }],
    ['Proving', input],
    ['Verifying', input],
  ])('stops at “%s” on cancel, and proves again', async (stage, values) => {
    const { page, faults } = await open('');
    await fill(page, { values });
    const cancel = page.getByRole('button', { name: 'Cancel' });
    expect(await cancel.isDisabled()).toBe(true);
    await page.evaluate((name) => {
      const [line, button] = ['stage', 'cancel'].map((id) => document.getElementById(id) as HTMLButtonElement);
      const observer = new MutationObserver(() => {
        if (line?.textContent !== name) return;
        observer.disconnect();
        button?.click();
      });
      observer.observe(line as Node, { childList: true });
    }, stage);
    await press(page, 'Prove');
    await page.getByRole('alert').filter({ hasText: 'Cancelled.' }).waitFor({ timeout: 60_000 });
    expect(await cancel.isDisabled()).toBe(true);
    expect(await page.locator('#result').isVisible()).toBe(false);
    await page.getByLabel('Values').fill(JSON.stringify(input));
    await press(page, 'Prove');
    await hasProof(page);
    expect(await verifyBySnarkjs('groth16', keyOf('groth16'), await resultIn(page))).toBe(true);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('cancels the proof of snarkjs', async () => {
    const { page, faults } = await open('');
    await fill(page, {});
    await press(page, 'Prove');
    await hasProof(page);
    const workers = page.workers().length;
    await press(page, 'Time snarkjs, too');
    await press(page, 'Cancel');
    await page.getByRole('alert').filter({ hasText: 'Cancelled.' }).waitFor();
    await expect.poll(() => page.workers().length, { timeout: 20_000 }).toBeLessThanOrEqual(workers);
    expect(await page.locator('.line.snarkjs').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('shows the errors of files and inputs', async () => {
    const { page, faults } = await open('');
    await fill(page, {});
    const problemOf = async (values: string): Promise<string | null> => {
      await page.getByLabel('Values').fill(values);
      await press(page, 'Prove');
      await expect.poll(() => page.getByRole('button', { name: 'Prove' }).isEnabled(), { timeout: 60_000 }).toBe(true);
      return page.getByRole('alert').textContent();
    };
    expect(await problemOf('{ a: 1 }')).toMatch(/^The input is not JSON: /);
    expect(await problemOf(JSON.stringify({ ...input, b: 1 }))).toBe('input.b is not an input signal of the circuit');
    expect(await problemOf(JSON.stringify({ ...input, a: [1] }))).toBe(
      'input.a has 1 values, but the signal takes 6: too few',
    );
    expect(await problemOf(JSON.stringify({ ...input, k: 7 }))).toMatch(/Assert Failed.*line: 13/s);
    expect(await problemOf('{ "k": 12345678901234567890 }')).toMatch(/^input\.k: value 0 is a number beyond 2\^53/);
    await page.getByLabel('Key').setInputFiles(fileOf('circuit.zkey', compiled.wasm));
    expect(await problemOf(JSON.stringify(input))).toMatch(/^zkey/);
    await page.getByLabel('Key').setInputFiles(fileOf('circuit.zkey', keyOf('plonk')));
    await page.getByLabel('Program').setInputFiles(fileOf('circuit.wasm', keyOf('plonk')));
    expect(await problemOf(JSON.stringify(input))).toMatch(/^wasm/);
    await fill(page, {});
    await press(page, 'Prove');
    await hasProof(page);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('takes dropped files, and those of its address', async () => {
    const { page, faults } = await open('');
    const files = [
      ['circuit.wasm', [...compiled.wasm]],
      ['circuit.zkey', [...keyOf('plonk')]],
      ['input.json', [...Buffer.from(JSON.stringify(input))]],
      ['notes.txt', []],
    ] as const;
    await page.evaluate((dropped) => {
      const dataTransfer = new DataTransfer();
      for (const [name, bytes] of dropped) dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, files);
    expect(await page.getByRole('alert').textContent()).toBe('notes.txt is neither .wasm nor .zkey nor .json.');
    await expect.poll(() => textIn(page, 'Values')).toBe(JSON.stringify(input));
    await press(page, 'Prove');
    await hasProof(page);
    expect((await resultIn(page)).proof.protocol).toBe('plonk');
    await page.route('**/files/*', (route) => {
      const name = route.request().url().split('/').at(-1);
      const [, bytes] = files.find(([each]) => each === name) ?? [];
      return bytes === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ body: Buffer.from(bytes) });
    });
    await page.goto(`${server.origin}?file=files/circuit.wasm&file=files/circuit.zkey&file=files/input.json`);
    await expect.poll(() => textIn(page, 'Values')).toBe(JSON.stringify(input));
    await press(page, 'Prove');
    await hasProof(page);
    expect(faults).toEqual([]);
    await page.close();
  });
});

declare global {
  interface Window {
    readonly axe: typeof axe;
  }
}
